//! What a session sent, noted where it is sent and shown by [`crate::shown`]. Nothing is noted until it is asked for.

use crate::cell::Parameter;
use std::rc::Rc;
use tokio_postgres::types::Type;

/// Bound values of one statement that are written out for people: more are counted only.
const MOST_VALUES: usize = 64;

/// A prepared statement, with the text that it was prepared from.
#[derive(Clone)]
pub(crate) struct Prepared {
    /// The server's side of it.
    pub(crate) statement: tokio_postgres::Statement,
    pub(crate) text: Rc<str>,
}

/// What was sent since statements are kept.
#[derive(Default)]
pub(crate) struct Kept(pub(crate) Option<Vec<Sent>>);

/// One statement that was sent.
pub(crate) struct Sent {
    pub(crate) text: Rc<str>,
    pub(crate) kinds: Vec<Type>,
    /// Values in the binary form.
    pub(crate) values: Vec<Option<Vec<u8>>>,
    pub(crate) shown: Vec<String>,
    pub(crate) is_planned: bool,
    pub(crate) note: Option<String>,
}

impl Kept {
    /// Keeps what is sent from now on.
    pub(crate) fn start(&mut self) {
        self.0.get_or_insert_default();
    }

    /// Notes a prepared statement that is sent with these values.
    #[inline]
    pub(crate) fn note<'a>(
        &mut self,
        prepared: &Prepared,
        cells: impl FnOnce() -> Box<dyn Iterator<Item = Parameter<'a>> + 'a>,
    ) {
        if let Some(sent) = &mut self.0 {
            let kinds = prepared.statement.params().to_vec();
            let (mut values, mut shown) = (Vec::new(), Vec::new());
            for (place, cell) in cells().enumerate() {
                let kind = kinds.get(place).unwrap_or(&Type::TEXT);
                if place < MOST_VALUES {
                    shown.push(cell.shown(kind));
                }
                values.push(cell.binary());
            }
            sent.push(Sent {
                text: Rc::clone(&prepared.text),
                kinds,
                values,
                shown,
                is_planned: true,
                note: None,
            });
        }
    }

    /// Notes a text that is sent as it is, or a COPY with its rows, of which the note tells.
    #[inline]
    pub(crate) fn note_text(&mut self, text: &str, note: impl FnOnce() -> Option<String>) {
        if let Some(sent) = &mut self.0 {
            sent.push(Sent {
                text: text.into(),
                kinds: Vec::new(),
                values: Vec::new(),
                shown: Vec::new(),
                is_planned: false,
                note: note(),
            });
        }
    }
}

impl Prepared {
    /// The text that it was prepared from.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}
