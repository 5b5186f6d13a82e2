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
    let cells = |arm| {
        let ledgers = field.trials_of(arm).filter_map(|trial| trial.ledger.as_ref()).collect_vec();
        let sum = |count: Count| match ledgers.as_slice() {
            [] => Cell::missing("nothing was counted: see the verdicts"),
            some => Cell::Count(some.iter().map(|ledger| count(ledger)).total()),
        };
        counts.map(|(_, count)| sum(count)).to_vec()
    };
    let columns = counts.map(|(name, _)| name).join("; ");
    let mut table = Table::of_arms(
        "ledger",
        "Readings, exact counts, summed over repetitions",
        &columns,
        field.writers(),
        cells,
    );
    let history = field
        .by_arm()
        .filter_map(|trial| trial.ledger.as_ref())
        .map(|ledger| ledger.history)
        .max()
        .unwrap_or(0);
    if history > 0 {
        let history = count_text(history as f64);
        table.note(format!(
            "Before them {history} readings of an earlier time were loaded in bulk, and proved with them."
        ));
    }
    if field.trials.iter().flat_map(|trial| &trial.tasks).any(crate::lifecycle::is_of_life) {
        table.note("What retention took counts as attempted, and in no further column.");
    }
    table.noted("acknowledged ≤ stored ≤ acknowledged + in doubt, unless a verdict says otherwise. Trials that are not valid are counted too.")
}

fn answers(field: &Field) -> Table {
    let is_cycles = field.run.workload == sensormark_workload::machine_tool::NAME;
    let cells = |arm| {
        let sum = |count| summed(field, arm, count, "nothing was read: see the verdicts");
        let reached = field.figures(arm, |trial| figure(trial, names::READS_PER_SECOND));
        let queries = field.figures(arm, |trial| {
            let answered = trial.latencies.get(names::CYCLE_READ)?.summary.count;
            let reads = trial.errors.values().copied().fold(answered, u64::saturating_add);
            Some(figure(trial, names::QUERIES)? / (reads > 0).then_some(reads as f64)?)
        });
        row![
            sum(|answers| answers.checked),
            sum(|answers| answers.wrong),
            failed(field, arm),
            geometric_mean(&reached, NO_TRIAL),
            smallest(&reached, NO_TRIAL),
            keeps_up(field, arm),
            geometric_mean(&queries, NO_TRIAL),
        ]
    };
    let title = if is_cycles { "Cycle reads" } else { "Reads" };
    let mut table = Table::of_arms("answers", title, "checked; wrong; failed; reached [reads/s]; slowest [reads/s]; keeps up; queries [per read]", &field.reads, cells)
        .noted("checked: answers compared with the generator's, warm-up included. reached: mean over repetitions; slowest: the slowest of them.");
    if let Some(asked) = asked(field) {
        table.note(format!(
            "keeps up: with {asked} reads a second, each due on time whether or not the one before is done."
        ));
    }
    table
}

/// What was counted of the answers of an arm's trials.
fn summed(field: &Field, arm: &Arm, count: fn(&AnswersRecord) -> u64, missing: &str) -> Cell {
    let counts = field.trials_of(arm).filter_map(|trial| trial.answers.as_ref()).map(count);
    Cell::count(counts.reduce(u64::saturating_add), missing)
}

/// Operations of an arm that failed.
fn failed(field: &Field, arm: &Arm) -> u64 {
    field.trials_of(arm).flat_map(|trial| trial.errors.values()).total()
}

/// Answers of trials of phases.
fn checked(field: &Field) -> Table {
    let cells = |arm| {
        let sum = |count| summed(field, arm, count, "nothing was asked");
        row![
            sum(|answers| answers.answered),
            sum(|answers| answers.checked),
            sum(|answers| answers.wrong),
            failed(field, arm),
        ]
    };
    let title = "Answers, summed over repetitions";
    Table::of_arms("checked_answers", title, "answered; checked; wrong; failed operations", &field.mixed, cells).noted("checked: answers compared in full with the generator's; of the others the length is. One wrong answer and the trial is invalid.")
}

/// Reads a second that were due, as a person writes it.
fn asked(field: &Field) -> Option<String> {
    let rate = field.trials.iter().find_map(|trial| figure(trial, names::READS_PER_SECOND_ASKED))?;
    Some(if rate.fract() == 0.0 { fixed(rate, 0) } else { rate.to_string() })
}

/// Whether every valid trial kept up.
fn keeps_up(field: &Field, arm: &Arm) -> Cell {
    match trials_behind(field, arm) {
        (_, 0) => Cell::missing(NO_TRIAL),
        (0, _) => Cell::yes(true),
        (behind, all) if behind == all => Cell::yes(false),
        (behind, all) => Cell::text(format!("no ({behind} of {all})")),
    }
}
