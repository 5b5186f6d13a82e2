//! Schema and statements of each layout, as the first repetition recorded them: tables that a page folds and text names.

use crate::prelude::*;

/// What was sent to each database, and how it keeps what it got.
pub fn section(field: &Field) -> Section {
    let mut section = Section::new("statements", "Schema and statements");
    let mut schemas =
        Table::detail("schema", "Schema of each layout", "implementation; as the database states it");
    // A row a line, since cells hold no line ends.
    let mut statements =
        Table::detail("sent", "Statements of each layout", "implementation; operation; part; line");
    let mut seen = BTreeSet::new();
    for trial in &field.trials {
        let Some(shown) = &trial.statements else {
            continue;
        };
        let implementation = &trial.implementation;
        let label = format!("{} {}", implementation.title, implementation.layout_name);
        // A workload with several trials of a layout keeps each operation in the trial that it is of.
        let lines = shown.schema.iter().flat_map(|part| part.lines());
        if !shown.schema.is_empty() && seen.insert((label.clone(), None)) {
            lines.for_each(|line| schemas.row(row![&label, line]));
        }
        for operation in &shown.operations {
            if seen.insert((label.clone(), Some((operation.writes, operation.name.clone())))) {
                add(&mut statements, &label, operation);
            }
        }
    }
    if !statements.rows.is_empty() {
        section.paragraph(
            "One operation of each kind as it was sent, with the database's own plan. `sensormark explain WORKLOAD --on STORE` prints all of it.",
        );
    }
    section.table(schemas);
    section.table(statements);
    section
}

fn add(table: &mut Table, label: &str, operation: &ShownOperation) {
    let name = match operation.readings {
        Some(readings) => format!("{} ({readings} readings)", operation.name),
        None => operation.name.clone(),
    };
    let mut rows =
        |part: &str, text: &str| text.lines().for_each(|line| table.row(row![label, &name, part, line]));
    for statement in &operation.statements {
        rows("statement", &statement.text);
        rows("values", &statement.values.join(", "));
        rows("note", statement.note.as_deref().unwrap_or_default());
        rows("plan", statement.plan.as_deref().unwrap_or_default());
    }
    rows("note", operation.note.as_deref().unwrap_or_default());
}
