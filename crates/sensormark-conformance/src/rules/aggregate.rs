//! C-G: aggregates and their groups.

use super::super::data::{BASE, DAY, Data, Dataset, HOUR, MINUTE, SECOND, SPLIT};
use super::super::rule::{Rule, queries};
use Dataset::{Channels, Devices, Fleet, Mixed, Values};
use Function::{Count, Last, Max, Mean, Min, MostFrequent, Sum, TimeWeightedShare};
use sensormark_store::query::{
    Aggregate, Ask, DaySplit, Function, Grouping, Query, Selection, TimeRange, Window,
};
use sensormark_store::schema::FieldType;

pub(super) fn rules() -> Vec<Rule> {
    const ALL: &[Dataset] = &[Mixed, Channels, Values, Devices, Fleet];
    const TAGGED: &[Dataset] = &[Mixed, Values, Devices, Fleet];
    vec![
        queries!("C-G-01", "count, sum, minimum, maximum and mean of a range", ALL, plain),
        queries!(
            "C-G-02",
            "a group without values is absent, an absent value among values is not counted",
            ALL,
            absent
        ),
        queries!("C-G-03", "windows are half-open, and gaps stay gaps", ALL, windows),
        queries!("C-G-04", "aggregates over several series", TAGGED, across),
        queries!("C-G-05", "aggregates by series", TAGGED, by_series),
        queries!("C-G-06", "aggregates by tag are named by the tag's lowest series", TAGGED, by_tag),
        queries!("C-G-07", "aggregates by day and night", ALL, by_day_part),
        queries!("C-G-08", "groupings combine", TAGGED, combined),
        queries!("C-G-09", "the last value", TAGGED, last),
        queries!("C-G-10", "the share of time in which a value was true", &[Mixed, Devices], share),
        queries!("C-G-11", "the most frequent value, the smallest of equals", TAGGED, frequent),
        queries!("C-G-12", "sums kept at write time equal the readings' sums", ALL, from_sums),
        queries!("C-G-13", "a chart has at most the points asked for", ALL, chart),
    ]
}

const WHOLE: (i64, i64) = (Data::everything().start_ns, Data::everything().end_ns);
const NUMERIC: [Function; 5] = [Count, Sum, Min, Max, Mean];
const NO_GROUPS: Grouping = Grouping { window: None, by_series: false, by_tag: None, by_day_part: None };

fn question(
    table: usize,
    series: Selection,
    range: (i64, i64),
    grouping: Grouping,
    aggregates: Vec<Aggregate>,
) -> Query {
    Query {
        table,
        series,
        range: TimeRange::new(range.0, range.1),
        ask: Ask::Aggregate { aggregates, grouping, from_sums: false },
    }
}

fn all_of(functions: &[Function], field: usize) -> Vec<Aggregate> {
    let aggregate = |&function| Aggregate { function, field };
    functions.iter().map(aggregate).collect()
}

/// For each table and its first numeric fields.
fn numeric(data: &Data) -> Vec<(usize, usize)> {
    let fields = |table| data.numeric(table).into_iter().take(3);
    (0..data.schema.tables.len()).flat_map(|table| fields(table).map(move |field| (table, field))).collect()
}

/// A range whose bounds are readings of the first series with the field, the later one left out.
fn within(data: &Data, table: usize, field: usize) -> (i64, i64) {
    let times = data.times(table, data.series_with(table, field));
    (times[times.len() / 4], times[times.len() * 3 / 4])
}

fn window(width_ns: i64, origin_ns: i64) -> Grouping {
    Grouping { window: Some(Window { width_ns, origin_ns }), ..NO_GROUPS }
}

fn plain(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    for (table, field) in numeric(data) {
        for range in [WHOLE, within(data, table, field), (BASE, BASE + 2 * HOUR)] {
            for series in
                [0, 1, 2].into_iter().filter(|&series| series < data.schema.tables[table].series.len())
            {
                let one = Selection::One(series);
                queries.push(question(table, one.clone(), range, NO_GROUPS, all_of(&NUMERIC, field)));
                for function in NUMERIC {
                    queries.push(question(table, one.clone(), range, NO_GROUPS, all_of(&[function], field)));
                }
            }
        }
    }
    queries
}

fn absent(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    for table in 0..data.schema.tables.len() {
        let last = data.schema.tables[table].series.len() - 1;
        for field in data.numeric(table).into_iter().take(2) {
            for (series, range) in [
                (Selection::One(0), (BASE - DAY, BASE - HOUR)),
                (Selection::One(0), (BASE + HOUR, BASE + HOUR)),
                (Selection::One(last), (BASE, BASE + SECOND)),
                (Selection::All, (BASE + 20 * DAY, BASE + 21 * DAY)),
            ] {
                for functions in [&[Count][..], &[Sum], &NUMERIC] {
                    queries.push(question(table, series.clone(), range, NO_GROUPS, all_of(functions, field)));
                }
            }
        }
        let every: Vec<Aggregate> =
            data.numeric(table).into_iter().take(3).flat_map(|field| all_of(&[Count, Max], field)).collect();
        for one in data.times(table, 0).into_iter().take(6) {
            queries.push(question(table, Selection::One(0), (one, one + 1), NO_GROUPS, every.clone()));
        }
        queries.push(question(table, Selection::One(1), WHOLE, NO_GROUPS, every));
    }
    queries
}

