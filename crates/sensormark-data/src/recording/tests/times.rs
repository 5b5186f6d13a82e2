//! Numbers that may be times, and columns that may be the time.

use super::cases::{said, stops_with, time_is, times};
use super::*;

/// A recording whose times count up by one from this number.
fn counted(name: &str, first: i128, step: i128) -> String {
    let row = |row: i128| format!("{},{row}\n", first + row * step);
    let rows: String = (0..20).map(row).collect();
    format!("{name},v\n{rows}")
}

fn format_is(format: TimeFormat) -> RecordingOptions {
    said(|options| options.time_format = Some(format))
}

#[test]
fn digits_of_a_date_are_no_unix_times() {
    let mut text = "STATIONS_ID;MESS_DATUM;QN_9;TT_TU;eor\n".to_owned();
    for hour in 0..30 {
        text += &format!("         44;202008{};    3;   14.2;eor\n", 1_300 + hour / 24 * 100 + hour % 24);
    }
    let recording = read(&text, &time_is("MESS_DATUM")).unwrap();
    let (first, last, readings, repeated) = times(&recording);
    assert_eq!((first.as_str(), last.as_str()), ("2020-08-13T00:00:00Z", "2020-08-14T05:00:00Z"));
    assert_eq!((readings, repeated), (30, 0));
    assert_eq!(recording.report.timing.interval_ns, Some(3_600_000_000_000));
    let told = recording.report.to_string();
    assert!(told.contains("Assumed: numbers in column MESS_DATUM are year-month-day"), "{told}");
    stops_with(&text, &RecordingOptions::default(), &["--time MESS_DATUM", "year-month-day"]);
    for (first, second, expected) in [
        ("20200813", "20200814", "2020-08-13T00:00:00Z"),
        ("202008132350", "202008132351", "2020-08-13T23:50:00Z"),
        ("20200813235959", "20200814000000", "2020-08-13T23:59:59Z"),
        ("1995010100", "1995010101", "1995-01-01T00:00:00Z"),
    ] {
        let recording = read_plainly(format!("timestamp,v\n{first},1\n{second},2\n"));
        assert_eq!(times(&recording).0, expected);
    }
    let clock = "date,time,v\n20200813,23:50,1\n20200813,23:51,2\n";
    assert_eq!(times(&read_plainly(clock)).0, "2020-08-13T23:50:00Z");
    let wrong = "timestamp,v\n20200813,1\n20200832,2\n20200901,3\n";
    stops_with(wrong, &RecordingOptions::default(), &["line 3", "no such date"]);
}

#[test]
fn numbers_that_count_from_another_day_are_no_unix_times() {
    let labview = counted("Timestamp", 3_660_681_600, 1);
    let both = [
        "labview (first 2020-01-01T00:00:00Z; --time Timestamp --time-format labview)",
        "ntp (first 2016-01-02T00:00:00Z; --time Timestamp --time-format ntp)",
    ];
    stops_with(&labview, &RecordingOptions::default(), &both);
    stops_with(&labview, &time_is("Timestamp"), &both);
    for (format, first, step) in [
        (known("labview"), 3_660_681_600, 1),
        (known("ntp"), 3_786_825_600, 1),
        (known("gps"), 1_261_872_018, 1),
        (known("filetime"), 132_223_104_000_000_000, 10_000_000),
        (known("dotnet-ticks"), 637_134_336_000_000_000, 10_000_000),
    ] {
        let text = counted("time", first, step);
        stops_with(&text, &RecordingOptions::default(), &[format.name(), "2020-01-01T00:00:00Z"]);
        let recording = read(&text, &format_is(format)).unwrap();
        let (first, last, ..) = times(&recording);
        assert_eq!((first.as_str(), last.as_str()), ("2020-01-01T00:00:00Z", "2020-01-01T00:00:19Z"));
    }
    for (name, first) in [("excel", 43_831), ("matlab", 737_791)] {
        let text = counted("date", first, 1);
        stops_with(&text, &RecordingOptions::default(), &[name, "2020-01-01"]);
        let read_so = read(&text, &format_is(known(name))).unwrap();
        assert_eq!(times(&read_so).1, "2020-01-20T00:00:00Z");
    }
    // Someone who says so gets what they say.
    let unix = read(&labview, &format_is(known("unix-s"))).unwrap();
    assert_eq!(times(&unix).0, "2086-01-01T00:00:00Z");
    let early = counted("time", 86_400, 1);
    stops_with(&early, &time_is("time"), &["in no known way", "unix-s"]);
    let leap = read("time,v\n1167264016,1\n1167264018,2\n", &format_is(known("gps"))).unwrap();
    assert_eq!(times(&leap).0, "2016-12-31T23:59:59Z");
    assert_eq!(times(&leap).1, "2017-01-01T00:00:00Z");
}

