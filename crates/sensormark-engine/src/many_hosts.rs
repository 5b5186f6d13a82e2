//! What several processes of one phase did, joined to one outcome. Where they were on several hosts, throughput counts over the window in which all of them
//! were at work.

use super::outcome::{ClassOutcome, PhaseOutcome};
use sensormark_result::measurement::shared_window::{Part, PartClass, SharedWindow};

/// What one process did of a phase, by the clock that all share.
#[derive(Debug, Clone)]
pub struct Aligned {
    /// Its start after the first one's, in seconds.
    pub delay: f64,
    /// By load: from its own start to the end of its last operation, in seconds of its own clock.
    pub lasted: Vec<f64>,
    /// What it did. The seconds of its loads count from the first start.
    pub outcome: PhaseOutcome,
}

impl Aligned {
    /// One that shares the first one's clock and start.
    pub fn here(outcome: PhaseOutcome) -> Self {
        let lasted = outcome.loads.iter().map(|load| load.seconds).collect();
        Self { delay: 0.0, lasted, outcome }
    }
}

/// What all of them did, on so many hosts. None of none.
///
/// # Errors
/// Whose figures do not go with those before, by its place, and why.
pub fn join(parts: Vec<Aligned>, hosts: u32) -> Result<Option<PhaseOutcome>, (usize, String)> {
    let windows = if hosts > 1 { windows(&parts, hosts)? } else { Vec::new() };
    let mut whole: Option<PhaseOutcome> = None;
    for (place, part) in parts.into_iter().enumerate() {
        match &mut whole {
            None => whole = Some(part.outcome),
            Some(whole) => {
                let merged = whole.merge(part.outcome);
                merged.map_err(|problem| (place, problem))?;
            }
        }
    }
    let loads = whole.iter_mut().flat_map(|whole| &mut whole.loads);
    for (load, window) in loads.zip(windows) {
        load.shared = Some(window);
    }
    Ok(whole)
}

/// By load: the window that they share.
fn windows(parts: &[Aligned], hosts: u32) -> Result<Vec<SharedWindow>, (usize, String)> {
    let loads = parts.first().map_or(0, |part| part.outcome.loads.len());
    let window = |number: usize| {
        let working = parts.iter().filter_map(|part| of_load(part, number));
        let working: Vec<Part<'_>> = working.collect();
        // Histograms were read before, so that none is at fault here.
        SharedWindow::of(&working, hosts).map_err(|problem| (0, problem))
    };
    (0..loads).map(window).collect()
}

/// What one of them did of a load; none where it has no client of it.
fn of_load(part: &Aligned, number: usize) -> Option<Part<'_>> {
    let load = part.outcome.loads.get(number)?;
    (load.issued.clients() > 0).then(|| Part {
        began: part.delay,
        ended: load.seconds,
        lasted: part.lasted.get(number).copied().unwrap_or_default(),
        classes: load.classes.values().map(of_class).collect(),
    })
}

/// In open loop, latencies hold operations too that could not start.
fn of_class(class: &ClassOutcome) -> PartClass<'_> {
    let done = class.service.as_ref().unwrap_or(&class.latency);
    PartClass { operations: class.operations, readings: class.readings, seconds: &done.seconds }
}
