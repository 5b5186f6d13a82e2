//! The data against its description: totals by adding up, shapes by counting, and a golden checksum.

#![expect(clippy::cast_possible_truncation, reason = "test data sets are small")]

use super::calendar::{MOST_HOURS, month, month_name};
use super::*;
use crate::export::Shard;
use crate::random::finalise;
use sensormark_store::Value;

const YEAR: u32 = 8_760;

fn readings(seed: u64, series: u32, hours: Range<u32>) -> Batch {
    let mut batch = Batch::new(0, &schema(series + 1).tables[0]);
    Meter::new(seed, series).push(series, hours, &mut batch);
    batch
}

/// A field's values in hundredths, which they are exactly.
fn hundredths(batch: &Batch, field: usize) -> Vec<u64> {
    let exact = |row| {
        let value = batch.columns[field].number(row).expect("a number");
        let scaled = (value * 100.0).round();
        assert!((scaled / 100.0).to_bits() == value.to_bits(), "{value}");
        crate::units::round_u64(scaled)
    };
    (0..batch.len()).map(exact).collect()
}

#[test]
fn totals_add_up_by_the_calendar() {
    use jiff::{Timestamp, tz::TimeZone};
    let hours = 3 * YEAR;
    for series in 0..4 {
        let batch = readings(7, series, 0..hours);
        let usage = hundredths(&batch, USAGE_SINCE_READ);
        let totals = [USAGE_SINCE_READ + 1, 2, 3, 4, 5].map(|field| hundredths(&batch, field));
        let all = hundredths(&batch, ALL_TIME_USAGE);
        let mut keys = [String::new(), String::new(), String::new(), String::new()];
        let mut sums = [0; 4];
        let mut all_before = all[0] - usage[0];
        for hour in 0..hours as usize {
            let at = Timestamp::from_nanosecond(i128::from(batch.times_ns[hour])).expect("a time");
            let at = at.to_zoned(TimeZone::UTC).date();
            let week = at.iso_week_date();
            let now = [
                at.to_string(),
                format!("{} {}", week.year(), week.week()),
                format!("{} {}", at.year(), at.month()),
                at.year().to_string(),
            ];
            for place in 0..4 {
                if keys[place] != now[place] {
                    sums[place] = 0;
                }
                sums[place] += usage[hour];
            }
            keys = now;
            assert_eq!(totals[0][hour], usage[hour], "hour {hour}");
            let told = [1, 2, 3, 4].map(|place: usize| totals[place][hour]);
            assert_eq!(told, sums, "hour {hour} of meter {series}");
            assert_eq!(all[hour], all_before + usage[hour], "hour {hour}");
            all_before = all[hour];
        }
    }
}

#[test]
fn any_reading_can_be_had_at_once_and_none_needs_another() {
    let whole = readings(3, 5, 0..2_000);
    let mut parts = Batch::new(0, &schema(6).tables[0]);
    let meter = Meter::new(3, 5);
    for start in (0..2_000).step_by(7) {
        meter.push(5, start..(start + 7).min(2_000), &mut parts);
    }
    assert_eq!(parts, whole);
    for (start, end) in [(0, 744), (100, 101), (50, 50), (1_416, 1_999)] {
        let sum: u64 = hundredths(&whole, USAGE_SINCE_READ)[start..end].iter().sum();
        assert_eq!(meter.used(start as u32..end as u32), sum);
    }
}

#[test]
fn usage_follows_day_and_week_with_noise_and_is_never_nothing() {
    let (mut by_hour, mut by_day) = ([0.0; HOURS_A_DAY], [0.0; 7]);
    let (mut squares, mut count) = (0.0, 0.0);
    for series in 0..40 {
        let meter = Meter::new(11, series);
        assert!((60..=240).contains(&meter.base));
        let usage = hundredths(&readings(11, series, 0..52 * 168), USAGE_SINCE_READ);
        assert!(usage.iter().all(|&one| one > 0));
        for (hour, &used) in usage.iter().enumerate() {
            let share = used as f64 / meter.base as f64;
            by_hour[hour % HOURS_A_DAY] += share;
            by_day[hour / HOURS_A_DAY % 7] += share;
            let weight = DAY[hour % HOURS_A_DAY] * WEEK[hour / HOURS_A_DAY % 7];
            squares += (share - weight as f64 / 1e5).powi(2);
            count += 1.0;
        }
    }
    for (hour, sum) in by_hour.into_iter().enumerate() {
        let mean = sum / count * 24.0;
        assert!((mean - DAY[hour] as f64 / 1e3).abs() < 0.01, "{hour}: {mean}");
    }
    for (day, sum) in by_day.into_iter().enumerate() {
        let mean = sum / count * 7.0;
        assert!((mean - WEEK[day] as f64 / 100.0).abs() < 0.005, "{day}: {mean}");
    }
    // The difference of two uniforms up to 0.4 has the variance 0.4²/6.
    let variance = squares / count;
    assert!((variance / (0.16 / 6.0) - 1.0).abs() < 0.05, "{variance}");
}

