//! Two runs compared: what a disturbed host, an unmeasured server and servers of unlike origin keep from being decided.

use crate::compare::{CompareError, Comparison};
use crate::field::Field;
use crate::tables::{Cell, Table};
use crate::{json, number};
use sensormark_result::measurement::record::{RunRecord, Side, TrialRecord};
use sensormark_result::measurement::server::{MemoryLimitRecord, ServerRecord};
use sensormark_result::probe::PhaseTotals;
use sensormark_result::tests::fixture::{
    CHEAP, COSTLY, Used, implementation, latency, phase, run, totals, trial,
};
use sensormark_store::ServerOptions;

/// Three repetitions of an implementation of a trial of phases, each a little apart.
pub fn repetitions(used: Used) -> Vec<TrialRecord> {
    let one = |repetition: u32| {
        let mut trial = trial(implementation("PostgreSQL", "individual", None), repetition, used);
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

pub fn field(trials: Vec<TrialRecord>) -> Field {
    let run = RunRecord { workload: "own".to_owned(), repetitions: 3, ..run() };
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
    trials[1].disturbances.push("load: other processes used 31 %".to_owned());
    trials
}

fn tests(comparison: &Comparison) -> &Table {
    let mut tables = comparison.document().tables();
    tables.find(|table| table.id == "tests").expect("tests")
}

pub fn verdict(comparison: &Comparison, figure: &str) -> Option<String> {
    let rows = &tests(comparison).rows;
    let row = rows.iter().find(|row| row[1] == Cell::text(figure))?;
    Some(number::cell_text(&row[6]))
}

const CPU: &str = "load: CPU of both sides an operation";

#[test]
fn a_change_is_found_with_all_that_it_rests_on() {
    let slower = compared(repetitions(CHEAP), repetitions(COSTLY));
    assert_eq!(verdict(&slower, CPU).as_deref(), Some("worse"));
    assert_eq!(verdict(&slower, "write: mean").as_deref(), Some("no change found"));
    let document = json::value(slower.document()).to_string();
    for name in ["\"p\"", "corrected p", "detectable", "second / first", "verdict"] {
        assert!(document.contains(name), "{name}");
    }
    assert!(document.contains("no change found; would have seen one over"), "{document}");
    assert!(document.contains("as far as the runs tell"), "{document}");
    assert_eq!(sections(&slower)[..2], ["answer", "disturbance"]);
    assert_eq!(slower.headline(), "2 worse, 0 better; no change found in 3 figures.");
}

/// Ids of a comparison's sections.
fn sections(comparison: &Comparison) -> Vec<&str> {
    let sections = comparison.document().sections.iter();
    sections.map(|section| section.id.as_str()).collect()
}

fn table<'c>(comparison: &'c Comparison, id: &str) -> Option<&'c Table> {
    comparison.document().tables().find(|table| table.id == id)
}

/// Said "alike" of figures in which a change of a third would not have been seen.
#[test]
fn where_no_change_was_found_it_is_said_how_large_one_would_have_been() {
    let slower = compared(repetitions(CHEAP), repetitions(COSTLY));
    let changed = table(&slower, "forest").expect("what changed");
    assert_eq!(changed.rows.len(), 2, "ties are folded");
    let same = table(&slower, "unchanged").expect("what did not");
    assert!(same.is_detail && same.rows.len() == 3);
    for row in &same.rows {
        let told = number::cell_text(row.last().expect("a cell"));
        assert!(told.starts_with("no change found; would have seen one over "), "{told}");
    }
    assert!(!json::value(slower.document()).to_string().contains("\"alike\""));
    let all = slower.blunter_than(0.0);
    assert_eq!(all.len(), 3);
    assert!(all[0].detectable >= all[2].detectable, "the bluntest first");
    assert!(slower.blunter_than(10.0).is_empty());
    let drawn = crate::text::render(slower.document(), 80);
    let line = drawn.lines().find(|line| line.contains('●'));
    assert!(line.is_some_and(|line| line.ends_with(" worse")), "{drawn}");
}

