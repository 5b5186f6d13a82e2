//! The data is pinned, does not depend on how it is read, and is distributed as the study's generator's.

use super::fields::{MEASUREMENTS, Rule};
use super::hosts::TAGS;
use super::*;
use crate::random::finalise;
use sensormark_store::{Batch, FieldType, Schema, Value, Values};
use std::collections::BTreeSet;

const SEED: u64 = 42;
/// The measurement that questions are about.
const CPU: usize = 0;

fn devops(hosts: u32, walk: Walk) -> Devops {
    Devops { seed: SEED, hosts, walk }
}

/// All readings of a table.
fn table(data: &Devops, measurement: usize, ticks: u64) -> Batch {
    let schema = data.schema();
    let mut batch = Batch::new(measurement, &schema.tables[measurement]);
    data.cursor(measurement, 0..data.hosts).fill(ticks * u64::from(data.hosts), &mut batch);
    batch.check(&schema.tables[measurement], false).unwrap();
    batch
}

fn find(name: &str, field: &str) -> (usize, usize) {
    let measurement = MEASUREMENTS.iter().position(|one| one.name == name).unwrap();
    let fields = &MEASUREMENTS[measurement].fields;
    let field = fields.iter().position(|(one, _)| *one == field).unwrap();
    (measurement, field)
}

/// One field of one host, tick by tick.
fn column(data: &Devops, name: &str, field: &str, ticks: u64, host: u32) -> Vec<f64> {
    let (measurement, field) = find(name, field);
    let batch = table(data, measurement, ticks);
    let rows = (0..batch.len()).filter(|&row| batch.series[row] == host);
    rows.map(|row| batch.columns[field].number(row).unwrap()).collect()
}

fn checksum(data: &Devops, ticks: u64) -> u64 {
    let mut sum = 0;
    let mut add = |word: u64| sum = finalise(sum ^ word);
    for measurement in 0..MEASUREMENTS.len() {
        let batch = table(data, measurement, ticks);
        for row in 0..batch.len() {
            add(batch.times_ns[row].cast_unsigned());
            add(u64::from(batch.series[row]));
            for column in &batch.columns {
                match column.value(row) {
                    Value::I64(value) => add(value.cast_unsigned()),
                    Value::F64(value) => add(value.to_bits()),
                    other => panic!("{other} is no number"),
                }
            }
        }
    }
    sum
}

#[test]
fn golden_checksums() {
    let sums = [Walk::Clamped, Walk::Reflected].map(|walk| checksum(&devops(3, walk), 400));
    let tags = devops(50, Walk::Clamped).schema();
    let mut sum = 0;
    for table in &tags.tables {
        for column in table.series.columns() {
            for series in 0..table.series.len() {
                let text = column.text(series);
                sum = text.bytes().fold(sum, |sum, byte| finalise(sum ^ u64::from(byte)));
            }
        }
    }
    assert_eq!((sums, sum), ([86_566_465_905_002_509, 926_153_306_367_206_542], 14_273_768_461_658_572_912));
}

#[test]
fn there_are_a_hundred_and_one_values_a_host_and_tick() {
    let fields: usize = MEASUREMENTS.iter().map(|one| one.fields.len()).sum();
    assert_eq!(fields, 101);
    let floats = MEASUREMENTS.iter().flat_map(|one| &one.fields);
    let floats = floats.filter(|(_, rule)| rule.kind() == FieldType::F64).count();
    assert_eq!(floats, 13);
    let counts = MEASUREMENTS.iter().map(|one| (one.name, one.fields.len(), one.tags.len()));
    assert_eq!(
        counts.collect::<Vec<_>>(),
        [
            ("cpu", 10, 0),
            ("diskio", 7, 1),
            ("disk", 7, 2),
            ("kernel", 6, 0),
            ("mem", 9, 0),
            ("net", 8, 1),
            ("nginx", 7, 2),
            ("postgresql", 16, 0),
            ("redis", 31, 2)
        ]
    );
}

