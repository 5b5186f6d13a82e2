//! What the user said must hold, and whether it did, trial by trial. Nothing where nothing was said.

use super::cells::counted;
use crate::report::field::Field;
use crate::report::tables::{Cell, Section, Table};

/// The section.
pub fn section(field: &Field) -> Section {
    let mut section = Section::new("limits", "Limits");
    let mut table = Table::new(
        "limits",
        "",
        &[
            ("implementation", ""),
            ("repetition", ""),
            ("limit", ""),
            ("measured", ""),
            ("met", ""),
        ],
    );
    let (mut all, mut missed) = (0, 0);
    for trial in &field.trials {
        for limit in &trial.limits {
            all += 1;
            missed += usize::from(!limit.met);
            table.row(vec![
                Cell::text(trial.implementation.label()),
                Cell::Count(u64::from(trial.repetition) + 1),
                Cell::text(limit.text.clone()),
                Cell::text(limit.words.clone()),
                Cell::text(if limit.met { "✓" } else { "✗" }),
            ]);
        }
    }
    if all > 0 {
        section.paragraph(match missed {
            0 => format!(
                "{} held against trials, and all met.",
                counted(all, "limit")
            ),
            _ => format!("{missed} of {} missed.", counted(all, "limit")),
        });
        section.table(table);
    }
    section
}
