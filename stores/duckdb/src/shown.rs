//! Showing statements: each is noted where it is sent, with its values, and DuckDB is asked for its plan with the same values.
//!
//! Until they are asked for, nothing is noted. Plans are DuckDB's (`EXPLAIN`), and no statement runs twice.

use crate::client::{Connection, Failure, Library, Parameter, Value};
use crate::error;
use sensormark_store::{Statement, StoreError};

const OPERATION: &str = "show statements of DuckDB";

/// What was sent since statements are kept.
#[derive(Default)]
pub(crate) struct Kept(Option<Vec<Sent>>);

/// A statement that was sent.
pub(crate) struct Sent {
    text: String,
    values: Vec<Value>,
    is_planned: bool,
    note: Option<String>,
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
        sent.push(Sent {
            text: text.to_owned(),
            values: Vec::new(),
            is_planned,
            note,
        });
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
    pub(crate) fn appender(
        &mut self,
        table: &str,
        columns: &str,
        rows: usize,
    ) -> Option<&mut Sent> {
        self.0.as_ref()?;
        let text = format!("duckdb_append_data_chunk: {table} ({columns})");
        let note = match rows {
            1 => "1 row through an appender".to_owned(),
            rows => format!("{rows} rows through an appender; the first is shown"),
        };
        self.note(&text, false, Some(note))
    }

    /// What was sent since the last call, with DuckDB's plans.
    ///
    /// # Errors
    /// When DuckDB does not explain a statement.
    pub(crate) fn take(
        &mut self,
        connection: &Connection,
        with_plans: bool,
    ) -> Result<Vec<Statement>, StoreError> {
        let Some(sent) = &mut self.0 else {
            return Ok(Vec::new());
        };
        let mut statements = Vec::new();
        for one in std::mem::take(sent) {
            let values = one.values.iter().map(Value::shown).collect();
            let mut statement = Statement::new(one.text.as_str()).with_values(values);
            if let Some(note) = &one.note {
                statement = statement.with_note(note);
            }
            if with_plans && one.is_planned {
                let plan = plan(connection, &one);
                statement = statement.with_plan(plan.map_err(|it| error::native(OPERATION, it))?);
            }
            statements.push(statement);
        }
        Ok(statements)
    }
}

/// DuckDB's plan of a statement with its values.
fn plan(connection: &Connection, sent: &Sent) -> Result<String, Failure> {
    let prepared = connection.prepare(&format!("EXPLAIN {}", sent.text))?;
    for (place, value) in sent.values.iter().enumerate() {
        prepared.bind_value(place + 1, value)?;
    }
    let mut rows = prepared.execute()?;
    let mut plan = String::new();
    while let Some(chunk) = rows.next()? {
        // The first column says which plan it is, the second has it.
        if let Some(texts) = chunk.vector(1) {
            for row in 0..chunk.rows() {
                plan.push_str(&String::from_utf8_lossy(
                    texts.text(row).unwrap_or_default(),
                ));
            }
        }
    }
    Ok(plan.trim_end().to_owned())
}
