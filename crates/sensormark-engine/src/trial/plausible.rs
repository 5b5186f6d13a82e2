//! Whether what a process says of a phase can be true at all. Its lines come from another program, perhaps on another host: a broken or
//! hostile one costs its trial, and never the coordinator.
//!
//! What passes can be added up and looked up without further checks. That the figures are *right* is not known here.

use super::protocol::Report;
use super::script::{LoadSpec, PhaseSpec};
use crate::outcome::{LoadOutcome, PhaseOutcome};
use sensormark_result::measurement::latency::LatencySummary;

/// The largest count, length in ns or number of bytes that a process may report. So those of thousands of processes can be added up.
pub const MOST: u64 = 1 << 52;
/// The latest instant, in ns of a clock.
const LATEST_NS: u64 = 1 << 62;
/// The longest phase, in seconds: some thirty years.
const LONGEST_SECONDS: f64 = 1e9;

/// Checks a report of a phase.
///
/// # Errors
/// What cannot be true, in words.
pub fn report(report: &Report, phase: &PhaseSpec) -> Result<(), String> {
    outcome(&report.outcome, phase)
}

/// Checks what a phase led to.
fn outcome(outcome: &PhaseOutcome, phase: &PhaseSpec) -> Result<(), String> {
    let name = &phase.name;
    let names = |all: Vec<&str>| all.join(", ");
    let told: Vec<&str> = outcome.loads.iter().map(|load| load.name.as_str()).collect();
    let own: Vec<&str> = phase.loads.iter().map(|load| load.name.as_str()).collect();
    if told != own {
        let (told, own) = (names(told), names(own));
        return Err(format!("{name} has the loads {own}, and it reports {told:?}"));
    }
    if outcome.start_ns.max(outcome.end_ns) > LATEST_NS || outcome.cpu_ns > MOST {
        return Err(format!("{name}: a time of it is no time"));
    }
    for (load, outcome) in phase.loads.iter().zip(&outcome.loads) {
        check(load, outcome).map_err(|problem| format!("{name}, {}: {problem}", load.name))?;
    }
    Ok(())
}

fn check(load: &LoadSpec, outcome: &LoadOutcome) -> Result<(), String> {
    if let Some(count) = counts(outcome).find(|count| *count > MOST) {
        return Err(format!("{count} is too large for a count"));
    }
    if !(0.0..=LONGEST_SECONDS).contains(&outcome.seconds) {
        return Err(format!("{} s is no length of a phase", outcome.seconds));
    }
    // What a fed load has written is in its journal.
    if load.source.is_none() {
        let length = load.operations.len();
        outcome.issued.check(load.distribution, load.clients, length)?;
        let beyond = outcome.exceptions.iter().find(|one| one.index >= length);
        if let Some(beyond) = beyond {
            let index = beyond.index;
            return Err(format!("operation {index} failed, and there are {length}"));
        }
    }
    let classes = outcome.classes.values();
    let latencies = classes.flat_map(|class| std::iter::once(&class.latency).chain(&class.service));
    for latency in latencies {
        LatencySummary::of_seconds(&latency.seconds)?;
    }
    Ok(())
}

