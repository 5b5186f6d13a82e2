//! The statements that a session sent, kept for people, with the database's own plans.

use crate::link::Link;
use sensormark_drivers::Cell;
use sensormark_store::{Statement, StoreError};

/// Statements of different texts that are kept of one operation: texts that hold their values differ reading by reading.
const MOST: usize = 32;

/// What was sent since it is kept.
#[derive(Debug, Default)]
pub struct Recorded {
    sent: Vec<Sent>,
}

#[derive(Debug)]
struct Sent {
    text: String,
    /// The values of the first time.
    values: Vec<String>,
    times: u64,
}

impl Recorded {
    /// Notes a statement that is sent so many times, first with these values.
    pub fn note<'a>(&mut self, text: &str, values: impl IntoIterator<Item = Cell<'a>>, times: u64) {
        self.note_printed(text, times, || values.into_iter().map(Cell::printed).collect());
    }

    /// The same of values that are printed.
    pub fn note_printed(&mut self, text: &str, times: u64, values: impl FnOnce() -> Vec<String>) {
        if let Some(known) = self.sent.iter_mut().find(|one| one.text == text) {
            known.times += times;
        } else if self.sent.len() < MOST && times > 0 {
            self.sent.push(Sent { text: text.to_owned(), values: values(), times });
        }
    }

    /// What was sent since the last call.
    ///
    /// # Errors
    /// What the database says when it is asked for a plan.
    pub async fn take(&mut self, link: &mut Link, with_plans: bool) -> Result<Vec<Statement>, StoreError> {
        let mut statements = Vec::with_capacity(self.sent.len());
        for one in std::mem::take(&mut self.sent) {
            let admin = &link.files.config.admin;
            let is_planned = admin.planned.iter().any(|word| one.text.starts_with(word.as_str()));
            let mut statement = Statement::new(one.text.as_str());
            if one.times > 1 {
                statement = statement.with_note(format!("run {} times", one.times));
            }
            if with_plans && is_planned && !admin.explain.is_empty() {
                let explain = admin.explain.replace("{statement}", &one.text);
                let plan = link.connection.plan(&explain, &one.values).await;
                if let Some(plan) = link.outcome("show statements", plan)? {
                    statement = statement.with_plan(plan);
                }
            }
            statements.push(statement.with_values(one.values));
        }
        Ok(statements)
    }
}
