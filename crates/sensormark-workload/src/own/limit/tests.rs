//! Limits on records with known numbers: 100,000 readings on 80 MB, 204.8 MB of memory in the server.

use super::*;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::Figure;
use sensormark_result::tests::fixture::usual;

fn limit(text: &str) -> Limit {
    let names = ["load".to_owned(), "point".to_owned()];
    Limit::parse(text, &names, 1_000.0).unwrap_or_else(|error| panic!("{error}"))
}

fn held(text: &str, record: &TrialRecord) -> LimitRecord {
    limit(text).hold(record)
}

#[test]
fn disk_of_the_time_that_data_is_kept() {
    let mut record = usual("MariaDB", 10);
    record.ledger.as_mut().expect("a ledger").stored = 100_000;
    // 86,400,000 readings of 800 bytes.
    let found = held("disk for 1d < 69.2 GB", &record);
    assert!(found.met && found.measured == Some(69.12e9), "{found:?}");
    assert_eq!(found.words, "69.12 GB");
    assert!(!held("disk for 1d < 69 GB", &record).met);
    // Of the 80 MB 20 are logs, which a setting bounds: 600 bytes a reading, and no limit counts them.
    let mut logs = record.clone();
    for (name, bytes) in [(names::DISK_BEFORE_LOGS, 0.0), (names::DISK_SETTLED_LOGS, 20e6)] {
        let figure = Figure::new(bytes, "bytes");
        logs.figures.insert(name.to_owned(), figure);
    }
    let found = held("disk for 1d < 69 GB", &logs);
    assert_eq!(found.measured, Some(51.84e9));
    assert_eq!(held("disk per reading < 1 kB", &logs).measured, Some(600.0));
    assert_eq!(held("disk < 1 GB", &logs).measured, Some(100e6));
    // An earlier version looked for no logs of some servers, and wrote down 0.
    let mut unknown = logs;
    unknown.log_bound = None;
    let none = Figure::new(0.0, "bytes");
    unknown.figures.insert(names::DISK_SETTLED_LOGS.to_owned(), none);
    for text in ["disk < 1 GB", "disk per reading < 1 kB", "disk for 1d < 69 GB"] {
        let found = held(text, &unknown);
        assert!(!found.met && found.is_undecided, "{found:?}");
    }
    let mut nowhere = record;
    nowhere.figures.clear();
    let found = held("disk for 1d < 69 GB", &nowhere);
    assert!(!found.met && found.is_undecided, "{found:?}");
}

/// Of 12,000 readings nobody knows what 86 million take. What was measured is decided.
#[test]
fn the_disk_of_more_readings_than_were_measured_is_open() {
    let mut record = usual("MariaDB", 10);
    let texts = [
        "disk for 1d < 600 GB",
        "disk for 1d < 1 MB",
        "disk for 12s < 1 MB",
        "disk for 12s < 1 GB",
        "disk < 1 MB",
        "disk per reading < 7 kB",
    ];
    record.limits = texts.map(|text| held(text, &record)).to_vec();
    record.limits[1].text += " at 400 readings a second";
    leave_open(&mut record, 1_000.0);
    let once = record.clone();
    leave_open(&mut record, 1_000.0);
    assert_eq!(record, once);
    for open in &record.limits[..2] {
        assert!(!open.met && is_left_open(open), "{open:?}");
        assert_eq!(open.measured, None);
        let words = "measured with 12,000 readings; yours are 86 million";
        assert_eq!(open.words, words);
    }
    let decided: Vec<(bool, bool)> =
        record.limits[2..].iter().map(|limit| (limit.met, limit.is_undecided)).collect();
    let missed = (false, false);
    assert_eq!(decided, [missed, (true, false), missed, (true, false)]);
    // A program before this one ended its search for the highest rate there.
    for (text, is_open) in [(texts[1], true), (texts[0], false)] {
        let headroom = limit("headroom >= 2").hold_headroom(None, 1_000.0, false);
        record.limits = vec![held(text, &record), headroom];
        leave_open(&mut record, 1_000.0);
        assert_eq!(record.limits[1].is_undecided, is_open, "{text}");
    }
    record.figures.clear();
    record.limits = vec![held(texts[0], &record)];
    leave_open(&mut record, 1_000.0);
    assert!(record.limits[0].words.contains("cannot be seen from here"));
}

#[test]
fn memory_and_lost_shares() {
    let mut record = usual("MariaDB", 10);
    let found = held("memory <= 204.8 MB", &record);
    assert!(found.met && found.unit == "bytes", "{found:?}");
    let ledger = record.ledger.as_mut().expect("a ledger");
    (ledger.lost, ledger.acknowledged) = (12, 12_000);
    assert!(held("lost <= 0.1 %", &record).met);
    let found = held("lost < 0.1 %", &record);
    assert_eq!((found.met, found.words.as_str()), (false, "0.1000 %"));
    assert!(!held("lost = 0", &record).met);
}

#[test]
fn headroom_is_of_the_rate_of_the_sensors() {
    let twice = limit("headroom >= 2");
    let found = twice.hold_headroom(Some(2_300.0), 1_000.0, false);
    assert!(found.met && found.measured == Some(2.3), "{found:?}");
    let found = twice.hold_headroom(Some(1_900.0), 1_000.0, false);
    assert!(!found.met && !found.is_undecided, "{found:?}");
    assert!(twice.hold_headroom(Some(1_900.0), 1_000.0, true).is_undecided);
    let found = twice.hold_headroom(None, 1_000.0, false);
    assert_eq!((found.met, found.words.as_str()), (false, "no rate held"));
}

/// That there were too few operations says nothing about the database; that it cannot answer says all.
#[test]
fn what_was_not_measured_is_open_and_what_is_not_supported_is_missed() {
    let mut record = usual("MariaDB", 10);
    let found = held("p99 of point < 1 s", &record);
    assert!(found.is_undecided && found.words.contains("too few"), "{found:?}");
    record.loads[1].not_supported = Some("no such thing".to_owned());
    let found = held("p99 of point < 1 s", &record);
    assert!(!found.met && !found.is_undecided, "{found:?}");
}

#[test]
fn wrong_limits_are_refused() {
    for (text, expected) in [
        ("disk for < 1 GB", "length of time"),
        ("disk for 90 < 1 GB", "disk for 90d < 100 GB"),
        ("disk for 90d < 5 s", "disk for is a size"),
        ("memory < 5 %", "is a size"),
        ("headroom > 1 GB", "plain number"),
    ] {
        let error = Limit::parse(text, &[], 1.0).expect_err(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
}
