//! The highest rate of the writers that holds the limits: quadrupled or quartered from that of the file's sensors until it is between two, then bisected.
//!
//! Each probe is a whole trial with a database of its own, and holds when the trial is valid, its writers kept up, and every limit is met. What a probe says of its
//! rate is in [`probes`], which rate comes next in [`search`]. The record of the first is kept, and says of each probe what became of it. It is at the sensors'
//! own rate for every implementation, so that they can be compared. A search that could not be ended leaves an invalid record without a rate.

mod probes;
mod search;

use super::limit::{Limit, What};
use super::parameters::Parameters;
use probes::Probes;
use search::Search;
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
use serde_json::Value;
use std::sync::Arc;

/// Attempts of trials that are measured again are this far from probes of one attempt, so that their raw files have names of their own.
const ATTEMPT: u32 = 100;

/// The name of the figure.
pub const HIGHEST_RATE: &str = "highest_rate";
/// Its unit.
const UNIT: &str = "readings/s";
/// The line among the limits that says which rate it is.
pub const HIGHEST_RATE_LIMIT: &str = "highest rate that holds the limits";
/// The end of what is missed at the rate of the sensors, besides the file's own limits.
const A_SECOND: &str = " readings a second";

/// Finds the limit of each case.
pub struct FindLimit {
    factory: Arc<dyn WorkloadFactory>,
    parameters: Value,
    /// The same at one size.
    at_one_size: Value,
    /// Readings that the file's sensors send in a second, from which the search begins.
    needed: f64,
    /// What the rate that is found is held against.
    headroom: Vec<Limit>,
}

impl FindLimit {
    /// Of a workload whose writers have a rate.
    ///
    /// # Errors
    /// That they have none, in words.
    pub fn new(factory: Arc<dyn WorkloadFactory>, parameters: Value) -> Result<Self, String> {
        let own: Parameters = read(&parameters)?;
        let one = own.at_one_size();
        let writers = one.phases.iter().flat_map(|phase| &phase.writers);
        let wrong = match writers.filter(|writers| writers.rate.is_some()).count() {
            1 => None,
            0 => Some("looks for the highest rate of the writers; give them one: [writers] rate = 1000"),
            _ => Some("looks for one rate, and several groups of writers have one"),
        };
        if let Some(wrong) = wrong {
            return Err(format!("--find-limit {wrong}"));
        }
        let is_headroom = |limit: &Limit| limit.what == What::Headroom;
        Ok(Self {
            factory,
            parameters,
            at_one_size: serde_json::to_value(one).map_err(|error| error.to_string())?,
            needed: own.readings_per_second(),
            headroom: own.limits.into_iter().filter(is_headroom).collect(),
        })
    }

    /// What goes through a trial at a rate.
    fn runner(&self, rate: f64, whole: bool) -> TrialRunner {
        let mut parameters = if whole { self.parameters.clone() } else { self.at_one_size.clone() };
        let phases = parameters["phases"].as_array_mut().into_iter().flatten();
        let writers = phases.flat_map(|phase| phase["writers"].as_array_mut().into_iter().flatten());
        for writers in writers.filter(|writers| !writers["rate"].is_null()) {
            writers["rate"] = Value::from(rate);
        }
        TrialRunner { factory: Arc::clone(&self.factory), parameters }
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
        let watched = OneProbe { observer: context.observer, rate };
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
    rate: f64,
}

impl Observer for OneProbe<'_> {
    fn event(&self, event: RunEvent) {
        self.observer.event(match event {
            RunEvent::TrialStarted { label, seconds } => RunEvent::TrialStarted {
                label: format!("{label}, probe of {:.0}{A_SECOND}", self.rate),
                seconds,
            },
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
        CaseEstimate { open_seconds: 0.0, trials, close_seconds: 0.0, ..probe }
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
        let mut probes = Probes::new(self.needed);
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

/// The line that says which rate it is.
fn line(measured: Option<f64>, words: String, is_open: bool) -> LimitRecord {
    LimitRecord {
        text: HIGHEST_RATE_LIMIT.to_owned(),
        measured,
        unit: "1/s".to_owned(),
        words,
        met: measured.is_some(),
        is_undecided: measured.is_none() && is_open,
        needs_readings: None,
    }
}

/// The record of a search that came to no end: invalid, and without a rate.
fn broken_off(mut record: TrialRecord, why: String) -> TrialRecord {
    let none = Figure::unmeasured(UNIT);
    record.figures.insert(HIGHEST_RATE.to_owned(), none);
    // What a single rate misses or meets is no answer.
    record.limits = vec![line(None, why, true)];
    record
}

impl FindLimit {
    fn conclude(&self, probes: Probes) -> Option<TrialRecord> {
        let (is_over, count) = (probes.is_over(), probes.said.len());
        if let Some((rate, mut record)) = probes.unmeasured {
            record.warnings.extend(probes.said);
            let why =
                format!("not found: {rate:.0} readings a second could not be measured ({count} probes)");
            return Some(broken_off(record, why));
        }
        let mut record = probes.first?;
        record.warnings.extend(probes.said);
        if !is_over {
            let why = format!("not found: the search was broken off after {count} probes");
            let reason = Reason::new(ReasonKind::Interrupted, why.clone());
            record.verdict = Verdict::Invalid(vec![reason]);
            return Some(broken_off(record, why));
        }
        let is_open = !probes.search.is_over() || probes.is_missed_by_chance;
        let behind = self.not_kept_up(&record, &probes.search, is_open);
        record.limits.extend(behind);
        self.hold(&mut record, (&probes.search, count), is_open);
        Some(record)
    }

    /// That the writers did not keep up at the sensors' own rate, where no limit says so.
    fn not_kept_up(&self, record: &TrialRecord, search: &Search, is_open: bool) -> Option<LimitRecord> {
        let is_met = search.held.is_some_and(|held| held >= self.needed);
        let is_told = !record.verdict.is_valid() || probes::missed_limits(record).next().is_some();
        let words = probes::behind(record).filter(|_| !is_met && !is_told)?;
        Some(LimitRecord {
            text: format!("keeping up at {}{A_SECOND}", short(self.needed)),
            measured: None,
            unit: String::new(),
            words,
            met: false,
            is_undecided: is_open,
            needs_readings: None,
        })
    }

    /// Puts what a search has found into the record.
    fn hold(&self, record: &mut TrialRecord, (search, probes): (&Search, usize), is_open: bool) {
        let figure = search.held.map_or_else(|| Figure::unmeasured(UNIT), |held| Figure::new(held, UNIT));
        record.figures.insert(HIGHEST_RATE.to_owned(), figure);
        let held = |limit: &Limit| limit.hold_headroom(search.held, self.needed, is_open);
        record.limits.extend(self.headroom.iter().map(held));
        let words = search.words(probes);
        record.limits.push(line(search.held, words, is_open));
    }
}

/// Whether it says what the rate of the sensors misses, besides the file's own limits.
pub fn is_of_needed_rate(limit: &LimitRecord) -> bool {
    limit.text.ends_with(A_SECOND)
}
