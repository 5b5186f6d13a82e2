//! A run: every case of a workload, repetition by repetition, the cases taking turns so that drift hits all alike.
//!
//! This module orders cases, repeats what was measured on a disturbed host, keeps the records, and stops in good order. A case is a store with a layout. The
//! workload decides what happens inside one: its server, its writing, its reading.

use super::benchmark_case::BenchmarkCase;
use super::context::{CaseRunner, RunContext, RunEvent, TrialPosition, trial_label};
use super::deployment::{block_on, existing_endpoint};
use super::freed;
use super::judge::client::confined;
use super::quiet_host;
use super::repeats::RepeatBudget;
use super::run_plan::{RunPlan, ScheduledCase};
use super::selection::Choice;
use super::time_left::{Left, PlannedCase, TimeLeft};
use sensormark_result::measurement::folder::FolderError;
use sensormark_result::measurement::record::{LimitRecord, NotMeasured, TrialRecord};
use sensormark_result::measurement::verdict::ReasonKind;
use sensormark_server::Supervisor;
use sensormark_store::{ErrorKind, StoreError};
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

impl RunOutcome {
    /// Counts a trial that counts.
    fn count(&mut self, record: &TrialRecord) {
        *(if record.verdict.is_valid() { &mut self.valid } else { &mut self.not_valid }) += 1;
        let is_missed = |limit: &&LimitRecord| !limit.met && !limit.is_undecided;
        self.limits_missed += record.limits.iter().filter(is_missed).count();
        let reasons = record.verdict.reasons();
        let has = |kind| reasons.iter().any(|reason| reason.kind == kind);
        // A server that stopped is not reached either, but it was.
        self.unreachable |= has(ReasonKind::Unreachable) && !has(ReasonKind::ServerCrashed);
    }
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

/// What a run spends: on repeats, and how long it still takes.
struct Spending {
    budget: RepeatBudget,
    left: TimeLeft,
}

/// Measures all cases, `repetitions` times, and keeps every record.
///
/// # Errors
/// When a record cannot be written; what was written stays.
pub fn run(
    context: &RunContext<'_>,
    runner: &dyn CaseRunner,
    cases: &[BenchmarkCase],
    repetitions: u32,
) -> Result<RunOutcome, FolderError> {
    let plan = RunPlan::new(runner, cases, repetitions, &context.terms());
    let repeated_share = announce(context, cases, &plan);
    let planned = plan.schedule.iter().map(|scheduled| PlannedCase {
        case: scheduled.case,
        store: cases[scheduled.case].choice.title(),
        seconds: plan.case_seconds(scheduled),
    });
    let mut spending = Spending {
        budget: RepeatBudget::new(context.disturbed_host, plan.seconds()),
        left: TimeLeft::new(planned.collect(), repeated_share),
    };
    let mut outcome = RunOutcome::default();
    for scheduled in &plan.schedule {
        if context.is_interrupted() {
            break;
        }
        for record in measure(context, runner, &cases[scheduled.case], scheduled, &mut spending)? {
            outcome.count(&record);
        }
        freed::give_back();
    }
    outcome.interrupted = context.is_interrupted();
    Ok(outcome)
}

/// Says how many trials there are, how long they take, and what is known before of how they will end. Gives what repeats are expected to add, as a share.
fn announce(context: &RunContext<'_>, cases: &[BenchmarkCase], plan: &RunPlan) -> f64 {
    let is_busy = quiet_host::look_ahead(context);
    let (host, once) = (context.disturbed_host, plan.seconds());
    let repeats = host.expected_repeats_seconds(once, is_busy);
    context.observer.event(RunEvent::Started {
        trials: plan.trials(),
        seconds: once + repeats,
        most_seconds: plan.most_seconds(host),
    });
    let is_server = |case: &BenchmarkCase| !case.choice.store.description().embedded;
    if let Some(why) = confined(context.limits).filter(|_| cases.iter().any(is_server)) {
        let note = format!("no trial of a server can be valid here: {why}");
        context.observer.event(RunEvent::Note(note));
    }
    repeats / once
}

/// Tells who watches how long the run still takes.
fn tell(context: &RunContext<'_>, Left { now, after }: Left) {
    context.observer.event(RunEvent::TimeLeft { now, after });
}

/// Measures one case. What was measured of it on a disturbed host is repeated, as far as the budget goes. All attempts are kept, and
/// [`TrialRecord::counts_instead_of`] decides which one counts.
fn measure(
    context: &RunContext<'_>,
    runner: &dyn CaseRunner,
    case: &BenchmarkCase,
    scheduled: &ScheduledCase,
    Spending { budget, left }: &mut Spending,
) -> Result<Vec<TrialRecord>, FolderError> {
    let mut turn = TrialPosition {
        repetition: scheduled.repetition,
        turn: u32::try_from(scheduled.place).unwrap_or(u32::MAX),
        attempt: 0,
    };
    let mut case = case.clone();
    let (mut counted, mut attempts): (Vec<TrialRecord>, Vec<TrialRecord>) = Default::default();
    tell(context, left.left(budget.most_seconds()));
    loop {
        let began = Instant::now();
        let measured = attempt(context, runner, (&case, turn), &attempts, &mut counted)?;
        attempts.extend(measured);
        let took = began.elapsed().as_secs_f64();
        if turn.attempt > 0 {
            budget.repeated(began);
            left.repeated(took);
        } else {
            left.finished(took);
        }
        let again: Vec<&TrialRecord> = counted.iter().filter(|one| one.is_disturbed()).collect();
        if again.is_empty() || context.is_interrupted() {
            return Ok(counted);
        }
        case.strategies.retain(|name| {
            let mut strategies = again.iter().map(|one| &one.implementation.strategy);
            strategies.any(|strategy| strategy.as_ref() == Some(name))
        });
        let estimate = runner.estimate(&case, &context.terms());
        let repeat = left.left_of_repeat(estimate.seconds(), budget.most_seconds());
        if !budget.allows(turn.attempt, repeat.now) {
            return Ok(counted);
        }
        let waiting = Instant::now();
        let is_quiet = quiet_host::wait(context, budget);
        left.repeated(waiting.elapsed().as_secs_f64());
        if context.is_interrupted() || !(is_quiet || budget.repeats_on_a_busy_host()) {
            return Ok(counted);
        }
        turn.attempt += 1;
        announce_again(context, (estimate.trials.len(), repeat), &case, turn);
    }
}

/// Measures a case once, keeps the records, and gives them; `counted` has the best of all attempts afterwards.
fn attempt(
    context: &RunContext<'_>,
    runner: &dyn CaseRunner,
    (case, turn): (&BenchmarkCase, TrialPosition),
    earlier: &[TrialRecord],
    counted: &mut Vec<TrialRecord>,
) -> Result<Vec<TrialRecord>, FolderError> {
    let (mut written, mut measured) = (Ok(()), Vec::new());
    runner.run_case(context, case, turn, earlier, &mut |record| {
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
    Ok(measured)
}

fn announce_again(
    context: &RunContext<'_>,
    (trials, left): (usize, Left),
    case: &BenchmarkCase,
    turn: TrialPosition,
) {
    context.observer.event(RunEvent::Again { trials, seconds: left.now });
    tell(context, left);
    context.observer.event(RunEvent::Note(format!(
        "other programs used this machine, so sensormark repeats {} {} (attempt {} of {})",
        case.choice.title(),
        case.layout_name,
        turn.attempt + 1,
        context.disturbed_host.most_repeats() + 1
    )));
}
