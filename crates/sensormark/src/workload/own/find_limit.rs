//! The highest rate of the writers that holds the limits: quadrupled or quartered from the file's own until it is between two, then bisected.
//!
//! Each probe is a whole trial with a database of its own, and holds when the trial is valid, its writers kept up, and every limit is met. The record of the highest that held is
//! kept, and says of each probe what became of it; where none held, that of the lowest. Where the rate of the file's sensors did not hold, the record says too which limits it misses
//! there.

use super::limit::{Limit, What};
use super::parameters::Parameters;
use crate::engine::benchmark_case::BenchmarkCase;
use crate::engine::context::{CaseRunner, RunContext, RunEvent, TrialPosition};
use crate::engine::estimate::{CaseEstimate, Terms};
use crate::engine::trial::WorkloadFactory;
use crate::engine::trial::case::TrialRunner;
use crate::measurement::record::{Figure, LimitRecord, TrialRecord};
use crate::quantity::short;
use serde_json::Value;
use std::sync::Arc;

/// The search ends when the rates that held and did not are this close.
const CLOSE: f64 = 1.1;
/// It ends too when a rate so many times below the first one did not hold.
const LOWEST: f64 = 1_000.0;
/// The most probes of an implementation.
const MOST_PROBES: u32 = 14;
/// The most times in a row that a probe of a disturbed host is repeated.
const MOST_REPEATS: u32 = 2;
/// Attempts of trials that are measured again are this far from probes of one attempt, so that their raw files have names of their own.
const ATTEMPT: u32 = 100;

/// The name of the figure.
pub const HIGHEST_RATE: &str = "highest_rate";
/// The line among the limits that says which rate it is.
pub const HIGHEST_RATE_LIMIT: &str = "highest rate that holds the limits";
/// The end of a limit that was missed at the rate of the sensors, where a lower one held it.
const A_SECOND: &str = " readings a second";

/// Finds the limit of each case.
pub struct FindLimit {
    kind: Arc<dyn WorkloadFactory>,
    parameters: Value,
    rate: f64,
    /// Readings that the file's sensors send in a second.
    needed: f64,
    /// What the rate that is found is held against.
    headroom: Vec<Limit>,
}

impl FindLimit {
    /// Of a workload whose writers have a rate, from which the search begins.
    ///
    /// # Errors
    /// That they have none, in words.
    pub fn new(kind: Arc<dyn WorkloadFactory>, parameters: Value) -> Result<Self, String> {
        let own: Parameters =
            serde_json::from_value(parameters.clone()).map_err(|error| error.to_string())?;
        let mixed = own.mixed.as_ref();
        let writers = mixed.and_then(|mixed| mixed.writers.as_ref());
        let rate = writers.and_then(|writers| writers.rate).ok_or(
            "--find-limit looks for the highest rate of the writers; give them one to begin with: [writers] rate = 1000",
        )?;
        let is_headroom = |limit: &Limit| limit.what == What::Headroom;
        Ok(Self {
            kind,
            parameters,
            rate,
            needed: own.series.readings_per_second(),
            headroom: own.limits.into_iter().filter(is_headroom).collect(),
        })
    }

    fn runner(&self, parameters: Value) -> TrialRunner {
        TrialRunner {
            kind: Arc::clone(&self.kind),
            parameters,
        }
    }

    /// One trial at a rate.
    fn probe(
        &self,
        context: &RunContext<'_>,
        case: &BenchmarkCase,
        turn: TrialPosition,
        rate: f64,
    ) -> Option<TrialRecord> {
        let mut parameters = self.parameters.clone();
        if let Some(place) = parameters.pointer_mut("/mixed/writers/rate") {
            *place = Value::from(rate);
        }
        let runner = self.runner(parameters);
        let mut record = None;
        runner.run_case(context, case, turn, &[], &mut |one| record = Some(one));
        record
    }
}

impl CaseRunner for FindLimit {
    fn estimate(&self, case: &BenchmarkCase, terms: &Terms) -> CaseEstimate {
        let probe = self.runner(self.parameters.clone()).estimate(case, terms);
        // Half of the probes that there may be, each on a database of its own. The search is one trial.
        let seconds = probe.seconds() * f64::from(MOST_PROBES) / 2.0;
        let mut trials = probe.trials;
        trials.truncate(1);
        for trial in &mut trials {
            trial.seconds = seconds;
        }
        CaseEstimate {
            open_seconds: 0.0,
            trials,
            close_seconds: 0.0,
            ..probe
        }
    }

