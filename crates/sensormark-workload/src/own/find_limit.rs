//! The highest rate of the writers that holds the limits, or the most people who can watch the dashboards. [`raised`] knows which. The number of the file is
//! quadrupled or quartered until the limit lies between two. Then it is bisected.
//!
//! Each probe is a whole trial with a database of its own. It holds if the trial is valid, its clients kept up, and every limit is met. [`probes`] says what a
//! probe tells of its number, and [`search`] which comes next. The record of the first probe is kept, and says what became of each. The first is at the sensors'
//! own rate for every implementation, so that they can be compared. A search that could not be ended leaves an invalid record without a rate.

mod probes;
mod raised;
mod search;

use super::limit::{Limit, What};
use super::parameters::Parameters;
use probes::Probes;
use raised::Raised;
pub use raised::{HIGHEST_RATE, HIGHEST_RATE_LIMIT, MOST_USERS_LIMIT, Sought, is_found, is_of_needed};
use sensormark_data::quantity::short;
use sensormark_engine::benchmark_case::BenchmarkCase;
use sensormark_engine::context::{CaseRunner, Observer, RunContext, RunEvent, TrialPosition};
use sensormark_engine::estimate::{CaseEstimate, Terms};
use sensormark_engine::parameter::read;
use sensormark_engine::trial::Ending;
use sensormark_engine::trial::WorkloadFactory;
use sensormark_engine::trial::case::TrialRunner;
use sensormark_result::measurement::record::{Figure, LimitRecord, TrialRecord};
use sensormark_result::measurement::verdict::{Reason, ReasonKind, Verdict};
use serde_json::{Value, json};
use std::sync::Arc;

/// Attempts of trials that are measured again are this far from probes of one attempt, so that their raw files have names of their own.
const ATTEMPT: u32 = 100;

/// Finds the limit of each case.
pub struct FindLimit {
    factory: Arc<dyn WorkloadFactory>,
    sought: Sought,
    parameters: Parameters,
    /// The same at one size.
    at_one_size: Parameters,
    /// Readings that the file's sensors send in a second, or people who watch: from here the search begins.
    needed: f64,
    /// What the rate that is found is held against.
    headroom: Vec<Limit>,
}

impl FindLimit {
    /// Of a workload whose writers have a rate, or which has dashboards.
    ///
    /// # Errors
    /// That there is nothing to raise, in words.
    pub fn new(
        factory: Arc<dyn WorkloadFactory>,
        parameters: &Value,
        sought: Sought,
    ) -> Result<Self, String> {
        let mut own: Parameters = read(parameters)?;
        let needed = sought.begin(&mut own.at_one_size()).and_then(|_| sought.begin(&mut own));
        let needed = needed.map_err(|wrong| format!("--find-limit {wrong}"))?;
        let is_headroom = |limit: &&Limit| limit.what == What::Headroom && sought == Sought::Rate;
        Ok(Self {
            factory,
            sought,
            at_one_size: own.at_one_size(),
            needed,
            headroom: own.limits.iter().filter(is_headroom).cloned().collect(),
            parameters: own,
        })
    }

    /// What goes through a trial at a rate or number.
    fn runner(&self, number: f64, whole: bool) -> TrialRunner {
        let mut own = if whole { self.parameters.clone() } else { self.at_one_size.clone() };
        self.sought.put(&mut own, number);
        TrialRunner { factory: Arc::clone(&self.factory), parameters: json!(own) }
    }

    /// One trial at a rate.
    fn probe(
        &self,
        context: &RunContext<'_>,
        case: &BenchmarkCase,
        turn: TrialPosition,
        (rate, whole): (f64, bool),
    ) -> Option<(TrialRecord, Ending)> {
        let runner = self.runner(rate, whole);
        let text = format!("{rate:.0} {}", self.sought.counted());
        let watched = OneProbe { observer: context.observer, text };
        let mut context = context.clone();
        context.observer = &watched;
        let mut probe = None;
        runner.go_through(&context, case, turn, &[], &mut |record, ending| {
            probe = Some((record, ending));
        });
        probe
    }
}

/// Who watches the run, told which probe begins.
struct OneProbe<'a> {
    observer: &'a dyn Observer,
    text: String,
}

impl Observer for OneProbe<'_> {
    fn event(&self, event: RunEvent) {
        self.observer.event(match event {
            RunEvent::TrialStarted { label, seconds } => {
                RunEvent::TrialStarted { label: format!("{label}, probe of {}", self.text), seconds }
            }
            other => other,
        });
    }
}

/// How many probes a search takes where a database holds some hundred times the sensors' own rate: up to that in fours, then four to be within a tenth.
const USUAL_PROBES: f64 = 9.0;

