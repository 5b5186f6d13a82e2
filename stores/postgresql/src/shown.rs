//! Showing statements: each is noted where it is sent, and the server is asked for its plan with the same types and values.
//!
//! Until they are asked for, nothing is noted. Plans are the server's (`EXPLAIN`), and no statement runs twice.

use crate::cell::Parameter;
use crate::connection::Link;
use futures_util::TryStreamExt;
use sensormark_relational::cell::Cell;
use sensormark_store::{Statement, StoreError};
use std::pin::pin;
use std::rc::Rc;
use tokio_postgres::types::Type;

const OPERATION: &str = "show statements of PostgreSQL";

/// Bound values of one statement that are written out for people: more are counted only.
const MOST_VALUES: usize = 64;

/// A prepared statement, with the text that it was prepared from.
#[derive(Clone)]
pub(crate) struct Prepared {
    /// The server's side of it.
    pub(crate) statement: tokio_postgres::Statement,
    text: Rc<str>,
}

/// What was sent since statements are kept.
#[derive(Default)]
pub(crate) struct Kept(Option<Vec<Sent>>);

/// One statement that was sent.
struct Sent {
    text: Rc<str>,
    kinds: Vec<Type>,
    /// Values in the binary form.
    values: Vec<Option<Vec<u8>>>,
    shown: Vec<String>,
    is_planned: bool,
    note: Option<String>,
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

impl Link {
    /// Prepares a statement, and keeps its text with it.
    pub(crate) async fn prepare(
        &mut self,
        operation: &str,
        text: String,
        kinds: &[Type],
    ) -> Result<Prepared, StoreError> {
        let preparing = self.client.prepare_typed(&text, kinds);
        let statement = self.wire.run(operation, preparing).await?;
        Ok(Prepared {
            statement,
            text: text.into(),
        })
    }

    /// What was sent since the last call, with the server's plans.
    ///
    /// # Errors
    /// When the server does not explain a statement.
    pub(crate) async fn take_statements(
        &mut self,
        with_plans: bool,
    ) -> Result<Vec<Statement>, StoreError> {
        let Some(sent) = &mut self.kept.0 else {
            return Ok(Vec::new());
        };
        let mut statements = Vec::new();
        for one in std::mem::take(sent) {
            let mut statement = Statement::new(&*one.text).with_values(one.shown.clone());
            if let Some(note) = &one.note {
                statement = statement.with_note(note);
            }
            if with_plans && one.is_planned {
                statement = statement.with_plan(self.plan(&one).await?);
            }
            statements.push(statement);
        }
        Ok(statements)
    }

    /// The server's plan of a statement with its values.
    async fn plan(&mut self, sent: &Sent) -> Result<String, StoreError> {
        let text = format!("EXPLAIN {}", sent.text);
        let preparing = self.client.prepare_typed(&text, &sent.kinds);
        let statement = self.wire.run(OPERATION, preparing).await?;
        let client = &self.client;
        let asking = async {
            let cells = sent.values.iter().map(|value| match value {
                None => Parameter(Cell::Null),
                Some(bytes) => Parameter(Cell::Encoded(bytes)),
            });
            let rows = client.query_raw(&statement, cells).await?;
            let mut rows = pin!(rows);
            let mut lines = Vec::new();
            while let Some(row) = rows.try_next().await? {
                lines.push(row.try_get::<_, String>(0)?);
            }
            Ok(lines)
        };
        let lines = self.wire.run(OPERATION, asking).await?;
        Ok(lines.join("\n"))
    }
}