    fn run_case(
        &self,
        context: &RunContext<'_>,
        case: &BenchmarkCase,
        turn: TrialPosition,
        _earlier: &[TrialRecord],
        finished: &mut dyn FnMut(TrialRecord),
    ) {
        let mut search = Search::new(self.rate);
        let (mut best, mut missed, mut said, mut disturbed) = (None, None, Vec::new(), 0);
        for number in 0..MOST_PROBES {
            if search.is_over() || context.is_interrupted() {
                break;
            }
            let rate = search.next();
            let probe = TrialPosition {
                attempt: turn.attempt * ATTEMPT + number,
                ..turn
            };
            let Some(mut record) = self.probe(context, case, probe, rate) else {
                break;
            };
            record.attempt = turn.attempt;
            let outcome = verdict(&record);
            let held = outcome.is_ok();
            let words = outcome.err().unwrap_or_else(|| "held".to_owned());
            let text = format!("{rate:.0} readings a second: {words}");
            context.observer.event(RunEvent::Note(text.clone()));
            said.push(format!("probe {}: {text}", number + 1));
            // A disturbed trial that did not hold says nothing about the rate.
            if record.is_disturbed() && !held && disturbed < MOST_REPEATS {
                disturbed += 1;
                best = best.or(Some(record));
                continue;
            }
            disturbed = 0;
            if !held && search.missed.is_none_or(|lowest| rate <= lowest) {
                missed = Some(Missed::of(rate, &record, words));
            }
            search.learn(rate, held);
            search.is_hopeless |= record.limits.iter().any(is_missed_at_any_rate);
            if held || best.is_none() || search.held.is_none() {
                best = Some(record);
            }
        }
        if let Some(mut record) = best {
            self.conclude(&mut record, &search, missed.as_ref(), said);
            finished(record);
        }
    }
}

/// The disk is that of the data that was loaded, before anybody wrote at a rate.
fn is_missed_at_any_rate(limit: &LimitRecord) -> bool {
    limit.measured.is_some() && !limit.met && limit.text.trim_start().starts_with("disk")
}

/// Why a probe did not hold.
fn verdict(record: &TrialRecord) -> Result<(), String> {
    if !record.verdict.is_valid() {
        return Err(record.verdict.to_string());
    }
    let behind = record
        .loads
        .iter()
        .find(|load| load.writes && load.not_started > 0);
    if let Some(load) = behind {
        return Err(format!(
            "{} could not keep up: {} operations were due and could not start",
            load.name, load.not_started
        ));
    }
    let missed = record.limits.iter().find(|limit| !limit.met);
    missed.map_or(Ok(()), |limit| {
        Err(format!("missed: {} ({})", limit.text, limit.words))
    })
}

impl FindLimit {
    fn conclude(
        &self,
        record: &mut TrialRecord,
        search: &Search,
        missed: Option<&Missed>,
        said: Vec<String>,
    ) {
        const UNIT: &str = "readings/s";
        let probes = said.len();
        record.warnings.extend(said);
        let figure = search
            .held
            .map_or_else(|| Figure::unmeasured(UNIT), |held| Figure::new(held, UNIT));
        record.figures.insert(HIGHEST_RATE.to_owned(), figure);
        // Where no rate held, the record is of the lowest, and misses it itself.
        if search.held.is_some_and(|held| held < self.needed) {
            let told = missed.iter().flat_map(|missed| missed.told(self.needed));
            record.limits.extend(told);
        }
        let is_open = !search.is_over() || missed.is_some_and(|missed| missed.is_disturbed);
        let held = |limit: &Limit| limit.hold_headroom(search.held, self.needed, is_open);
        record.limits.extend(self.headroom.iter().map(held));
        record.limits.push(LimitRecord {
            text: HIGHEST_RATE_LIMIT.to_owned(),
            measured: search.held,
            unit: "1/s".to_owned(),
            words: search.words(probes),
            met: search.held.is_some(),
            is_undecided: search.held.is_none() && is_open,
        });
    }
}

/// Whether the limit was held against the rate of the sensors alone, besides the file's own.
pub fn is_of_needed_rate(limit: &LimitRecord) -> bool {
    limit.text.ends_with(A_SECOND)
}

/// The lowest rate that did not hold, and why.
struct Missed {
    rate: f64,
    limits: Vec<LimitRecord>,
    words: String,
    is_disturbed: bool,
}

impl Missed {
    fn of(rate: f64, record: &TrialRecord, words: String) -> Self {
        let limits = record.limits.iter().filter(|limit| !limit.met);
        Self {
            rate,
            limits: limits.cloned().collect(),
            words,
            is_disturbed: record.is_disturbed(),
        }
    }

    /// What the needed rate misses: what this one does. It is open where this one is the higher, or the machine was busy.
    fn told(&self, needed: f64) -> Vec<LimitRecord> {
        let is_open = self.is_disturbed || self.rate > needed;
        let at = format!(" at {}{A_SECOND}", short(self.rate));
        let mut told = self.limits.clone();
        if told.is_empty() {
            told.push(LimitRecord {
                text: "keeping up".to_owned(),
                measured: None,
                unit: String::new(),
                words: self.words.clone(),
                met: false,
                is_undecided: false,
            });
        }
        for limit in &mut told {
            limit.text += &at;
            limit.is_undecided |= is_open;
        }
        told
    }
}

