//! The highest rate of the writers that holds the limits: doubled or halved from the file's own until it is between two, then bisected.
//!
//! Each probe is a whole trial with a database of its own, and holds when the trial is valid, its writers kept up, and every limit is met. The record of the highest that held is
//! kept, and says of each probe what became of it; where none held, that of the lowest.

use super::parameters::Parameters;
use crate::engine::context::{Cell, CellRunner, RunContext, RunEvent, TrialPosition};
use crate::engine::estimate::{CellEstimate, Terms};
use crate::engine::trial::WorkloadFactory;
use crate::engine::trial::cell::TrialRunner;
use crate::measurement::record::{Figure, LimitRecord, TrialRecord};
use serde_json::Value;
use std::sync::Arc;

/// The search ends when the rates that held and did not are this close.
const CLOSE: f64 = 1.1;
/// The most probes of an implementation.
const MOST_PROBES: u32 = 14;
/// The most times in a row that a probe of a disturbed host is repeated.
const MOST_REPEATS: u32 = 2;
/// Attempts of trials that are measured again are this far from probes of one attempt, so that their raw files have names of their own.
const ATTEMPT: u32 = 100;

/// The name of the figure.
pub const HIGHEST_RATE: &str = "highest_rate";

/// Finds the limit of each cell.
pub struct FindLimit {
    kind: Arc<dyn WorkloadFactory>,
    parameters: Value,
    rate: f64,
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
        Ok(Self {
            kind,
            parameters,
            rate,
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
        cell: &Cell,
        turn: TrialPosition,
        rate: f64,
    ) -> Option<TrialRecord> {
        let mut parameters = self.parameters.clone();
        if let Some(place) = parameters.pointer_mut("/mixed/writers/rate") {
            *place = Value::from(rate);
        }
        let runner = self.runner(parameters);
        let mut record = None;
        runner.run_cell(context, cell, turn, &[], &mut |one| record = Some(one));
        record
    }
}

impl CellRunner for FindLimit {
    fn estimate(&self, cell: &Cell, terms: &Terms) -> CellEstimate {
        let probe = self.runner(self.parameters.clone()).estimate(cell, terms);
        // Half of the probes that there may be, each on a database of its own. The search is one trial.
        let seconds = probe.seconds() * f64::from(MOST_PROBES) / 2.0;
        let mut trials = probe.trials;
        trials.truncate(1);
        for trial in &mut trials {
            trial.seconds = seconds;
        }
        CellEstimate {
            open_seconds: 0.0,
            trials,
            close_seconds: 0.0,
            ..probe
        }
    }

    fn run_cell(
        &self,
        context: &RunContext<'_>,
        cell: &Cell,
        turn: TrialPosition,
        _earlier: &[TrialRecord],
        finished: &mut dyn FnMut(TrialRecord),
    ) {
        let mut search = Search::new(self.rate);
        let (mut best, mut said, mut disturbed) = (None, Vec::new(), 0);
        for number in 0..MOST_PROBES {
            if search.is_over() || context.is_interrupted() {
                break;
            }
            let rate = search.next();
            let probe = TrialPosition {
                attempt: turn.attempt * ATTEMPT + number,
                ..turn
            };
            let Some(mut record) = self.probe(context, cell, probe, rate) else {
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
            search.learn(rate, held);
            if held || best.is_none() || search.held.is_none() {
                best = Some(record);
            }
        }
        if let Some(mut record) = best {
            conclude(&mut record, &search, said);
            finished(record);
        }
    }
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

fn conclude(record: &mut TrialRecord, search: &Search, said: Vec<String>) {
    const UNIT: &str = "readings/s";
    let probes = said.len();
    record.warnings.extend(said);
    let figure = search
        .held
        .map_or_else(|| Figure::unmeasured(UNIT), |held| Figure::new(held, UNIT));
    record.figures.insert(HIGHEST_RATE.to_owned(), figure);
    let words = match (search.held, search.missed) {
        (Some(held), Some(missed)) => {
            format!("{held:.0} readings a second held, {missed:.0} did not ({probes} probes)")
        }
        (Some(held), None) => {
            format!("{held:.0} readings a second held, and no more was tried ({probes} probes)")
        }
        (None, _) => format!("none of {probes} rates held"),
    };
    record.limits.push(LimitRecord {
        text: "highest rate that holds the limits".to_owned(),
        measured: search.held,
        unit: "1/s".to_owned(),
        words,
        met: search.held.is_some(),
    });
}

/// The search for the highest rate that holds.
#[derive(Debug, Clone, Copy)]
struct Search {
    first: f64,
    /// The highest that held.
    held: Option<f64>,
    /// The lowest that did not.
    missed: Option<f64>,
}

impl Search {
    const fn new(first: f64) -> Self {
        Self {
            first,
            held: None,
            missed: None,
        }
    }

    /// The rate to be tried next.
    fn next(&self) -> f64 {
        match (self.held, self.missed) {
            (None, None) => self.first,
            (Some(held), None) => held * 2.0,
            (None, Some(missed)) => missed / 2.0,
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

    fn is_over(&self) -> bool {
        match (self.held, self.missed) {
            (Some(held), Some(missed)) => missed <= held * CLOSE,
            (None, Some(missed)) => missed < 0.01,
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
        assert_eq!(found(100.0, 0.0).0, 0.0);
    }
}
