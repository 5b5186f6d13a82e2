//! C-D: what is derived from readings.

use super::super::data::{DAY, Data, Dataset, HOUR, MINUTE, SECOND};
use super::super::rule::{Rule, queries};
use super::query::{WHOLE, question, tables};
use Dataset::{Channels, Devices, Fleet, Mixed, Values};
use sensormark_store::query::{
    Aggregate, Ask, Comparison, Derived, Function, Grouping, Predicate, Query, Selection, Window,
};
use sensormark_store::schema::FieldSet;

pub(super) fn rules() -> Vec<Rule> {
    const ALL: &[Dataset] = &[Mixed, Channels, Values, Devices, Fleet];
    const PAIRS: &[Dataset] = &[Mixed, Channels, Fleet];
    vec![
        queries!("C-D-01", "readings by the value of a field", ALL, rows_by_value),
        queries!("C-D-02", "a grid on the lines between readings", ALL, interpolated),
        queries!("C-D-03", "the correlation of two fields", PAIRS, correlation),
        queries!("C-D-04", "windows out of range", ALL, out_of_range),
        queries!("C-D-05", "the difference of two series", ALL, difference),
        queries!("C-D-06", "the mean of two fields of a reading", PAIRS, cross_mean),
        queries!("C-D-07", "the nearest readings", PAIRS, nearest),
        queries!("C-D-08", "segments between jumps", ALL, segments),
        queries!("C-D-09", "distances from the mean, and outliers", ALL, z_scores),
        queries!("C-D-10", "the sample standard deviation", ALL, deviation),
    ]
}

/// One of each for this table, of its first number and its last.
pub(super) fn one_of_each(data: &Data, table: usize) -> Vec<Ask> {
    let fields = data.numeric(table);
    let (field, other) = (fields[0], fields[fields.len() - 1]);
    let window = Window { width_ns: HOUR, origin_ns: 0 };
    let predicate = Predicate { field, comparison: Comparison::Above, threshold: 10.0 };
    let all = [
        Derived::RowsByValue { fields: FieldSet::one(field).with(other), predicate },
        Derived::Interpolated { fields: FieldSet::one(field).with(other), step_ns: HOUR },
        Derived::Correlation { field, other },
        Derived::OutOfRange { field, window, above: 50.0, below: 1.0 },
        Derived::Difference { other: 1, field, window },
        Derived::CrossMean { field, other },
        Derived::Nearest { fields: [field, other], to: [40.0, 50.5], count: 3 },
        Derived::Segments { field, threshold: 900.0 },
        Derived::ZScores { field, beyond: Some(1.25) },
    ];
    all.map(Ask::Derived).to_vec()
}

/// What is asked of each table's first and last numbers (the one, the other, the series that has the first): over all, between two readings, of one reading, of
/// equal values (readings 7 to 9 of real numbers), and where nothing is.
fn over(data: &Data, derived: impl Fn(usize, usize) -> Vec<Derived>) -> Vec<Query> {
    let mut queries = Vec::new();
    for table in tables(data) {
        let fields = data.numeric(table);
        for (field, other) in [(fields[0], fields[fields.len() - 1]), (fields[fields.len() - 1], fields[0])] {
            let series = data.series_with(table, field);
            let times = data.times(table, series);
            let (first, quarter, last) = (times[0], times[times.len() / 4], times[times.len() * 3 / 4]);
            let ranges = [
                WHOLE,
                (quarter, last),
                (first + 1, first + DAY),
                (first, first + 1),
                (times[7], times[9] + 1),
                (first, first),
                (WHOLE.1 - DAY, WHOLE.1),
            ];
            let asked = derived(field, other);
            let each = asked.iter().flat_map(|&one| ranges.map(|range| (Ask::Derived(one), range)));
            queries.extend(each.map(|(ask, range)| question(table, Selection::One(series), range, ask)));
            let last = data.schema.tables[table].series.len() - 1;
            let rest = [1, 2, last].into_iter().filter(|&series| series <= last);
            let each = rest.flat_map(|series| asked.iter().map(move |&one| (series, Ask::Derived(one))));
            queries.extend(each.map(|(series, ask)| question(table, Selection::One(series), WHOLE, ask)));
        }
    }
    queries
}

