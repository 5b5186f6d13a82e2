//! What the user said must hold, and whether it did, trial by trial. Nothing where nothing was said.

use crate::prelude::*;

/// The section.
pub fn section(field: &Field) -> Section {
    let mut section = Section::new("limits", "Limits");
    let mut table = Table::new("limits", "", "implementation; repetition; limit; measured; met");
    let (mut all, mut missed, mut open) = (0, 0, 0);
    for trial in &field.trials {
        for limit in &trial.limits {
            all += 1;
            open += usize::from(limit.is_undecided);
            missed += usize::from(!limit.met && !limit.is_undecided);
            table.row(row![
                trial.implementation.label(),
                u64::from(trial.repetition) + 1,
                &limit.text,
                &limit.words,
                match (limit.met, limit.is_undecided) {
                    (true, _) => "✓",
                    (false, true) => "?",
                    (false, false) => "✗",
                },
            ]);
        }
    }
    if all > 0 {
        let limits = counted(all, "limit");
        section.paragraph(match (missed, open) {
            (0, 0) => format!("{limits} held against trials, and all met."),
            (0, _) => format!("{open} of {limits} undecided; the others were met."),
            (_, 0) => format!("{missed} of {limits} missed."),
            _ => format!("{missed} of {limits} missed, {open} undecided."),
        });
        section.table(table);
    }
    section
}
