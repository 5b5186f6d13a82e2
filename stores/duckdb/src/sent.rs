//! What a session sent, noted where it is sent and shown by [`crate::shown`]. Nothing is noted until it is asked for.

use crate::client::{Failure, Library, Parameter, Value};

/// What was sent since statements are kept.
#[derive(Default)]
pub(crate) struct Kept(pub(crate) Option<Vec<Sent>>);

/// A statement that was sent.
pub(crate) struct Sent {
    pub(crate) text: String,
    pub(crate) values: Vec<Value>,
    pub(crate) is_planned: bool,
    pub(crate) note: Option<String>,
}

impl Sent {
    /// Notes the next value.
    pub(crate) fn value(
        &mut self,
        library: &'static Library,
        parameter: &Parameter<'_>,
    ) -> Result<(), Failure> {
        self.values.push(Value::of(library, parameter)?);
        Ok(())
    }
}

impl Kept {
    /// Keeps what is sent from now on.
    pub(crate) fn start(&mut self) {
        self.0.get_or_insert_default();
    }

    fn note(&mut self, text: &str, is_planned: bool, note: Option<String>) -> Option<&mut Sent> {
        let sent = self.0.as_mut()?;
        sent.push(Sent { text: text.to_owned(), values: Vec::new(), is_planned, note });
        sent.last_mut()
    }

    /// Notes a prepared statement, whose values follow; nothing where statements are not kept.
    #[inline]
    pub(crate) fn statement(&mut self, text: &str) -> Option<&mut Sent> {
        self.note(text, true, None)
    }

    /// Notes a text that has no plan.
    #[inline]
    pub(crate) fn text(&mut self, text: &str) {
        self.note(text, false, None);
    }

    /// Notes rows that go through an appender; the values of the first follow.
    #[inline]
    pub(crate) fn appender(&mut self, table: &str, columns: &str, rows: usize) -> Option<&mut Sent> {
        self.0.as_ref()?;
        let text = format!("duckdb_append_data_chunk: {table} ({columns})");
        let note = match rows {
            1 => "1 row through an appender".to_owned(),
            rows => format!("{rows} rows through an appender; the first is shown"),
        };
        self.note(&text, false, Some(note))
    }
}