#[test]
fn of_single_repetitions_the_ten_largest_ratios_are_shown_as_not_tested() {
    let one = |used: Used| {
        let mut trials = repetitions(used);
        trials.truncate(1);
        for number in 0..9_u64 {
            let mean_ns = 1_000_000 * (number + if used.disk == CHEAP.disk { 1 } else { 3 });
            let timed = latency(false, 10_000, mean_ns);
            trials[0].latencies.insert(format!("q{number}"), timed);
        }
        trials
    };
    let found = compared(one(CHEAP), one(COSTLY));
    assert!(found.headline().starts_with("Nothing is tested"));
    let shown = table(&found, "untested").expect("ratios");
    assert!(shown.title.starts_with("The 10 largest of "), "{}", shown.title);
    let ratios: Vec<f64> = shown
        .rows
        .iter()
        .map(|row| match &row[2] {
            Cell::Number(number) => number.value.ln().abs(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ratios.len(), 10);
    assert!(ratios.windows(2).all(|pair| pair[0] >= pair[1]), "{ratios:?}");
    let marked = |row: &Vec<Cell>| row[3] == Cell::text("not tested");
    assert!(shown.rows.iter().all(marked));
}

/// It called 12.8 % of figures different on disturbed runs, and the machine the same.
#[test]
fn where_a_disturbance_was_tolerated_nothing_is_decided() {
    for (first, second) in [
        (repetitions(CHEAP), disturbed(repetitions(COSTLY))),
        (disturbed(repetitions(CHEAP)), repetitions(COSTLY)),
    ] {
        let found = compared(first, second);
        assert_eq!(verdict(&found, CPU).as_deref(), Some("not decided: disturbed"));
        assert_eq!((found.tested(), found.regressions().len()), (0, 0));
        assert_eq!(sections(&found)[0], "disturbance", "listed first");
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

#[test]
fn a_run_as_the_study_is_told_from_one_that_is_not() {
    let as_study = |is: bool| {
        let mut field = field(repetitions(CHEAP));
        field.run.as_study = is;
        field
    };
    for (one, other, told) in [
        (true, false, Some("the study's in the first, ours in the second")),
        (false, true, Some("ours in the first, the study's in the second")),
        (true, true, None),
        (false, false, None),
    ] {
        let found = Comparison::new(&as_study(one), &as_study(other), 0.02).expect("one workload");
        let document = json::value(found.document()).to_string();
        match told {
            Some(told) => {
                let told = format!("protocol (--as-study): {told}");
                assert!(document.contains(&told), "{document}");
                assert!(!document.contains("as far as the runs tell"), "{document}");
            }
            None => assert!(!document.contains("--as-study"), "{document}"),
        }
    }
}

/// On so many existing servers, numbered where there are several, as `--on` does.
fn on_servers(servers: u32) -> Vec<TrialRecord> {
    let of = |number: u32| {
        let mut trials = existing(repetitions(CHEAP), true);
        for trial in trials.iter_mut().filter(|_| servers > 1) {
            trial.implementation.server = Some(number.to_string());
            trial.implementation.title = format!("PostgreSQL #{number}");
        }
        trials
    };
    (1..=servers).flat_map(of).collect()
}

#[test]
fn what_servers_use_is_not_compared_between_runs_with_more_and_with_fewer() {
    let found = compared(on_servers(2), on_servers(3));
    assert_eq!(verdict(&found, CPU), None);
    assert!(verdict(&found, "write: mean").is_some());
    let document = json::value(found.document()).to_string();
    for told in [
        "PostgreSQL #1 individual: 2 existing servers in the first, 3 existing servers in the second",
        "PostgreSQL #2 individual: 2 existing servers in the first",
    ] {
        assert!(document.contains(told), "{told}: {document}");
    }
    assert!(!document.contains("as far as the runs tell"), "{document}");
    let fewer = compared(on_servers(3), on_servers(2));
    assert_eq!(verdict(&fewer, CPU), None);
    assert!(fewer.regressions().is_empty(), "{:?}", fewer.regressions());
    let alike = compared(on_servers(2), on_servers(2));
    assert!(verdict(&alike, CPU).is_some());
    let document = json::value(alike.document()).to_string();
    assert!(!document.contains("existing servers"), "{document}");
    // One server has no number: which of the two it would be is not known.
    let (one, two) = (field(on_servers(1)), field(on_servers(2)));
    let none = Comparison::new(&one, &two, 0.02);
    assert_eq!(none, Err(CompareError::NothingInCommon));
}

/// It called them the same machine, as far as the runs tell.
#[test]
fn servers_of_other_versions_programs_and_memory_are_named() {
    type Change = fn(&mut ServerRecord);
    let of = |change: Change| {
        let mut trials = repetitions(CHEAP);
        for trial in &mut trials {
            let server = trial.server.as_mut().expect("a server");
            server.version = "16.1".to_owned();
            server.origin = "a package".to_owned();
            server.memory_budget_bytes = Some(1 << 30);
            change(server);
        }
        trials
    };
    let cases: [(Change, &str); 3] = [
        (
            |server| server.version = "17.2".to_owned(),
            "server's version: 16.1 in the first, 17.2 in the second",
        ),
        (
            |server| server.origin = "a build".to_owned(),
            "server's program: a package in the first, a build in the second",
        ),
        (
            |server| server.memory_budget_bytes = None,
            "memory allowed: 1024 MB in the first, the server's own choice in the second",
        ),
    ];
    for (change, told) in cases {
        let found = compared(of(|_| ()), of(change));
        let document = json::value(found.document()).to_string();
        assert!(document.contains(told), "{told}: {document}");
        assert!(!document.contains("as far as the runs tell"), "{document}");
        // It may be what the runs were made for: what the server uses is compared.
        assert!(verdict(&found, CPU).is_some());
    }
}

/// A server on half a core is not held against one on all of them without a word.
#[test]
fn unlike_limits_of_processors_are_told() {
    let limited = |millicores: Option<u32>| {
        let mut trials = repetitions(CHEAP);
        let options = ServerOptions { cpu_millicores: millicores, ..ServerOptions::default() };
        for trial in &mut trials {
            trial.server.as_mut().expect("a server").notes.extend(options.cpu_limit_note());
        }
        trials
    };
    let document = |one: Option<u32>, other: Option<u32>| {
        json::value(compared(limited(one), limited(other)).document()).to_string()
    };
    let told = "processors of servers (--cpu-limit): held to 0.5 cores in the first, none in the second";
    assert!(document(Some(500), None).contains(told), "{}", document(Some(500), None));
    assert!(!document(Some(500), Some(500)).contains("--cpu-limit"));
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
        (repetitions(CHEAP), limited(2), "none in the first, 2048 MB in the second"),
        (limited(4), limited(2), "4096 MB in the first, 2048 MB in the second"),
    ] {
        let document = json::value(compared(first, second).document()).to_string();
        assert!(document.contains(told), "{document}");
        assert!(!document.contains("as far as the runs tell"), "{document}");
    }
    let alike = json::value(compared(limited(2), limited(2)).document()).to_string();
    assert!(alike.contains("as far as the runs tell"), "{alike}");
}
