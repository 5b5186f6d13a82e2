//! A statement as a session sent it to its database, in a form that people can read.
//!
//! A session notes it where it is sent, so that what is shown is what was sent. It is not used for measuring.

use serde::{Deserialize, Serialize};

/// Characters of a text that a person reads to its end.
const LONGEST_TEXT: usize = 4_000;
/// Characters of a bound value that are shown.
const LONGEST_VALUE: usize = 120;
/// Bound values of a statement that are shown.
const MOST_VALUES: usize = 24;
/// Statements of one operation that are shown.
const MOST_STATEMENTS: usize = 24;
/// Lines of a plan that a report shows.
const PLAN_LINES: usize = 40;

/// One statement as it was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// The text in the database's language, with placeholders where values are bound.
    pub text: String,
    /// The values that were bound, in the order of the placeholders, as the database would print them. Empty where the text holds them, or nothing was bound.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// How the database carries it out, in its own words; absent where it was not asked for, or the database has no such thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// What a reader should know: how often it was sent, why there is no plan, what is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Statement {
    /// A statement of this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The same with these bound values.
    #[must_use]
    pub fn with_values(mut self, values: Vec<String>) -> Self {
        self.values = values;
        self
    }

    /// The same with a plan.
    #[must_use]
    pub fn with_plan(mut self, plan: impl Into<String>) -> Self {
        self.plan = Some(plan.into());
        self
    }

    /// The same with one more thing to know.
    #[must_use]
    pub fn with_note(mut self, note: impl AsRef<str>) -> Self {
        self.note = Some(match self.note.take() {
            Some(before) => format!("{before}; {}", note.as_ref()),
            None => note.as_ref().to_owned(),
        });
        self
    }

    /// The same as long as a person wants to read: long texts, values and lists of values are cut, and say how long they were.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        self.text = cut(&self.text, LONGEST_TEXT);
        let left_out = self.values.len().saturating_sub(MOST_VALUES);
        self.values.truncate(MOST_VALUES);
        for value in &mut self.values {
            *value = cut(value, LONGEST_VALUE);
        }
        if left_out > 0 {
            return self.with_note(format!("{left_out} more values are bound"));
        }
        self
    }

    /// The same with a plan of at most 40 lines, as reports show it.
    #[must_use]
    pub fn for_report(mut self) -> Self {
        let Some(plan) = &self.plan else { return self };
        let lines = plan.lines().count();
        if lines > PLAN_LINES {
            let kept: Vec<&str> = plan.lines().take(PLAN_LINES).collect();
            self.plan = Some(format!(
                "{}\n… {} more lines: sensormark explain shows them",
                kept.join("\n"),
                lines - PLAN_LINES
            ));
        }
        self
    }

    /// These statements in the order in which their texts first came, each text once with how often it was sent; long lists are cut and say so.
    pub fn merged(statements: Vec<Self>) -> Vec<Self> {
        let mut merged: Vec<(Self, usize)> = Vec::new();
        let mut left_out = 0_usize;
        for statement in statements {
            let has_room = merged.len() < MOST_STATEMENTS;
            let known = merged.iter_mut().find(|one| one.0.text == statement.text);
            match known {
                Some((_, times)) => *times += 1,
                None if has_room => merged.push((statement, 1)),
                None => left_out += 1,
            }
        }
        if left_out > 0
            && let Some((last, times)) = merged.pop()
        {
            let note = format!("{left_out} further statements are left out");
            merged.push((last.with_note(note), times));
        }
        let told = |(statement, times): (Self, usize)| match times {
            1 => statement,
            times => statement.with_note(format!("sent {times} times, with other values")),
        };
        merged.into_iter().map(told).collect()
    }
}

/// The beginning of a text, with its whole length where it is cut.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{} … ({} bytes in all)", &text[..end], text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_and_lists_are_cut_and_say_so() {
        let values = (0..30).map(|value| value.to_string()).collect();
        let statement = Statement::new("ä".repeat(5_000)).with_values(values);
        let short = statement.shortened();
        assert!(short.text.ends_with("… (10000 bytes in all)"));
        assert_eq!(short.values.len(), MOST_VALUES);
        assert_eq!(short.note.as_deref(), Some("6 more values are bound"));
    }

    #[test]
    fn a_report_cuts_a_long_plan_and_says_where_the_rest_is() {
        let plan: Vec<String> = (0..50).map(|line| line.to_string()).collect();
        let shown = Statement::new("x").with_plan(plan.join("\n")).for_report();
        let plan = shown.plan.expect("it had one");
        assert_eq!(plan.lines().count(), 41);
        assert!(plan.ends_with("… 10 more lines: sensormark explain shows them"));
    }

    #[test]
    fn a_long_list_of_statements_is_cut_and_says_so() {
        let sent = (0..30).map(|number| Statement::new(number.to_string()));
        let told = Statement::merged(sent.collect());
        assert_eq!(told.len(), MOST_STATEMENTS);
        let last = told.last().and_then(|one| one.note.as_deref());
        assert_eq!(last, Some("6 further statements are left out"));
    }

    #[test]
    fn statements_that_repeat_are_told_once() {
        let sent = ["a", "a", "b", "a"].map(Statement::new).to_vec();
        let told = Statement::merged(sent);
        let texts: Vec<&str> = told.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(texts, ["a", "b"]);
        assert_eq!(told[0].note.as_deref(), Some("sent 3 times, with other values"));
    }
}