#[test]
fn unix_seconds_that_can_be_gps_seconds_are_asked_about() {
    let text = counted("ts", 1_423_666_080, 60);
    let both = ["unix-s (first 2015-02-11T14:48:00Z", "gps (first 2025-02-1"];
    stops_with(&text, &time_is("ts"), &both);
    stops_with(&text, &RecordingOptions::default(), &both);
    let recording = read(&text, &format_is(known("unix-s"))).unwrap();
    assert_eq!(times(&recording).0, "2015-02-11T14:48:00Z");
    let named = read_plainly(counted("unix_time", 1_423_666_080, 60));
    assert_eq!(named.report.time.format, known("unix-s"));
    let gps = counted("gps_time", 1_262_304_015, 1);
    stops_with(&gps, &RecordingOptions::default(), &["gps (first 2020-01-05"]);
    let milliseconds = counted("gps_millis", 1_600_000_000_000, 1);
    stops_with(&milliseconds, &RecordingOptions::default(), &["looks like a time"]);
}

/// Unix times, and the date of each, in two columns.
fn tracked(first: i64, header: &str, factor: i64, date: impl Fn(i64) -> String) -> String {
    let mut text = format!("id,{header},speed,date\n");
    for row in 0..30 {
        let at = first + row * 60;
        text += &format!("{row},{},{},{}\n", at * factor, 462 - row, date(at));
    }
    text
}

fn day(at: i64) -> String {
    jiff::Timestamp::from_second(at).unwrap().strftime("%Y-%m-%d").to_string()
}

#[test]
fn a_finer_column_that_agrees_with_the_dates_is_the_time() {
    for (first, factor) in [(1_517_587_275, 1), (1_517_587_275, 1_000), (1_423_666_080, 1)] {
        let recording = read_plainly(tracked(first, "timestamp", factor, day));
        let (start, _, readings, repeated) = times(&recording);
        assert_eq!(start, jiff::Timestamp::from_second(first).unwrap().to_string());
        assert_eq!((readings, repeated), (30, 0));
        assert_eq!(recording.report.time.label, "timestamp");
        let told = recording.report.to_string();
        let part = "Assumed: column timestamp is the time; date agrees with it in every row, and --time takes another";
        assert!(told.contains(part), "{told}");
    }
    let order = |at: i64| jiff::Timestamp::from_second(at).unwrap().strftime("%d/%m/%Y").to_string();
    let recording = read_plainly(tracked(1_517_587_275, "timestamp", 1, order));
    assert_eq!(recording.report.time.label, "timestamp");
    // Numbers whose name says nothing are not the time, and the dates alone are not either.
    let nameless = tracked(1_517_587_275, "t", 1, day);
    stops_with(&nameless, &RecordingOptions::default(), &["29 of 30 readings", "--time COLUMN"]);
    assert_eq!(times(&read(&nameless, &time_is("t")).unwrap()).3, 0);
}

#[test]
fn columns_that_can_be_the_time_and_do_not_agree_are_named() {
    let other_year = tracked(1_517_587_275, "timestamp", 1, |_| "2020-03-01".to_owned());
    let both = ["--time timestamp (\"1517587275\")", "--time date (\"2020-03-01\")"];
    stops_with(&other_year, &RecordingOptions::default(), &both);
    let mut received = "sample_id,collected,received,value\n".to_owned();
    for row in 1..20 {
        received += &format!("{row},2020-01-{row:02} 10:00,2020-02-{row:02} 09:00,{row}\n");
    }
    stops_with(&received, &RecordingOptions::default(), &["--time collected", "--time received"]);
    let named = read(&received, &time_is("received")).unwrap();
    assert_eq!(times(&named).0, "2020-02-01T09:00:00Z");
    let two_dates = "ordered,shipped,v\n2020-01-01,2020-01-05,1\n2020-01-02,2020-01-06,2\n";
    stops_with(two_dates, &RecordingOptions::default(), &["--time ordered", "--time shipped"]);
    // The same moments twice are one time.
    let same =
        tracked(1_517_587_275, "timestamp", 1, |at| jiff::Timestamp::from_second(at).unwrap().to_string());
    assert_eq!(times(&read_plainly(same)).3, 0);
}
