//! The ledger: what was produced, acknowledged and stored, exactly; and how many answers were checked.

use crate::{keeping_up::trials_behind, prelude::*, sections::cells::smallest};

/// The section.
pub fn section(field: &Field) -> Section {
    Section::of("readings", "Readings and answers", [ledger(field), answers(field), checked(field)])
}

fn ledger(field: &Field) -> Table {
    type Count = fn(&LedgerRecord) -> u64;
    let counts: [(&str, Count); 11] = [
        ("produced", |ledger| ledger.produced),
        ("lost at the queue", |ledger| ledger.lost_at_queue),
        ("attempted", |ledger| ledger.attempted),
        ("acknowledged", |ledger| ledger.acknowledged),
        ("in doubt", |ledger| ledger.in_doubt),
        ("refused", |ledger| ledger.refused),
        ("stored", |ledger| ledger.stored),
        ("duplicated", |ledger| ledger.duplicated),
        ("lost", |ledger| ledger.lost),
        ("in doubt, not stored", |ledger| ledger.in_doubt_not_stored),
        ("altered", |ledger| ledger.altered),
    ];
    let mut columns = vec!["implementation"];
    columns.extend(counts.iter().map(|(name, _)| *name));
    let mut table = Table::new("ledger", "Readings, exact counts, summed over repetitions", &columns);
    for (_, arm) in field.all().filter(|(side, _)| *side != "read") {
        let ledgers: Vec<&LedgerRecord> =
            field.trials_of(arm).filter_map(|trial| trial.ledger.as_ref()).collect();
        let sum = |count: Count| match ledgers.as_slice() {
            [] => Cell::missing("nothing was counted: see the verdicts"),
            some => Cell::Count(some.iter().map(|ledger| count(ledger)).total()),
        };
        let mut row = row![&arm.label];
        row.extend(counts.iter().map(|(_, count)| sum(*count)));
        table.row(row);
    }
    let ledgers = field.by_arm().filter_map(|trial| trial.ledger.as_ref());
    let history = ledgers.map(|ledger| ledger.history).max().unwrap_or(0);
    if history > 0 {
        let history = count_text(history as f64);
        table.note(format!(
            "Before them {history} readings of an earlier time were loaded in bulk, and proved with them."
        ));
    }
    if field.trials.iter().flat_map(|trial| &trial.tasks).any(crate::lifecycle::is_of_life) {
        table.note("What retention took counts as attempted, and in no further column.");
    }
    table.note("acknowledged ≤ stored ≤ acknowledged + in doubt, unless a verdict says otherwise. Trials that are not valid are counted too.");
    table
}

fn answers(field: &Field) -> Table {
    let is_cycles = field.run.workload == sensormark_workload::machine_tool::NAME;
    let mut table = Table::new(
        "answers",
        if is_cycles { "Cycle reads" } else { "Reads" },
        &[
            "implementation",
            "checked",
            "wrong",
            "failed",
            "reached [reads/s]",
            "slowest [reads/s]",
            "keeps up",
            "queries [per read]",
        ],
    );
    for arm in &field.reads {
        let trials: Vec<&TrialRecord> = field.trials_of(arm).collect();
        let sum = |count| summed(&trials, count, "nothing was read: see the verdicts");
        let reached = field.figures(arm, |trial| figure(trial, names::READS_PER_SECOND));
        let queries = field.figures(arm, |trial| {
            let answered = trial.latencies.get(names::CYCLE_READ)?.summary.count;
            let failed = trial.errors.values().copied();
            let reads = failed.fold(answered, u64::saturating_add);
            Some(figure(trial, names::QUERIES)? / (reads > 0).then_some(reads as f64)?)
        });
        table.row(row![
            &arm.label,
            sum(|answers| answers.checked),
            sum(|answers| answers.wrong),
            trials.iter().flat_map(|trial| trial.errors.values()).total(),
            geometric_mean(&reached, "no valid trial"),
            smallest(&reached, "no valid trial"),
            keeps_up(field, arm),
            geometric_mean(&queries, "no valid trial"),
        ]);
    }
    table.note("checked: answers compared with the generator's, warm-up included. reached: mean over repetitions; slowest: the slowest of them.");
    if let Some(asked) = asked(field) {
        table.note(format!(
            "keeps up: with {asked} reads a second, each due on time whether or not the one before is done."
        ));
    }
    table
}

/// What was counted of the answers of these trials.
fn summed(trials: &[&TrialRecord], count: fn(&AnswersRecord) -> u64, missing: &str) -> Cell {
    let counts = trials.iter().filter_map(|trial| trial.answers.as_ref()).map(count);
    Cell::count(counts.reduce(u64::saturating_add), missing)
}

/// Answers of trials of phases.
fn checked(field: &Field) -> Table {
    let columns = ["implementation", "answered", "checked", "wrong", "failed operations"];
    let mut table = Table::new("checked_answers", "Answers, summed over repetitions", &columns);
    for arm in &field.mixed {
        let trials: Vec<&TrialRecord> = field.trials_of(arm).collect();
        let sum = |count| summed(&trials, count, "nothing was asked");
        let failed = trials.iter().flat_map(|trial| trial.errors.values()).total();
        table.row(row![
            &arm.label,
            sum(|answers| answers.answered),
            sum(|answers| answers.checked),
            sum(|answers| answers.wrong),
            failed,
        ]);
    }
    table.note("checked: answers compared in full with the generator's; of the others the length is. One wrong answer and the trial is invalid.");
    table
}

/// Reads a second that were due, as a person writes it.
fn asked(field: &Field) -> Option<String> {
    let rate = field.trials.iter().find_map(|trial| figure(trial, names::READS_PER_SECOND_ASKED))?;
    Some(if rate.fract() == 0.0 { fixed(rate, 0) } else { rate.to_string() })
}

/// Whether every valid trial kept up.
fn keeps_up(field: &Field, arm: &Arm) -> Cell {
    match trials_behind(field, arm) {
        (_, 0) => Cell::missing("no valid trial"),
        (0, _) => Cell::yes(true),
        (behind, all) if behind == all => Cell::yes(false),
        (behind, all) => Cell::text(format!("no ({behind} of {all})")),
    }
}
