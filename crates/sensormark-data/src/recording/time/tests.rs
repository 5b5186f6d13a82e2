//! Times as people and loggers write them.

use super::*;

fn iso(text: &str) -> Result<i64, TimeFault> {
    TimeFormat::YearMonthDay.read(text).map(|instant| instant.time_ns)
}

fn known(name: &str) -> TimeFormat {
    name.parse().unwrap()
}

/// A time as people write it.
fn shown(format: &str, text: &str) -> String {
    let read = known(format).read(text);
    let read = read.unwrap_or_else(|fault| panic!("{format} {text:?}: {fault:?}"));
    jiff::Timestamp::from_nanosecond(read.time_ns.into()).unwrap().to_string()
}

#[test]
fn times_of_day_and_zones_are_exact() {
    // 2015-02-11 14:48:00 UTC is 1423666080 (date -u -d … +%s).
    let expected = 1_423_666_080_000_000_000;
    for text in [
        "2015-02-11 14:48:00",
        "2015-02-11T14:48:00Z",
        "2015-02-11t14:48",
        "2015/02/11 14:48:00.000",
        "2015-02-11 15:48:00+01:00",
        "2015-02-11 09:48:00 -0500",
        "2015-02-11 20:18:00 +0530",
        "2015-02-11 02:48:00 PM",
        "2015-2-11 14:48:00 UTC",
        "2015-02-11 14:48:00.0000000000000",
    ] {
        assert_eq!(iso(text), Ok(expected), "{text}");
    }
    assert_eq!(iso("2015-02-11T14:48:00.123456789Z"), Ok(expected + 123_456_789));
    assert_eq!(iso("2015-02-11 14:48:00,5"), Ok(expected + 500_000_000));
    assert_eq!(iso("1970-01-01"), Ok(0));
    assert_eq!(iso("1969-12-31 23:59:59.5"), Ok(-500_000_000));
    assert_eq!(iso("1678-01-01"), Ok(TimeRange::OF_RECORDINGS.start_ns));
    assert_eq!(iso("2016-02-29"), Ok(1_456_704_000_000_000_000));
}

#[test]
fn what_is_no_time_is_said_so() {
    assert_eq!(iso("2015-02-29 00:00"), Err(TimeFault::NoSuchTime));
    assert_eq!(iso("2015-13-01"), Err(TimeFault::NoSuchTime));
    assert_eq!(iso("2015-02-11 24:01"), Err(TimeFault::NoSuchTime));
    assert_eq!(iso("2015-02-11 23:59:60"), Err(TimeFault::NoSuchTime));
    assert_eq!(iso("2015-02-11 13:00 PM"), Err(TimeFault::NoSuchTime));
    assert_eq!(iso("2015-02-11 10:00:00.1234567891"), Err(TimeFault::TooFine));
    let last = TimeRange::OF_READINGS.end_ns - 1;
    assert_eq!(iso("2261-12-31 23:59:59.999999999"), Ok(last));
    for text in [
        "1677-12-31",
        "1678-01-01 00:00 +00:01",
        "2262-01-01",
        "2261-12-31 23:59:59 -00:01",
        "2262-04-11T23:47:16.854775806Z",
        "2263-01-01",
        "9999-12-31",
    ] {
        assert_eq!(iso(text), Err(TimeFault::OutOfRange), "{text}");
    }
    let unix = |text| known("unix-ns").read(text);
    assert_eq!(unix("9214646399999999999"), Ok(Instant { time_ns: last, oddity: None }));
    assert_eq!(unix("9214646400000000000"), Err(TimeFault::OutOfRange));
    for text in [
        "",
        "2015",
        "2015-02",
        "2015-02/11",
        "2015-02-11x",
        "2015-02-11 1",
        "2015-02-11 10:00 CST",
        "2015-02-11 10:00 UTC +01:00",
        "2015-02-11 10:00 degrees",
        "1 2 15",
        "21.5",
    ] {
        assert_eq!(iso(text), Err(TimeFault::Shape), "{text}");
    }
}

