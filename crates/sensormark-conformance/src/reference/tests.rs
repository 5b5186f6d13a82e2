//! The reference against answers worked out by hand.

use super::*;
use sensormark_store::answer::Group;
use sensormark_store::query::{Aggregate, Comparison, DaySplit, Function, Grouping, Window};
use sensormark_store::schema::{Field, FieldType, Series, Table, Tag, TagColumn};

const HOUR: i64 = 3_600_000_000_000;

/// Fields: 0 truth value, 1 integer, 2 floating point, 3 text, 4 unsigned; all may be absent.
fn schema() -> Arc<Schema> {
    let kinds = [
        ("on", FieldType::Bool),
        ("whole", FieldType::I64),
        ("real", FieldType::F64),
        ("word", FieldType::Text),
        ("level", FieldType::U16),
    ];
    Arc::new(Schema {
        tables: vec![Table {
            name: "t".into(),
            tags: vec![Tag { name: "id".into() }, Tag { name: "room".into() }],
            fields: kinds.map(|(name, kind)| Field { name: name.into(), kind, nullable: true }).into(),
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::new(vec![
                TagColumn::Integer(vec![10, 11, 12]),
                TagColumn::Text(vec!["b".into(), "a".into(), "b".into()]),
            ]),
        }],
    })
}

/// A reading with one field.
type Row = (u32, i64, usize, Value);

fn batch(rows: &[Row]) -> Batch {
    let mut batch = Batch::new(0, &schema().tables[0]);
    for (series, time, field, value) in rows {
        batch.series.push(*series);
        batch.times_ns.push(*time);
        for (number, column) in batch.columns.iter_mut().enumerate() {
            let value = if number == *field { value.clone() } else { Value::Null };
            column.push(value).unwrap();
        }
    }
    batch
}

fn reference(rows: &[Row]) -> Reference {
    let mut reference = Reference::new(schema());
    reference.add(&batch(rows));
    reference.prepare();
    reference
}

fn real(series: u32, time: i64, value: f64) -> Row {
    (series, time, 2, Value::F64(value))
}

fn query(series: Selection, start: i64, end: i64, ask: Ask) -> Query {
    Query { table: 0, series, range: TimeRange::new(start, end), ask }
}

fn range_of(reference: &Reference, series: Selection, start: i64, end: i64) -> Vec<(u32, i64)> {
    let ask = Ask::Range { fields: FieldSet::first(5), coarse_filter: false };
    let Answer::Readings(batch) = reference.answer(&query(series, start, end, ask)) else {
        panic!("readings answer a range")
    };
    batch.series.into_iter().zip(batch.times_ns).collect()
}

fn groups(
    rows: &[Row],
    series: Selection,
    range: (i64, i64),
    grouping: Grouping,
    aggregates: &[(Function, usize)],
) -> Vec<Group> {
    let ask = Ask::Aggregate {
        aggregates: aggregates.iter().map(|&(function, field)| Aggregate { function, field }).collect(),
        grouping,
        from_sums: false,
    };
    match reference(rows).answer(&query(series, range.0, range.1, ask)) {
        Answer::Groups(groups) => groups,
        _ => panic!("groups answer an aggregate"),
    }
}

/// The one group of one series from 0 to 100.
fn one(rows: &[Row], aggregates: &[(Function, usize)]) -> Vec<Value> {
    let mut groups = groups(rows, Selection::One(0), (0, 100), Grouping::default(), aggregates);
    assert_eq!(groups.len(), 1);
    groups.remove(0).values
}

#[test]
fn ranges_are_half_open_and_ordered_whatever_the_order_of_writing() {
    let reference = reference(&[
        real(1, 30, 1.0),
        real(0, 20, 1.0),
        real(1, 10, 1.0),
        real(0, 10, 1.0),
        real(0, 30, 1.0),
    ]);
    assert_eq!(range_of(&reference, Selection::All, 10, 30), [(0, 10), (0, 20), (1, 10)]);
    assert_eq!(range_of(&reference, Selection::One(0), 30, 31), [(0, 30)]);
    assert_eq!(range_of(&reference, Selection::One(0), 11, 20), []);
    assert_eq!(range_of(&reference, Selection::One(0), 30, 10), []);
    assert_eq!(range_of(&reference, Selection::One(2), 0, 99), []);
    assert_eq!(range_of(&reference, Selection::One(7), 0, 99), []);
    assert_eq!(range_of(&reference, Selection::Set(vec![0, 1]), 30, 31), [(0, 30), (1, 30)]);
    let tagged = Selection::Tagged { tag: 1, value: "b".into() };
    assert_eq!(range_of(&reference, tagged, 10, 11), [(0, 10)]);
}