fn windows(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    for (table, field) in numeric(data) {
        for grouping in [HOUR, DAY, SECOND / 2, 7 * MINUTE + 1].map(|width_ns| window(width_ns, 0)) {
            let (start, end) = within(data, table, field);
            let range = if grouping.window.is_some_and(|window| window.width_ns > SECOND) {
                WHOLE
            } else {
                (start, end.min(start + MINUTE))
            };
            queries.push(question(
                table,
                Selection::One(data.series_with(table, field)),
                range,
                grouping,
                all_of(&NUMERIC, field),
            ));
            queries.push(question(
                table,
                Selection::One(data.series_with(table, field)),
                (start, end),
                grouping,
                all_of(&[Mean], field),
            ));
        }
    }
    queries
}

/// Sets of series: chosen by number, by tag, and all.
fn several(data: &Data, table: usize) -> Vec<Selection> {
    let description = &data.schema.tables[table];
    let tag = description.tags.len() - 1;
    vec![
        Selection::All,
        Selection::Set(vec![0, 2]),
        Selection::Tagged { tag, value: description.series.columns()[tag].text(0) },
    ]
}

fn over_several(data: &Data, groupings: &[Grouping]) -> Vec<Query> {
    let mut queries = Vec::new();
    for (table, field) in numeric(data) {
        for series in several(data, table) {
            for &grouping in groupings {
                for range in [WHOLE, within(data, table, field)] {
                    queries.push(question(table, series.clone(), range, grouping, all_of(&NUMERIC, field)));
                }
            }
        }
    }
    queries
}

fn across(data: &Data) -> Vec<Query> {
    over_several(data, &[NO_GROUPS, window(HOUR, 0)])
}

const BY_SERIES: Grouping = Grouping { by_series: true, ..NO_GROUPS };

const DAY_PARTS: Grouping = Grouping { by_day_part: Some(SPLIT), ..NO_GROUPS };

fn by_series(data: &Data) -> Vec<Query> {
    over_several(data, &[BY_SERIES])
}

fn by_tag(data: &Data) -> Vec<Query> {
    let most = data.schema.tables.iter().map(|table| table.tags.len()).max();
    let mut queries = Vec::new();
    for tag in 0..most.unwrap_or(0) {
        let by_tag = Grouping { by_tag: Some(tag), ..NO_GROUPS };
        let fits = |query: &Query| tag < data.schema.tables[query.table].tags.len();
        queries.extend(over_several(data, &[by_tag]).into_iter().filter(fits));
    }
    queries
}

fn by_day_part(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    let odd = DaySplit { day_start_ns: 10 * HOUR + 1, day_end_ns: 10 * HOUR + 30 * MINUTE + SECOND };
    for (table, field) in numeric(data) {
        for split in [SPLIT, odd] {
            let grouping = Grouping { by_day_part: Some(split), ..NO_GROUPS };
            for range in [WHOLE, within(data, table, field)] {
                queries.push(question(
                    table,
                    Selection::One(data.series_with(table, field)),
                    range,
                    grouping,
                    all_of(&[Mean], field),
                ));
            }
        }
    }
    queries
}

fn combined(data: &Data) -> Vec<Query> {
    let daily = window(DAY, 0);
    over_several(data, &[Grouping { by_series: true, ..daily }, Grouping { by_tag: Some(0), ..daily }])
}

/// A function that needs readings of one series: of the series of each tag, each by itself, alone and beside a count.
fn statistics(data: &Data, kinds: &[FieldType], function: Function) -> Vec<Query> {
    let mut queries = Vec::new();
    for table in 0..data.schema.tables.len() {
        let description = &data.schema.tables[table];
        for field in data.fields(table, kinds).into_iter().take(5) {
            let tagged = (0..description.tags.len()).flat_map(|tag| {
                let series = [0, 1, 2].into_iter().filter(|&series| series < description.series.len());
                series.map(move |series| (tag, description.series.columns()[tag].text(series)))
            });
            for (tag, value) in tagged {
                for range in [WHOLE, within(data, table, field)] {
                    for functions in [&[function][..], &[Count, function]] {
                        let series = Selection::Tagged { tag, value: value.clone() };
                        let aggregates = all_of(functions, field);
                        queries.push(question(table, series, range, BY_SERIES, aggregates));
                    }
                }
            }
        }
    }
    queries
}

const EVERY_KIND: [FieldType; 5] =
    [FieldType::Bool, FieldType::I64, FieldType::U16, FieldType::F64, FieldType::Text];

fn last(data: &Data) -> Vec<Query> {
    statistics(data, &EVERY_KIND, Last)
}

fn share(data: &Data) -> Vec<Query> {
    statistics(data, &[FieldType::Bool], TimeWeightedShare)
}

fn frequent(data: &Data) -> Vec<Query> {
    statistics(data, &EVERY_KIND, MostFrequent)
}

fn from_sums(data: &Data) -> Vec<Query> {
    let start = BASE - DAY;
    let ranges = [(start, start + 12 * DAY), (BASE, BASE + DAY), (BASE + DAY, BASE + 3 * DAY)];
    let groupings = [NO_GROUPS, DAY_PARTS, window(DAY, 0), window(2 * DAY, 0)];
    let mut queries = Vec::new();
    for (table, field) in numeric(data) {
        for range in ranges {
            for grouping in groupings {
                let one = Selection::One(data.series_with(table, field));
                queries.push(question(table, one, range, grouping, all_of(&[Mean], field)));
            }
        }
    }
    for query in &mut queries {
        if let Ask::Aggregate { from_sums, .. } = &mut query.ask {
            *from_sums = true;
        }
    }
    queries
}

fn chart(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    for (table, field) in numeric(data) {
        let series = data.series_with(table, field);
        let (start, end) = within(data, table, field);
        for (range, points) in [((BASE, BASE + DAY), 500), ((start, end), 7), ((start + 1, end), 1)] {
            let range = TimeRange::new(range.0, range.1);
            queries.push(Query::chart(table, series, range, field, points));
        }
    }
    queries
}
