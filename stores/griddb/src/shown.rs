//! Showing statements: questions in TQL and calls of the C client are noted where they are made; GridDB explains those of TQL.
//!
//! Nothing is noted until it is asked for.

use crate::client::{Connection, Row};
use sensormark_store::Statement;
use std::cell::RefCell;
use std::fmt::Display;

/// What was sent over a connection since statements are kept.
#[derive(Debug, Default)]
pub(crate) struct Kept(RefCell<Option<Vec<Sent>>>);

/// One question or call.
#[derive(Debug)]
struct Sent {
    statement: Statement,
    /// The container that a question was put to; none for calls, which have no plan.
    asked: Option<String>,
}

impl Kept {
    /// Keeps what is sent from now on.
    pub(crate) fn start(&self) {
        self.0.borrow_mut().get_or_insert_default();
    }

    /// Whether it is kept.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.0.borrow().is_some()
    }

    fn push(&self, statement: Statement, asked: Option<String>) {
        if let Some(sent) = &mut *self.0.borrow_mut() {
            sent.push(Sent { statement, asked });
        }
    }

    /// Notes a question that is put to a container.
    pub(crate) fn note_tql(&self, tql: &str, container: &str) {
        let statement = Statement::new(tql).with_note(format!("asked of container {container}"));
        self.push(statement, Some(container.to_owned()));
    }

    /// Notes a call of the C client on a container, with what it was given besides.
    pub(crate) fn note_call(&self, call: &str, container: &str, value: impl Display) {
        if self.is_on() {
            let given = [container.to_owned(), value.to_string()];
            let given = given.into_iter().filter(|value| !value.is_empty());
            self.push(Statement::new(call).with_values(given.collect()), None);
        }
    }

    /// Notes a call that puts rows into several containers.
    pub(crate) fn note_rows(&self, call: &str, parts: &[(&str, &[Row])]) {
        if let (true, Some((first, _))) = (self.is_on(), parts.first()) {
            let rows: usize = parts.iter().map(|(_, rows)| rows.len()).sum();
            let note = format!(
                "{rows} rows into {} containers, the first of which is {first}",
                parts.len()
            );
            self.push(Statement::new(call).with_note(note), None);
        }
    }
}

/// What was sent since the last call, with the server's plans of questions.
pub(crate) fn take(connection: &Connection, with_plans: bool) -> Vec<Statement> {
    let kept = connection.kept().0.take();
    let keeps = kept.is_some();
    let explained = |Sent { statement, asked }| match asked {
        Some(container) if with_plans => match plan(connection, &container, &statement) {
            Ok(plan) => statement.with_plan(plan),
            Err(reason) => statement.with_note(format!("GridDB gave no plan: {reason}")),
        },
        _ => statement,
    };
    let statements = kept.unwrap_or_default().into_iter().map(explained);
    let statements = statements.collect();
    // Plans were asked for over the same connection; they are not kept.
    if keeps {
        connection.kept().start();
    }
    statements
}

/// How the server would carry a question out, without doing it.
fn plan(connection: &Connection, container: &str, statement: &Statement) -> Result<String, String> {
    let found = connection.container(container);
    let found = found.map_err(|failure| failure.to_string())?;
    let container = found.ok_or("its container is gone")?;
    let explained = container
        .ask(&format!("EXPLAIN {}", statement.text))
        .and_then(|found| found.plan());
    let lines = explained.map_err(|failure| failure.to_string())?;
    Ok(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_kept_before_it_is_asked_for() {
        let kept = Kept::default();
        kept.note_tql("SELECT *", "c");
        kept.note_call("gsCommit", "c", "");
        assert!(kept.0.take().is_none());
        kept.start();
        kept.note_tql("SELECT *", "c");
        kept.note_call("gsGetRowByLong", "c", 7);
        let sent = kept.0.take().expect("kept");
        let told: Vec<_> = sent.into_iter().map(|one| one.statement).collect();
        assert_eq!(told[0].note.as_deref(), Some("asked of container c"));
        assert_eq!(told[1].text, "gsGetRowByLong");
        assert_eq!(told[1].values, ["c", "7"]);
    }
}
