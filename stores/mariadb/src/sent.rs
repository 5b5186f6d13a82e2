//! What a session sent, noted where it is sent and shown by [`crate::shown`]. Nothing is noted until it is asked for.

use mysql_async::Value;

/// What was sent since statements are kept.
#[derive(Default)]
pub(crate) struct Kept(pub(crate) Option<Vec<Sent>>);

/// One statement that was sent.
pub(crate) struct Sent {
    pub(crate) text: String,
    pub(crate) values: Vec<Value>,
    pub(crate) is_prepared: bool,
    pub(crate) note: Option<String>,
}

impl Kept {
    /// Keeps what is sent from now on.
    pub(crate) fn start(&mut self) {
        self.0.get_or_insert_default();
    }

    /// Notes a prepared statement that is sent with these values.
    #[inline]
    pub(crate) fn note(&mut self, text: &str, values: &[Value]) {
        self.push(text, values, true, None);
    }

    /// Notes a prepared statement that is sent once with many rows of values.
    #[inline]
    pub(crate) fn note_bulk(&mut self, text: &str, rows: &[Vec<Value>]) {
        let first = rows.first().map_or(&[][..], Vec::as_slice);
        let note = format_args!("executed once for {} rows, the first one's values shown", rows.len());
        self.push(text, first, true, Some(note));
    }

    /// Notes statements that are sent as text; the note tells what goes with them.
    #[inline]
    pub(crate) fn note_text(&mut self, text: &str, note: Option<std::fmt::Arguments<'_>>) {
        self.push(text, &[], false, note);
    }

    fn push(
        &mut self,
        text: &str,
        values: &[Value],
        is_prepared: bool,
        note: Option<std::fmt::Arguments<'_>>,
    ) {
        if let Some(sent) = &mut self.0 {
            sent.push(Sent {
                text: text.to_owned(),
                values: values.to_vec(),
                is_prepared,
                note: note.map(|note| note.to_string()),
            });
        }
    }
}
