//! Schema, statements and plans of a layout, as text.

use crate::prelude::*;
use sensormark_result::measurement::statements::StatementsRecord;
use sensormark_store::Statement;

/// The text of what was shown of a layout; lines are indented by so many blanks.
pub fn text(shown: &StatementsRecord, indent: usize) -> String {
    let mut lines = vec![];
    if !shown.schema.is_empty() {
        lines.push("schema:".to_owned());
        for part in &shown.schema {
            push_indented(&mut lines, part, 2);
        }
    }
    for operation in &shown.operations {
        push_operation(&mut lines, operation);
    }
    let blanks = " ".repeat(indent);
    lines.iter().map(|line| format!("{}{line}\n", if line.is_empty() { "" } else { &*blanks })).collect()
}

fn push_operation(lines: &mut Vec<String>, operation: &ShownOperation) {
    let kind = if operation.writes { "write" } else { "question" };
    let size =
        operation.readings.map(|readings| format!(", {}", counted(readings, "reading"))).unwrap_or_default();
    lines.push(String::new());
    lines.push(format!("{kind} {}{size}", operation.name));
    if let Some(note) = &operation.note {
        push_indented(lines, &format!("note: {note}"), 2);
    }
    for statement in &operation.statements {
        push_statement(lines, statement);
    }
}

fn push_statement(lines: &mut Vec<String>, statement: &Statement) {
    push_indented(lines, &statement.text, 2);
    if !statement.values.is_empty() {
        push_indented(lines, &format!("values: {}", statement.values.join(", ")), 4);
    }
    if let Some(note) = &statement.note {
        push_indented(lines, &format!("note: {note}"), 4);
    }
    if let Some(plan) = &statement.plan {
        lines.push("    plan:".to_owned());
        push_indented(lines, plan, 6);
    }
}

fn push_indented(lines: &mut Vec<String>, text: &str, indent: usize) {
    let blanks = " ".repeat(indent);
    lines.extend(text.lines().map(|line| format!("{blanks}{}", clean(line))));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_told_with_its_values_and_its_plan() {
        let statement = Statement::new("SELECT ?1").with_values(vec!["7".to_owned()]).with_plan("SCAN t");
        let shown = StatementsRecord {
            schema: vec!["CREATE TABLE t (\n  a\n)".to_owned()],
            operations: vec![ShownOperation {
                name: "last".to_owned(),
                statements: vec![statement],
                ..ShownOperation::default()
            }],
        };
        let wanted = "schema:\n  CREATE TABLE t (\n    a\n  )\n\nquestion last\n  SELECT ?1\n    values: 7\n    plan:\n      SCAN t\n";
        assert_eq!(text(&shown, 0), wanted);
    }
}
