//! What was timed in a trial: every operation, of the trial as a whole and of each load. It neither decodes nor sums anything up.

use crate::prelude::*;

/// One kind of operation of a trial.
pub struct Timed<'a> {
    /// What it is called: for loads the phase and the class.
    pub operation: String,
    /// Whether latency counts from when it was due.
    pub open_loop: bool,
    /// Whether its figures do not count.
    pub warm_up: bool,
    /// Its distribution.
    pub summary: &'a LatencySummary,
    /// Raw histograms, one a second.
    pub seconds: &'a [SecondHistogram],
}

impl<'a> Timed<'a> {
    fn new(operation: String, warm_up: bool, record: &'a LatencyRecord) -> Self {
        Self {
            operation,
            open_loop: record.open_loop,
            warm_up,
            summary: &record.summary,
            seconds: &record.seconds,
        }
    }
}

/// Everything that was timed, in the order of the record.
pub fn timed(trial: &TrialRecord) -> Vec<Timed<'_>> {
    let own = trial.latencies.iter();
    let own = own.map(|(name, record)| Timed::new(name.clone(), false, record));
    let loads = trial.loads.iter().flat_map(|load| {
        load.classes.iter().map(|(class, record)| {
            let name = format!("{}: {class}", load.phase);
            Timed::new(name, load.warm_up, &record.latency)
        })
    });
    own.chain(loads).collect()
}