#[test]
fn how_a_walk_is_read_does_not_matter() {
    for walk in [Walk::Clamped, Walk::Reflected] {
        let data = devops(5, walk);
        for measurement in 0..MEASUREMENTS.len() {
            let whole = table(&data, measurement, 60);
            let description = &data.schema().tables[measurement];
            // In unequal parts, into one batch; some begin or end amid a tick.
            let mut parts = Batch::new(measurement, description);
            let mut cursor = data.cursor(measurement, 0..5);
            for turns in [5, 37, 0, 1, 157, 2, 98] {
                cursor.fill(turns, &mut parts);
            }
            assert_eq!(parts, whole);
            // From a position that was kept, and of some hosts alone.
            let mut some = data.cursor(measurement, 2..4);
            some.skip(2 * 17);
            let kept = some.position.clone();
            some.skip(2 * 40);
            some.position.clone_from(&kept);
            assert_eq!(some.position.turn, 2 * 17);
            let mut late = Batch::new(measurement, description);
            some.fill(2 * 43, &mut late);
            let mut expected = Batch::new(measurement, description);
            for row in (0..whole.len())
                .filter(|&row| (2..4).contains(&whole.series[row]) && whole.times_ns[row] >= time_ns(17))
            {
                expected.push_row(&whole, row);
            }
            assert_eq!(late, expected);
        }
        let whole = table(&data, CPU, 60);
        for field in 0..10 {
            let cursor = data.cursor(CPU, 0..5);
            let mut track = cursor.track(&cursor.position, field, 3).unwrap();
            track.skip_to(11);
            for tick in 11..60 {
                let value = whole.columns[field].number(tick * 5 + 3);
                assert_eq!(value, Some(track.advance()));
            }
        }
    }
}

struct Moments {
    mean: f64,
    deviation: f64,
}

fn moments(values: impl Iterator<Item = f64>) -> Moments {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for value in values {
        count += 1.0;
        sum += value;
        squares += value * value;
    }
    let mean = sum / count;
    Moments { mean, deviation: (squares / count - mean * mean).sqrt() }
}

fn differences(values: &[f64]) -> impl Iterator<Item = f64> + '_ {
    values.windows(2).map(|pair| pair[1] - pair[0])
}

#[test]
fn counters_climb_by_their_steps() {
    let data = devops(1, Walk::Clamped);
    for (measurement, one) in MEASUREMENTS.iter().enumerate() {
        let batch = table(&data, measurement, 4_000);
        for (field, (name, rule)) in one.fields.iter().enumerate() {
            let Rule::Whole { mean, top: None, .. } = rule else {
                continue;
            };
            let Values::I64(values) = &batch.columns[field].values else {
                panic!("counters are whole numbers");
            };
            assert_eq!(values[0], 0, "{name}");
            let values: Vec<f64> = values.iter().map(|value| *value as f64).collect();
            assert!(differences(&values).all(|step| step >= 0.0), "{name}");
            let steps = moments(differences(&values));
            // Cutting to whole numbers adds a sixth to the variance.
            assert!((steps.mean - *mean as f64).abs() < 0.08, "{name}: {}", steps.mean);
            let deviation = (7.0_f64 / 6.0).sqrt();
            assert!((steps.deviation - deviation).abs() < 0.06, "{name}: {}", steps.deviation);
        }
    }
}

#[test]
fn processors_start_uniform_and_walk_by_standard_normal_steps() {
    for walk in [Walk::Clamped, Walk::Reflected] {
        let data = devops(1_000, walk);
        let batch = table(&data, CPU, 8);
        let Values::F64(values) = &batch.columns[find("cpu", "usage_user").1].values else {
            panic!("shares are floats");
        };
        let start = moments(values[..1_000].iter().copied());
        assert!((start.mean - 50.0).abs() < 3.0, "{}", start.mean);
        assert!((start.deviation - 100.0 / 12.0_f64.sqrt()).abs() < 2.0);
        let inside = (1_000..8_000).filter(|&row| (5.0..95.0).contains(&values[row - 1_000]));
        let steps = moments(inside.map(|row| values[row] - values[row - 1_000]));
        assert!(steps.mean.abs() < 0.05 && (steps.deviation - 1.0).abs() < 0.04);
        assert!(values.iter().all(|value| (0.0..=100.0).contains(value)));
    }
}

/// What the two walks do at a bound: one stays, the other turns back and comes down as fast as it went up.
#[test]
fn climbing_walks_stay_at_their_cap_or_turn_back_there() {
    for (name, field, mean, top) in [
        ("nginx", "active", 5.0, 100.0),
        ("postgresql", "numbackends", 5.0, 1_000.0),
        ("redis", "used_memory", 1_024.0, 1_073_741_824.0),
        ("postgresql", "temp_bytes", 1_024.0, 1_073_741_824.0),
    ] {
        let ticks = 3_000;
        let clamped = column(&devops(1, Walk::Clamped), name, field, ticks, 0);
        let reflected = column(&devops(1, Walk::Reflected), name, field, ticks, 0);
        assert_eq!(clamped[0], 0.0);
        let climb = differences(&clamped[..15]);
        assert!((moments(climb).mean - mean).abs() < 1.0, "{name} {field}");
        for values in [&clamped, &reflected] {
            assert!(values.iter().all(|value| (0.0..=top).contains(value)));
        }
        if mean * ticks as f64 > top {
            let reached = clamped.iter().position(|value| *value >= top).unwrap();
            assert!(clamped[reached..].iter().all(|value| *value == top), "{name} {field}");
            let turns = reflected.iter().position(|value| *value >= top * 0.99).unwrap();
            let after = &reflected[turns + 5..turns + 5 + reached / 2];
            assert!((moments(differences(after)).mean + mean).abs() < 1.0, "{name} {field}");
            let low = reflected[turns..].iter().copied().fold(top, f64::min);
            assert!(low < 0.1 * top, "it comes all the way down: {low}");
        } else {
            assert_eq!(clamped, reflected, "far from its cap");
        }
    }
}

