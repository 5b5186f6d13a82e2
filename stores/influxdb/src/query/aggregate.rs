//! Aggregates: by the server where InfluxQL has the function and the grouping, else from its windows or its readings.
//!
//! Parts of a day are added up from windows that fit into both day and night. The store fetches readings where none of these windows is long enough to pay, and
//! where InfluxQL lacks the function.

use super::Reader;
use super::message::whole;
use super::readings::only;
use crate::query::statement::{Statement, decimal};
use crate::schema::Measurement;
use sensormark_kit::sums::PartialSum;
use sensormark_store::client_side;
use sensormark_store::{
    Aggregate, Answer, DaySplit, FieldSet, FieldType, Function, Group, Grouping, Query, Selection,
    StoreError, Value, Window,
};
use std::collections::BTreeMap;

/// The shortest window of which parts of a day are added up.
const SHORTEST_NS: i64 = 60_000_000_000;

/// A group's place in the answer: series, window, and whether it is of the night.
pub(super) type Key = (Option<u32>, Option<i64>, Option<bool>);

/// Rows of an answer as aggregates: series, start of the window, and the functions' values.
type Row = (Option<u32>, Option<i64>, Vec<Value>);

impl Reader<'_> {
    pub(super) async fn groups(
        &mut self,
        query: &Query,
        aggregates: &[Aggregate],
        grouping: Grouping,
        void: bool,
    ) -> Result<Answer, StoreError> {
        let one = matches!(query.series, Selection::One(_))
            || self.physical.schema.tables[query.table].series.len() == 1;
        if !one && !grouping.by_series {
            refuse_several(aggregates)?;
        }
        if void {
            return Ok(Answer::Groups(Vec::new()));
        }
        let in_flux = self.physical.layout.in_second_language();
        if aggregates.iter().any(|one| is_missing(one.function, in_flux)) {
            return self.add_up_readings(query, aggregates, grouping).await;
        }
        if in_flux {
            return self.groups_in_flux(query, aggregates, grouping).await;
        }
        let Some(split) = grouping.by_day_part else {
            // a deviation of one reading is nothing: a count says that there is one
            let deviates = |one: &&Aggregate| one.function == Function::StandardDeviation;
            let counted = aggregates.iter().filter(deviates);
            let counted = counted.map(|one| Aggregate { function: Function::Count, ..*one });
            let wanted: Vec<Aggregate> = aggregates.iter().copied().chain(counted).collect();
            let rows = self.ask_groups(query, &wanted, grouping, None).await?;
            let kept = rows.into_iter().filter(|(.., values)| holds_something(values, &wanted));
            let groups = kept.map(|(series, start, mut values)| {
                values.truncate(aggregates.len());
                Group { series, window_start_ns: start, day: None, values }
            });
            return Ok(Answer::groups(groups.collect()));
        };
        let grid = grid_of(split, grouping.window);
        if grid < SHORTEST_NS || aggregates.iter().any(|one| one.function == Function::Last) {
            return self.add_up_readings(query, aggregates, grouping).await;
        }
        self.add_up_windows(query, aggregates, grouping, (split, grid)).await
    }

    /// Fetches the readings and aggregates them here.
    async fn add_up_readings(
        &mut self,
        query: &Query,
        aggregates: &[Aggregate],
        grouping: Grouping,
    ) -> Result<Answer, StoreError> {
        let fields = aggregates.iter().fold(FieldSet::first(0), |set, one| set.with(one.field));
        let batch = self.range(query, fields).await?;
        let measurement = &self.physical.tables[query.table];
        let series = |number| group_series(measurement, grouping, number);
        Ok(Answer::groups(client_side::groups(&batch, series, query, aggregates, grouping)))
    }

    /// Has the server aggregate windows that lie in one part of the day each, and adds them up.
    async fn add_up_windows(
        &mut self,
        query: &Query,
        aggregates: &[Aggregate],
        grouping: Grouping,
        (split, grid): (DaySplit, i64),
    ) -> Result<Answer, StoreError> {
        let mut wanted = Vec::new();
        let mut need = |function, field| {
            let aggregate = Aggregate { function, field };
            if !wanted.contains(&aggregate) {
                wanted.push(aggregate);
            }
        };
        for one in aggregates {
            need(Function::Count, one.field);
            match one.function {
                Function::Mean => need(Function::Sum, one.field),
                Function::Count => {}
                function => need(function, one.field),
            }
        }
        let fine =
            Grouping { window: Some(Window { width_ns: grid, origin_ns: 0 }), by_day_part: None, ..grouping };
        let rows = self.ask_groups(query, &wanted, fine, None).await?;
        let mut groups: BTreeMap<Key, Vec<Vec<Value>>> = BTreeMap::new();
        for (series, start, values) in rows {
            let start = start.unwrap_or_default();
            let window = grouping.window.map(|window| window.start_of(start));
            let key = (series, window, Some(!split.is_day(start)));
            groups.entry(key).or_default().push(values);
        }
        let group = |((series, start, night), parts): (Key, Vec<Vec<Value>>)| Group {
            series,
            window_start_ns: start,
            day: night.map(|night| !night),
            values: aggregates.iter().map(|one| added_up(*one, &wanted, &parts)).collect(),
        };
        Ok(Answer::groups(groups.into_iter().map(group).collect()))
    }

    /// The windows whose largest value is over the one bound or whose smallest is under the other. InfluxQL has no HAVING: a query around them looks at their values
    /// (<https://docs.influxdata.com/influxdb/v1/query_language/explore-data/#subqueries>).
    pub(super) async fn out_of_range(
        &mut self,
        query: &Query,
        (field, window): (usize, Window),
        bounds: [f64; 2],
    ) -> Result<Answer, StoreError> {
        let extremes = [Function::Max, Function::Min].map(|function| Aggregate { function, field });
        let grouping = Grouping { window: Some(window), ..Grouping::default() };
        let rows = self.ask_groups(query, &extremes, grouping, Some(bounds)).await?;
        let group = |(series, window_start_ns, values)| Group { series, window_start_ns, day: None, values };
        Ok(Answer::groups(rows.into_iter().map(group).collect()))
    }

    /// Asks for aggregates that InfluxQL has, by window, series or tag; of largest and smallest values, those out of these bounds.
    async fn ask_groups(
        &mut self,
        query: &Query,
        aggregates: &[Aggregate],
        grouping: Grouping,
        bounds: Option<[f64; 2]>,
    ) -> Result<Vec<Row>, StoreError> {
        let physical = self.physical;
        let measurement = &physical.tables[query.table];
        let known = only(&query.series);
        let functions =
            aggregates.iter().map(|one| (name(one.function), measurement.fields[one.field].as_str()));
        let mut statement = Statement::new();
        statement.select_functions(functions, &measurement.name);
        statement.within(query.range);
        statement.of_series(measurement, &query.series);
        let mut groups = Vec::new();
        if let Some(window) = grouping.window {
            let offset = window.origin_ns.rem_euclid(window.width_ns);
            groups.push(format!("time({}ns,{offset}ns)", window.width_ns));
        }
        if let Some(tag) = grouping.by_tag {
            groups.push(format!("\"{}\"", measurement.tags[tag]));
        } else if grouping.by_series && known.is_none() {
            groups.extend(measurement.keys.iter().map(|&tag| format!("\"{}\"", measurement.tags[tag])));
        }
        if !groups.is_empty() {
            statement.push(&format!(" GROUP BY {} fill(none)", groups.join(",")));
        }
        let kinds = &measurement.kinds;
        let mut answer = Vec::new();
        let text = match bounds.map(|bounds| bounds.map(decimal)) {
            None => statement.text().to_owned(),
            Some([above, below]) => format!(
                "SELECT \"max\",\"min\" FROM ({}) WHERE \"max\" > {above} OR \"min\" < {below}",
                statement.text()
            ),
        };
        for rows in self.rows("aggregate", &text).await? {
            let series = if let Some(tag) = grouping.by_tag {
                measurement.lowest_with(tag, rows.tag(&measurement.tags[tag]))
            } else if grouping.by_series {
                Some(rows.series(measurement, known)?)
            } else {
                None
            };
            let mut cells = rows.cells();
            for _ in 0..rows.count {
                let (time, mut values) = cells.row(aggregates.len())?;
                for (value, one) in values.iter_mut().zip(aggregates) {
                    settle(value, *one, kinds[one.field]);
                }
                answer.push((series, grouping.window.map(|_| time), values));
            }
        }
        Ok(answer)
    }
}

