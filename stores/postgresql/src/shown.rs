//! Showing statements: each is noted where it is sent, and the server is asked for its plan with the same types and values.
//!
//! Until they are asked for, nothing is noted. Plans are the server's (`EXPLAIN`), and no statement runs twice.

use crate::cell::Parameter;
use crate::connection::Link;
use crate::sent::{Prepared, Sent};
use futures_util::TryStreamExt;
use sensormark_relational::cell::Cell;
use sensormark_store::{Statement, StoreError};
use std::pin::pin;
use tokio_postgres::types::Type;

const OPERATION: &str = "show statements of PostgreSQL";

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
        Ok(Prepared { statement, text: text.into() })
    }

    /// What was sent since the last call, with the server's plans.
    ///
    /// # Errors
    /// When the server does not explain a statement.
    pub(crate) async fn take_statements(&mut self, with_plans: bool) -> Result<Vec<Statement>, StoreError> {
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
