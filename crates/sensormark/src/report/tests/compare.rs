//! Two runs compared: what a disturbed host, an unmeasured server and servers of unlike origin keep from being decided.

use super::fixture::{CHEAP, COSTLY, Used, implementation, latency, phase, run, totals, trial};
use crate::measurement::record::{MemoryLimitRecord, RunRecord, Side, TrialRecord};
use crate::probe::PhaseTotals;
use crate::report::compare::Comparison;
use crate::report::field::Field;
use crate::report::tables::{Cell, Table};
use crate::report::{json, number};

/// Three repetitions of an implementation of a trial of phases, each a little apart.
fn repetitions(used: Used) -> Vec<TrialRecord> {
    let one = |repetition: u32| {
        let mut trial = trial(
            implementation("PostgreSQL", "individual", None),
            repetition,
            used,
        );
        trial.side = Side::Mixed;
        let mut own: PhaseTotals = totals(Side::Write, used, false);
        let mut client = own.roles.remove("writer").unwrap_or_default();
        client.cpu_ns += u64::from(repetition) * 1_000;
        own.roles.insert("trial".to_owned(), client);
        trial.phases = vec![phase("load", 10.0, Some(own), 1_000)];
        let mean_ns = 1_000_000 + u64::from(repetition) * 1_000;
        trial.latencies = [("write".to_owned(), latency(false, 10_000, mean_ns))].into();
        trial
    };
    (0..3).map(one).collect()
}

fn field(trials: Vec<TrialRecord>) -> Field {
    let run = RunRecord {
        workload: "own".to_owned(),
        repetitions: 3,
        ..run()
    };
    Field::new(run, trials)
}

fn compared(first: Vec<TrialRecord>, second: Vec<TrialRecord>) -> Comparison {
    Comparison::new(&field(first), &field(second), 0.02).expect("runs of one workload")
}

/// The same with the server's processes not seen, as an existing server on another machine is.
fn existing(mut trials: Vec<TrialRecord>, is_measured: bool) -> Vec<TrialRecord> {
    for trial in &mut trials {
        trial.server.as_mut().expect("a server").managed = false;
        let totals = trial.phases[0].totals.as_mut().expect("totals");
        if !is_measured {
            totals.roles.remove("server");
        }
    }
    trials
}

fn disturbed(mut trials: Vec<TrialRecord>) -> Vec<TrialRecord> {
    trials[1]
        .warnings
        .push("the host was disturbed: load: other processes used 31 %".to_owned());
    trials
}

fn tests(comparison: &Comparison) -> &Table {
    let mut tables = comparison.document().tables();
    tables.find(|table| table.id == "tests").expect("tests")
}

fn verdict(comparison: &Comparison, figure: &str) -> Option<String> {
    let rows = &tests(comparison).rows;
    let row = rows.iter().find(|row| row[1] == Cell::text(figure))?;
    Some(number::cell_text(&row[6]))
}

const CPU: &str = "load: CPU of both sides an operation";

#[test]
fn a_change_is_found_with_all_that_it_rests_on() {
    let slower = compared(repetitions(CHEAP), repetitions(COSTLY));
    assert_eq!(verdict(&slower, CPU).as_deref(), Some("worse"));
    assert_eq!(
        verdict(&slower, "write: mean").as_deref(),
        Some("no change found")
    );
    let document = json::value(slower.document()).to_string();
    for name in [
        "\"p\"",
        "corrected p",
        "detectable",
        "second / first",
        "verdict",
    ] {
        assert!(document.contains(name), "{name}");
    }
    assert!(
        document.contains("no change found; would have seen one over"),
        "{document}"
    );
    assert!(document.contains("as far as the runs tell"), "{document}");
    let first = &slower.document().sections[0];
    assert_eq!(first.id, "disturbance", "listed first");
}

/// It called 12.8 % of figures different on disturbed runs, and the machine the same.
#[test]
fn where_a_disturbance_was_tolerated_nothing_is_decided() {
    for (first, second) in [
        (repetitions(CHEAP), disturbed(repetitions(COSTLY))),
        (disturbed(repetitions(CHEAP)), repetitions(COSTLY)),
    ] {
        let found = compared(first, second);
        assert_eq!(
            verdict(&found, CPU).as_deref(),
            Some("not decided: disturbed")
        );
        assert_eq!((found.tested(), found.regressions().len()), (0, 0));
        assert!(found.disturbed() > 0);
        let document = json::value(found.document()).to_string();
        assert!(document.contains("other processes used 31 %"), "{document}");
        assert!(!document.contains("as far as the runs tell"), "{document}");
    }
}

/// A client alone was called better, ratio 0.268, against both sides.
#[test]
fn cpu_of_both_sides_takes_both_sides_and_servers_of_one_origin() {
    let unseen = || existing(repetitions(CHEAP), false);
    for (first, second) in [
        (repetitions(COSTLY), unseen()),
        (unseen(), unseen()),
        (repetitions(COSTLY), existing(repetitions(CHEAP), true)),
    ] {
        let is_unlike = first[0].server.as_ref().map(|server| server.managed)
            != second[0].server.as_ref().map(|server| server.managed);
        let found = compared(first, second);
        assert_eq!(verdict(&found, CPU), None);
        assert!(verdict(&found, "write: mean").is_some());
        let document = json::value(found.document()).to_string();
        let told = if is_unlike {
            "an existing server in the second. What a server uses"
        } else {
            "the server was not measured in both runs"
        };
        assert!(document.contains(told), "{document}");
    }
    let seen = || existing(repetitions(CHEAP), true);
    assert!(verdict(&compared(seen(), seen()), CPU).is_some());
}

/// Servers that paid for their page cache are not held against others without a word.
#[test]
fn unlike_memory_limits_are_told() {
    let limited = |gigabytes: u64| {
        let mut trials = repetitions(CHEAP);
        for trial in &mut trials {
            let server = trial.server.as_mut().expect("a server");
            server.memory_limit = Some(MemoryLimitRecord {
                limit_bytes: gigabytes << 30,
                peak_bytes: Some(gigabytes << 30),
                limit_reached: Some(7),
                killed_processes: 0,
            });
        }
        trials
    };
    for (first, second, told) in [
        (
            repetitions(CHEAP),
            limited(2),
            "none in the first, 2048 MB in the second",
        ),
        (
            limited(4),
            limited(2),
            "4096 MB in the first, 2048 MB in the second",
        ),
    ] {
        let document = json::value(compared(first, second).document()).to_string();
        assert!(document.contains(told), "{document}");
        assert!(!document.contains("as far as the runs tell"), "{document}");
    }
    let alike = json::value(compared(limited(2), limited(2)).document()).to_string();
    assert!(alike.contains("as far as the runs tell"), "{alike}");
}
