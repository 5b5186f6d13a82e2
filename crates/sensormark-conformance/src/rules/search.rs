//! C-F: what is found by its value: first, last, minimum, latest readings, matching series.

use super::super::data::{BASE, Data, Dataset, HOUR, SECOND};
use super::super::rule::{Rule, queries};
use super::query::{WHOLE, question, tables};
use Dataset::{Channels, Devices, Fleet, Mixed, Values};
use sensormark_store::query::{Ask, Comparison, Predicate, Query, Selection};
use sensormark_store::schema::{FieldSet, Table};

pub(super) fn rules() -> Vec<Rule> {
    const ALL: &[Dataset] = &[Mixed, Channels, Values, Devices, Fleet];
    vec![
        queries!("C-F-01", "first is the earliest in the range that passes", ALL, first),
        queries!("C-F-02", "last is the latest in the range that passes", ALL, last),
        queries!("C-F-03", "thresholds are strict, and absent values do not pass", ALL, strict),
        queries!("C-F-04", "a minimum is the earliest of equals", ALL, minimum),
        queries!("C-F-06", "the latest reading of each series", ALL, last_readings),
        queries!("C-F-07", "series match when any reading passes", ALL, matching),
    ]
}

/// Predicates on a field that pass often, seldom and never.
fn predicates(field: usize) -> Vec<Predicate> {
    let predicate = |(comparison, threshold)| Predicate { field, comparison, threshold };
    [
        (Comparison::Above, 50.0),
        (Comparison::Below, 20.0),
        (Comparison::Above, 3_900.5),
        (Comparison::Below, -4_900.0),
        (Comparison::Above, 1e9),
        (Comparison::Below, 0.25),
    ]
    .map(predicate)
    .into()
}

/// Searches in ranges that start and end at readings, and next to them.
fn searches(data: &Data, ask: fn(Predicate) -> Ask) -> Vec<Query> {
    let mut queries = Vec::new();
    for table in tables(data) {
        for field in data.numeric(table).into_iter().take(3) {
            for series in
                [0, 1, 2].into_iter().filter(|&series| series < data.schema.tables[table].series.len())
            {
                let times = data.times(table, series);
                for predicate in predicates(field) {
                    let middle = times[times.len() / 2];
                    let mut ranges = vec![WHOLE, (middle, WHOLE.1), (WHOLE.0, middle)];
                    ranges.extend(edges(data, table, series, predicate));
                    for range in ranges {
                        queries.push(question(table, Selection::One(series), range, ask(predicate)));
                    }
                }
            }
        }
    }
    queries
}

/// Ranges whose bounds are at readings that pass, and one instant off.
fn edges(data: &Data, table: usize, series: u32, predicate: Predicate) -> Vec<(i64, i64)> {
    let batch = &data.batches[table];
    let column = &batch.columns[predicate.field];
    let mut passing = (0..batch.len())
        .filter(|&row| batch.series[row] == series)
        .filter(|&row| column.number(row).is_some_and(|value| predicate.passes(value)))
        .map(|row| batch.times_ns[row]);
    let Some(early) = passing.next() else {
        return Vec::new();
    };
    let late = passing.next_back().unwrap_or(early + 1);
    vec![(early, late), (early + 1, late), (early, late + 1), (early + 1, late + 1), (early, early + 1)]
}

fn first(data: &Data) -> Vec<Query> {
    searches(data, Ask::First)
}

fn last(data: &Data) -> Vec<Query> {
    searches(data, Ask::Last)
}

fn strict(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    for table in tables(data) {
        let batch = &data.batches[table];
        for field in data.numeric(table).into_iter().take(3) {
            let column = &batch.columns[field];
            let present = (0..batch.len()).filter_map(|row| Some((batch.series[row], column.number(row)?)));
            for (series, threshold) in present.take(3) {
                for comparison in [Comparison::Above, Comparison::Below] {
                    let predicate = Predicate { field, comparison, threshold };
                    for ask in [Ask::First(predicate), Ask::Last(predicate)] {
                        queries.push(question(table, Selection::One(series), WHOLE, ask));
                    }
                }
            }
        }
    }
    queries
}

fn minimum(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    for table in tables(data) {
        for field in data.numeric(table).into_iter().take(4) {
            for series in
                [0, 1, 2].into_iter().filter(|&series| series < data.schema.tables[table].series.len())
            {
                let times = data.times(table, series);
                let (early, late) = (times[times.len() / 3], times[times.len() * 2 / 3]);
                for range in [WHOLE, (early, late), (early, late + 1), (early, early + 1)] {
                    let ask = Ask::Minimum { field };
                    queries.push(question(table, Selection::One(series), range, ask));
                }
            }
        }
    }
    queries
}

/// All series, some by number, and those of some values of each tag.
fn several(table: &Table) -> Vec<Selection> {
    let some = || 0..table.series.len().min(4);
    let tagged = |tag: usize| {
        let value = move |series| table.series.columns()[tag].text(series);
        some().map(move |series| Selection::Tagged { tag, value: value(series) })
    };
    let mut several = vec![Selection::All];
    several.extend(some().map(Selection::One));
    several.extend((0..table.tags.len()).flat_map(tagged));
    several
}

fn last_readings(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    for table in tables(data) {
        let all = data.schema.tables[table].all_fields();
        // Each with several values: a statement that is kept must not keep the first ones.
        for series in several(&data.schema.tables[table]) {
            for range in [WHOLE, (BASE, BASE + HOUR), (BASE, BASE + 2 * SECOND)] {
                for fields in [all, FieldSet::one(0), FieldSet::first(all.len().div_ceil(2))] {
                    let ask = Ask::LastReading { fields };
                    queries.push(question(table, series.clone(), range, ask));
                }
            }
        }
    }
    queries
}

fn matching(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    for table in tables(data) {
        for field in data.numeric(table).into_iter().take(2) {
            for predicate in predicates(field) {
                for range in [WHOLE, (BASE, BASE + HOUR)] {
                    let ask = Ask::SeriesMatching(predicate);
                    queries.push(question(table, Selection::All, range, ask));
                }
            }
        }
    }
    queries
}
