//! The data of sensor-operations agree with their documentation on every machine.

use super::super::{
    Sensors, Timing,
    order::Order,
    shape::{FieldShape, Number, Shape},
};
use super::*;
use crate::random::finalise;
use sensormark_store::{Batch, FieldType, Schema, TimeResolution, Values};
use std::num::NonZeroU64;

const MILLISECOND_NS: i64 = 1_000_000;
/// 2012-01-01T00:00:00Z.
const START_NS: i64 = 1_325_376_000_000_000_000;

/// Sensors that report one after the other, every 30 s.
fn sensors(seed: u64, count: u32) -> Sensors {
    let interval_ns = 30_000 * MILLISECOND_NS;
    let timing = Timing {
        start_ns: START_NS,
        interval_ns,
        jitter_ns: interval_ns - MILLISECOND_NS,
        staggered: true,
        burst: 1,
        burst_interval_ns: interval_ns,
        unit_ns: MILLISECOND_NS,
        missing: 0.0,
        late: 0.0,
        late_ticks: 0,
        stale: 0.0,
        stale_ticks: 0,
        repeated: 0.0,
    };
    let field = FieldShape {
        kind: FieldType::F64,
        shape: Shape::Temperature,
        noise: 0.0,
        decimals: None,
        bits: None,
        repeats: 0.0,
        outliers: 0.0,
        hold_ticks: NonZeroU64::MIN,
    };
    Sensors::new(seed, count, timing, vec![field])
}

fn value(sensors: &Sensors, sensor: u32, tick: u64) -> f64 {
    match sensors.number(0, sensor, tick) {
        Some(Number::Float(value)) => value,
        other => panic!("{other:?}"),
    }
}

/// Changing this breaks the comparability of results: CHANGELOG.md must say so.
#[test]
fn golden_checksum() {
    let sensors = sensors(42, 100);
    let mut checksum = 0_u64;
    for sensor in 0..100 {
        for tick in 0..1_000 {
            let time = sensors.time_ns(sensor, tick).cast_unsigned();
            let value = value(&sensors, sensor, tick).to_bits();
            checksum = finalise(checksum ^ time).wrapping_add(value);
        }
    }
    assert_eq!(checksum, 0x7c43_ef81_3af9_b024, "{checksum:#018x}");
    assert_eq!(sensors.time_ns(7, 3), START_NS + 92_100_000_000);
}

/// What each of seven sensors sends in blocks of 50 turns: all that is sent in others, and each block is of one sensor.
#[test]
fn blocks_of_turns_are_of_one_sensor_each_and_hold_every_reading_once() {
    let sensors = sensors(42, 7);
    let schema = Schema::of_sensors(0..7, TimeResolution::Milliseconds);
    let (mut batch, mut keys) = (Batch::new(0, &schema.tables[0]), Vec::new());
    for block in 0..21_u64 {
        batch.clear();
        sensors.push_turns(
            (0, Order { series: 7, together: 1, block: 50 }),
            block * 50..(block + 1) * 50,
            true,
            &mut batch,
        );
        let (sensor, before) = (u32::try_from(block % 7).unwrap(), block / 7 * 50);
        assert_eq!(batch.series, [sensor; 50]);
        let Values::F64(values) = &batch.columns[0].values else { panic!("{batch:?}") };
        for (tick, (time_ns, found)) in (before..).zip(batch.times_ns.iter().zip(values)) {
            assert_eq!((*time_ns, *found), (sensors.time_ns(sensor, tick), value(&sensors, sensor, tick)));
            keys.push((*time_ns, sensor));
        }
    }
    batch.clear();
    sensors.push_turns((0, Order::of_time(7)), 0..1_050, true, &mut batch);
    assert!(batch.times_ns.is_sorted(), "sensors report one after the other");
    keys.sort_unstable();
    assert_eq!(keys, batch.times_ns.iter().copied().zip(batch.series.clone()).collect::<Vec<_>>());
}

#[test]
fn as_many_readings_are_in_a_time_wherever_it_begins() {
    let sensors = sensors(42, 3);
    let interval_ns = sensors.timing.interval_ns;
    assert_eq!(sensors.readings_within(4 * interval_ns), Some(4));
    assert_eq!(sensors.readings_within(4 * interval_ns + 1), None);
    for sensor in 0..3 {
        for after_ns in [0, 1, 10_000 * MILLISECOND_NS, interval_ns - 1] {
            let (start, end) = (START_NS + after_ns, START_NS + after_ns + 4 * interval_ns);
            let ticks = sensors.ticks(start, end, u64::MAX);
            let found = ticks.filter(|&tick| (start..end).contains(&sensors.time_ns(sensor, tick)));
            assert_eq!(found.count(), 4, "{sensor} {after_ns}");
        }
    }
    let missing = Timing { missing: 0.1, ..sensors.timing };
    assert_eq!(Sensors { timing: missing, ..sensors }.readings_within(interval_ns), None);
}

#[test]
fn values_are_distributed_as_documented() {
    const SENSORS: u32 = 200;
    const DAYS: u64 = 5;
    let (mut bases, mut squares, mut count) = (Vec::new(), 0.0, 0_u32);
    for sensor in 0..SENSORS {
        let own = Temperature::new(Streams::new(42, sensor.into()), 0);
        let ticks = DAYS * DAY_TICKS;
        let all: Vec<f64> = (0..ticks).map(|tick| own.at(tick)).collect();
        // Over whole days the sine's mean is 0, and so is the noise's.
        bases.push(all.iter().sum::<f64>() / all.len() as f64);
        for (tick, value) in (0..ticks).zip(&all) {
            let hundredths = value * 100.0;
            assert!((hundredths - hundredths.round()).abs() < 1e-6, "{value}");
            let noise = hundredths - own.smooth(tick) as f64;
            assert!(noise.abs() <= 160.0 + 1e-6, "{noise}");
            squares += noise * noise;
            count += 1;
        }
        let swing =
            all.iter().copied().fold(f64::MIN, f64::max) - all.iter().copied().fold(f64::MAX, f64::min);
        assert!((9.0..=13.2).contains(&swing), "{swing}");
    }
    let deviation = (squares / f64::from(count)).sqrt();
    assert!((deviation - 20.0).abs() < 0.1, "{deviation}");
    let mean = bases.iter().sum::<f64>() / bases.len() as f64;
    assert!((mean - 15.0).abs() < 2.0, "{mean}");
    assert!(bases.iter().any(|base| *base < 3.0) && bases.iter().any(|base| *base > 27.0));
}

#[test]
fn another_seed_or_field_gives_other_values() {
    let [one, seed, field] =
        [(42, 0), (43, 0), (42, 1)].map(|(seed, field)| Temperature::new(Streams::new(seed, 1), field));
    for other in [seed, field] {
        assert!((0..1_000).filter(|&tick| one.at(tick) == other.at(tick)).count() < 100);
    }
}
