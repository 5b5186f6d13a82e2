//! What the user said must hold, and whether it did, trial by trial. Nothing where nothing was said.

use crate::prelude::*;

/// The section.
pub fn section(field: &Field) -> Section {
    let rows = field.trials.iter().flat_map(|trial| {
        trial.limits.iter().map(move |limit| {
            row![
                trial.implementation.label(),
                u64::from(trial.repetition) + 1,
                &limit.text,
                &limit.words,
                match (limit.met, limit.is_undecided) {
                    (true, _) => "✓",
                    (false, true) => "?",
                    (false, false) => "✗",
                },
            ]
        })
    });
    let table = Table::new("limits", "", "implementation; repetition; limit; measured; met").with(rows);
    Section::of("limits", "Limits", [table])
}
