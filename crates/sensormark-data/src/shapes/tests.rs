//! What sensors say is pinned, and what is sent adds up.

use super::shape::{FieldShape, Shape};
use super::*;
use crate::random::finalise;
use sensormark_store::{FieldType, Values};
use std::collections::BTreeMap;
use std::num::NonZeroU64;

const SECOND_NS: i64 = 1_000_000_000;

fn field(kind: FieldType, shape: Shape) -> FieldShape {
    FieldShape {
        kind,
        shape,
        noise: 0.0,
        decimals: None,
        bits: None,
        repeats: 0.0,
        outliers: 0.0,
        hold_ticks: NonZeroU64::MIN,
    }
}

fn minutes(count: u64) -> NonZeroU64 {
    NonZeroU64::new(count * 60_000_000_000).expect("not zero")
}

/// One field of each shape.
fn fields() -> Vec<FieldShape> {
    let mut walk = field(FieldType::F64, Shape::Walk(10.0, 30.0, minutes(5)));
    walk.decimals = Some(2);
    let mut sine = field(FieldType::F64, Shape::Sine(-5.0, 5.0, minutes(1)));
    sine.noise = 0.25;
    let mut held = field(FieldType::Bool, Shape::Chance(0.3));
    held.hold_ticks = NonZeroU64::new(10).expect("not zero");
    let words = ["ok", "failed", "überhitzt"].map(str::to_owned);
    let recorded = std::sync::Arc::new(Values::I64(vec![3, 1, 4, 1, 5]));
    vec![
        walk,
        sine,
        field(FieldType::F64, Shape::Sawtooth(0.0, 1.0, minutes(2))),
        field(FieldType::I64, Shape::Counter(100.0, 50.0)),
        field(FieldType::I64, Shape::Random(-3.0, 9.0)),
        held,
        field(FieldType::Text, Shape::Words(words.to_vec())),
        field(FieldType::I64, Shape::Recorded(recorded)),
        field(FieldType::F64, Shape::Constant(1.5)),
    ]
}

fn sensors() -> Sensors {
    let timing = Timing {
        start_ns: 1_767_225_600 * SECOND_NS,
        interval_ns: SECOND_NS,
        jitter_ns: SECOND_NS / 4,
        staggered: false,
        burst: 1,
        burst_interval_ns: SECOND_NS,
        unit_ns: 1_000_000,
        missing: 0.05,
        late: 0.1,
        late_ticks: 7,
        stale: 0.0,
        stale_ticks: 0,
        repeated: 0.08,
    };
    Sensors::new(42, 5, timing, fields())
}

fn batch() -> Batch {
    let columns = fields().into_iter();
    let columns = columns.map(|field| sensormark_store::Column::new(field.kind));
    Batch { table: 0, times_ns: Vec::new(), series: Vec::new(), columns: columns.collect() }
}

