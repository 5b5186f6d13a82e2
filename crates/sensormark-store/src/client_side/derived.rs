//! What is computed from readings ([`Derived`]), from readings in memory.

use super::{compare, sum};
use crate::Selection;
use crate::answer::{Answer, Group};
use crate::batch::Batch;
use crate::query::{Ask, Derived, Query, Window};
use crate::schema::{FieldSet, Value};
use std::collections::BTreeMap;

/// Mean and sample standard deviation (0 for fewer than two) of a field in these rows.
fn spread(batch: &Batch, field: usize, rows: &[usize]) -> (f64, f64) {
    let column = &batch.columns[field];
    let count = rows.len() as f64;
    let mean = sum(column, rows).map_or(0.0, |(_, real)| real / count);
    let squares = rows.iter().filter_map(|&row| column.number(row)).map(|value| (value - mean).powi(2));
    let squares: f64 = squares.sum();
    (mean, if rows.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 })
}

/// The sample standard deviation.
pub(super) fn deviation(batch: &Batch, field: usize, rows: &[usize]) -> Value {
    if rows.len() < 2 { Value::Null } else { Value::F64(spread(batch, field, rows).1) }
}

/// The answer from the readings of the question's series, in the order of series and time.
pub(super) fn answer(query: &Query, derived: &Derived, batch: &Batch) -> Answer {
    let with = |fields: FieldSet| {
        let has = |row: &usize| fields.iter().all(|field| batch.columns[field].has(*row));
        (0..batch.len()).filter(has).collect::<Vec<usize>>()
    };
    let group =
        |start: Option<i64>, values| Group { series: None, window_start_ns: start, day: None, values };
    let at = |row: usize, values| group(Some(batch.times_ns[row]), values);
    let number = |field: usize, row: usize| batch.columns[field].number(row).unwrap_or_default();
    let value = |field: usize, row: usize| batch.columns[field].value(row);
    let rows = with(derived.fields());
    Answer::groups(match *derived {
        Derived::RowsByValue { fields, predicate } => {
            let is_found = |row: usize| {
                let value = batch.columns[predicate.field].number(row);
                value.is_some_and(|value| predicate.passes(value))
                    && fields.iter().any(|field| batch.columns[field].has(row))
            };
            return Answer::Readings(batch.kept(is_found).with_fields(fields));
        }
        Derived::Interpolated { fields, step_ns } => {
            interpolated(batch, query.range.start_ns, fields, step_ns)
                .into_iter()
                .map(|(time, values)| group(Some(time), values))
                .collect()
        }
        Derived::Correlation { field, other } => {
            if rows.is_empty() {
                Vec::new()
            } else {
                vec![group(None, vec![correlation(batch, [field, other], &rows)])]
            }
        }
        Derived::OutOfRange { field, window, above, below } => {
            let find = |rows: &[usize]| {
                let order = |one: &&usize, other: &&usize| compare(&batch.columns[field], **one, **other);
                let [largest, smallest] = [rows.iter().max_by(order)?, rows.iter().min_by(order)?];
                let is_out = number(field, *largest) > above || number(field, *smallest) < below;
                is_out.then(|| vec![value(field, *largest), value(field, *smallest)])
            };
            let windows = windows(batch, window, &rows).into_iter();
            windows.filter_map(|(start, rows)| Some(group(Some(start), find(&rows)?))).collect()
        }
        // from means
        Derived::Difference { .. } => Vec::new(),
        Derived::CrossMean { field, other } => {
            let mean = |row: usize| Value::F64(number(field, row) / 2.0 + number(other, row) / 2.0);
            rows.iter().map(|&row| at(row, vec![value(field, row), value(other, row), mean(row)])).collect()
        }
        Derived::Nearest { fields: [field, other], to, count } => {
            let square =
                |row: usize| (number(field, row) - to[0]).powi(2) + (number(other, row) - to[1]).powi(2);
            let mut nearest = rows;
            nearest.sort_by(|&one, &other| square(one).total_cmp(&square(other)));
            nearest.truncate(count as usize);
            let values =
                |row: usize| vec![Value::F64(square(row).sqrt()), value(field, row), value(other, row)];
            nearest.iter().map(|&row| at(row, values(row))).collect()
        }
        Derived::Segments { field, threshold } => {
            let is_near =
                |one: &usize, next: &usize| (number(field, *next) - number(field, *one)).powi(2) <= threshold;
            let segments = rows.chunk_by(is_near);
            let last = |rows: &[usize]| Value::I64(batch.times_ns[rows[rows.len() - 1]]);
            let mean = |rows: &[usize]| Value::F64(spread(batch, field, rows).0);
            segments.map(|rows| at(rows[0], vec![last(rows), mean(rows)])).collect()
        }
        Derived::ZScores { field, beyond } => {
            let (mean, deviation) = spread(batch, field, &rows);
            let score = |row: usize| (number(field, row) - mean) / deviation;
            let counts =
                |row: &usize| deviation > 0.0 && beyond.is_none_or(|beyond| score(*row).abs() > beyond);
            let rows = rows.into_iter().filter(counts);
            rows.map(|row| at(row, vec![value(field, row), Value::F64(score(row))])).collect()
        }
    })
}

