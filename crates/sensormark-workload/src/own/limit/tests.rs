//! Limits on records with known numbers: 100,000 readings on 80 MB, 204.8 MB of memory in the server.

use super::*;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::Figure;
use sensormark_result::tests::fixture::{sized, usual};

fn limit(text: &str) -> Limit {
    let names = ["load".to_owned(), "point".to_owned()];
    Limit::parse(text, &names, 1_000.0).unwrap_or_else(|error| panic!("{error}"))
}

fn held(text: &str, record: &TrialRecord) -> LimitRecord {
    limit(text).hold(record, None)
}

/// A trial of four sizes: 6 MB and 100 bytes a reading on disk, of which the logs are known.
fn of_sizes() -> TrialRecord {
    sized("MariaDB", &[10_000, 40_000, 160_000, 640_000])
}

#[test]
fn disk_of_the_time_that_data_is_kept_has_what_is_there_from_the_start_and_a_slope() {
    let record = of_sizes();
    // 86,400,000 readings of 100 bytes, a tenth less and a tenth more.
    let found = held("disk for 1d < 9.6 GB", &record);
    assert!(found.met && !found.is_undecided, "{found:?}");
    assert_eq!(found.words, "7.78 GB to 9.51 GB");
    let found = held("disk for 1d < 7.7 GB", &record);
    assert!(!found.met && !found.is_undecided, "{found:?}");
    let found = held("disk for 1d < 8.6 GB", &record);
    assert!(!found.met && found.is_undecided, "the bound lies in the band: {found:?}");
    assert_eq!(held("disk per reading < 1 kB", &record).measured, Some(100.0));
    // What was measured is no projection.
    let found = held("disk for 640s < 80 MB", &record);
    assert!(found.met && found.measured == Some(70e6), "{found:?}");
}

/// Half an hour of data said 103.6 GB, and twenty hours 78.7 GB.
#[test]
fn the_disk_of_more_readings_than_were_measured_at_one_size_is_open() {
    let mut record = usual("MariaDB", 10);
    for text in ["disk for 1d < 600 GB", "disk for 1d < 1 MB"] {
        let open = held(text, &record);
        assert!(!open.met && is_left_open(&open) && open.measured.is_none(), "{open:?}");
        assert_eq!(open.words, "measured with 12,000 readings; yours are 86 million");
        assert!(open.needs_readings.is_some());
    }
    assert!(held("disk < 1 GB", &record).met && held("disk per reading < 7 kB", &record).met);
    // A program before this one has foretold it, perhaps with a rate at its end.
    let mut foretold = held("disk < 1 MB", &record);
    foretold.text = "disk for 1d < 1 MB at 400 readings a second".to_owned();
    record.limits = vec![foretold];
    hold_disk(&mut record, 1_000.0);
    let again = record.clone();
    hold_disk(&mut record, 1_000.0);
    assert_eq!(record, again);
    assert!(is_left_open(&record.limits[0]) && record.limits[0].text.ends_with("a second"));
    record.figures.clear();
    assert!(held("disk for 1d < 1 GB", &record).words.contains("cannot be seen from here"));
    // An earlier version looked for no logs of some servers, and wrote down 0.
    let mut unknown = of_sizes();
    (unknown.log_bound, unknown.implementation.embedded) = (None, false);
    for text in ["disk < 1 GB", "disk per reading < 1 kB", "disk for 1d < 69 GB"] {
        let found = held(text, &unknown);
        assert!(!found.met && found.is_undecided, "{found:?}");
    }
}

/// The latency of a question is that of the size that the data will have.
#[test]
fn a_latency_is_met_at_your_size_or_open() {
    let record = of_sizes();
    let size = |readings: f64, old: bool| YourSize {
        readings,
        old: if old { vec!["point".to_owned()] } else { Vec::new() },
        in_proportion: false,
    };
    let at = |record: &TrialRecord, size: &YourSize| limit("mean of point < 1 s").hold(record, Some(size));
    assert!(at(&record, &size(640_000.0, true)).met, "it was measured");
    let near = at(&record, &size(8e6, true));
    assert!(near.met && near.words.contains(" to "), "{near:?}");
    let far = at(&record, &size(777e6, false));
    assert!(far.is_undecided && is_left_open(&far), "{far:?}");
    assert_eq!(far.words, "measured with 640,000 readings; yours are 777 million");
    assert_eq!(far.needs_readings, Some(777e6 / 16.0));
    // All that was measured lay in memory, and the user's data will not.
    let mut small = record.clone();
    small.figures.insert(names::MEMORY_FOR_DATA.to_owned(), Figure::new(500e6, "bytes"));
    let old = at(&small, &size(8e6, true));
    assert!(old.is_undecided && old.words.starts_with("measured in memory"), "{old:?}");
    assert!(at(&small, &size(8e6, false)).met, "the newest data stays in memory");
}

#[test]
fn memory_and_lost_shares() {
    let mut record = usual("MariaDB", 10);
    let found = held("memory <= 204.8 MB", &record);
    assert!(found.met && found.unit == "bytes", "{found:?}");
    // A database that is held to less memory than it will have takes less.
    let part = YourSize { readings: 8e6, old: Vec::new(), in_proportion: true };
    let open = limit("memory <= 204.8 MB").hold(&record, Some(&part));
    assert!(!open.met && open.is_undecided, "{open:?}");
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
