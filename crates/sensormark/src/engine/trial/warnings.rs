//! What a reader should know of a trial's loads, and what is nothing against them.

use crate::measurement::names;
use crate::measurement::record::{LoadRecord, TrialRecord};

/// Adds the warnings to the record; none of a trial whose server was killed on request.
pub fn warn(record: &mut TrialRecord) {
    if record.figures.contains_key(names::KILLED_AFTER) {
        return;
    }
    let mut warnings = Vec::new();
    for load in &record.loads {
        warn_of(load, &mut warnings);
    }
    record.warnings.extend(warnings);
}

fn warn_of(load: &LoadRecord, warnings: &mut Vec<String>) {
    let (phase, name) = (&load.phase, &load.name);
    let mut say = |text: String| warnings.push(format!("{phase}, {name}: {text}"));
    if let Some(reason) = &load.not_supported {
        say(format!("not supported: {reason}"));
    }
    if let Some(reason) = &load.client_side {
        say(format!("done in the client: {reason}"));
    }
    if let Some(cut) = &load.cut {
        let rate = load.operations_per_second().unwrap_or(0.0);
        say(format!("cut: {cut}, at {rate:.1} operations a second"));
    }
    if load.not_started > 0 {
        say(format!(
            "could not keep up: {} operations were due and could not start",
            load.not_started
        ));
    }
}