/// A checksum of a batch in its order.
fn checksum(batch: &Batch) -> u64 {
    let mut sum = 0;
    let mut add = |word: u64| sum = finalise(sum ^ word);
    for row in 0..batch.len() {
        add(batch.times_ns[row].cast_unsigned());
        add(u64::from(batch.series[row]));
        for column in &batch.columns {
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
    let mut all = batch();
    sensors().push_turns((0, Order::of_time(5)), 0..5_000, true, &mut all);
    assert_eq!((all.len(), checksum(&all)), (5_143, 7_175_518_157_733_828_769));
}

#[test]
fn turns_in_pieces_are_the_same_as_turns_at_once() {
    let sensors = sensors();
    let (mut all, mut pieces) = (batch(), batch());
    sensors.push_turns((0, Order::of_time(5)), 1_000..2_000, true, &mut all);
    for start in (1_000..2_000).step_by(37) {
        sensors.push_turns((0, Order::of_time(5)), start..(start + 37).min(2_000), true, &mut pieces);
    }
    assert_eq!(all, pieces);
}

#[test]
fn every_reading_that_comes_is_sent_within_the_longest_delay_and_twice_where_it_is_repeated() {
    let sensors = sensors();
    let ticks = 2_000;
    let mut sent: BTreeMap<(u32, u64), Vec<(u64, bool)>> = BTreeMap::new();
    for series in 0..5 {
        for turn in 0..ticks + sensors.longest_delay(true) {
            for one in sensors.sent(series, turn, true) {
                let times = sent.entry((series, one.tick)).or_default();
                times.push((turn, one.again));
            }
        }
    }
    let (mut missing, mut late, mut repeated) = (0_u32, 0_u32, 0_u32);
    for (series, tick) in (0..5).flat_map(|series| (0..ticks).map(move |tick| (series, tick))) {
        let times = sent.remove(&(series, tick)).unwrap_or_default();
        if sensors.is(Missing, series, tick) {
            assert!(times.is_empty());
            missing += 1;
            continue;
        }
        let first = times[0].0 - tick;
        assert_eq!(first > 0, sensors.is(Late, series, tick));
        assert!(times.iter().all(|(turn, _)| turn - tick <= sensors.longest_delay(true)));
        let again = sensors.is(Repeated, series, tick);
        assert_eq!(times.len(), 1 + usize::from(again));
        assert_eq!(times.iter().filter(|(_, again)| *again).count(), usize::from(again));
        late += u32::from(first > 0);
        repeated += u32::from(again);
    }
    // Of 10,000 readings, within five standard deviations.
    assert!((400..620).contains(&missing), "{missing}");
    assert!((800..1_110).contains(&late), "{late}");
    assert!((630..900).contains(&repeated), "{repeated}");
}

#[test]
fn times_of_a_series_ascend_and_ticks_are_found_by_time() {
    let sensors = sensors();
    for series in 0..5 {
        for tick in 1..2_000 {
            let time_ns = sensors.time_ns(series, tick);
            assert!(time_ns > sensors.time_ns(series, tick - 1));
            assert_eq!(time_ns % 1_000_000, 0);
            assert!(time_ns >= sensors.boundary_ns(tick) && time_ns < sensors.boundary_ns(tick + 1));
            assert!(sensors.ticks(time_ns, time_ns + 1, u64::MAX).contains(&tick));
        }
    }
}

#[test]
fn values_keep_within_their_bounds_and_counters_never_fall() {
    let sensors = sensors();
    let float = |field: usize, tick: u64| match sensors.number(field, 3, tick) {
        Some(shape::Number::Float(value)) => value,
        other => panic!("{other:?}"),
    };
    let whole = |field: usize, tick: u64| match sensors.number(field, 3, tick) {
        Some(shape::Number::Integer(value)) => value,
        other => panic!("{other:?}"),
    };
    let (mut low, mut high) = (f64::MAX, f64::MIN);
    for tick in 1..20_000 {
        let walk = float(0, tick);
        (low, high) = (low.min(walk), high.max(walk));
        assert!((10.0..=30.0).contains(&walk) && (walk * 100.0).round() / 100.0 == walk);
        assert!((0.0..1.0).contains(&float(2, tick)));
        assert!(whole(3, tick) >= whole(3, tick - 1));
        assert!((-3..=9).contains(&whole(4, tick)));
    }
    assert!(high - low > 8.0, "it wanders: {low} to {high}");
    assert!((whole(3, 10_000) - 100 - 500_000).abs() < 50);
}

#[test]
fn what_is_exported_is_what_is_sent() {
    use crate::export::Shard;
    use sensormark_store::{Field, Schema, Series, Table, Tag, TagColumn, TimeResolution};
    let sensors = sensors();
    let named = fields().into_iter().enumerate().map(|(number, field)| Field {
        name: format!("f{number}"),
        kind: field.kind,
        nullable: false,
    });
    let table = Table {
        name: "readings".to_owned(),
        tags: vec![Tag { name: "sensor".to_owned() }],
        fields: named.collect(),
        entity: None,
        time_resolution: TimeResolution::Milliseconds,
        series: Series::new(vec![TagColumn::Integer((0..5).collect())]),
    };
    let schema = Schema { tables: vec![table] };
    let readings = data_set(schema, vec![(sensors.clone(), 300)]);
    let mut all = batch();
    sensors.push_turns((0, Order::of_time(5)), 0..1_500, true, &mut all);
    let count = |shard| {
        let mut count = 0;
        let read = readings.each_batch(shard, |batch| {
            count += batch.len();
            Ok(())
        });
        read.unwrap();
        count
    };
    assert_eq!(count(Shard::WHOLE), all.len());
    let parts = (0..5).filter_map(|number| Shard::new(number, 5)).map(count);
    assert_eq!(parts.sum::<usize>(), all.len());
}

#[test]
fn readings_of_a_burst_are_close_together_and_found_by_their_times() {
    let regular = sensors();
    let timing = Timing { burst: 10, burst_interval_ns: SECOND_NS / 10, jitter_ns: 0, ..regular.timing };
    let sensors = Sensors::new(42, 5, timing, fields());
    let after = |tick| (sensors.time_ns(0, tick) - timing.start_ns) / (SECOND_NS / 10);
    assert_eq!((0..12).map(after).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 100, 101]);
    for (start, end) in [(0, 5), (5, 100), (3, 104), (11, 99), (101, 205)] {
        let at = |tenths| timing.start_ns + tenths * SECOND_NS / 10;
        let found = sensors.ticks(at(start), at(end), 60);
        let within = |tick: &u64| (start..end).contains(&after(*tick));
        assert!((0..60).filter(within).all(|tick| found.contains(&tick)), "{start} {end} {found:?}");
    }
}