#[test]
fn errors_are_rare_and_of_known_codes() {
    let mut counts = [0; 2];
    for series in 0..50 {
        let batch = readings(5, series, 0..YEAR);
        for (kind, field) in [ERROR_CODE_1, ERROR_CODE_1 + 1].into_iter().enumerate() {
            let codes = integers_of(&batch, field);
            let most = [99, 9][kind];
            assert!(codes.iter().all(|code| (0..=most).contains(code)));
            counts[kind] += codes.iter().filter(|&&code| code != 0).count();
        }
    }
    // Of 438,000 readings one in 1,000 and one in 5,000: within four standard deviations.
    assert!((438 - 84..=438 + 84).contains(&counts[0]), "{counts:?}");
    assert!((87 - 38..=87 + 38).contains(&counts[1]), "{counts:?}");
}

fn integers_of(batch: &Batch, field: usize) -> Vec<i64> {
    match &batch.columns[field].values {
        Values::I64(values) => values.clone(),
        _ => panic!("an integer field"),
    }
}

#[test]
fn months_are_those_of_the_calendar() {
    assert_eq!(month(1), Some(0..744));
    assert_eq!(month(2), Some(744..1_416));
    assert_eq!(month(12), Some(8_016..8_760));
    // February of 2020 has 29 days.
    assert_eq!(month(26).map(|hours| hours.len()), Some(29 * 24));
    assert_eq!((month(0), month(121)), (None, None));
    assert_eq!((month_name(1), month_name(26)), ("2018-01".into(), "2020-02".into()));
    assert_eq!(MOST_HOURS, 3_652 * 24);
    for hour in 0..MOST_HOURS {
        let found = calendar::month_of(hour);
        let number = u32::try_from(found).expect("small") + 1;
        assert!(month(number).expect("a month").contains(&hour), "{hour}");
    }
}

#[test]
fn contacts_are_each_meter_s_own_and_memory_is_used_again() {
    let (mut used, mut fresh) = (Vec::new(), Vec::new());
    let mut seen = std::collections::BTreeSet::new();
    for series in [3, 3, 4, 1_000_000, 4] {
        fill_contact(9, series, &mut used);
        fresh.clear();
        fill_contact(9, series, &mut fresh);
        assert_eq!(used, fresh);
        assert_eq!(used.len(), contact::COLUMNS.split(' ').count());
        seen.insert(format!("{used:?}"));
    }
    assert_eq!(seen.len(), 3);
    assert!(matches!(&used[1], Value::Text(email) if email.ends_with(".5@example.org")));
}

#[test]
fn shards_make_the_whole() {
    let data = data_set(2, 7, 5_000);
    let rows = |shard| {
        let mut rows = Vec::new();
        let read = data.each_batch(shard, |batch| {
            for row in 0..batch.len() {
                let values: Vec<Value> = batch.columns.iter().map(|one| one.value(row)).collect();
                rows.push((batch.series[row], batch.times_ns[row], format!("{values:?}")));
            }
            Ok(())
        });
        read.unwrap();
        rows
    };
    let whole = rows(Shard::WHOLE);
    assert_eq!(whole.len(), 35_000);
    let parts = (0..3).flat_map(|number| rows(Shard::new(number, 3).expect("a shard")));
    assert_eq!(parts.collect::<Vec<_>>(), whole);
}

#[test]
fn golden_checksum() {
    let mut sum = 0;
    let mut fold = |bits: u64| sum = finalise(sum ^ bits);
    let mut contact = Vec::new();
    for series in [0, 1, 77] {
        let batch = readings(42, series, 700..900);
        for row in 0..batch.len() {
            fold(batch.times_ns[row].cast_unsigned());
            for column in &batch.columns {
                match column.value(row) {
                    Value::F64(value) => fold(value.to_bits()),
                    Value::I64(value) => fold(value.cast_unsigned()),
                    other => panic!("{other}"),
                }
            }
        }
        fill_contact(42, series, &mut contact);
        format!("{contact:?}").bytes().for_each(|byte| fold(u64::from(byte)));
    }
    assert_eq!(sum, 16_976_627_944_954_349_110, "the data set has changed: say so in CHANGELOG.md");
}
