//! What was timed in a trial: every operation, of the trial as a whole and of each load. It neither decodes nor sums anything up.

use crate::prelude::*;

/// One kind of operation of a trial.
pub struct Timed<'a> {
    /// The phase of the load that it is of; none of the trial's own.
    pub phase: Option<&'a str>,
    /// What it is called there.
    pub class: &'a str,
    /// Whether its figures do not count.
    pub warm_up: bool,
    /// Its latencies.
    pub record: &'a LatencyRecord,
}

impl Timed<'_> {
    /// What it is called: for loads the phase and the class.
    pub fn operation(&self) -> String {
        self.phase.map_or_else(|| self.class.to_owned(), |phase| format!("{phase}: {}", self.class))
    }
}

/// Everything that was timed, in the order of the record.
pub fn timed(trial: &TrialRecord) -> impl Iterator<Item = Timed<'_>> {
    let own =
        trial.latencies.iter().map(|(class, record)| Timed { phase: None, class, warm_up: false, record });
    let loads = trial.loads.iter().flat_map(|load| {
        let (phase, warm_up) = (Some(load.phase.as_str()), load.warm_up);
        load.classes.iter().map(move |(class, of)| Timed { phase, class, warm_up, record: &of.latency })
    });
    own.chain(loads)
}