#[test]
fn day_and_month_are_told_apart_only_where_the_date_does() {
    let orders = |text| Written::read(text).map(|written| written.dates.map(|date| date.is_some()));
    for (text, expected) in [
        ("13/02/2015", [false, true, false]),
        ("02/13/2015", [false, false, true]),
        ("02.03.2015", [false, true, true]),
        ("2015-02-03", [true, false, false]),
        ("02-Mar-2015", [false, true, false]),
        ("Mar 2, 2015", [false, false, true]),
        ("01/13/13", [false, false, true]),
        ("13/01/14", [true, true, false]),
        ("02/03/04", [true, true, true]),
        ("31-Oct-99", [false, true, false]),
    ] {
        assert_eq!(orders(text), Some(expected), "{text}");
    }
    assert_eq!(orders("13/13/13"), None);
    assert_eq!(orders("1.2.3"), None);
    let day = TimeFormat::DayMonthYear.read("11.2.2015 14:48").unwrap();
    let month = TimeFormat::MonthDayYear.read("2/11/2015 2:48 pm").unwrap();
    assert_eq!((day, month.time_ns), (month, 1_423_666_080_000_000_000));
}

#[test]
fn unix_times_are_read_to_the_nanosecond() {
    let read = |format: TimeFormat, text| format.read(text).map(|instant| instant.time_ns);
    assert_eq!(read(known("unix-s"), "1423666080.000000001"), Ok(1_423_666_080_000_000_001));
    assert_eq!(read(known("unix-ms"), "1423666080123"), Ok(1_423_666_080_123_000_000));
    assert_eq!(read(known("unix-ns"), "9007199254740993"), Ok(9_007_199_254_740_993));
    assert_eq!(read(known("unix-ns"), "1.5"), Err(TimeFault::TooFine));
    assert_eq!(read(known("unix-s"), "-1.5"), Ok(-1_500_000_000));
    assert_eq!(read(known("unix-s"), "-9214560001"), Err(TimeFault::OutOfRange));
    assert_eq!(read(known("unix-s"), "1e9"), Ok(1_000_000_000_000_000_000));
    assert_eq!(read(known("unix-ns"), "1.5778368e+18"), Ok(1_577_836_800_000_000_000));
    assert_eq!(read(known("unix-s"), "1.5778368005E9"), Ok(1_577_836_800_500_000_000));
    assert_eq!(read(known("unix-s"), "1e-9"), Err(TimeFault::Shape));
    let meant = |smallest, largest| meanings((smallest, largest));
    assert_eq!(meant(1.58e9, 1.59e9), [known("unix-s")]);
    assert_eq!(meant(1.58e18, 1.59e18), [known("unix-ns")]);
    assert_eq!(meant(1.42e9, 1.43e9), [known("unix-s"), known("gps")]);
    assert_eq!(meant(20_150_211.0, 20_150_212.0), [TimeFormat::YearMonthDay]);
    assert_eq!(meant(-1e308, 1e308), []);
    assert_eq!(meant(5.0, 1e308), []);
}

