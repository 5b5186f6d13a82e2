//! Showing statements: each is noted where it is sent, and the server is asked for its plan with the same values.
//!
//! Nothing is noted until it is asked for. Plans are the server's (`EXPLAIN`), and no statement runs twice.

use crate::connection::{Link, cell};
use crate::schema::quoted;
use mysql_async::Value;
use sensormark_store::{Statement, StoreError};

const OPERATION: &str = "show statements of MariaDB";

/// What was sent since statements are kept.
#[derive(Default)]
pub(crate) struct Kept(Option<Vec<Sent>>);

/// One statement that was sent.
struct Sent {
    text: String,
    values: Vec<Value>,
    is_prepared: bool,
    note: Option<String>,
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
        let note = format_args!(
            "executed once for {} rows, the first one's values shown",
            rows.len()
        );
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

impl Link {
    /// What was sent since the last call, with the server's plans.
    ///
    /// # Errors
    /// When the server does not explain a question.
    pub(crate) async fn take_statements(
        &mut self,
        with_plans: bool,
    ) -> Result<Vec<Statement>, StoreError> {
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
        const COLUMNS: [&str; 10] = [
            "id",
            "select_type",
            "table",
            "type",
            "possible_keys",
            "key",
            "key_len",
            "ref",
            "rows",
            "extra",
        ];
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
