//! Showing statements: each was noted where it was sent ([`crate::sent`]), and DuckDB is asked for its plan with the same values.
//!
//! Until they are asked for, nothing is noted. Plans are DuckDB's (`EXPLAIN`), and no statement runs twice.

use crate::client::{Connection, Failure, Value};
use crate::error;
use crate::sent::{Kept, Sent};
use sensormark_store::{Statement, StoreError};

const OPERATION: &str = "show statements of DuckDB";

impl Kept {
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
                plan.push_str(&String::from_utf8_lossy(texts.text(row).unwrap_or_default()));
            }
        }
    }
    Ok(plan.trim_end().to_owned())
}
