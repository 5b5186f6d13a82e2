//! What the report says of durability trials: what survived of what had been acknowledged when the server was killed.

use super::criteria::figure;
use super::field::{Arm, Field};
use super::tables::{Cell, Section, Table};
use sensormark_data::units::Total;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{LedgerRecord, TrialRecord};
use sensormark_store::Durability;

/// The section.
pub fn section(field: &Field) -> Section {
    let mut section = Section::new("survival", "What survived");
    section.paragraph(
        "Each server (or the program that holds an embedded database) was killed (SIGKILL) while clients wrote, started again on the same data folder, and everything in it was read back. \
         This tries a crash of the database's process alone: what the operating system had taken over survives that. \
         A power cut, or a crash of the operating system, was not tried.",
    );
    section.table(survival(field));
    section
}

fn survival(field: &Field) -> Table {
    let mut table = Table::new(
        "survival",
        "Acknowledged readings after a kill, exact counts, summed over repetitions",
        &[
            "implementation",
            "class",
            "acknowledged",
            "survived",
            "lost",
            "in doubt",
            "of these stored",
            "killed after [s]",
            "ready again after [s]",
            "outage [s]",
        ],
    );
    for arm in &field.mixed {
        table.row(row(field, arm));
    }
    table.note("acknowledged: the database had said that they are stored, in the sense of the class. In class durable all of them have to survive, else the trial is invalid; the other classes promise less. Where one member of a cluster was killed, its consistency level decides first.");
    table.note("An embedded database ends with the program that writes: acknowledged is what that had told five times a second until then.");
    table.note("outage: of one member of a cluster, the longest time in which no operation succeeded, from its loss until the clients stopped; 0 where it was under 0.1 s. The other members ran on, and the lost one was started again.");
    table.note(
        "in doubt: sent when the server was killed, and never acknowledged; stored or not, both are right.",
    );
    table
}

fn row(field: &Field, arm: &Arm) -> Vec<Cell> {
    let trials: Vec<&TrialRecord> = field.trials_of(arm).flatten().collect();
    let ledgers: Vec<&LedgerRecord> = trials.iter().filter_map(|trial| trial.ledger.as_ref()).collect();
    let reason = trials.iter().flat_map(|trial| &trial.loads).find_map(|load| load.not_supported.as_deref());
    let missing = reason.map_or_else(
        || "nothing was counted: see the verdicts".to_owned(),
        |reason| format!("not supported: {reason}"),
    );
    let sum = |count: fn(&LedgerRecord) -> u64| match ledgers.as_slice() {
        [] => Cell::Missing(missing.clone()),
        some => Cell::Count(some.iter().map(|ledger| count(ledger)).total()),
    };
    let longest = |name: &str| {
        let values = trials.iter().filter_map(|trial| figure(trial, name));
        Cell::maybe(values.reduce(f64::max), &missing)
    };
    let class = arm.implementation.durability;
    let lost_one = |trial: &&TrialRecord| figure(trial, names::OUTAGE).is_some();
    let outage = if trials.iter().any(lost_one) {
        longest(names::OUTAGE)
    } else {
        Cell::Missing("the whole was killed, and nobody was left to answer".to_owned())
    };
    vec![
        Cell::text(label(&arm.label, class)),
        Cell::text(class.text()),
        sum(|ledger| ledger.acknowledged),
        sum(|ledger| ledger.acknowledged.saturating_sub(ledger.lost)),
        sum(|ledger| ledger.lost),
        sum(|ledger| ledger.in_doubt),
        sum(|ledger| ledger.in_doubt.saturating_sub(ledger.in_doubt_not_stored)),
        longest(names::KILLED_AFTER),
        longest(names::RESTART),
        outage,
    ]
}

/// The implementation's name without the class, which has a column of its own.
fn label(label: &str, class: Durability) -> &str {
    let ending = format!(", {}", class.text());
    label.strip_suffix(ending.as_str()).unwrap_or(label)
}
