//! A run: every cell of a workload, repetition by repetition, the cells taking turns so that drift hits all alike.
//!
//! This module orders cells, repeats what was measured on a disturbed host, keeps the records, and stops in good order. A cell is a store with a layout. The
//! workload decides what happens inside one: its server, its writing, its reading.

use super::context::{Cell, CellRunner, RunContext, RunEvent, TrialPosition, trial_label};
use super::judge::client::confined;
use super::quiet_host;
use super::repeats::RepeatBudget;
use super::selection::Choice;
use super::site::{block_on, existing_endpoint};
use crate::measurement::folder::FolderError;
use crate::measurement::record::{NotMeasured, TrialRecord};
use crate::measurement::verdict::ReasonKind;
use sensormark_server::Supervisor;
use sensormark_store::{ErrorKind, StoreError};
use std::collections::BTreeSet;
use std::time::Instant;

/// How a run ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunOutcome {
    /// Trials with a valid verdict.
    pub valid: usize,
    /// Trials with another verdict.
    pub not_valid: usize,
    /// Limits of the user's that were missed.
    pub limits_missed: usize,
    /// Whether a store could not be reached or started.
    pub unreachable: bool,
    /// Whether the user broke the run off.
    pub interrupted: bool,
}

/// Asks every existing server for its version and looks for every program, before anything is measured.
///
/// # Errors
/// The first that cannot be reached; one that is not installed is an error too unless `optional` (asked for by `all`), when it is
/// left out with its reason.
pub fn preflight(
    supervisor: &Supervisor,
    choices: Vec<Choice>,
    optional: bool,
) -> Result<(Vec<Choice>, Vec<NotMeasured>), StoreError> {
    let (mut here, mut missing) = (Vec::new(), Vec::new());
    for choice in choices {
        let checked = match existing_endpoint(supervisor, &choice) {
            Ok(Some(endpoint)) => block_on(choice.store.version(&endpoint)).map(|_| ()),
            Ok(None) => choice.store.installation().map(|_| ()),
            Err(error) => Err(error),
        };
        match checked {
            Ok(()) => here.push(choice),
            Err(error) if optional && error.kind() == ErrorKind::NotInstalled => {
                missing.push(NotMeasured {
                    implementation: choice.title(),
                    reason: format!("not available: {}", error.context()),
                });
            }
            Err(error) => return Err(error),
        }
    }
    Ok((here, missing))
}

/// Estimates from this length on are explained, in seconds.
const LONG_SECONDS: f64 = 600.0;

/// Measures all cells, `repetitions` times, and keeps every record.
///
/// # Errors
/// When a record cannot be written; what was written stays.
pub fn run(
    context: &RunContext<'_>,
    runner: &dyn CellRunner,
    cells: &[Cell],
    repetitions: u32,
) -> Result<RunOutcome, FolderError> {
    let once: f64 = cells.iter().map(|cell| runner.seconds(cell)).sum();
    let trials: usize = cells.iter().map(|cell| runner.trials(cell)).sum();
    context.observer.event(RunEvent::Started {
        trials: trials * repetitions as usize,
        seconds: once * f64::from(repetitions),
    });
    if once * f64::from(repetitions) >= LONG_SECONDS {
        let supposed: BTreeSet<String> = cells
            .iter()
            .filter_map(|cell| runner.supposes(cell))
            .collect();
        for line in supposed {
            context.observer.event(RunEvent::Note(line));
        }
    }
    let is_server = |cell: &Cell| !cell.choice.store.description().embedded;
    if let Some(why) = confined(context.limits).filter(|_| cells.iter().any(is_server)) {
        let note = format!("no trial of a server can be valid here: {why}");
        context.observer.event(RunEvent::Note(note));
    }
    quiet_host::look_ahead(context);
    let mut outcome = RunOutcome::default();
    let announced = once * f64::from(repetitions);
    let mut budget = RepeatBudget::new(context.disturbed_host, announced);
    for repetition in 0..repetitions {
        for turn in 0..cells.len() {
            if context.is_interrupted() {
                break;
            }
            let cell = &cells[(turn + repetition as usize) % cells.len()];
            let turn = TrialPosition {
                repetition,
                turn: u32::try_from(turn).unwrap_or(u32::MAX),
                attempt: 0,
            };
            for record in measure(context, runner, cell, turn, &mut budget)? {
                if record.verdict.is_valid() {
                    outcome.valid += 1;
                } else {
                    outcome.not_valid += 1;
                }
                let missed = record.limits.iter().filter(|limit| !limit.met);
                outcome.limits_missed += missed.count();
                let reasons = record.verdict.reasons();
                outcome.unreachable |= reasons
                    .iter()
                    .any(|reason| reason.kind == ReasonKind::Unreachable);
            }
        }
    }
    outcome.interrupted = context.is_interrupted();
    Ok(outcome)
}

/// Measures one cell. What was measured of it on a disturbed host is repeated, as far as the budget goes. All attempts are kept, and
/// [`TrialRecord::counts_instead_of`] decides which one counts.
fn measure(
    context: &RunContext<'_>,
    runner: &dyn CellRunner,
    cell: &Cell,
    mut turn: TrialPosition,
    budget: &mut RepeatBudget,
) -> Result<Vec<TrialRecord>, FolderError> {
    let mut cell = cell.clone();
    let (mut counted, mut attempts): (Vec<TrialRecord>, Vec<TrialRecord>) = Default::default();
    loop {
        let began = Instant::now();
        let (mut written, mut measured) = (Ok(()), Vec::new());
        runner.run_cell(context, &cell, turn, &attempts, &mut |record| {
            if written.is_ok() {
                written = context.folder.write_trial(&record);
            }
            // A trial is said to be finished once it is on disk.
            if written.is_ok() {
                context.observer.event(RunEvent::TrialFinished {
                    label: trial_label(&record),
                    verdict: record.verdict.clone(),
                    disturbances: record.disturbances.clone(),
                });
            }
            measured.push(record.clone());
            let label = trial_label(&record);
            match counted.iter_mut().find(|one| trial_label(one) == label) {
                None => counted.push(record),
                Some(one) if record.counts_instead_of(one) => *one = record,
                Some(_) => {}
            }
        });
        written?;
        attempts.extend(measured);
        if turn.attempt > 0 {
            budget.repeated(began);
        }
        let again: Vec<&TrialRecord> = counted.iter().filter(|one| one.is_disturbed()).collect();
        if again.is_empty() || context.is_interrupted() {
            return Ok(counted);
        }
        cell.strategies.retain(|name| {
            let mut strategies = again.iter().map(|one| &one.implementation.strategy);
            strategies.any(|strategy| strategy.as_ref() == Some(name))
        });
        if !budget.allows(turn.attempt, runner.seconds(&cell)) {
            return Ok(counted);
        }
        let is_quiet = quiet_host::wait(context, budget);
        if context.is_interrupted() || !(is_quiet || budget.repeats_on_a_busy_host()) {
            return Ok(counted);
        }
        turn.attempt += 1;
        announce_again(context, runner, &cell, turn);
    }
}

fn announce_again(
    context: &RunContext<'_>,
    runner: &dyn CellRunner,
    cell: &Cell,
    turn: TrialPosition,
) {
    context.observer.event(RunEvent::Again {
        trials: runner.trials(cell),
        seconds: runner.seconds(cell),
    });
    context.observer.event(RunEvent::Note(format!(
        "other programs used this machine, so sensormark repeats {} {} (attempt {} of {})",
        cell.choice.title(),
        cell.layout_name,
        turn.attempt + 1,
        context.disturbed_host.most_repeats() + 1
    )));
}
