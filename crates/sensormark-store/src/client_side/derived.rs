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
    let readings = Readings(batch);
    let rows: Vec<usize> = (0..batch.len())
        .filter(|&row| derived.fields().iter().all(|field| batch.columns[field].has(row)))
        .collect();
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
            let grid = interpolated(batch, query.range.start_ns, fields, step_ns).into_iter();
            grid.map(|(time, values)| group(Some(time), values)).collect()
        }
        Derived::Correlation { .. } if rows.is_empty() => Vec::new(),
        Derived::Correlation { field, other } => {
            vec![group(None, vec![correlation(batch, [field, other], &rows)])]
        }
        Derived::OutOfRange { field, window, above, below } => {
            let find = |rows: &[usize]| {
                let order = |one: &&usize, other: &&usize| compare(&batch.columns[field], **one, **other);
                let [largest, smallest] = [*rows.iter().max_by(order)?, *rows.iter().min_by(order)?];
                let is_out =
                    readings.number(field, largest) > above || readings.number(field, smallest) < below;
                is_out.then(|| vec![readings.value(field, largest), readings.value(field, smallest)])
            };
            let windows = windows(batch, window, &rows).into_iter();
            windows.filter_map(|(start, rows)| Some(group(Some(start), find(&rows)?))).collect()
        }
        _ => readings.groups(derived, rows),
    })
}

fn group(time: Option<i64>, values: Vec<Value>) -> Group {
    Group { series: None, window_start_ns: time, day: None, values }
}

/// Readings of one series.
struct Readings<'a>(&'a Batch);

impl Readings<'_> {
    fn number(&self, field: usize, row: usize) -> f64 {
        self.0.columns[field].number(row).unwrap_or_default()
    }

    fn value(&self, field: usize, row: usize) -> Value {
        self.0.columns[field].value(row)
    }

    fn at(&self, row: usize, values: Vec<Value>) -> Group {
        group(Some(self.0.times_ns[row]), values)
    }

    /// What is derived of each of these rows, which have all inputs.
    fn groups(&self, derived: &Derived, mut rows: Vec<usize>) -> Vec<Group> {
        let (number, value) = (|field, row| self.number(field, row), |field, row| self.value(field, row));
        match *derived {
            Derived::CrossMean { field, other } => {
                let mean = |row| Value::F64(number(field, row) / 2.0 + number(other, row) / 2.0);
                let values = |row| vec![value(field, row), value(other, row), mean(row)];
                rows.iter().map(|&row| self.at(row, values(row))).collect()
            }
            Derived::Nearest { fields: [field, other], to, count } => {
                let square =
                    |row| (number(field, row) - to[0]).powi(2) + (number(other, row) - to[1]).powi(2);
                rows.sort_by(|&one, &other| square(one).total_cmp(&square(other)));
                rows.truncate(count as usize);
                let values = |row| vec![Value::F64(square(row).sqrt()), value(field, row), value(other, row)];
                rows.iter().map(|&row| self.at(row, values(row))).collect()
            }
            Derived::Segments { field, threshold } => {
                let jump = |one: &usize, next: &usize| (number(field, *next) - number(field, *one)).powi(2);
                let segments = rows.chunk_by(|one, next| jump(one, next) <= threshold);
                let last = |rows: &[usize]| Value::I64(self.0.times_ns[rows[rows.len() - 1]]);
                let mean = |rows: &[usize]| Value::F64(spread(self.0, field, rows).0);
                segments.map(|rows| self.at(rows[0], vec![last(rows), mean(rows)])).collect()
            }
            Derived::ZScores { field, beyond } => {
                let (mean, deviation) = spread(self.0, field, &rows);
                let score = |row| (number(field, row) - mean) / deviation;
                let is_far = |row| beyond.is_none_or(|beyond| score(row).abs() > beyond);
                rows.retain(|&row| deviation > 0.0 && is_far(row));
                rows.iter()
                    .map(|&row| self.at(row, vec![value(field, row), Value::F64(score(row))]))
                    .collect()
            }
            // a difference comes from means, the rest has no rows of its own
            _ => Vec::new(),
        }
    }
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
    Answer::groups(both.map(|(start, mean)| group(Some(start), vec![Value::F64(mean)])).collect())
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
