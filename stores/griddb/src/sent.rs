//! What a session sent, noted where it is sent and shown by [`crate::shown`]. Nothing is noted until it is asked for.

use sensormark_store::Statement;
use std::cell::RefCell;
use std::fmt::Display;

/// What was sent over a connection since statements are kept.
#[derive(Debug, Default)]
pub(crate) struct Kept(RefCell<Option<Vec<Sent>>>);

/// One question or call.
#[derive(Debug)]
pub(crate) struct Sent {
    pub(crate) statement: Statement,
    /// The container that a question was put to; none for calls, which have no plan.
    pub(crate) asked: Option<String>,
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
    pub(crate) fn note_rows<T>(&self, call: &str, parts: &[(&str, &[T])]) {
        if let (true, Some((first, _))) = (self.is_on(), parts.first()) {
            let rows: usize = parts.iter().map(|(_, rows)| rows.len()).sum();
            let note = format!("{rows} rows into {} containers, the first of which is {first}", parts.len());
            self.push(Statement::new(call).with_note(note), None);
        }
    }

    /// What was sent, if it is kept; nothing is kept until the next start.
    pub(crate) fn take(&self) -> Option<Vec<Sent>> {
        self.0.take()
    }
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
