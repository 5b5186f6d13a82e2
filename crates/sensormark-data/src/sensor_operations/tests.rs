//! The data agree with their documentation on every machine.

use super::*;
use crate::random::finalise;
use sensormark_store::{Schema, Table, TimeRange, TimeResolution};

fn sensors(count: u32) -> SensorReadings {
    SensorReadings::new(42, count, 30_000).expect("right numbers")
}

fn table(count: u32) -> Table {
    let mut schema = Schema::of_sensors(0..i64::from(count), TimeResolution::Milliseconds);
    schema.tables.remove(0)
}

fn values(batch: &Batch) -> &[f64] {
    match &batch.columns[0].values {
        Values::F64(values) => values,
        other => panic!("{other:?}"),
    }
}

/// Changing this breaks the comparability of results: CHANGELOG.md must say so.
#[test]
fn golden_checksum() {
    let readings = sensors(100);
    let mut checksum = 0_u64;
    for sensor in 0..100 {
        for tick in 0..1_000 {
            let time = readings.time_ns(sensor, tick).cast_unsigned();
            let value = readings.value(sensor, tick).to_bits();
            checksum = finalise(checksum ^ time).wrapping_add(value);
        }
    }
    assert_eq!(checksum, 0x7c43_ef81_3af9_b024, "{checksum:#018x}");
    assert_eq!(readings.time_ns(7, 3), START_NS + 92_100_000_000);
}

#[test]
fn columns_hold_what_single_readings_are() {
    let readings = sensors(7);
    let mut batch = Batch::new(0, &table(7));
    // Over the end of the sine's period, and after other readings.
    readings.push(3, 0..2, &mut batch);
    readings.push(5, 2_000..7_000, &mut batch);
    assert_eq!(batch.check(&table(7), false), Ok(()));
    assert_eq!(batch.len(), 5_002);
    for (row, tick) in (2..5_002).zip(2_000..) {
        assert_eq!(batch.series[row], 5);
        assert_eq!(batch.times_ns[row], readings.time_ns(5, tick));
        assert_eq!(values(&batch)[row], readings.value(5, tick));
    }
}

#[test]
fn ticks_are_found_by_their_times() {
    let readings = sensors(3);
    let time = |tick| readings.time_ns(2, tick);
    let within = |start, end| readings.ticks_within(2, TimeRange::new(start, end));
    assert_eq!(within(time(5), time(9)), 5..9);
    assert_eq!(within(time(5) + 1, time(9) + 1), 6..10);
    assert_eq!(within(i64::MIN, time(2)), 0..2);
    assert!(within(time(9), time(5)).is_empty());
}

#[test]
fn readings_numbered_by_tick_and_sensor_are_in_the_order_of_time() {
    let readings = sensors(7);
    let times = (0..70_u32).map(|number| readings.time_ns(number % 7, u64::from(number / 7)));
    assert!(times.is_sorted());
    for number in 0..7 {
        assert_eq!(readings.time_ns(number, 9) % MILLISECOND_NS, 0);
    }
    assert!(readings.ticks() >= 1 << 27);
    let slow = SensorReadings::new(1, 2, LONGEST_INTERVAL_MS).unwrap();
    assert!(slow.time_ns(1, slow.ticks()) < TimeRange::OF_READINGS.end_ns);
}

#[test]
fn values_are_distributed_as_documented() {
    const SENSORS: u32 = 200;
    const DAYS: u64 = 5;
    let readings = sensors(SENSORS);
    let (mut bases, mut squares, mut count) = (Vec::new(), 0.0, 0_u32);
    for sensor in 0..SENSORS {
        let ticks = DAYS * DAY_TICKS;
        let all: Vec<f64> = (0..ticks).map(|tick| readings.value(sensor, tick)).collect();
        // Over whole days the sine's mean is 0, and so is the noise's.
        bases.push(all.iter().sum::<f64>() / all.len() as f64);
        let own = &readings.sensors[sensor as usize];
        for (tick, value) in (0..ticks).zip(&all) {
            let hundredths = value * 100.0;
            assert!((hundredths - hundredths.round()).abs() < 1e-6, "{value}");
            let day = readings.day[((tick + own.phase) % DAY_TICKS) as usize];
            let noise = hundredths - (own.base + day) as f64;
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
fn another_seed_gives_other_values_and_wrong_numbers_are_refused() {
    let other = SensorReadings::new(43, 3, 30_000).unwrap();
    let same = (0..1_000).filter(|&tick| other.value(1, tick) == sensors(3).value(1, tick));
    assert!(same.count() < 100);
    assert!(SensorReadings::new(1, 0, 1).unwrap_err().contains("sensors"));
    for interval in [0, LONGEST_INTERVAL_MS + 1] {
        let error = SensorReadings::new(1, 1, interval).unwrap_err();
        assert!(error.contains("interval_ms"), "{error}");
    }
}

#[test]
fn shards_make_the_whole_in_the_order_of_time() {
    use crate::export::Shard;
    let exported = sensors(7).data_set(Schema { tables: vec![table(7)] }, START_NS, 1_000);
    let keys = |shard: Shard| {
        let mut keys = Vec::new();
        let read = exported.each_batch(shard, |batch| {
            keys.extend(batch.times_ns.iter().copied().zip(batch.series.clone()));
            Ok(())
        });
        read.unwrap();
        keys
    };
    let whole = keys(Shard::WHOLE);
    assert_eq!(whole.len(), 7_000);
    assert!(whole.is_sorted());
    let mut parts = keys(Shard::new(0, 2).unwrap());
    parts.extend(keys(Shard::new(1, 2).unwrap()));
    parts.sort_unstable();
    assert_eq!(parts, whole);
}