/// The difference of two series' means, which come by series and window.
pub(super) fn difference(query: &Query, means: &[Group]) -> Answer {
    let (&Selection::One(one), &Ask::Derived(Derived::Difference { other, .. })) =
        (&query.series, &query.ask)
    else {
        return Answer::Groups(means.to_vec());
    };
    let of = |series: u32| {
        let own = means.iter().filter(move |group| group.series == Some(series));
        own.filter_map(|group| match (group.window_start_ns, &group.values[..]) {
            (Some(start), &[Value::F64(mean)]) => Some((start, mean)),
            _ => None,
        })
    };
    let others: BTreeMap<i64, f64> = of(other).collect();
    let both = of(one).filter_map(|(start, mean)| Some((start, others.get(&start)? - mean)));
    let group = |(start, difference)| Group {
        series: None,
        window_start_ns: Some(start),
        day: None,
        values: vec![Value::F64(difference)],
    };
    Answer::groups(both.map(group).collect())
}

/// Rows by the start of their window.
fn windows(batch: &Batch, window: Window, rows: &[usize]) -> BTreeMap<i64, Vec<usize>> {
    let mut windows: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    rows.iter().for_each(|&row| windows.entry(window.start_of(batch.times_ns[row])).or_default().push(row));
    windows
}

/// Values at the instants of a grid: on the line between a field's readings before and after.
fn interpolated(batch: &Batch, start_ns: i64, fields: FieldSet, step_ns: i64) -> BTreeMap<i64, Vec<Value>> {
    let mut grid = BTreeMap::new();
    for (place, field) in fields.iter().enumerate() {
        let column = &batch.columns[field];
        let rows = (0..batch.len()).filter_map(|row| Some((batch.times_ns[row], column.number(row)?)));
        let rows: Vec<(i64, f64)> = rows.collect();
        let mut put = |time: i64, value: f64| {
            let values = grid.entry(time).or_insert_with(|| vec![Value::Null; fields.len()]);
            values[place] = Value::F64(value);
        };
        let mut before = rows.first().copied();
        for &(to, last) in &rows {
            let (from, first) = before.replace((to, last)).unwrap_or((to, last));
            let grid_before =
                i128::from(to) - (i128::from(to) - i128::from(start_ns)).rem_euclid(step_ns.into());
            let mut time = i64::try_from(grid_before).unwrap_or(i64::MIN);
            while time > from || time == to {
                let way = if time == to { 1.0 } else { (time - from) as f64 / (to - from) as f64 };
                put(time, first + (last - first) * way);
                time = time.saturating_sub(step_ns);
            }
        }
    }
    grid
}

/// Pearson's coefficient of two fields; none where it is not defined.
fn correlation(batch: &Batch, fields: [usize; 2], rows: &[usize]) -> Value {
    let [(mean, deviation), (other_mean, other_deviation)] = fields.map(|field| spread(batch, field, rows));
    let number = |field: usize, row: usize| batch.columns[field].number(row).unwrap_or_default();
    let product = |&row: &usize| (number(fields[0], row) - mean) * (number(fields[1], row) - other_mean);
    let scale = deviation * other_deviation * (rows.len() as f64 - 1.0);
    if scale > 0.0 { Value::F64(rows.iter().map(product).sum::<f64>() / scale) } else { Value::Null }
}
