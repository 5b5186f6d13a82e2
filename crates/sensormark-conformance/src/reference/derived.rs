//! What is derived from readings, from its definition: the oracle, which shares nothing with the client's way in `sensormark_store::client_side`.
//!
//! Values that are whole multiples of 2⁻²⁰ are added up as whole numbers of 128 bits, so that sums of squares and products are exact. Others are
//! taken from their mean first, which is good to 1e-9 where their spread is not far under their size.

use super::Reference;
use sensormark_store::answer::{Answer, Group};
use sensormark_store::query::{Derived, Query, Selection, TimeRange, Window};
use sensormark_store::schema::{FieldSet, Value};
use std::collections::BTreeMap;

/// A reading: its row, and the values of the inputs.
type Row<const N: usize> = (usize, [f64; N]);

/// Count, mean and spread of numbers.
pub struct Spread {
    count: f64,
    mean: f64,
    /// The sum of squared distances from the mean.
    squares: f64,
}

impl Spread {
    /// Of these numbers.
    pub fn of(values: &[f64]) -> Self {
        let pairs: Vec<[f64; 2]> = values.iter().map(|&value| [value; 2]).collect();
        let [mean, _, squares] = products(&pairs);
        Self { count: values.len() as f64, mean, squares }
    }

    /// The sample standard deviation, of two numbers and more.
    pub fn deviation(&self) -> Option<f64> {
        (self.count > 1.0).then(|| (self.squares / (self.count - 1.0)).sqrt())
    }
}

/// The means of both, and the sum of the products of their distances from them.
fn products(pairs: &[[f64; 2]]) -> [f64; 3] {
    let count = pairs.len() as f64;
    if let Some([one, other, both]) = whole_products(pairs) {
        let unit = f64::from(1 << 20);
        return [one / count / unit, other / count / unit, both / count / unit / unit];
    }
    let mean = |place: usize| pairs.iter().map(|pair| pair[place]).sum::<f64>() / count;
    let (one, other) = (mean(0), mean(1));
    [one, other, pairs.iter().map(|pair| (pair[0] - one) * (pair[1] - other)).sum()]
}

/// Sums, and n·Σxy − Σx·Σy, in units of 2⁻²⁰.
#[expect(clippy::cast_possible_truncation, reason = "whole numbers under 2^53")]
fn whole_products(pairs: &[[f64; 2]]) -> Option<[f64; 3]> {
    let whole = |value: f64| {
        let scaled = value * f64::from(1 << 20);
        (scaled.fract() == 0.0 && scaled.abs() < 9e15).then_some(scaled as i128)
    };
    let (mut one, mut other, mut both) = (0_i128, 0_i128, 0_i128);
    for pair in pairs {
        let [x, y] = [whole(pair[0])?, whole(pair[1])?];
        (one, other) = (one + x, other + y);
        both = both.checked_add(x * y)?;
    }
    let count = i128::try_from(pairs.len()).ok()?;
    let both = count.checked_mul(both)?.checked_sub(one.checked_mul(other)?)?;
    Some([one as f64, other as f64, both as f64])
}

fn group(time: Option<i64>, values: Vec<Value>) -> Group {
    Group { series: None, window_start_ns: time, day: None, values }
}