/// By which series a reading's group is named.
pub(super) fn group_series(measurement: &Measurement, grouping: Grouping, series: u32) -> Option<u32> {
    match grouping.by_tag {
        Some(tag) => measurement.lowest_with(tag, measurement.tag_value(tag, series)),
        None => grouping.by_series.then_some(series),
    }
}

/// Functions that are asked of one series alone.
pub(super) fn refuse_several(aggregates: &[Aggregate]) -> Result<(), StoreError> {
    let of_one = |one: &Aggregate| matches!(one.function, Function::Last | Function::TimeWeightedShare);
    if aggregates.iter().any(of_one) {
        return Err(StoreError::unsupported(
            "aggregate",
            "last values and shares of time are of one series; group by series",
        ));
    }
    Ok(())
}

/// Whether the language lacks the function.
const fn is_missing(function: Function, in_flux: bool) -> bool {
    match function {
        Function::TimeWeightedShare => true,
        Function::MostFrequent => !in_flux,
        _ => false,
    }
}

/// InfluxQL's name of a function.
const fn name(function: Function) -> &'static str {
    match function {
        Function::Count => "count",
        Function::Sum => "sum",
        Function::Min => "min",
        Function::Max => "max",
        Function::Mean => "mean",
        Function::Last | Function::TimeWeightedShare => "last",
        Function::MostFrequent => "mode",
        Function::StandardDeviation => "stddev",
    }
}

