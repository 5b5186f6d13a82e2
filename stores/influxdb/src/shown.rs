//! Showing statements: questions and lines of points are noted where they are sent; InfluxDB explains those of InfluxQL.
//!
//! Nothing is noted until it is asked for.

use crate::query::Reader;
use crate::sent::Kind;
use sensormark_store::{Statement, StoreError, Value};

const OPERATION: &str = "show statements of InfluxDB";
impl Reader<'_> {
    /// What was sent since the last call, with the server's plans.
    ///
    /// # Errors
    /// When the server does not explain a statement.
    pub(crate) async fn take_statements(&mut self, with_plans: bool) -> Result<Vec<Statement>, StoreError> {
        let sent = self.link.kept.0.take();
        let keeps = sent.is_some();
        let mut statements = Vec::new();
        for one in sent.unwrap_or_default() {
            let mut statement = Statement::new(&*one.text);
            if let Some(note) = &one.note {
                statement = statement.with_note(note);
            }
            if with_plans {
                statement = match one.kind {
                    Kind::InfluxQl => statement.with_plan(self.plan(&one.text).await?),
                    Kind::Flux => statement.with_note("InfluxDB shows no plan of Flux"),
                    Kind::Lines => statement,
                };
            }
            statements.push(statement);
        }
        // Plans were asked for over the same connection; they are not kept.
        if keeps {
            self.link.kept.start();
        }
        Ok(statements)
    }

    async fn plan(&mut self, statement: &str) -> Result<String, StoreError> {
        let asked = format!("EXPLAIN {statement}");
        Ok(self.lines(&asked).await?.join("\n"))
    }

    /// The rows of a statement, each as a line.
    async fn lines(&mut self, statement: &str) -> Result<Vec<String>, StoreError> {
        let mut lines = Vec::new();
        for rows in self.rows(OPERATION, statement).await? {
            for row in rows.plain()? {
                let cells: Vec<String> = row.iter().map(text).collect();
                let name = if rows.name.is_empty() { String::new() } else { format!("{}: ", rows.name) };
                lines.push(format!("{name}{}", cells.join(" ")));
            }
        }
        Ok(lines)
    }

    /// Measurements with their tags and fields, and how long they are kept, in the server's words.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub(crate) async fn stated_schema(&mut self) -> Result<Vec<String>, StoreError> {
        let database = self.database;
        let mut texts = Vec::new();
        for statement in [
            "SHOW TAG KEYS".to_owned(),
            "SHOW FIELD KEYS".to_owned(),
            format!("SHOW RETENTION POLICIES ON \"{database}\""),
        ] {
            let lines = self.lines(&statement).await?;
            let shown: Vec<&str> = lines.iter().map(String::as_str).collect();
            texts.push(format!("{statement}\n  {}", shown.join("\n  ")));
        }
        Ok(texts)
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => other.to_string(),
    }
}
