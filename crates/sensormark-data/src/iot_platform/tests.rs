//! What homes send is pinned, and has the study's numbers.

use super::*;
use sensormark_store::Values;
use std::collections::{BTreeMap, BTreeSet};

const SEED: u64 = 42;

/// The weather station's temperature of a home.
fn weather_station(home: u32) -> u32 {
    let series = &schema(home + 1).tables[0].series;
    let is_weather = |one: &u32| [2, 3].map(|tag| series.columns()[tag].text(*one)) == ["meteo", "temp"];
    (0..series.len()).rfind(is_weather).expect("it is among the devices")
}

fn batch() -> Batch {
    Batch::new(0, &schema(1).tables[0])
}

/// Everything of some days of one home.
fn days(homes: &Homes, home: u32, days: u64) -> Batch {
    let mut all = batch();
    homes.push_hours(home, 0..days * 24, &mut all);
    all
}

fn checksum(batch: &Batch) -> u64 {
    let mut sum = 0;
    let mut add = |word: u64| sum = finalise(sum ^ word);
    for row in 0..batch.len() {
        add(batch.times_ns[row].cast_unsigned());
        add(u64::from(batch.series[row]));
        for (number, column) in batch.columns.iter().enumerate() {
            if !column.has(row) {
                continue;
            }
            add(number as u64);
            match &column.values {
                Values::Bool(values) => add(u64::from(values[row])),
                Values::I64(values) => add(values[row].cast_unsigned()),
                Values::F64(values) => add(values[row].to_bits()),
                Values::Text(values) => values.get(row).bytes().for_each(|one| add(u64::from(one))),
                Values::U16(_) => unreachable!("no field is of this type"),
            }
        }
    }
    sum
}

#[test]
fn golden_checksum() {
    let homes = Homes::new(SEED, 2);
    let sums = [0, 1].map(|home| {
        let all = days(&homes, home, 3);
        (all.len(), checksum(&all))
    });
    assert_eq!(sums, [(38_278, 782_252_179_078_253_072), (38_277, 16_979_301_854_618_207_799)]);
}

#[test]
fn a_day_has_the_studys_numbers() {
    let homes = Homes::new(SEED, 1);
    assert!((Homes::values_an_hour() * 24.0 - 12_771.2).abs() < 1.0);
    let (mut messages, days_seen) = (Vec::new(), 60);
    homes.messages(0, 0..days_seen * 24, &mut messages);
    let a_day = messages.len() as f64 / days_seen as f64;
    assert!((a_day - 6_958.0).abs() < 15.0, "{a_day} messages a day");
    let values = days(&homes, 0, days_seen).len() as f64;
    // 5,594,177 values in 438 days.
    let all = values / days_seen as f64 * 438.0;
    assert!((all / 5_594_177.0 - 1.0).abs() < 0.002, "{all}");
    let weather = |days: i64| {
        let mut own = batch();
        let range = TimeRange::new(START_NS, START_NS + days * DAY_NS);
        homes.push_series(weather_station(0), range, &mut own);
        own.len() as f64
    };
    assert!((weather(90) / 8_500.0 - 1.0).abs() < 0.01, "{}", weather(90));
    assert!((weather(350) / 33_000.0 - 1.0).abs() < 0.01, "{}", weather(350));
}

#[test]
fn all_types_are_sent_and_a_value_fills_one_field() {
    let homes = Homes::new(SEED, 1);
    let all = days(&homes, 0, 2);
    let schema = schema(1);
    all.check(&schema.tables[0], false).expect("it fits");
    let mut of_kind = [0_u32; 4];
    for row in 0..all.len() {
        let filled: Vec<usize> = (0..4).filter(|&one| all.columns[one].has(row)).collect();
        assert_eq!(filled, [field(homes.kind(all.series[row]))]);
        of_kind[filled[0]] += 1;
    }
    assert!(of_kind.iter().all(|&count| count > 300), "{of_kind:?}");
}

#[test]
fn messages_come_in_order_and_within_their_hours() {
    let homes = Homes::new(SEED, 3);
    for home in 0..3 {
        for hours in [0..1, 5..9, 100..124] {
            let mut messages = Vec::new();
            homes.messages(home, hours.clone(), &mut messages);
            let times: Vec<i64> = messages.iter().map(|one| one.time_ns).collect();
            assert!(times.is_sorted());
            let start = START_NS + i64::try_from(hours.start).unwrap() * HOUR_NS;
            let end = START_NS + i64::try_from(hours.end).unwrap() * HOUR_NS;
            assert!(times.iter().all(|&time| (start..end).contains(&time) && time % 1_000_000 == 0));
        }
    }
    let mut last = BTreeMap::new();
    let all = days(&homes, 1, 3);
    for row in 0..all.len() {
        let before = last.insert(all.series[row], all.times_ns[row]);
        assert!(before.is_none_or(|before| before < all.times_ns[row]));
    }
    assert_eq!(last.len(), homes.series_a_home() as usize);
}

