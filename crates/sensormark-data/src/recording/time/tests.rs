//! Times as people and loggers write them.

use super::*;

fn iso(text: &str) -> Result<i64, TimeFault> {
    TimeFormat::YearMonthDay.read(text).map(|instant| instant.time_ns)
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
    assert_eq!(iso("2016-02-29"), Ok(1_456_704_000_000_000_000));
}

#[test]
fn what_is_no_time_is_said_so() {
    assert_eq!(iso("2015-02-29 00:00"), Err(TimeFault::NoSuchTime));
    assert_eq!(iso("2015-13-01"), Err(TimeFault::NoSuchTime));
    assert_eq!(iso("2015-02-11 24:00"), Err(TimeFault::NoSuchTime));
    assert_eq!(iso("2015-02-11 13:00 PM"), Err(TimeFault::NoSuchTime));
    assert_eq!(iso("2015-02-11 10:00:00.1234567891"), Err(TimeFault::TooFine));
    let last = TimeRange::OF_READINGS.end_ns - 1;
    assert_eq!(iso("2261-12-31 23:59:59.999999999"), Ok(last));
    for text in [
        "1969-12-31",
        "1970-01-01 00:00 +00:01",
        "2262-01-01",
        "2261-12-31 23:59:59 -00:01",
        "2262-04-11T23:47:16.854775806Z",
        "2263-01-01",
    ] {
        assert_eq!(iso(text), Err(TimeFault::OutOfRange), "{text}");
    }
    let unix = |text| TimeFormat::UnixNanoseconds.read(text);
    assert_eq!(unix("9214646399999999999"), Ok(Instant { time_ns: last }));
    assert_eq!(unix("9214646400000000000"), Err(TimeFault::OutOfRange));
    for text in [
        "",
        "2015",
        "2015-02",
        "15-02-11",
        "2015-02/11",
        "2015-02-11x",
        "2015-02-11 1",
        "2015-02-11 10:00 CET",
        "21.5",
    ] {
        assert_eq!(iso(text), Err(TimeFault::Shape), "{text}");
    }
}

#[test]
fn day_and_month_are_told_apart_only_where_the_date_does() {
    let order = |text| Written::read(text).map(|written| written.order());
    assert_eq!(order("13/02/2015"), Some(Order::DayFirst));
    assert_eq!(order("02/13/2015"), Some(Order::MonthFirst));
    assert_eq!(order("02.03.2015"), Some(Order::Undecided));
    assert_eq!(order("2015-02-03"), Some(Order::YearFirst));
    let day = TimeFormat::DayMonthYear.read("11.2.2015 14:48").unwrap();
    let month = TimeFormat::MonthDayYear.read("2/11/2015 2:48 pm").unwrap();
    assert_eq!((day, month.time_ns), (month, 1_423_666_080_000_000_000));
}

#[test]
fn unix_times_are_read_to_the_nanosecond() {
    let read = |format: TimeFormat, text| format.read(text).map(|instant| instant.time_ns);
    assert_eq!(read(TimeFormat::UnixSeconds, "1423666080.000000001"), Ok(1_423_666_080_000_000_001));
    assert_eq!(read(TimeFormat::UnixMilliseconds, "1423666080123"), Ok(1_423_666_080_123_000_000));
    assert_eq!(read(TimeFormat::UnixNanoseconds, "9007199254740993"), Ok(9_007_199_254_740_993));
    assert_eq!(read(TimeFormat::UnixNanoseconds, "1.5"), Err(TimeFault::TooFine));
    assert_eq!(read(TimeFormat::UnixSeconds, "-1"), Err(TimeFault::OutOfRange));
    assert_eq!(read(TimeFormat::UnixSeconds, "1e9"), Err(TimeFault::Shape));
    let meant = |smallest, largest| {
        let formats: Vec<_> =
            (meanings(smallest, largest).iter()).filter_map(|meaning| meaning.format).collect();
        formats
    };
    assert_eq!(meant(1.58e9, 1.59e9), [TimeFormat::UnixSeconds]);
    assert_eq!(meant(1.58e18, 1.59e18), [TimeFormat::UnixNanoseconds]);
    assert_eq!(meant(1.42e9, 1.43e9), [TimeFormat::UnixSeconds, TimeFormat::Gps]);
    assert_eq!(meant(20_150_211.0, 20_150_212.0), [TimeFormat::YearMonthDay]);
    assert_eq!(meant(-1e308, 1e308), []);
    assert_eq!(meant(5.0, 1e308), []);
}