#[test]
fn readings_without_the_chosen_fields_are_not_in_the_answer() {
    let reference = reference(&[real(0, 10, 1.5), (0, 20, 1, Value::I64(3))]);
    let point = |time, field| {
        let ask = Ask::Point { fields: FieldSet::one(field) };
        reference.answer(&query(Selection::One(0), time, time, ask)).len()
    };
    assert_eq!((point(10, 2), point(10, 1), point(11, 2)), (1, 0, 0));
    let last = Ask::LastReading { fields: FieldSet::one(2) };
    let Answer::Readings(batch) = reference.answer(&query(Selection::All, 0, 99, last)) else {
        panic!("readings answer a question for last readings")
    };
    assert_eq!((batch.times_ns.clone(), batch.columns[2].value(0)), (vec![10], Value::F64(1.5)));
    assert!(batch.columns[1].values.is_empty());
}

#[test]
fn searches_end_at_the_edges_of_their_range() {
    let reference = reference(&[
        real(0, 10, 5.0),
        real(0, 20, 1.0),
        real(0, 30, 5.0),
        real(0, 40, 1.0),
        (0, 15, 1, Value::I64(9)),
    ]);
    let ask = |first: bool, comparison, threshold, start, end| {
        let predicate = Predicate { field: 2, comparison, threshold };
        let ask = if first { Ask::First(predicate) } else { Ask::Last(predicate) };
        match reference.answer(&query(Selection::One(0), start, end, ask)) {
            Answer::Moment(moment) => moment.map(|moment| moment.time_ns),
            _ => panic!("a moment answers a search"),
        }
    };
    use Comparison::{Above, Below};
    assert_eq!(ask(true, Above, 2.0, 10, 50), Some(10));
    assert_eq!(ask(true, Above, 2.0, 11, 50), Some(30));
    assert_eq!(ask(true, Above, 5.0, 0, 50), None);
    assert_eq!(ask(true, Below, 5.0, 0, 20), None);
    assert_eq!(ask(false, Above, 2.0, 0, 30), Some(10));
    assert_eq!(ask(false, Above, 2.0, 0, 31), Some(30));
    assert_eq!(ask(false, Below, 2.0, 0, 40), Some(20));
}

#[test]
fn a_minimum_is_the_earliest_of_equals() {
    let reference = reference(&[real(0, 10, 2.0), real(0, 20, 1.0), real(0, 30, 1.0)]);
    let minimum = |start, end| {
        let ask = Ask::Minimum { field: 2 };
        reference.answer(&query(Selection::One(0), start, end, ask))
    };
    let moment = |time_ns, value| Answer::Moment(Some(Moment { time_ns, value: Value::F64(value) }));
    assert_eq!(minimum(0, 99), moment(20, 1.0));
    assert_eq!(minimum(0, 20), moment(10, 2.0));
    assert_eq!(minimum(31, 99), Answer::Moment(None));
}

#[test]
fn aggregates_of_numbers() {
    let rows = [
        (0, 1, 1, Value::I64(i64::MAX - 4)),
        (0, 2, 1, Value::I64(3)),
        (0, 3, 1, Value::I64(-4)),
        (0, 4, 4, Value::I64(65_535)),
        real(0, 5, 0.1),
        real(0, 6, 0.2),
    ];
    use Function::{Count, Last, Max, Mean, Min, Sum};
    assert_eq!(
        one(&rows, &[(Count, 1), (Sum, 1), (Min, 1), (Max, 1), (Last, 1), (Sum, 4), (Mean, 4)]),
        [
            Value::I64(3),
            Value::I64(i64::MAX - 5),
            Value::I64(-4),
            Value::I64(i64::MAX - 4),
            Value::I64(-4),
            Value::I64(65_535),
            Value::F64(65_535.0),
        ]
    );
    assert_eq!(
        one(&rows, &[(Count, 3), (Min, 3), (Mean, 2)]),
        [Value::I64(0), Value::Null, Value::F64(0.150_000_000_000_000_02)]
    );
}

#[test]
fn groups_without_any_aggregated_field_are_absent() {
    let rows = [real(0, 5, 1.0), (0, 25, 1, Value::I64(1)), real(0, 45, 2.0)];
    let window = Grouping { window: Some(Window { width_ns: 20, origin_ns: 3 }), ..Grouping::default() };
    let found = groups(&rows, Selection::One(0), (5, 46), window, &[(Function::Sum, 2)]);
    let starts: Vec<_> = found.iter().map(|group| group.window_start_ns).collect();
    assert_eq!(starts, [Some(3), Some(43)]);
    assert!(groups(&rows, Selection::One(0), (6, 25), window, &[(Function::Count, 2)]).is_empty());
}