impl CaseRunner for FindLimit {
    fn estimate(&self, case: &BenchmarkCase, terms: &Terms) -> CaseEstimate {
        let probe = self.runner(self.needed, false).estimate(case, terms);
        // Each probe is on a database of its own. The search is one trial.
        let seconds = probe.seconds() * USUAL_PROBES;
        let mut trials = probe.trials;
        trials.truncate(1);
        for trial in &mut trials {
            trial.seconds = seconds;
        }
        CaseEstimate { server_seconds: 0.0, trials, ..probe }
    }

    fn run_case(
        &self,
        context: &RunContext<'_>,
        case: &BenchmarkCase,
        turn: TrialPosition,
        _earlier: &[TrialRecord],
        finished: &mut dyn FnMut(TrialRecord),
    ) {
        let position = |number: usize| {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            TrialPosition { attempt: turn.attempt * ATTEMPT + number, ..turn }
        };
        // Every size is measured at the sensors' own rate, and the search is done at one.
        let sizes = self.parameters != self.at_one_size;
        let whole = sizes.then(|| self.probe(context, case, position(0), (self.needed, true))).flatten();
        let raised = Raised { sought: self.sought, own: &self.parameters };
        let mut probes = Probes::new(raised, self.needed);
        while !probes.is_over() && !context.is_interrupted() {
            let rate = probes.search.next();
            let probe = position(probes.said.len() + usize::from(sizes));
            let Some((mut record, ending)) = self.probe(context, case, probe, (rate, false)) else {
                break;
            };
            record.attempt = turn.attempt;
            let text = probes.take(rate, record, ending);
            context.observer.event(RunEvent::Note(text));
        }
        if let Some((mut record, _)) = whole {
            record.attempt = turn.attempt;
            probes.first = probes.first.is_some().then_some(record);
        }
        if let Some(record) = self.conclude(probes) {
            finished(record);
        }
    }
}

/// The record of a search that came to no end: invalid, and without a rate.
fn broken_off(mut record: TrialRecord, why: String, sought: Sought) -> TrialRecord {
    let (name, unit) = sought.figure();
    record.figures.insert(name.to_owned(), Figure::unmeasured(unit));
    // What a single rate misses or meets is no answer.
    record.limits = vec![sought.found(None, why, true)];
    record
}

impl FindLimit {
    fn conclude(&self, mut probes: Probes<'_>) -> Option<TrialRecord> {
        let (is_over, count) = (probes.is_over(), probes.said.len());
        if let Some((rate, mut record)) = probes.unmeasured.take() {
            record.warnings.extend(probes.said);
            let counted = self.sought.counted();
            let why = format!("not found: {rate:.0} {counted} could not be measured ({count} probes)");
            return Some(broken_off(record, why, self.sought));
        }
        let mut record = probes.first.take()?;
        record.warnings.extend(probes.said.iter().cloned());
        if !is_over {
            let why = format!("not found: the search was broken off after {count} probes");
            let reason = Reason::new(ReasonKind::Interrupted, why.clone());
            record.verdict = Verdict::Invalid(vec![reason]);
            return Some(broken_off(record, why, self.sought));
        }
        let is_open = !probes.search.is_over() || probes.is_missed_by_chance;
        let behind = self.not_kept_up(&record, &probes, is_open);
        record.limits.extend(behind);
        self.hold(&mut record, &probes, is_open);
        Some(record)
    }

    /// That clients did not keep up at the file's own rate or number, where no limit says so.
    fn not_kept_up(&self, record: &TrialRecord, probes: &Probes<'_>, is_open: bool) -> Option<LimitRecord> {
        let is_met = probes.search.held.is_some_and(|held| held >= self.needed);
        let is_told = !record.verdict.is_valid() || probes::missed_limits(record).next().is_some();
        let words = probes.raised.behind(record).filter(|_| !is_met && !is_told)?;
        Some(LimitRecord {
            text: format!("keeping up at {} {}", short(self.needed), self.sought.counted()),
            measured: None,
            unit: String::new(),
            words,
            met: false,
            is_undecided: is_open,
            needs_readings: None,
        })
    }

    /// Puts what a search has found into the record.
    fn hold(&self, record: &mut TrialRecord, probes: &Probes<'_>, is_open: bool) {
        let (search, (name, unit)) = (&probes.search, self.sought.figure());
        let figure = search.held.map_or_else(|| Figure::unmeasured(unit), |held| Figure::new(held, unit));
        record.figures.insert(name.to_owned(), figure);
        let held = |limit: &Limit| limit.hold_headroom(search.held, self.needed, is_open);
        record.limits.extend(self.headroom.iter().map(held));
        let mut words = search.words(probes.said.len());
        if let Some(size) = self.parameters.words_of_probes(&self.at_one_size) {
            words = format!("{words} {size}");
        }
        if search.missed.is_some() && !search.is_hopeless {
            words = format!("{words}: {}", probes.gave_way);
        }
        record.limits.push(self.sought.found(search.held, words, is_open));
    }
}