#[test]
fn memory_walks_by_a_sixty_fourth_and_the_rest_follows() {
    let data = devops(40, Walk::Clamped);
    let batch = table(&data, find("mem", "total").0, 300);
    let get = |field: &str, row: usize| {
        let field = find("mem", field).1;
        batch.columns[field].number(row).unwrap()
    };
    let mut totals = BTreeSet::new();
    for row in 0..batch.len() {
        let total = get("total", row);
        totals.insert(total.to_bits());
        let (used, cached) = (get("used", row), get("cached", row));
        let (buffered, available) = (get("buffered", row), get("available", row));
        for part in [used, cached, buffered] {
            assert!((0.0..=total).contains(&part));
        }
        assert_eq!(available, total - used);
        let free = available * (1.0 - cached / total);
        assert!((get("free", row) - free).abs() <= 4_096.0);
        for (field, bytes) in
            [("used_percent", used), ("available_percent", available), ("buffered_percent", buffered)]
        {
            assert!((get(field, row) - 100.0 * bytes / total).abs() < 1e-9);
        }
    }
    assert_eq!(totals.len(), 3, "8, 12 and 16 GiB");
    for host in 0..5_u32 {
        let total = data.memory_bytes(host) as f64;
        let used = column(&data, "mem", "used", 300, host);
        let inside = used.windows(2).filter(|pair| (0.1..0.9).contains(&(pair[0] / total)));
        let steps = moments(inside.map(|pair| (pair[1] - pair[0]) / total * 64.0));
        assert!((steps.deviation - 1.0).abs() < 0.15, "{}", steps.deviation);
    }
}

#[test]
fn disks_fill_from_the_middle_and_the_rest_follows() {
    let data = devops(2, Walk::Clamped);
    let one = |field: &str| column(&data, "disk", field, 500, 1);
    let (free, used, total) = (one("free"), one("used"), one("total"));
    let terabyte = (1_u64 << 40) as f64;
    assert_eq!(free[0], terabyte / 2.0);
    assert!((moments(differences(&free)).mean - 50.0).abs() < 0.2);
    let (percent, inodes) = (one("used_percent"), one("inodes_free"));
    let (all, taken) = (one("inodes_total"), one("inodes_used"));
    for tick in 0..500 {
        assert_eq!(total[tick], terabyte);
        assert_eq!(used[tick], terabyte - free[tick]);
        assert_eq!(percent[tick], (100.0 * used[tick] / terabyte).floor());
        assert_eq!(inodes[tick], (free[tick] / 4_096.0).floor());
        assert_eq!(all[tick], inodes[tick] + taken[tick]);
    }
}

#[test]
fn times_and_what_a_host_has_for_ever() {
    assert_eq!(time_ns(0) % 86_400_000_000_000, 0, "midnight");
    let data = devops(30, Walk::Clamped);
    let uptime = column(&data, "redis", "uptime_in_seconds", 10, 4);
    assert_eq!(uptime, (0..10).map(|tick| f64::from(tick * 10)).collect::<Vec<_>>());
    let boot = column(&data, "kernel", "boot_time", 10, 4);
    assert!(boot.iter().all(|time| *time == boot[0] && *time < START_NS as f64 / 1e9));
    let schema: Schema = data.schema();
    let series = &schema.tables[CPU].series;
    assert_eq!(schema.tables[CPU].tags.len(), TAGS.split(' ').count());
    let text = |tag: usize, host: u32| series.columns()[tag].text(host);
    let mut regions = BTreeSet::new();
    for host in 0..30 {
        assert_eq!(text(0, host), format!("host_{host}"));
        assert!(text(2, host).starts_with(&text(1, host)), "a datacenter lies in its region");
        regions.insert(text(1, host));
        let again = schema.tables[8].series.columns()[1].text(host);
        assert_eq!(again, text(1, host), "the same host in every table");
    }
    assert!(regions.len() > 5);
    assert_ne!(devops(30, Walk::Clamped).schema(), Devops { seed: 7, ..data }.schema());
}
