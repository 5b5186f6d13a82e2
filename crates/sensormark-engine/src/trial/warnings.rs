//! What a reader should know of a trial's loads, and what is nothing against them.

use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{LoadRecord, TrialRecord};
use sensormark_result::measurement::shared_window::SHORTEST_SECONDS;

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
    if let Some(cut) = load.cut_short() {
        let rate = load.operations_per_second().unwrap_or(0.0);
        say(format!("cut: {cut}, at {rate:.1} operations a second"));
    }
    if let Some(window) = load.shared.filter(|window| !window.is_counted())
        && load.seconds >= SHORTEST_SECONDS
    {
        say(format!(
            "its {} hosts were at work together for {:.2} s, too short to count. Its rates are over all of its {:.2} s",
            window.hosts, window.seconds, load.seconds
        ));
    }
    if load.fell_behind() > 0 {
        say(format!("could not keep up: {}", load.not_started_words()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::trials::load;
    use sensormark_result::measurement::shared_window::SharedWindow;

    fn told(load: &LoadRecord) -> Vec<String> {
        let mut warnings = Vec::new();
        warn_of(load, &mut warnings);
        warnings
    }

    #[test]
    fn one_operation_that_could_not_start_is_one() {
        for (not_started, words) in [(1, "1 operation was due"), (2, "2 operations were due")] {
            let load = LoadRecord { not_started, ..load() };
            let told = told(&load);
            assert!(told[0].contains(&format!("could not keep up: {words}")));
            let warm_up = LoadRecord { warm_up: true, cut: Some("its time was over".to_owned()), ..load };
            assert!(self::told(&warm_up).is_empty(), "it only prepares");
        }
        assert!(told(&load()).is_empty());
    }

    #[test]
    fn a_window_that_is_too_short_is_told_where_the_load_was_not() {
        for (seconds, shared, is_told) in [(9.0, 0.5, true), (9.0, 1.0, false), (0.8, 0.5, false)] {
            let window = SharedWindow { hosts: 3, seconds: shared, operations: 1.0, readings: 1.0 };
            let load = LoadRecord { seconds, shared: Some(window), ..load() };
            let told = told(&load);
            assert_eq!(told.len(), usize::from(is_told), "{told:?}");
            assert!(!is_told || told[0].contains("its 3 hosts were at work together for 0.50 s"));
        }
    }
}