/// A format, a time as it is written so, and the time.
const WRITTEN: &[[&str; 3]] = &[
    ["year-month-day", "2023-04-24 24:00", "2023-04-25T00:00:00Z"],
    ["day-month-year", "31.12.2023 24:00:00", "2024-01-01T00:00:00Z"],
    ["year-month-day", "2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"],
    ["year-month-day", "2016-12-31 23:59:60.5", "2017-01-01T00:00:00.5Z"],
    ["year-month-day", "2013-01-01 07", "2013-01-01T07:00:00Z"],
    ["year-month-day", "20200101T000500Z", "2020-01-01T00:05:00Z"],
    ["year-month-day", "20200101T0005+0100", "2019-12-31T23:05:00Z"],
    ["year-month-day", "2020-03-29T01:59:00+01:00[Europe/Berlin]", "2020-03-29T00:59:00Z"],
    ["year-month-day", "2020-03-29 03:00:00 +0200 CEST", "2020-03-29T01:00:00Z"],
    ["year-month-day", "2020-03-29 03:00:00 +0000 UTC", "2020-03-29T03:00:00Z"],
    ["year-month-day", "2020-07-01 12:00 CET", "2020-07-01T11:00:00Z"],
    ["year-month-day", "2020-07-01 12:00[Europe/Berlin]", "2020-07-01T10:00:00Z"],
    ["year-month-day", "2020-07-01 12:00 Europe/Berlin", "2020-07-01T10:00:00Z"],
    ["year-month-day", "2020-07-01 12:00 GMT+02:00", "2020-07-01T10:00:00Z"],
    ["month-day-year", "1/13/2020 2:01:00\u{202f}PM", "2020-01-13T14:01:00Z"],
    ["month-day-year", "1/13/2020 2:01 p.m.", "2020-01-13T14:01:00Z"],
    ["month-day-year", "1/13/2020 2:01 p. m.", "2020-01-13T14:01:00Z"],
    ["year-month-day", "2023-07-01 00:00 America/New_York", "2023-07-01T04:00:00Z"],
    ["month-day-year", "1/13/2020 12:01 a.m.", "2020-01-13T00:01:00Z"],
    ["month-day-year", "1/13/2020, 2 PM", "2020-01-13T14:00:00Z"],
    ["month-day-year", "01/13/13 01:00:00 PM", "2013-01-13T13:00:00Z"],
    ["month-day-year", "Oct 31, 2023 10:00", "2023-10-31T10:00:00Z"],
    ["day-month-year", "31-OCT-2023 00:00:00", "2023-10-31T00:00:00Z"],
    ["day-month-year", "Tue, 31 Oct 2023 23:00:00 GMT", "2023-10-31T23:00:00Z"],
    ["day-month-year", "31/Oct/2023:23:59:59 +0200", "2023-10-31T21:59:59Z"],
    ["day-month-year", "31-Oct-99", "1999-10-31T00:00:00Z"],
    ["month-day-year", "Sat Mar 25 20:00:00 CET 2023", "2023-03-25T19:00:00Z"],
    ["month-day-year", "Sat Mar 25 08:00:00 PM UTC 2023", "2023-03-25T20:00:00Z"],
    ["month-day-year", "Sun Mar  5 20:00:00 2023", "2023-03-05T20:00:00Z"],
    ["month-day-year", "Sat Mar 25 20:00:00 +0100 2023", "2023-03-25T19:00:00Z"],
    ["month-day-year", "Sat Mar 25 20:00:00 2023 +0100", "2023-03-25T19:00:00Z"],
    [
        "month-day-year",
        "Sat Mar 25 2023 20:00:00 GMT+0100 (Central European Standard Time)",
        "2023-03-25T19:00:00Z",
    ],
    ["year-month-day", "2023-03-25 20:00 UTC+2", "2023-03-25T18:00:00Z"],
    ["excel", "45010,25", "2023-03-25T06:00:00Z"],
    ["%d-%b-%Y %H:%M", "31-Oct-2023 07:05", "2023-10-31T07:05:00Z"],
    ["%d%m%y%H%M", "3110230705", "2023-10-31T07:05:00Z"],
    ["%Y-%j", "2023-032", "2023-02-01T00:00:00Z"],
    ["%Y-%m", "1949-12", "1949-12-01T00:00:00Z"],
    ["%b %Y", "Feb 2023", "2023-02-01T00:00:00Z"],
    ["%Y-%m-%d %H:%M:%S %z", "2023-02-01 10:00:00 +0100", "2023-02-01T09:00:00Z"],
    ["%Y-%m-%d %H:%M:%S", "2016-12-31 23:59:60", "2017-01-01T00:00:00Z"],
    ["excel", "43831.0416666667", "2020-01-01T01:00:00Z"],
    ["excel", "43831.5", "2020-01-01T12:00:00Z"],
    ["julian-days", "2458849.5", "2020-01-01T00:00:00Z"],
];

#[test]
fn times_are_read_as_people_and_loggers_write_them() {
    for [format, text, expected] in WRITTEN {
        assert_eq!(&shown(format, text), expected, "{format} {text}");
    }
    let twice = TimeFormat::YearMonthDay.read("2020-10-25 02:30[Europe/Berlin]");
    assert_eq!(twice, Err(TimeFault::Twice));
    assert_eq!(known("%Y-%m-%d %H:%M:%S").read("2015-02-11 23:59:60"), Err(TimeFault::NoSuchTime));
    for text in ["Mar 25 20:00:00", "25 Mar 20:00:00", "Mar 25 20:00:00 +0100 202"] {
        assert_eq!(Written::read(text), None, "{text}");
    }
    for text in ["2000Z", "2023-01", "2000", "20 Z", "10 amps"] {
        assert_eq!(read_clock(text), None, "{text}");
    }
    for name in ["%H:%M", "%Y-%", "yesterday", "unix-days"] {
        assert!(name.parse::<TimeFormat>().is_err(), "{name}");
    }
    let stored = serde_json::to_string(&known("%d.%m.%Y")).unwrap();
    assert_eq!(serde_json::from_str::<TimeFormat>(&stored).unwrap(), known("%d.%m.%Y"));
}