#[test]
fn pieces_and_single_series_are_the_same_as_everything_at_once() {
    let homes = Homes::new(SEED, 2);
    let all = days(&homes, 1, 4);
    let mut pieces = batch();
    for start in (0..96).step_by(7) {
        homes.push_hours(1, start..(start + 7).min(96), &mut pieces);
    }
    assert_eq!(all, pieces);
    let range = TimeRange::new(START_NS + 5 * HOUR_NS + 1_234_000_000, START_NS + 3 * DAY_NS + 7);
    for series in homes.series_a_home()..2 * homes.series_a_home() {
        let mut own = batch();
        homes.push_series(series, range, &mut own);
        let mut wanted = batch();
        for row in 0..all.len() {
            if all.series[row] == series && range.contains(all.times_ns[row]) {
                wanted.push_row(&all, row);
            }
        }
        assert_eq!(own.times_ns, wanted.times_ns, "{series}");
        assert_eq!(checksum(&own), checksum(&wanted), "{series}");
    }
}

/// Sums of such values are exact, in whatever order they are added.
#[test]
fn floating_point_values_are_multiples_of_a_sixteenth() {
    let homes = Homes::new(SEED, 1);
    let all = days(&homes, 0, 20);
    let Values::F64(values) = &all.columns[2].values else {
        panic!("the third field is a floating point number")
    };
    let mut below_zero = 0;
    for (row, value) in values.iter().enumerate() {
        if all.columns[2].has(row) {
            assert!((value * 16.0).fract() == 0.0 && value.abs() < 1e6, "{value}");
            assert!(value.to_bits() != (-0.0_f64).to_bits());
            below_zero += u32::from(*value < 0.0);
        }
    }
    assert!(below_zero > 100);
}

#[test]
fn the_weather_has_seasons_and_days_and_meters_never_fall() {
    let homes = Homes::new(SEED, 1);
    let mean = |first_day: i64, days: i64, hours: Range<i64>| {
        let start = START_NS + first_day * DAY_NS;
        let mut own = batch();
        let range = TimeRange::new(start, start + days * DAY_NS);
        homes.push_series(weather_station(0), range, &mut own);
        let (mut sum, mut count) = (0.0, 0.0);
        for (row, time) in own.times_ns.iter().enumerate() {
            if hours.contains(&(time.rem_euclid(DAY_NS) / HOUR_NS)) {
                sum += own.columns[2].number(row).expect("a temperature");
                count += 1.0;
            }
        }
        sum / count
    };
    // From the end of December on, and from the end of June on.
    let (winter, summer) = (mean(90, 40, 0..24), mean(270, 40, 0..24));
    assert!(summer - winter > 14.0, "{winter} {summer}");
    let (night, noon) = (mean(0, 300, 2..6), mean(0, 300, 14..18));
    assert!(noon - night > 6.0, "{night} {noon}");
    let all = days(&homes, 0, 30);
    let ids = schema(1).tables[0].series.with_tag(3, "energy");
    assert_eq!(ids.len(), 2);
    for meter in ids {
        let mut last = -1;
        for row in (0..all.len()).filter(|&row| all.series[row] == meter) {
            let Values::I64(values) = &all.columns[1].values else {
                panic!("the second field is a whole number")
            };
            assert!(values[row] >= last);
            last = values[row];
        }
        assert!((last - 30 * 1_440 * 11).abs() < 100, "{last}");
    }
}

#[test]
fn people_are_up_by_day() {
    let homes = Homes::new(SEED, 1);
    let all = days(&homes, 0, 60);
    let gate = schema(1).tables[0].series.with_tag(3, "state")[0];
    let mut of_hour = [0_u32; 24];
    for row in (0..all.len()).filter(|&row| all.series[row] == gate) {
        let hour = all.times_ns[row].rem_euclid(DAY_NS) / HOUR_NS;
        of_hour[usize::try_from(hour).unwrap()] += 1;
    }
    let a_day = f64::from(of_hour.iter().sum::<u32>()) / 60.0;
    assert!((a_day - 40.0).abs() < 2.5, "{a_day}");
    assert!(of_hour[2] * 6 < of_hour[18], "{of_hour:?}");
}

#[test]
fn series_have_names_of_their_own_and_devices_identifiers() {
    let homes = Homes::new(SEED, 3);
    let schema = schema(3);
    let series = &schema.tables[0].series;
    assert_eq!(series.len(), 3 * homes.series_a_home());
    let names: BTreeSet<Vec<String>> =
        (0..series.len()).map(|one| (0..4).map(|tag| series.columns()[tag].text(one)).collect()).collect();
    assert_eq!(names.len(), series.len() as usize);
    let devices: BTreeSet<String> = (0..series.len()).map(|one| series.columns()[0].text(one)).collect();
    assert_eq!(devices.len(), 36);
    assert!(devices.iter().all(|id| id.len() == 24));
    for home in 0..3 {
        let weather = weather_station(home);
        assert_eq!(homes.kind(weather), FieldType::F64);
    }
}