impl Reference {
    pub(super) fn derived(&self, query: &Query, derived: Derived) -> Answer {
        if let Derived::RowsByValue { fields, predicate } = derived {
            let rows = self.rows(query).flat_map(|(_, rows)| rows);
            let passes =
                |row: &usize| self.passes(query, predicate, *row) && self.has_any(query, fields, *row);
            return self.readings(query, fields, rows.filter(passes));
        }
        let Selection::One(series) = query.series else {
            return Answer::Groups(Vec::new());
        };
        Answer::Groups(match derived {
            Derived::Interpolated { fields, step_ns } => self.on_grid(query, fields, step_ns),
            Derived::Correlation { field, other } => {
                let pairs: Vec<[f64; 2]> =
                    self.inputs(query, series, [field, other]).map(|row| row.1).collect();
                let of = |place: usize| Spread::of(&pairs.iter().map(|pair| pair[place]).collect::<Vec<_>>());
                let scale = (of(0).squares * of(1).squares).sqrt();
                let found = if scale > 0.0 { Value::F64(products(&pairs)[2] / scale) } else { Value::Null };
                if pairs.is_empty() { Vec::new() } else { vec![group(None, vec![found])] }
            }
            Derived::OutOfRange { field, window, above, below } => {
                let is_out = |rows: &Vec<(usize, f64)>| rows.iter().any(|row| row.1 > above || row.1 < below);
                let windows = self.windows(query, series, field, window).into_iter();
                let extremes = |rows: &[(usize, f64)]| {
                    let order = |one: &&(usize, f64), other: &&(usize, f64)| one.1.total_cmp(&other.1);
                    let found = [rows.iter().max_by(order), rows.iter().min_by(order)].into_iter().flatten();
                    found.map(|row| self.column(query, field).value(row.0)).collect()
                };
                let out = windows.filter(|(_, rows)| is_out(rows));
                out.map(|(start, rows)| group(Some(start), extremes(&rows))).collect()
            }
            Derived::Difference { other, field, window } => {
                let mean = |rows: &[(usize, f64)]| {
                    Spread::of(&rows.iter().map(|row| row.1).collect::<Vec<_>>()).mean
                };
                let others = self.windows(query, other, field, window);
                let these = self.windows(query, series, field, window).into_iter();
                let both =
                    these.filter_map(|(start, rows)| Some((start, mean(others.get(&start)?) - mean(&rows))));
                both.map(|(start, difference)| group(Some(start), vec![Value::F64(difference)])).collect()
            }
            _ => self.of_readings(query, series, derived),
        })
    }

