//! Showing statements: each is noted where it is sent, and the server is asked for its plan with the same values.
//!
//! Nothing is noted until it is asked for. Plans are the server's (`EXPLAIN`), and no statement runs twice.

use crate::connection::{Link, cell};
use crate::schema::quoted;
use crate::sent::Sent;
use sensormark_store::{Statement, StoreError};

const OPERATION: &str = "show statements of MariaDB";

impl Link {
    /// What was sent since the last call, with the server's plans.
    ///
    /// # Errors
    /// When the server does not explain a question.
    pub(crate) async fn take_statements(&mut self, with_plans: bool) -> Result<Vec<Statement>, StoreError> {
        let sent = self.kept.0.take();
        let keeps = sent.is_some();
        let mut statements = Vec::new();
        for one in sent.unwrap_or_default() {
            let shown = one.values.iter().map(|value| value.as_sql(true));
            let mut statement = Statement::new(&*one.text).with_values(shown.collect());
            if let Some(note) = &one.note {
                statement = statement.with_note(note);
            }
            if with_plans && one.is_prepared && is_question(&one.text) {
                statement = statement.with_plan(self.plan(one).await?);
            }
            statements.push(statement);
        }
        // Plans were asked for over the same connection; they are not kept.
        if keeps {
            self.kept.start();
        }
        Ok(statements)
    }

    /// The server's plan, a line for each table that it reads.
    async fn plan(&mut self, sent: Sent) -> Result<String, StoreError> {
        const COLUMNS: [&str; 10] =
            ["id", "select_type", "table", "type", "possible_keys", "key", "key_len", "ref", "rows", "extra"];
        let mut lines = Vec::new();
        let text = format!("EXPLAIN {}", sent.text);
        self.rows(OPERATION, &text, sent.values, &mut |row| {
            let told = COLUMNS.iter().enumerate().filter_map(|(place, name)| {
                let value = cell::value(&row, place)?.as_sql(true);
                Some(format!("{name}={}", value.trim_matches('\'')))
            });
            lines.push(told.collect::<Vec<String>>().join(" "));
            Ok(())
        })
        .await?;
        Ok(lines.join("\n"))
    }

    /// The statements that make a database's tables and indexes, in the server's words; without `hidden`.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub(crate) async fn stated_schema(
        &mut self,
        database: &str,
        hidden: &str,
    ) -> Result<Vec<String>, StoreError> {
        let mut names = Vec::new();
        let list = format!("SHOW TABLES FROM {}", quoted(database));
        self.rows(OPERATION, &list, Vec::new(), &mut |row| {
            names.push(cell::text(&row, 0)?.to_owned());
            Ok(())
        })
        .await?;
        let mut texts = Vec::new();
        for name in names.iter().filter(|name| *name != hidden) {
            let show = format!("SHOW CREATE TABLE {}.{}", quoted(database), quoted(name));
            self.rows(OPERATION, &show, Vec::new(), &mut |row| {
                texts.push(cell::text(&row, 1)?.to_owned());
                Ok(())
            })
            .await?;
        }
        Ok(texts)
    }
}

/// Whether a statement asks: one that writes rows of values has no plan to speak of.
fn is_question(text: &str) -> bool {
    let text = text.trim_start_matches(['(', ' ']);
    text.starts_with("SELECT") || text.starts_with("WITH")
}