/// Everything that is counted of a load.
fn counts(outcome: &LoadOutcome) -> impl Iterator<Item = u64> + '_ {
    let (writes, answers) = (&outcome.writes, &outcome.answers);
    let of_classes = outcome.classes.values().flat_map(|class| {
        let (latency, service) = (&class.latency.summary, &class.service);
        let served = service.as_ref().map_or(0, |one| one.summary.count);
        [class.operations, class.readings, class.failed, latency.count, served]
    });
    [
        outcome.late,
        outcome.not_started,
        outcome.longest_ns,
        writes.attempted,
        writes.acknowledged,
        writes.in_doubt,
        writes.refused,
        writes.statements,
        answers.answered,
        answers.checked,
        answers.wrong,
        outcome.reconnects,
        outcome.datagram_bytes,
        outcome.journal_ns,
    ]
    .into_iter()
    .chain(of_classes)
    .chain(outcome.errors.values().copied())
    .chain(outcome.notes.values().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::readings::Readings;
    use crate::work_distribution::Issued;
    use sensormark_result::measurement::latency::SecondHistogram;
    use serde_json::{Value, json};
    use std::sync::Arc;

    /// A phase of one load of two clients, and what one process might report of it.
    fn reported() -> (PhaseSpec, Value) {
        let load = LoadSpec::writing("write", Arc::new(Readings::new()), 2);
        let length = load.operations.len();
        let latency = sensormark_result::measurement::LatencySummary::empty();
        let none = serde_json::to_value(&latency).expect("a summary");
        let issued = serde_json::to_value(Issued::first(0, length)).expect("a set");
        let mut load_outcome = json!({
            "name": "write", "clients": 2, "open_loop": false, "seconds": 1.5, "errors": {},
            "classes": {"write": {"operations": 3, "readings": 30, "failed": 0,
                "latency": {"summary": none, "seconds": []}, "service": null}},
            "first_error": null, "late": 0, "not_started": 0, "longest_ns": 5,
            "writes": {"attempted": 30, "acknowledged": 30, "in_doubt": 0, "refused": 0, "statements": 3},
            "issued": issued, "exceptions": [], "answers": sensormark_result::measurement::record::AnswersRecord::default(),
            "pacing": null, "reconnects": 0, "datagram_bytes": 0, "lines": {}, "notes": {},
            "broken": null, "journal_ns": 0
        });
        load_outcome["issued"]["of"] = json!(2);
        load_outcome["issued"]["distribution"] =
            serde_json::to_value(load.distribution).expect("a distribution");
        let outcome = json!({"start_ns": 7, "end_ns": 9, "cpu_ns": 1, "cut": null, "loads": [load_outcome]});
        let report = json!({"outcome": outcome, "ceiling": null, "journal": null});
        (PhaseSpec::new("write", vec![load]), report)
    }

    fn told(phase: &PhaseSpec, value: Value) -> Result<(), String> {
        let read: Report = serde_json::from_value(value).expect("a report by its form");
        report(&read, phase)
    }

    /// Each of these took the coordinator down, or made it look up what is not there.
    #[test]
    fn what_cannot_be_true_is_an_error_and_no_panic() {
        let (phase, good) = reported();
        assert_eq!(told(&phase, good.clone()), Ok(()));
        let huge = json!(u64::MAX);
        for (place, value, problem) in [
            ("/outcome/loads/0/issued/of", json!(0), "clients"),
            ("/outcome/loads/0/issued/length", json!(5), "operations"),
            ("/outcome/loads/0/issued/distribution", json!({"counter": {"block": 3}}), "shared out"),
            ("/outcome/loads/0/issued/executed", json!({"7": 1}), "client 7"),
            ("/outcome/loads/0/issued/executed", json!({"0": u64::MAX}), "client 0"),
            ("/outcome/loads/0/writes/attempted", huge.clone(), "count"),
            ("/outcome/loads/0/errors", json!({"timeout": huge}), "count"),
            ("/outcome/loads/0/seconds", json!(1e300), "length"),
            ("/outcome/loads/0/seconds", json!(-1.0), "length"),
            ("/outcome/end_ns", json!(u64::MAX), "time"),
            ("/outcome/loads/0/name", json!("ask"), "loads"),
            ("/outcome/loads", json!([]), "loads"),
            (
                "/outcome/loads/0/exceptions",
                json!([{"index": u64::MAX, "acknowledged": 0, "others": "in_doubt"}]),
                "operation",
            ),
        ] {
            let mut bad = good.clone();
            *bad.pointer_mut(place).expect(place) = value;
            let why = told(&phase, bad).expect_err(place);
            assert!(why.contains(problem), "{place}: {why}");
        }
        let mut twice = good.clone();
        let load = twice["outcome"]["loads"][0].clone();
        let loads = twice["outcome"]["loads"].as_array_mut().expect("loads");
        loads.push(load);
        assert!(told(&phase, twice).expect_err("twice").contains("loads"));
        let mut damaged = good;
        let second = SecondHistogram { second: 0, v2: "00".to_owned() };
        damaged["outcome"]["loads"][0]["classes"]["write"]["latency"]["seconds"] = json!([second]);
        let why = told(&phase, damaged).expect_err("damaged");
        assert!(why.contains("histogram"), "{why}");
    }
}
