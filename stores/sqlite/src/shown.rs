//! Showing statements: SQLite's own trace said which ran ([`crate::sent`]), and `EXPLAIN QUERY PLAN` says how.

use crate::error;
use crate::sent::{Kept, lock};
use rusqlite::Connection;
use sensormark_store::{Statement, StoreError};
use std::collections::HashMap;

const OPERATION: &str = "show statements";

impl Kept {
    /// What ran since the last call.
    ///
    /// # Errors
    /// What SQLite says when it is asked for a plan.
    pub fn take(&self, connection: &Connection, with_plans: bool) -> Result<Vec<Statement>, StoreError> {
        let ran = std::mem::take(&mut *lock(&self.0));
        let mut statements = Vec::with_capacity(ran.len());
        for one in ran {
            let values = one.with_values.as_deref();
            let values = values.map_or(Vec::new(), |values| bound(&one.text, values));
            let mut statement = Statement::new(one.text.as_str()).with_values(values);
            if one.times > 1 {
                statement = statement.with_note(format!("run {} times", one.times));
            }
            if with_plans
                && is_planned(&one.text)
                && let Some(plan) = plan(connection, &one.text)?
            {
                statement = statement.with_plan(plan);
            }
            statements.push(statement);
        }
        // To ask for plans is to run statements, too.
        lock(&self.0).clear();
        Ok(statements)
    }
}

/// Whether SQLite plans this statement; BEGIN and COMMIT it does not.
fn is_planned(text: &str) -> bool {
    let planned = ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE", "REPLACE"];
    planned.iter().any(|word| text.trim_start().starts_with(word))
}

/// SQLite's plan, a line a step, each under the step that it belongs to; none where there is nothing to look for.
fn plan(connection: &Connection, text: &str) -> Result<Option<String>, StoreError> {
    let wrong = |cause| error::native(OPERATION, cause);
    let explain = format!("EXPLAIN QUERY PLAN {text}");
    let mut prepared = connection.prepare(&explain).map_err(wrong)?;
    let mut rows = prepared.raw_query();
    let (mut depths, mut lines) = (HashMap::from([(0_i64, 0_usize)]), Vec::new());
    while let Some(row) = rows.next().map_err(wrong)? {
        let (id, parent): (i64, i64) = (row.get(0).map_err(wrong)?, row.get(1).map_err(wrong)?);
        let detail: String = row.get(3).map_err(wrong)?;
        let depth = depths.get(&parent).copied().unwrap_or(0);
        depths.insert(id, depth + 1);
        lines.push(format!("{}{detail}", "  ".repeat(depth)));
    }
    Ok((!lines.is_empty()).then(|| lines.join("\n")))
}

/// The values that stand in `filled` where `text` has placeholders, in the order of their numbers.
fn bound(text: &str, filled: &str) -> Vec<String> {
    let (mut values, mut rest) = (Vec::<(usize, &str)>::new(), filled);
    let mut pieces = pieces(text).into_iter().peekable();
    let mut number = 0;
    while let Some((piece, _)) = pieces.next() {
        let Some(behind) = rest.strip_prefix(piece) else {
            return Vec::new();
        };
        rest = behind;
        let Some((next, Some(written))) = pieces.peek().map(|(next, place)| (*next, *place)) else {
            break;
        };
        number = if written > 0 { written } else { number + 1 };
        let end = if next.is_empty() { Some(rest.len()) } else { rest.find(next) };
        let Some(end) = end else { return Vec::new() };
        if !values.iter().any(|(known, _)| *known == number) {
            values.push((number, &rest[..end]));
        }
        rest = &rest[end..];
    }
    values.sort_unstable_by_key(|(number, _)| *number);
    values.into_iter().map(|(_, value)| value.to_owned()).collect()
}

/// The text between placeholders (`?` or `?3`), each piece with the number of the placeholder before it: none before the first, 0 where it bears no number.
fn pieces(text: &str) -> Vec<(&str, Option<usize>)> {
    let (mut found, mut start, mut before, mut quote) = (Vec::new(), 0, None, None);
    let mut places = text.char_indices().peekable();
    while let Some((place, character)) = places.next() {
        match (quote, character) {
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), character) if open == character => quote = None,
            (None, '?') => {
                found.push((&text[start..place], before));
                let mut end = place + 1;
                while let Some((digit, _)) = places.next_if(|(_, next)| next.is_ascii_digit()) {
                    end = digit + 1;
                }
                before = Some(text[place + 1..end].parse().unwrap_or(0));
                start = end;
            }
            _ => {}
        }
    }
    found.push((&text[start..], before));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_off_the_filled_text() {
        let text = r#"SELECT "a?" FROM t WHERE x >= ?2 AND y = ?1 AND z = ?2"#;
        let filled = r#"SELECT "a?" FROM t WHERE x >= 7 AND y = 'it''s' AND z = 7"#;
        assert_eq!(bound(text, filled), ["'it''s'", "7"]);
        assert_eq!(bound("VALUES (?, ?)", "VALUES (1, NULL)"), ["1", "NULL"]);
        assert!(bound("COMMIT", "COMMIT").is_empty());
    }
}
