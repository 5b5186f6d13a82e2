//! Verdicts: how many trials may be believed, and why each of the others may not.

use crate::prelude::*;
use sensormark_result::measurement::verdict::Verdict;

const COLUMNS: &str = "implementation; side; repetition; verdict; reason";

/// The section.
pub fn section(field: &Field) -> Section {
    let mut section = Section::new("verdicts", "Verdicts");
    let count = |is: fn(&Verdict) -> bool| field.trials.iter().filter(|trial| is(&trial.verdict)).count();
    let valid = count(Verdict::is_valid);
    let not_counted = count(Verdict::is_inconclusive);
    let invalid = count(|verdict| matches!(verdict, Verdict::Invalid(_)));
    let tolerated = field.trials.iter().filter(|trial| trial.is_rough()).count();
    let trials = counted(field.trials.len(), "trial");
    let mut text = match field.trials.len() {
        0 => "No trial was finished.".to_owned(),
        _ if tolerated > 0 => format!(
            "{} of {trials} valid, {tolerated} disturbed and counted as rough, {not_counted} disturbed and not counted, {invalid} invalid.",
            valid - tolerated
        ),
        1 if valid == 1 => "The 1 trial is valid.".to_owned(),
        all if all == valid => format!("All {trials} are valid."),
        _ => {
            format!("{valid} of {trials} valid, {not_counted} disturbed and not counted, {invalid} invalid.")
        }
    };
    if !field.superseded.is_empty() {
        let more = counted(field.superseded.len(), "further attempt");
        text += &format!(
            " Other programs used the machine, so sensormark repeated trials. Of each trial one attempt counts, so {more} do not."
        );
    }
    if field.run.finished.is_none() {
        text.push_str(
            " The run has no end yet: it goes on, or was broken off. This is what was finished until now.",
        );
    }
    section.paragraph(text);
    section.tables([not_valid(field), tolerated_trials(field)]);
    section
}

fn tolerated_trials(field: &Field) -> Table {
    let mut table =
        Table::new("tolerated", "Disturbed trials that count: their rates and latencies are rough", COLUMNS);
    for trial in field.trials.iter().filter(|trial| trial.is_rough()) {
        for disturbance in &trial.disturbances {
            table.row(row(trial, trial.state(), disturbance.to_owned()));
        }
    }
    table
}

fn not_valid(field: &Field) -> Table {
    let mut table =
        Table::new("not_valid", "Trials that are not valid: their figures are in no ranking", COLUMNS);
    // Disturbed trials that were repeated are only counted.
    for trial in field.superseded.iter().filter(|trial| matches!(trial.verdict, Verdict::Invalid(_))) {
        table.row(row(trial, "invalid (another attempt counts)", reasons(trial)));
    }
    for trial in &field.trials {
        match trial.verdict {
            Verdict::Valid => {}
            Verdict::Invalid(_) => table.row(row(trial, "invalid", reasons(trial))),
            Verdict::Inconclusive(_) => table.row(row(trial, trial.state(), reasons(trial))),
        }
    }
    table
}

fn reasons(trial: &TrialRecord) -> String {
    trial.verdict.reasons().iter().map(|reason| format!("{}: {}", reason.kind.text(), reason.text)).join("; ")
}

fn row(trial: &TrialRecord, verdict: &str, reasons: String) -> Vec<Cell> {
    let side = match trial.side {
        Side::Write => "write",
        Side::Read => "read",
        Side::Mixed => "both",
    };
    row![trial.implementation.label(), side, u64::from(trial.repetition) + 1, verdict, reasons,]
}
