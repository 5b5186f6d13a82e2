//! The data against its description: totals by adding up, shapes by counting, and a golden checksum.

use super::*;
use crate::random::finalise;

const USAGE_SINCE_READ: usize = 0;
const YEAR: u64 = 8_760;

fn meter(seed: u64, series: u64) -> Meter {
    Meter::new(Streams::new(seed, series))
}

/// A field's values in hundredths, which they are exactly.
fn hundredths(meter: &Meter, hours: Range<u64>, field: usize) -> Vec<u64> {
    let exact = |hour| {
        let Float(value) = meter.value(field, hour) else { panic!("usage is in floating point") };
        let scaled = (value * 100.0).round();
        assert!((scaled / 100.0).to_bits() == value.to_bits(), "{value}");
        round_u64(scaled)
    };
    hours.map(exact).collect()
}

#[test]
fn totals_add_up_by_the_calendar() {
    use jiff::{Timestamp, tz::TimeZone};
    let hours = 3 * YEAR;
    for series in 0..4 {
        let of = |field| hundredths(&meter(7, series), 0..hours, field);
        let usage = of(USAGE_SINCE_READ);
        let totals = [USAGE_SINCE_READ + 1, 2, 3, 4, 5].map(of);
        let all = of(ALL_TIME_USAGE);
        let mut keys = [String::new(), String::new(), String::new(), String::new()];
        let mut sums = [0; 4];
        let mut all_before = all[0] - usage[0];
        for hour in 0..usage.len() {
            let time_ns = i128::from(START_NS) + hour as i128 * i128::from(HOUR_NS);
            let at = Timestamp::from_nanosecond(time_ns).expect("a time");
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
fn usage_follows_day_and_week_with_noise_and_is_never_nothing() {
    let (mut by_hour, mut by_day) = ([0.0; HOURS_A_DAY], [0.0; 7]);
    let (mut squares, mut count) = (0.0, 0.0);
    for series in 0..40 {
        let meter = meter(11, series);
        assert!((60..=240).contains(&meter.base));
        let usage = hundredths(&meter, 0..52 * 168, USAGE_SINCE_READ);
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
        for (kind, most) in [99, 9].into_iter().enumerate() {
            for hour in 0..YEAR {
                let Integer(code) = meter(5, series).value(ERROR_CODE_1 + kind, hour) else {
                    panic!("codes are whole numbers");
                };
                assert!((0..=most).contains(&code));
                counts[kind] += i32::from(code != 0);
            }
        }
    }
    // Of 438,000 readings one in 1,000 and one in 5,000: within four standard deviations.
    assert!((438 - 84..=438 + 84).contains(&counts[0]), "{counts:?}");
    assert!((87 - 38..=87 + 38).contains(&counts[1]), "{counts:?}");
}

#[test]
fn months_are_those_of_the_calendar() {
    // January; February of 2020, which has 29 days; the first hour after December of 2027.
    let bounds = [0, 1, 25, 26, 120].map(|month| STARTS[month]);
    assert_eq!(bounds, [0, 31 * 24, 761 * 24, 790 * 24, 3_652 * 24]);
    for hour in 0..MOST_HOURS {
        let month = month_of(hour);
        assert!((STARTS[month]..STARTS[month + 1]).contains(&hour), "{hour}");
    }
    assert_eq!([MOST_HOURS, u64::MAX].map(month_of), [120, 120]);
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
fn golden_checksum() {
    let mut sum = 0;
    let mut fold = |bits: u64| sum = finalise(sum ^ bits);
    let mut contact = Vec::new();
    for series in [0, 1, 77] {
        let meter = meter(42, series);
        for hour in 700..900 {
            fold((START_NS + signed(hour) * HOUR_NS).cast_unsigned());
            for field in 0..FIELDS.len() {
                fold(match meter.value(field, hour) {
                    Float(value) => value.to_bits(),
                    Integer(value) => value.cast_unsigned(),
                });
            }
        }
        fill_contact(42, u32::try_from(series).unwrap(), &mut contact);
        format!("{contact:?}").bytes().for_each(|byte| fold(u64::from(byte)));
    }
    assert_eq!(sum, 16_976_627_944_954_349_110, "the data set has changed: say so in CHANGELOG.md");
}
