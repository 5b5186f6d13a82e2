//! Whether an implementation kept up with the load. One that did not has spared itself work: its costs
//! look better than they are, and the report has to say so.

use crate::{criteria::samples_per_second, prelude::*};

/// Percent of the readings that were lost before the writer took them, over all valid write trials of what is read.
pub fn lost_percent(field: &Field, read: &Arm) -> Known {
    let ledgers = field.valid_of(field.write_of(read)?).filter_map(|trial| trial.ledger.as_ref());
    let (mut lost, mut produced) = (0, 0);
    for ledger in ledgers {
        lost += ledger.lost_at_queue;
        produced += ledger.produced;
    }
    (produced > 0).then(|| lost as f64 * 100.0 / produced as f64)
}

/// How many valid trials did not keep up, of how many.
pub fn trials_behind(field: &Field, arm: &Arm) -> (usize, usize) {
    let kept = field.valid_of(arm).filter_map(|trial| figure(trial, names::KEEPS_UP));
    kept.fold((0, 0), |(behind, all), kept| (behind + usize::from(kept < 0.5), all + 1))
}

/// What it was given and did not do, in short; nothing where it kept up. What others did and it did not cost it nothing, so it is not ranked above them.
fn undone(field: &Field, read: &Arm) -> Vec<String> {
    let mut shortfalls = vec![];
    if let Some(lost) = lost_percent(field, read).filter(|lost| *lost > 0.0) {
        let percent = if lost < 0.01 { "< 0.01".to_owned() } else { significant(lost, 2) };
        shortfalls.push(format!("lost {percent} %"));
    }
    let not_started =
        |trial: &TrialRecord| -> u64 { trial.loads.iter().map(LoadRecord::fell_behind).total() };
    let most = field.valid_of(read).map(not_started).max().unwrap_or(0);
    if most > 0 {
        let operations = counted(most, "operation");
        shortfalls.push(format!("{operations} due and not started"));
    }
    if trials_behind(field, read).0 > 0 {
        let slowest = field
            .valid_of(read)
            .filter_map(|trial| figure(trial, names::READS_PER_SECOND))
            .fold(f64::INFINITY, f64::min);
        shortfalls.push(format!("{} reads/s", fixed(slowest, 1)));
    }
    match disk_limit(field, read).filter(|_| !shortfalls.is_empty()) {
        Some(disk) => vec![disk],
        None => shortfalls,
    }
}

/// Why it is not ranked above those that did everything: what it did not do, or that the disk cannot do it. Nothing where it kept up.
pub fn reason(field: &Field, read: &Arm) -> Option<String> {
    let undone = undone(field, read);
    if undone.is_empty() {
        return None;
    }
    Some(disk_limit(field, read).unwrap_or_else(|| format!("did not keep up: {}", undone.join(", "))))
}

/// That durable writes were due more often than the disk flushes, where they were.
fn disk_limit(field: &Field, read: &Arm) -> Option<String> {
    let flushes = field.run.environment["flushes"]["data"]["per_second"].as_f64()?;
    let write =
        field.write_of(read).filter(|write| write.implementation.durability == Durability::Durable)?;
    let due = field.valid_of(write).filter_map(|trial| writes_due(field, trial)).reduce(f64::max)?;
    let words = [flushes, due].map(|rate| fixed(rate, 0));
    let [flushed, wanted] = &words;
    (flushes < due)
        .then(|| format!("this disk flushes {flushed} times a second, and {wanted} durable writes were due"))
}

/// Writes a second that were due at a steady rate, of all clients.
fn writes_due(field: &Field, trial: &TrialRecord) -> Known {
    if field.has_phases() {
        // A load that a task's end stopped had more planned than was due.
        let of = |load: &LoadRecord| {
            let started: u64 = load.classes.values().map(|class| class.operations).sum();
            (started + load.not_started) as f64 / load.seconds
        };
        return trial
            .loads
            .iter()
            .filter(|load| load.writes && load.open_loop && load.seconds > 0.0)
            .map(of)
            .reduce(f64::max);
    }
    let readings_a_write = trial.ledger.as_ref()?.attempted as f64 / figure(trial, names::STATEMENTS)?;
    Some(samples_per_second(&field.run)? / readings_a_write)
}

/// What it did not keep up with, phases among it that were cut: those have the costs of what was done.
pub fn shortfalls(field: &Field, read: &Arm) -> Vec<String> {
    let mut shortfalls = undone(field, read);
    let count = |trial: &TrialRecord| trial.loads.iter().filter(|load| load.cut_short().is_some()).count();
    let cut = field.valid_of(read).map(count).max().unwrap_or(0);
    if cut > 0 {
        shortfalls.push(format!("{} cut", counted(cut, "phase")));
    }
    shortfalls
}

/// "yes", or what it fell short of.
pub fn cell(field: &Field, read: &Arm) -> Cell {
    let shortfalls = shortfalls(field, read);
    if shortfalls.is_empty() {
        return Cell::yes(true);
    }
    Cell::text(format!("no: {}", shortfalls.join(", ")))
}
