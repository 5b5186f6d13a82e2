//! Showing statements: questions and lines of points are noted where they are sent; InfluxDB explains those of InfluxQL.
//!
//! Nothing is noted until it is asked for.

use crate::query::Reader;
use sensormark_store::{Statement, StoreError, Value};

const OPERATION: &str = "show statements of InfluxDB";
/// Lines of points that are shown of a write.
const LINES: usize = 2;

/// What was sent since statements are kept.
#[derive(Default)]
pub(crate) struct Kept(Option<Vec<Sent>>);

/// One request.
struct Sent {
    text: String,
    kind: Kind,
    note: Option<String>,
}

/// What a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    InfluxQl,
    Flux,
    Lines,
}

impl Kept {
    /// Keeps what is sent from now on.
    pub(crate) fn start(&mut self) {
        self.0.get_or_insert_default();
    }

    fn push(&mut self, text: &str, kind: Kind, note: Option<String>) {
        if let Some(sent) = &mut self.0 {
            let text = text.to_owned();
            sent.push(Sent { text, kind, note });
        }
    }

    /// Notes a statement of InfluxQL that is sent.
    #[inline]
    pub(crate) fn note_influxql(&mut self, text: &str) {
        self.push(text, Kind::InfluxQl, None);
    }

    /// Notes a script of Flux that is sent.
    #[inline]
    pub(crate) fn note_flux(&mut self, text: &str) {
        self.push(text, Kind::Flux, None);
    }

    /// Notes lines of points that are sent by these means.
    #[inline]
    pub(crate) fn note_lines(&mut self, lines: &[u8], means: &str) {
        if self.0.is_some() {
            let text = String::from_utf8_lossy(lines);
            let count = text.lines().count();
            let first: Vec<&str> = text.lines().take(LINES).collect();
            let note = format!(
                "{count} lines in {} bytes{means}, of which the first {} are shown",
                lines.len(),
                first.len()
            );
            self.push(&first.join("\n"), Kind::Lines, Some(note));
        }
    }
}

impl Reader<'_> {
    /// What was sent since the last call, with the server's plans.
    ///
    /// # Errors
    /// When the server does not explain a statement.
    pub(crate) async fn take_statements(
        &mut self,
        with_plans: bool,
    ) -> Result<Vec<Statement>, StoreError> {
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
                let name = if rows.name.is_empty() {
                    String::new()
                } else {
                    format!("{}: ", rows.name)
                };
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