    /// What is derived of each reading, or of those beside it.
    fn of_readings(&self, query: &Query, series: u32, derived: Derived) -> Vec<Group> {
        let value = |field: usize, row: usize| self.column(query, field).value(row);
        let time = |row: usize| self.tables[query.table].batch.times_ns[row];
        let at = |row: usize, values: Vec<Value>| group(Some(time(row)), values);
        match derived {
            Derived::CrossMean { field, other } => {
                let mean = |(row, [a, b]): Row<2>| {
                    at(row, vec![value(field, row), value(other, row), Value::F64((a + b) / 2.0)])
                };
                self.inputs(query, series, [field, other]).map(mean).collect()
            }
            Derived::Nearest { fields: [field, other], to, count } => {
                let near = |(row, [a, b]): Row<2>| ((a - to[0]).powi(2) + (b - to[1]).powi(2), row);
                let mut all: Vec<_> = self.inputs(query, series, [field, other]).map(near).collect();
                all.sort_by(|one, other| one.0.total_cmp(&other.0).then(time(one.1).cmp(&time(other.1))));
                all.truncate(count as usize);
                all.sort_by_key(|one| time(one.1));
                let group = |&(square, row): &(f64, usize)| {
                    at(row, vec![Value::F64(square.sqrt()), value(field, row), value(other, row)])
                };
                all.iter().map(group).collect()
            }
            Derived::Segments { field, threshold } => {
                let mut segments: Vec<Vec<Row<1>>> = Vec::new();
                for row in self.inputs(query, series, [field]) {
                    match segments.last_mut() {
                        Some(last) if (row.1[0] - last[last.len() - 1].1[0]).powi(2) <= threshold => {
                            last.push(row);
                        }
                        _ => segments.push(vec![row]),
                    }
                }
                let segment = |rows: Vec<Row<1>>| {
                    let values: Vec<f64> = rows.iter().map(|row| row.1[0]).collect();
                    let last = Value::I64(time(rows[rows.len() - 1].0));
                    at(rows[0].0, vec![last, Value::F64(Spread::of(&values).mean)])
                };
                segments.into_iter().map(segment).collect()
            }
            Derived::ZScores { field, beyond } => {
                let rows: Vec<Row<1>> = self.inputs(query, series, [field]).collect();
                let spread = Spread::of(&rows.iter().map(|row| row.1[0]).collect::<Vec<_>>());
                let deviation = spread.deviation().filter(|&deviation| deviation > 0.0);
                let score = |row: &Row<1>| deviation.map(|deviation| (row.1[0] - spread.mean) / deviation);
                let scored = rows.iter().filter_map(|row| Some((row.0, score(row)?)));
                scored
                    .filter(|(_, score)| beyond.is_none_or(|beyond| score.abs() > beyond))
                    .map(|(row, score)| at(row, vec![value(field, row), Value::F64(score)]))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// The readings of a series that have all of these fields.
    fn inputs<const N: usize>(
        &self,
        query: &Query,
        series: u32,
        fields: [usize; N],
    ) -> impl Iterator<Item = Row<N>> {
        self.rows_of(query.table, series, query.range).filter_map(move |row| {
            let mut values = [0.0; N];
            for (value, field) in values.iter_mut().zip(fields) {
                *value = self.column(query, field).number(row)?;
            }
            Some((row, values))
        })
    }

    /// Rows and values by the start of their window.
    fn windows(
        &self,
        query: &Query,
        series: u32,
        field: usize,
        window: Window,
    ) -> BTreeMap<i64, Vec<(usize, f64)>> {
        let mut windows: BTreeMap<i64, Vec<(usize, f64)>> = BTreeMap::new();
        for (row, [value]) in self.inputs(query, series, [field]) {
            let start = window.start_of(self.tables[query.table].batch.times_ns[row]);
            windows.entry(start).or_default().push((row, value));
        }
        windows
    }

    /// Each instant of the grid between the first and the last reading, and what each field's neighbours give there.
    fn on_grid(&self, query: &Query, fields: FieldSet, step_ns: i64) -> Vec<Group> {
        let Selection::One(series) = query.series else { return Vec::new() };
        let rows = self.rows_of(query.table, series, query.range);
        let times = &self.tables[query.table].batch.times_ns;
        let (Some(first), Some(last)) = (rows.clone().next(), rows.clone().last()) else { return Vec::new() };
        let (first, last) = (i128::from(times[first]), i128::from(times[last]));
        let (start, step) = (i128::from(query.range.start_ns), i128::from(step_ns));
        let mut groups = Vec::new();
        let mut instant = start + (first - start + step - 1).div_euclid(step) * step;
        while instant <= last {
            let time = i64::try_from(instant).unwrap_or(i64::MAX);
            let at = |field: usize| {
                let of = |range| {
                    let part = Query { range, ..query.clone() };
                    self.inputs(&part, series, [field])
                        .map(|row| (times[row.0], row.1[0]))
                        .collect::<Vec<_>>()
                };
                let before = of(TimeRange::new(query.range.start_ns, time + 1)).last().copied()?;
                let after = of(TimeRange::new(time, query.range.end_ns)).first().copied()?;
                let [way, length] = [time - before.0, after.0 - before.0].map(|ns| ns as f64);
                Some(before.1 + if length > 0.0 { (after.1 - before.1) * way / length } else { 0.0 })
            };
            let values: Vec<Value> =
                fields.iter().map(|field| at(field).map_or(Value::Null, Value::F64)).collect();
            if values.iter().any(|value| *value != Value::Null) {
                groups.push(group(Some(time), values));
            }
            instant += step;
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::client_side;
    use sensormark_store::query::{Aggregate, Ask, Comparison, Function, Grouping, Predicate};
    use sensormark_store::schema::{Field, FieldType, Schema, Series, Table, Tag, TagColumn, TimeResolution};
    use sensormark_store::{AnswerSource, Batch};
    use std::sync::Arc;

    const A: FieldSet = FieldSet::one(0);

    /// Series 0: (10, 1, 4), (20, 3, –), (30, 5, 0), (50, 5, 8); series 1: (25, 9, –), (45, 6, –); series 2 has nothing.
    fn reference() -> Reference {
        let field = |name: &str| Field { name: name.into(), kind: FieldType::F64, nullable: true };
        let table = Table {
            name: "t".into(),
            tags: vec![Tag { name: "id".into() }],
            fields: vec![field("a"), field("b")],
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::new(vec![TagColumn::Integer(vec![7, 8, 9])]),
        };
        let mut batch = Batch::new(0, &table);
        let rows = [
            (0, 10, 1.0, Some(4.0)),
            (0, 20, 3.0, None),
            (0, 30, 5.0, Some(0.0)),
            (0, 50, 5.0, Some(8.0)),
            (1, 25, 9.0, None),
            (1, 45, 6.0, None),
        ];
        for (series, time, a, b) in rows {
            batch.series.push(series);
            batch.times_ns.push(time);
            batch.columns[0].push(Value::F64(a)).unwrap();
            batch.columns[1].push(b.map_or(Value::Null, Value::F64)).unwrap();
        }
        let mut reference = Reference::new(Arc::new(Schema { tables: vec![table] }));
        reference.add(&batch);
        reference.prepare();
        reference
    }

    /// What the oracle says, and the client too: of each group the time, and the values with 9 digits.
    fn asked(ask: Ask, series: u32, range: (i64, i64)) -> Vec<(Option<i64>, Vec<String>)> {
        let reference = reference();
        let range = TimeRange::new(range.0, range.1);
        let query = Query { table: 0, series: Selection::One(series), range, ask };
        let answer = reference.answer(&query);
        let found = reference.answer(&client_side::readings_of(&query).unwrap());
        let client = client_side::answer(&query, &reference.schema().tables[0], found);
        assert_eq!(client.disagreement(&answer, &query), None, "{query:?}");
        let text = |value: &Value| match value {
            Value::F64(value) => format!("{value:.9}").trim_end_matches('0').trim_end_matches('.').to_owned(),
            Value::I64(value) => value.to_string(),
            _ => String::new(),
        };
        match answer {
            Answer::Groups(groups) => groups
                .iter()
                .map(|group| (group.window_start_ns, group.values.iter().map(text).collect()))
                .collect(),
            Answer::Readings(batch) => batch.times_ns.iter().map(|&time| (Some(time), Vec::new())).collect(),
            _ => Vec::new(),
        }
    }

    fn of(derived: Derived, expected: &[(i64, &[&str])]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(time, values)| (Some(*time), values.iter().map(|&value| value.to_owned()).collect()))
            .collect();
        assert_eq!(asked(Ask::Derived(derived), 0, (0, 100)), expected, "{derived:?}");
        for (series, range) in [(0, (60, 100)), (0, (30, 30)), (2, (0, 100))] {
            assert_eq!(asked(Ask::Derived(derived), series, range), [], "{derived:?} of nothing");
        }
    }

    #[test]
    fn readings_are_found_by_value() {
        let predicate = Predicate { field: 0, comparison: Comparison::Above, threshold: 3.0 };
        of(Derived::RowsByValue { fields: A, predicate }, &[(30, &[]), (50, &[])]);
        let predicate = Predicate { threshold: 2.0, ..predicate };
        of(Derived::RowsByValue { fields: FieldSet::one(1), predicate }, &[(30, &[]), (50, &[])]);
    }

    #[test]
    fn a_grid_lies_between_readings_of_each_field() {
        let both = A.with(1);
        let at_15 = Derived::Interpolated { fields: both, step_ns: 15 };
        of(at_15, &[(15, &["2", "3"]), (30, &["5", "0"]), (45, &["5", "6"])]);
        let one = asked(Ask::Derived(at_15), 0, (10, 11));
        assert_eq!(one, [(Some(10), vec!["1".to_owned(), "4".to_owned()])], "one reading on the grid");
        assert_eq!(asked(Ask::Derived(at_15), 0, (9, 11)), [], "one reading beside the grid");
        let lacking = asked(Ask::Derived(Derived::Interpolated { fields: both, step_ns: 10 }), 0, (20, 40));
        let values = |values: [&str; 2]| values.map(str::to_owned).to_vec();
        assert_eq!(lacking, [(Some(20), values(["3", ""])), (Some(30), values(["5", "0"]))]);
    }

    #[test]
    fn fields_are_compared() {
        let correlation = |range| asked(Ask::Derived(Derived::Correlation { field: 0, other: 1 }), 0, range);
        // (1, 4), (5, 0), (5, 8): covariance 0
        assert_eq!(correlation((0, 100)), [(None, vec!["0".to_owned()])]);
        assert_eq!(correlation((0, 31)), [(None, vec!["-1".to_owned()])]);
        assert_eq!(correlation((30, 100)), [(None, vec![String::new()])], "equal values");
        assert_eq!(correlation((10, 11)), [(None, vec![String::new()])], "one reading");
        assert_eq!(correlation((20, 30)), [], "no reading has both");
        let mean = Derived::CrossMean { field: 1, other: 0 };
        of(mean, &[(10, &["4", "1", "2.5"]), (30, &["0", "5", "2.5"]), (50, &["8", "5", "6.5"])]);
        // 10 and 50 are as far: the earlier one
        let nearest = |count| Derived::Nearest { fields: [0, 1], to: [3.0, 6.0], count };
        of(nearest(1), &[(10, &["2.828427125", "1", "4"])]);
        of(nearest(2), &[(10, &["2.828427125", "1", "4"]), (50, &["2.828427125", "5", "8"])]);
    }

    #[test]
    fn windows_and_segments_are_told_by_values() {
        let window = Window { width_ns: 20, origin_ns: 5 };
        let out = |above, below| Derived::OutOfRange { field: 0, window, above, below };
        of(out(4.5, 0.5), &[(25, &["5", "5"]), (45, &["5", "5"])]);
        of(out(5.0, 1.5), &[(5, &["3", "1"])]);
        // means of series 0: 2, 5, 5; of series 1: 9 and 6
        let difference = |other| Derived::Difference { other, field: 0, window };
        of(difference(1), &[(25, &["4"]), (45, &["1"])]);
        of(difference(0), &[(5, &["0"]), (25, &["0"]), (45, &["0"])]);
        of(difference(2), &[]);
        let segments = |threshold| Derived::Segments { field: 0, threshold };
        of(segments(4.0), &[(10, &["50", "3.5"])]);
        of(segments(3.9), &[(10, &["10", "1"]), (20, &["20", "3"]), (30, &["50", "5"])]);
    }

    #[test]
    fn values_are_compared_with_all() {
        // mean 3.5, squares 6.25 + 0.25 + 2.25 + 2.25 = 11
        let scores = |beyond| Derived::ZScores { field: 0, beyond };
        let each: [(i64, &[&str]); 4] = [
            (10, &["1", "-1.305582420"]),
            (20, &["3", "-0.261116484"]),
            (30, &["5", "0.783349452"]),
            (50, &["5", "0.783349452"]),
        ];
        of(scores(Some(1.0)), &[(10, &["1", "-1.30558242"])]);
        let found = asked(Ask::Derived(scores(None)), 0, (0, 100));
        let expected = each.map(|(time, values)| {
            (Some(time), values.iter().map(|one| one.trim_end_matches('0').to_owned()).collect::<Vec<_>>())
        });
        assert_eq!(found, expected);
        assert_eq!(asked(Ask::Derived(scores(None)), 0, (30, 100)), [], "equal values");
        assert_eq!(asked(Ask::Derived(scores(None)), 0, (10, 11)), [], "one reading");
        let aggregates = vec![Aggregate { function: Function::StandardDeviation, field: 0 }];
        let ask = Ask::Aggregate { aggregates, grouping: Grouping::default(), from_sums: false };
        assert_eq!(asked(ask.clone(), 0, (0, 100)), [(None, vec!["1.914854216".to_owned()])]);
        assert_eq!(asked(ask.clone(), 0, (30, 100)), [(None, vec!["0".to_owned()])]);
        assert_eq!(asked(ask.clone(), 0, (10, 11)), [(None, vec![String::new()])]);
        assert_eq!(asked(ask, 2, (0, 100)), []);
    }
}
