//! Runs without a fault: valid, everything stored and billed, and a report of it.

use super::support::{bills, load, measure};
use crate::support::{Place, held_against, said};
use std::collections::BTreeMap;

/// Readings of all devices, by meter, from the program's own export: usage summed in hundredths.
fn exported(place: &Place) -> BTreeMap<u64, i64> {
    let arguments = [
        "generate",
        "billing",
        "--format",
        "csv",
        "--output",
        "readings.csv",
        "--set",
        "devices=8",
        "--set",
        "clients=4",
        "--set",
        "records=30",
    ];
    let output = place.run(&arguments);
    assert!(output.status.success(), "{}", said(&output));
    let text = std::fs::read_to_string(place.path().join("readings.csv")).expect("an export");
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let place_of = |name| names.iter().position(|one| *one == name).expect("a column");
    let (meter, usage) = (place_of("meter"), place_of("usage_since_read"));
    let mut sums = BTreeMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let usage: f64 = cells[usage].parse().expect("a number");
        let hundredths = format!("{usage:.2}").replace('.', "");
        let meter: u64 = cells[meter].parse().expect("a number");
        *sums.entry(meter).or_default() += hundredths.parse::<i64>().expect("digits");
    }
    sums
}

#[test]
fn every_layout_is_valid_and_bills_everybody_to_the_cent() {
    let place = Place::new();
    let output = measure(&place, &[]);
    let text = said(&output);
    let trials = place.trials();
    assert_eq!(trials.len(), 3, "{text}");
    let due = exported(&place);
    assert_eq!(due.len(), 8);
    for trial in &trials {
        assert_eq!(held_against(trial), Vec::<String>::new(), "{text}");
        let ledger = &trial["ledger"];
        assert_eq!(ledger["acknowledged"], 240, "{ledger}");
        assert_eq!(ledger["stored"], 240, "{ledger}");
        assert_eq!(ledger["checksum"], ledger["expected_checksum"]);
        let answers = &trial["answers"];
        assert_eq!((&answers["checked"], &answers["wrong"]), (&36.into(), &0.into()));
        assert_eq!(load(trial, "ingest-8")["processes"], 2);
        // The first bills are of half of the devices.
        for (phase, devices) in [("extract-4", 4), ("extract-8", 8)] {
            let bills = bills(&place, trial, phase);
            let mut lines = bills.lines();
            assert_eq!(lines.next(), Some("meter,from,until,amount"));
            let billed: BTreeMap<u64, i64> = lines
                .map(|line| {
                    let cells: Vec<&str> = line.split(',').collect();
                    assert_eq!(cells[1], "2018-01-01T00:00:00Z");
                    let cents = cells[3].replace('.', "");
                    (cells[0].parse().expect("a meter"), cents.parse().expect("cents"))
                })
                .collect();
            let expected = due.iter().filter(|(meter, _)| **meter <= devices);
            assert_eq!(billed, expected.map(|(meter, sum)| (*meter, *sum)).collect());
        }
    }
    for words in [
        "Ingest: operations a second (more is better)",
        "Extract: ms a bill",
        "Use of resources, server and client",
        "SQLite reading-time-index",
        "Neither GridDB nor MariaDB has a valid trial here",
    ] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
}

#[test]
fn both_or_neither_is_a_variant() {
    let place = Place::new();
    let output = measure(&place, &["--on", "sqlite:reading-clustered", "--set", "atomic=true"]);
    let trials = place.trials();
    assert_eq!(held_against(&trials[0]), Vec::<String>::new(), "{}", said(&output));
    assert_eq!(load(&trials[0], "ingest-4")["labels"]["commits"], 1);
}

#[test]
fn a_load_that_is_cut_is_billed_as_far_as_it_came_and_nothing_is_built_on_it() {
    let place = Place::new();
    // Each operation takes 20 ms: of a year's no more than some come to an end in a second.
    let output = measure(
        &place,
        &[
            "--on",
            "sqlite:reading-time-index",
            "--plant",
            "late:20",
            "--set",
            "records=744",
            "--set",
            "limit_seconds=1",
        ],
    );
    let text = said(&output);
    let trials = place.trials();
    let trial = &trials[0];
    assert_eq!(held_against(trial), Vec::<String>::new(), "{text}");
    let cut = load(trial, "ingest-4")["cut"].as_str().expect("it is cut");
    assert!(cut.contains("its time was over"), "{cut}");
    assert_eq!(load(trial, "extract-4")["answers"]["wrong"], 0);
    assert!(load(trial, "extract-4")["answers"]["checked"].as_u64() > Some(0));
    for (phase, words) in [
        ("ingest-8", "ingest-4 before it did not come to its end"),
        ("extract-8", "ingest-4 before it did not come to its end"),
    ] {
        let reason = load(trial, phase)["not_supported"].as_str();
        assert_eq!(reason, Some(words), "{phase}");
    }
}

/// As the study has it: ingest with one device a client, each number of devices from an empty database.
#[test]
fn ingest_by_itself_and_emptied_databases() {
    let place = Place::new();
    let settings = [
        "devices=8,12",
        "ingest_devices=4",
        "emptied=true",
        "clients=4",
        "processes=2",
        "records=30",
        "bill_rounds=1",
        "limit_seconds=0",
        "bill_month=1",
        "grown=0",
    ];
    let output = place.measure("billing", &settings, &["--on", "sqlite:reading"]);
    let text = said(&output);
    let trial = &place.trials()[0];
    assert_eq!(held_against(trial), Vec::<String>::new(), "{text}");
    for (phase, devices) in [("ingest-4", 4), ("ingest-8", 8), ("ingest-12", 12)] {
        let written = load(trial, phase);
        assert_eq!(written["labels"]["devices"], devices);
        assert_eq!(written["planned"], devices * 30, "{written}");
        assert_eq!(written["labels"]["alone"] == true, devices == 4);
    }
    // Every database is counted before it is emptied.
    assert_eq!(trial["ledger"]["stored"], (4 + 8 + 12) * 30);
    let answers = &trial["answers"];
    assert_eq!((&answers["checked"], &answers["wrong"]), (&20.into(), &0.into()));
}