/// The search for the highest rate that holds.
#[derive(Debug, Clone, Copy)]
struct Search {
    first: f64,
    /// The highest that held.
    held: Option<f64>,
    /// The lowest that did not.
    missed: Option<f64>,
    /// Whether a limit is missed that no rate would hold.
    is_hopeless: bool,
}

impl Search {
    const fn new(first: f64) -> Self {
        Self {
            first,
            held: None,
            missed: None,
            is_hopeless: false,
        }
    }

    /// The rate to be tried next.
    fn next(&self) -> f64 {
        match (self.held, self.missed) {
            (None, None) => self.first,
            (Some(held), None) => held * 4.0,
            (None, Some(missed)) => missed / 4.0,
            (Some(held), Some(missed)) => (held * missed).sqrt(),
        }
    }

    fn learn(&mut self, rate: f64, held: bool) {
        if held {
            self.held = Some(self.held.map_or(rate, |before| before.max(rate)));
        } else {
            self.missed = Some(self.missed.map_or(rate, |before| before.min(rate)));
        }
    }

    fn words(&self, probes: usize) -> String {
        match (self.held, self.missed) {
            (Some(held), Some(missed)) => {
                format!("{held:.0} readings a second held, {missed:.0} did not ({probes} probes)")
            }
            (Some(held), None) => {
                format!("{held:.0} readings a second held, and no more was tried ({probes} probes)")
            }
            (None, _) if self.is_hopeless => {
                "no rate can hold: the disk does not depend on it".to_owned()
            }
            (None, _) => format!("none of {probes} rates held"),
        }
    }

    fn is_over(&self) -> bool {
        match (self.held, self.missed) {
            (Some(held), Some(missed)) => missed <= held * CLOSE,
            (None, Some(missed)) => self.is_hopeless || missed < self.first / LOWEST,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The highest rate that held and the number of probes, where all up to `most` hold.
    fn found(first: f64, most: f64) -> (f64, u32) {
        let mut search = Search::new(first);
        let mut probes = 0;
        while !search.is_over() && probes < MOST_PROBES {
            let rate = search.next();
            search.learn(rate, rate <= most);
            probes += 1;
        }
        (search.held.unwrap_or(0.0), probes)
    }

    #[test]
    fn the_highest_rate_is_found_from_below_and_from_above() {
        for (first, most) in [
            (100.0, 5_000.0),
            (100.0, 100.0),
            (100_000.0, 5_000.0),
            (400.0, 401.0),
        ] {
            let (held, probes) = found(first, most);
            assert!(
                held <= most && held * CLOSE >= most,
                "{first}: {held} of {most}"
            );
            assert!(probes <= MOST_PROBES, "{first}: {probes}");
        }
        assert_eq!(found(100.0, 0.0), (0.0, 6));
    }

    /// A disk that is too small is so at every rate.
    #[test]
    fn what_no_rate_can_hold_ends_the_search() {
        let mut limit = missed(1.0, false).limits.remove(0);
        assert!(!is_missed_at_any_rate(&limit));
        limit.text = "disk for 90d <= 1 MB".to_owned();
        assert!(is_missed_at_any_rate(&limit));
        let mut search = Search::new(100.0);
        search.learn(100.0, false);
        assert!(!search.is_over());
        search.is_hopeless = true;
        assert!(search.is_over());
        assert_eq!(
            search.words(1),
            "no rate can hold: the disk does not depend on it"
        );
    }

    fn missed(rate: f64, is_disturbed: bool) -> Missed {
        let limit = LimitRecord {
            text: "p99 of dashboard < 100 ms".to_owned(),
            measured: Some(3.4e8),
            unit: "ns".to_owned(),
            words: "340 ms".to_owned(),
            met: false,
            is_undecided: false,
        };
        Missed {
            rate,
            limits: vec![limit],
            words: "missed".to_owned(),
            is_disturbed,
        }
    }

    /// A rate over the needed one says nothing of it, nor does a busy machine.
    #[test]
    fn what_the_needed_rate_misses_is_told_or_left_open() {
        for (rate, is_disturbed, is_open) in [
            (1_000.0, false, false),
            (400.0, false, false),
            (1_050.0, false, true),
            (1_000.0, true, true),
        ] {
            let told = missed(rate, is_disturbed).told(1_000.0);
            assert_eq!(told[0].is_undecided, is_open, "{rate}");
            assert!(is_of_needed_rate(&told[0]), "{}", told[0].text);
        }
        let mut nothing = missed(500.0, false);
        nothing.limits.clear();
        let told = nothing.told(500.0);
        assert_eq!(told[0].text, "keeping up at 500 readings a second");
        assert_eq!(told[0].words, "missed");
    }
}
