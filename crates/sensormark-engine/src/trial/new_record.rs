//! The record of a trial that begins: its name, and what it is a trial of.

use super::script::TrialSpec;
use crate::benchmark_case::BenchmarkCase;
use crate::context::TrialPosition;
use sensormark_result::measurement::record::{Cache, Implementation, Side, TrialRecord};

/// The record of a trial of a case that begins now.
pub fn new_record(
    workload: &str,
    case: &BenchmarkCase,
    position: TrialPosition,
    trial: Option<&TrialSpec>,
) -> TrialRecord {
    let description = case.choice.store.description();
    let part = trial.and_then(|trial| trial.part.as_ref());
    let part = part.map_or_else(String::new, |part| format!("-{part}"));
    let name = format!(
        "{workload}-{}-{}{part}-r{}-a{}",
        case.choice.file_name(),
        case.layout_name,
        position.repetition,
        position.attempt
    );
    let implementation = Implementation {
        store: description.name,
        server: case.choice.server.clone(),
        title: case.choice.title(),
        layout_name: case.layout_name.clone(),
        layout: case.layout,
        strategy: trial.and_then(|trial| trial.strategy.clone()),
        durability: case.durability,
        cache: Cache::Hot,
        embedded: description.embedded,
    };
    position.record(name, implementation, trial.map_or(Side::Mixed, |trial| trial.side))
}