fn rows_by_value(data: &Data) -> Vec<Query> {
    let mut queries = Vec::new();
    for table in tables(data) {
        let description = &data.schema.tables[table];
        let tag = description.tags.len().checked_sub(1);
        let tagged =
            tag.map(|tag| Selection::Tagged { tag, value: description.series.columns()[tag].text(0) });
        for field in data.numeric(table).into_iter().take(3) {
            let one = Selection::One(data.series_with(table, field));
            for (comparison, threshold) in
                [(Comparison::Above, 95.5), (Comparison::Below, 0.5), (Comparison::Above, 1e9)]
            {
                let predicate = Predicate { field, comparison, threshold };
                let others = (0..description.fields.len()).filter(|&other| other != field);
                let others = others.fold(FieldSet::first(0), FieldSet::with);
                let some = [description.all_fields(), FieldSet::one(field), others];
                for fields in some.into_iter().filter(|fields| !fields.is_empty()) {
                    for series in [one.clone(), Selection::All].into_iter().chain(tagged.clone()) {
                        let ask = Ask::Derived(Derived::RowsByValue { fields, predicate });
                        let (start, end) = (WHOLE.0 + DAY + HOUR / 2, WHOLE.1);
                        queries.push(question(table, series.clone(), WHOLE, ask.clone()));
                        queries.push(question(table, series, (start, end), ask));
                    }
                }
            }
        }
    }
    queries
}

fn interpolated(data: &Data) -> Vec<Query> {
    over(data, |field, other| {
        let fields = FieldSet::one(field);
        let steps = [(fields, HOUR), (fields.with(other), 10 * MINUTE), (fields, 7 * MINUTE + 13)];
        steps.map(|(fields, step_ns)| Derived::Interpolated { fields, step_ns }).to_vec()
    })
}

fn correlation(data: &Data) -> Vec<Query> {
    over(data, |field, other| vec![Derived::Correlation { field, other }])
}

const WINDOWS: [Window; 2] =
    [Window { width_ns: HOUR, origin_ns: 0 }, Window { width_ns: 7 * MINUTE + 1, origin_ns: 13 * SECOND }];

fn out_of_range(data: &Data) -> Vec<Query> {
    over(data, |field, _| {
        let bounds = [(95.0, 0.5), (4_000.0, -4_000.0), (0.25, 0.25), (1e9, -1e9)];
        let asked = |window| bounds.map(|(above, below)| Derived::OutOfRange { field, window, above, below });
        WINDOWS.map(asked).concat()
    })
}

fn difference(data: &Data) -> Vec<Query> {
    over(data, |field, _| {
        let asked = |window| [0, 1, 2, 99].map(|other| Derived::Difference { other, field, window });
        WINDOWS.map(asked).concat()
    })
}

fn cross_mean(data: &Data) -> Vec<Query> {
    over(data, |field, other| vec![Derived::CrossMean { field, other }])
}

fn nearest(data: &Data) -> Vec<Query> {
    over(data, |field, other| {
        let near = |(to, count)| Derived::Nearest { fields: [field, other], to, count };
        [([40.5, 7.25], 5), ([0.25, 0.25], 2), ([-1e3, 2e3], 100_000), ([0.0, 0.0], 0)].map(near).to_vec()
    })
}

fn segments(data: &Data) -> Vec<Query> {
    over(data, |field, _| [0.0, 900.5, 1e12].map(|threshold| Derived::Segments { field, threshold }).to_vec())
}

fn z_scores(data: &Data) -> Vec<Query> {
    over(data, |field, _| {
        [None, Some(1.25), Some(40.0)].map(|beyond| Derived::ZScores { field, beyond }).to_vec()
    })
}

fn deviation(data: &Data) -> Vec<Query> {
    let groupings = [(false, None), (false, Some(WINDOWS[0])), (true, None), (true, Some(WINDOWS[0]))];
    let groupings =
        groupings.map(|(by_series, window)| Grouping { by_series, window, ..Grouping::default() });
    let mut queries = Vec::new();
    for mut query in over(data, |field, _| vec![Derived::ZScores { field, beyond: None }]) {
        let Ask::Derived(Derived::ZScores { field, .. }) = query.ask else { continue };
        for series in [query.series.clone(), Selection::All] {
            for grouping in groupings {
                let aggregates = vec![Aggregate { function: Function::StandardDeviation, field }];
                query.ask = Ask::Aggregate { aggregates, grouping, from_sums: false };
                queries.push(Query { series: series.clone(), ..query.clone() });
            }
        }
    }
    queries
}