#[test]
fn groups_by_series_tag_and_part_of_the_day() {
    let rows = [
        real(0, HOUR, 1.0),
        real(0, 7 * HOUR, 2.0),
        real(1, 8 * HOUR, 4.0),
        real(2, 23 * HOUR, 8.0),
        real(2, 22 * HOUR, 16.0),
    ];
    let range = (0, 24 * HOUR);
    let sums = |grouping| -> Vec<_> {
        groups(&rows, Selection::All, range, grouping, &[(Function::Sum, 2)])
            .into_iter()
            .map(|group| (group.series, group.day, group.values[0].clone()))
            .collect()
    };
    let by_tag = Grouping { by_tag: Some(1), ..Grouping::default() };
    assert_eq!(sums(by_tag), [(Some(0), None, Value::F64(27.0)), (Some(1), None, Value::F64(4.0))]);
    let split = DaySplit { day_start_ns: 6 * HOUR, day_end_ns: 22 * HOUR };
    let by_part = Grouping { by_day_part: Some(split), by_series: true, ..Grouping::default() };
    assert_eq!(
        sums(by_part),
        [
            (Some(0), Some(true), Value::F64(2.0)),
            (Some(0), Some(false), Value::F64(1.0)),
            (Some(1), Some(true), Value::F64(4.0)),
            (Some(2), Some(false), Value::F64(24.0)),
        ]
    );
}

#[test]
fn a_group_by_tag_is_named_by_the_lowest_series_of_the_table() {
    let rows = [real(2, 5, 1.0)];
    let by_tag = Grouping { by_tag: Some(1), ..Grouping::default() };
    let found = groups(&rows, Selection::One(2), (0, 9), by_tag, &[(Function::Count, 2)]);
    assert_eq!(found[0].series, Some(0));
}

#[test]
fn truth_values_hold_until_the_next_reading_or_the_end() {
    let on = |time, value| (0, time, 0, Value::Bool(value));
    let rows = [on(10, true), on(40, false), real(0, 50, 1.0), on(90, true)];
    // true 10..40 and 90..100 of 10..100
    assert_eq!(one(&rows, &[(Function::TimeWeightedShare, 0)]), [Value::F64(40.0 / 90.0)]);
    let window = Grouping { window: Some(Window { width_ns: 30, origin_ns: 0 }), ..Grouping::default() };
    let found = groups(&rows, Selection::One(0), (0, 95), window, &[(Function::TimeWeightedShare, 0)]);
    // window 0: 10..30 true; window 30: from 40 false; window 90: 90..95 true
    let shares: Vec<_> = found.iter().map(|group| group.values[0].clone()).collect();
    assert_eq!(shares, [Value::F64(1.0), Value::F64(0.0), Value::F64(1.0)]);
}

#[test]
fn the_most_frequent_of_equals_is_the_smallest() {
    let word = |time, value: &str| (0, time, 3, Value::Text(value.into()));
    let rows = [word(1, "b"), word(2, "a"), word(3, "b"), word(4, "a"), word(5, "Z")];
    assert_eq!(
        one(&rows, &[(Function::MostFrequent, 3), (Function::Last, 3)]),
        [Value::Text("a".into()), Value::Text("Z".into())]
    );
}

#[test]
fn series_match_when_any_reading_passes() {
    let reference = reference(&[real(2, 10, 91.0), real(0, 10, 90.0), real(1, 20, 95.0)]);
    let ask = Ask::SeriesMatching(Predicate { field: 2, comparison: Comparison::Above, threshold: 90.0 });
    let all = |end| reference.answer(&query(Selection::All, 0, end, ask.clone()));
    assert_eq!(all(99), Answer::Series(vec![1, 2]));
    assert_eq!(all(20), Answer::Series(vec![2]));
}

#[test]
fn repeated_readings_end_as_said_and_times_are_cut_off() {
    let rows = [real(0, 1_500_000, 1.0), real(0, 1_900_000, 2.0), real(0, 2_000_000, 3.0)];
    for (repeated, expected) in [
        (RepeatedWrite::KeepsBoth, vec![1.0, 2.0, 3.0]),
        (RepeatedWrite::Replaces, vec![2.0, 3.0]),
        (RepeatedWrite::Refused, vec![1.0, 3.0]),
    ] {
        let mut reference = Reference::new(schema())
            .with_repeated_write(repeated)
            .with_resolution(0, TimeResolution::Milliseconds);
        for row in &rows {
            reference.add(&batch(std::slice::from_ref(row)));
            reference.prepare();
        }
        let mut stored = Vec::new();
        reference.scan(0, &mut |batch| {
            for row in 0..batch.len() {
                stored.push(batch.columns[2].number(row).unwrap());
            }
        });
        assert_eq!(stored, expected, "{repeated:?}");
        assert!(reference.holds(0, 0, 1_999_999) && !reference.holds(0, 0, 999_999));
    }
}

#[test]
fn entities_keep_their_columns_and_last_time() {
    let mut reference = Reference::new(schema());
    reference.add_entity(0, 1, 5, &[Value::I64(1)]);
    reference.add_entity(0, 1, 9, &[Value::I64(2)]);
    let mut found = Vec::new();
    reference.scan_entities(0, &mut |series, time, columns| {
        found.push((series, time, columns.to_vec()));
    });
    assert_eq!(found, [(1, 9, vec![Value::I64(1)])]);
}
