//! Showing statements: each is noted where it is sent, and the server is asked for its plan with the same values.
//!
//! Until they are asked for, nothing is noted. No statement runs twice.

use crate::asking::Link;
use crate::query::value::Value;
use crate::sent::{Kept, Sent};
use futures_util::TryStreamExt;
use sensormark_store::{Statement, StoreError};
use std::pin::pin;
use tokio_postgres::types::Type;

const OPERATION: &str = "show statements of QuestDB";

impl Kept {
    /// What was sent since the last call, with the server's plans.
    pub(crate) async fn take(&mut self, link: &Link, with_plans: bool) -> Result<Vec<Statement>, StoreError> {
        let sent = self.0.as_mut().map(std::mem::take).unwrap_or_default();
        let mut statements = Vec::with_capacity(sent.len());
        for one in sent {
            let values = one.values.iter().map(ToString::to_string).collect();
            let mut statement = Statement::new(&*one.text).with_values(values);
            statement = match &one.note {
                Some(note) => statement.with_note(note),
                None if with_plans => statement.with_plan(plan(link, &one).await?),
                None => statement,
            };
            statements.push(statement);
        }
        Ok(statements)
    }
}

/// The server's plan of a statement with its values.
async fn plan(link: &Link, sent: &Sent) -> Result<String, StoreError> {
    let text = format!("EXPLAIN {}", sent.text);
    let kind = |value: &Value| match value {
        Value::Real(_) => Type::FLOAT8,
        Value::Text(_) => Type::VARCHAR,
        Value::Whole(_) | Value::Null => Type::INT8,
    };
    let kinds: Vec<Type> = sent.values.iter().map(kind).collect();
    let asking = async {
        let statement = link.client.prepare_typed(&text, &kinds).await?;
        let mut rows = pin!(link.client.query_raw(&statement, &sent.values).await?);
        let mut lines = Vec::new();
        while let Some(row) = rows.try_next().await? {
            lines.push(row.try_get::<_, String>(0)?);
        }
        Ok(lines)
    };
    Ok(link.run(OPERATION, asking).await?.join("\n"))
}