/// A count of nothing is 0. A sum of floating point numbers stays one even where it is whole. Whole numbers that are kept as floating point ones are whole
/// again.
fn settle(value: &mut Value, aggregate: Aggregate, kind: FieldType) {
    match (&*value, aggregate.function) {
        (Value::Null, Function::Count) => *value = Value::I64(0),
        (Value::I64(whole), Function::Mean | Function::StandardDeviation) => {
            *value = Value::F64(*whole as f64)
        }
        (Value::I64(whole), _) if kind == FieldType::F64 && aggregate.function != Function::Count => {
            *value = Value::F64(*whole as f64);
        }
        (Value::F64(real), function)
            if matches!(kind, FieldType::U16 | FieldType::I64)
                && !matches!(
                    function,
                    Function::Mean | Function::StandardDeviation | Function::TimeWeightedShare
                ) =>
        {
            if let Some(number) = whole(*real) {
                *value = Value::I64(number);
            }
        }
        _ => {}
    }
}

/// Whether any reading of the group has any of the aggregated fields.
pub(super) fn holds_something(values: &[Value], aggregates: &[Aggregate]) -> bool {
    let nothing = |value: &Value, one: &Aggregate| {
        *value == Value::Null || one.function == Function::Count && *value == Value::I64(0)
    };
    !values.iter().zip(aggregates).all(|(value, one)| nothing(value, one))
}

/// The widest windows, aligned to the epoch, that no edge of day, night or window cuts.
fn grid_of(split: DaySplit, window: Option<Window>) -> i64 {
    let mut grid = DaySplit::DAY_NS;
    for edge in [split.day_start_ns, split.day_end_ns] {
        grid = common(grid, edge);
    }
    if let Some(window) = window {
        grid = common(common(grid, window.width_ns), window.origin_ns);
    }
    grid
}

/// The greatest common divisor.
fn common(one: i64, other: i64) -> i64 {
    let (mut one, mut other) = (one, other.unsigned_abs());
    while other > 0 {
        let rest = one.unsigned_abs() % other;
        one = i64::try_from(other).unwrap_or(i64::MAX);
        other = rest;
    }
    one
}

/// One aggregate of all parts of a group.
fn added_up(aggregate: Aggregate, wanted: &[Aggregate], parts: &[Vec<Value>]) -> Value {
    let of = |function| {
        let place = wanted.iter().position(|one| *one == Aggregate { function, field: aggregate.field });
        parts.iter().filter_map(move |part| part.get(place?))
    };
    let total = |function| PartialSum::of(of(function)).value();
    let number = |value: &Value| match value {
        Value::I64(whole) => *whole as f64,
        Value::F64(real) => *real,
        _ => 0.0,
    };
    let smaller = |one: &&Value, other: &&Value| match (one, other) {
        (Value::I64(one), Value::I64(other)) => one.cmp(other),
        (one, other) => number(one).total_cmp(&number(other)),
    };
    let present = |function| of(function).filter(|value| **value != Value::Null);
    match aggregate.function {
        Function::Count => total(Function::Count),
        Function::Sum => total(Function::Sum),
        Function::Min => present(Function::Min).min_by(smaller).cloned().unwrap_or(Value::Null),
        Function::Max => present(Function::Max).max_by(smaller).cloned().unwrap_or(Value::Null),
        Function::Mean => match total(Function::Count) {
            Value::I64(count) if count > 0 => Value::F64(number(&total(Function::Sum)) / count as f64),
            _ => Value::Null,
        },
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000_000_000;

    #[test]
    fn days_are_made_of_windows_that_nothing_cuts() {
        let split = DaySplit { day_start_ns: 6 * HOUR, day_end_ns: 22 * HOUR };
        assert_eq!(grid_of(split, None), 2 * HOUR);
        let window = Window { width_ns: 24 * HOUR, origin_ns: HOUR };
        assert_eq!(grid_of(split, Some(window)), HOUR);
        let night = DaySplit { day_start_ns: 0, day_end_ns: 0 };
        assert_eq!(grid_of(night, None), 24 * HOUR);
    }
}
