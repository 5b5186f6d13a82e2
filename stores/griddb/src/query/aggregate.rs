//! Aggregates: one question a series, window and aggregate, many together; or, where TQL has no words or the questions would be too many, the readings
//! are fetched and aggregated here.

use super::{Reader, TOGETHER, failed, tql};
use crate::client::Found;
use crate::containers::Place;
use crate::schema::Rows;
use sensormark_kit::sums::PartialSum;
use sensormark_store::client_side::{self, group_names};
use sensormark_store::{
    Aggregate, FieldSet, FieldType, Function, Group, Grouping, Query, StoreError, TimeRange, Value,
};
use std::collections::{BTreeMap, BTreeSet};

/// Questions beyond which readings are fetched instead.
const MOST_QUESTIONS: usize = 1_000;

/// Readings beyond which the server's sum of an INTEGER cannot be trusted. The server adds in 32 bits and overflows in silence. A field of 16 bits reaches 2³¹
/// with this many.
const MOST_SUMMED: i64 = (1 << 31) / 65_536;

/// What is asked of the server about a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Count,
    Sum,
    Min,
    Max,
}

impl Part {
    /// The parts that a function is made of; none where the server does not have them.
    const fn of(function: Function) -> Option<&'static [Self]> {
        Some(match function {
            Function::Count => &[Self::Count],
            Function::Sum => &[Self::Sum],
            Function::Min => &[Self::Min],
            Function::Max => &[Self::Max],
            Function::Mean => &[Self::Sum, Self::Count],
            _ => return None,
        })
    }
}

/// Series or tag group, start of the window.
type GroupKey = (Option<u32>, Option<i64>);

/// The parts of a group, by field.
type Parts = BTreeMap<(usize, Part), Value>;

/// One window of a range, or all of it.
struct Slice {
    start: Option<i64>,
    range: TimeRange,
}

/// The windows that a range touches; none where they are more than `most`.
fn slices(query: &Query, grouping: Grouping, most: usize) -> Option<Vec<Slice>> {
    let Some(window) = grouping.window else {
        let range = query.range;
        return Some(vec![Slice { start: None, range }]);
    };
    let range = TimeRange::new(query.range.start_ns.max(0), query.range.end_ns);
    let mut slices = Vec::new();
    if range.length_ns() == 0 {
        return Some(slices);
    }
    if range.length_ns() / window.width_ns > i64::try_from(most).ok()? {
        return None;
    }
    let mut start = window.start_of(range.start_ns);
    while start < range.end_ns {
        let end = start.saturating_add(window.width_ns);
        slices.push(Slice {
            start: Some(start),
            range: TimeRange::new(start.max(range.start_ns), end.min(range.end_ns)),
        });
        start = end;
    }
    Some(slices)
}

impl Reader<'_> {
    /// The groups.
    pub(super) fn aggregate(
        &mut self,
        query: &Query,
        aggregates: &[Aggregate],
        grouping: Grouping,
    ) -> Result<Vec<Group>, StoreError> {
        let series = self.series(query)?;
        let mut wanted: BTreeSet<(usize, Part)> = BTreeSet::new();
        let mut native = grouping.by_day_part.is_none() && !matches!(self.rows, Rows::Record { .. });
        for aggregate in aggregates {
            match Part::of(aggregate.function) {
                Some(parts) => wanted.extend(parts.iter().map(|&part| (aggregate.field, part))),
                None => native = false,
            }
        }
        let table = &self.schema.tables[query.table];
        let narrow = |field: usize| table.fields[field].kind == FieldType::U16;
        let sums: Vec<usize> = wanted
            .iter()
            .filter(|(field, part)| *part == Part::Sum && narrow(*field))
            .map(|(field, _)| *field)
            .collect();
        wanted.extend(sums.iter().map(|&field| (field, Part::Count)));
        let each = series.len() * wanted.len();
        if native
            && let Some(slices) = slices(query, grouping, MOST_QUESTIONS)
            && (grouping.window.is_none() || each * slices.len() <= MOST_QUESTIONS)
        {
            let wanted: Vec<(usize, Part)> = wanted.into_iter().collect();
            let groups = self.parts(query, grouping, &series, &slices, &wanted)?;
            if groups.values().all(|parts| is_trusted(parts, &sums)) {
                return Ok(finish(groups, aggregates));
            }
        }
        let fields = aggregates.iter().fold(FieldSet::first(0), |fields, one| fields.with(one.field));
        let batch = self.range(query, query.range, fields)?;
        let name = group_names(&self.schema.tables[query.table].series, grouping);
        Ok(client_side::groups(&batch, name, query, aggregates, grouping))
    }

    /// Asks for the parts of all groups.
    fn parts(
        &mut self,
        query: &Query,
        grouping: Grouping,
        series: &[u32],
        slices: &[Slice],
        wanted: &[(usize, Part)],
    ) -> Result<BTreeMap<GroupKey, Parts>, StoreError> {
        let table = self.schema.tables[query.table].clone();
        let name = group_names(&table.series, grouping);
        let mut questions = Vec::new();
        for slice in slices {
            let Some(within) = self.within(slice.range) else {
                continue;
            };
            for &(field, part) in wanted {
                let tql = question(&table.fields[field].name, part, &within);
                for &series in series {
                    let key = (name(series), slice.start);
                    questions.push((series, tql.clone(), key, (field, part)));
                }
            }
        }
        let mut groups: BTreeMap<GroupKey, Parts> = BTreeMap::new();
        for together in questions.chunks(TOGETHER) {
            let mut open = Vec::with_capacity(together.len());
            for (series, ..) in together {
                open.push(self.containers.get(Place::Series(query.table, *series))?);
            }
            let asked = open.iter().zip(together).map(|(one, ask)| (one, ask.1.as_str()));
            let found = self.containers.connection.ask_all(asked).map_err(failed)?;
            for ((_, _, key, what), found) in together.iter().zip(&found) {
                if let Some(value) = read(found, table.fields[what.0].kind, what.1)? {
                    let parts = groups.entry(*key).or_default();
                    add(parts.entry(*what).or_insert(Value::Null), value, what.1);
                }
            }
        }
        Ok(groups)
    }
}

/// Whether the sums of these INTEGER fields are of so few readings that they cannot have overflowed.
fn is_trusted(parts: &Parts, sums: &[usize]) -> bool {
    let few = |field: &usize| match parts.get(&(*field, Part::Count)) {
        Some(Value::I64(count)) => *count <= MOST_SUMMED,
        _ => true,
    };
    sums.iter().all(few)
}

fn question(field: &str, part: Part, within: &str) -> String {
    let name = tql::name(field);
    let aggregate = match part {
        Part::Count => "COUNT(*)".to_owned(),
        Part::Sum => format!("SUM({name})"),
        Part::Min => format!("MIN({name})"),
        Part::Max => format!("MAX({name})"),
    };
    format!("SELECT {aggregate} WHERE {within} AND {name} IS NOT NULL")
}

/// The value of an answer; none where there were no readings.
fn read(found: &Found, kind: FieldType, part: Part) -> Result<Option<Value>, StoreError> {
    if part == Part::Count || matches!(kind, FieldType::I64 | FieldType::U16) {
        let value = found.whole().map_err(failed)?;
        return Ok(value.filter(|&count| part != Part::Count || count > 0).map(Value::I64));
    }
    Ok(found.real().map_err(failed)?.map(Value::F64))
}

/// Adds one series' part to its group's.
fn add(to: &mut Value, value: Value, part: Part) {
    let first_is_less = |one: &Value, other: &Value| client_side::order(one, other).is_le();
    let sum = match (&*to, &value, part) {
        (Value::Null, ..) => value,
        (one, other, Part::Count | Part::Sum) => PartialSum::of([one, other]).value(),
        (one, other, Part::Min) if first_is_less(one, other) => return,
        (one, other, Part::Max) if first_is_less(other, one) => return,
        _ => value,
    };
    *to = sum;
}

/// Groups of their parts.
fn finish(groups: BTreeMap<GroupKey, Parts>, aggregates: &[Aggregate]) -> Vec<Group> {
    let group = |((series, start), parts): (GroupKey, Parts)| {
        let part = |field, part| parts.get(&(field, part)).cloned();
        let value = |one: &Aggregate| match one.function {
            Function::Count => part(one.field, Part::Count).unwrap_or(Value::I64(0)),
            Function::Sum => part(one.field, Part::Sum).unwrap_or(Value::Null),
            Function::Min => part(one.field, Part::Min).unwrap_or(Value::Null),
            Function::Max => part(one.field, Part::Max).unwrap_or(Value::Null),
            Function::Mean => mean(part(one.field, Part::Sum), part(one.field, Part::Count)),
            _ => Value::Null,
        };
        Group { series, window_start_ns: start, day: None, values: aggregates.iter().map(value).collect() }
    };
    groups.into_iter().map(group).collect()
}

fn mean(sum: Option<Value>, count: Option<Value>) -> Value {
    match (sum, count) {
        (Some(Value::I64(sum)), Some(Value::I64(count))) => Value::F64(sum as f64 / count as f64),
        (Some(Value::F64(sum)), Some(Value::I64(count))) => Value::F64(sum / count as f64),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::{Ask, Selection, Window};

    fn starts(range: TimeRange, width_ns: i64, origin_ns: i64) -> Option<Vec<(i64, i64)>> {
        let grouping = Grouping { window: Some(Window { width_ns, origin_ns }), ..Grouping::default() };
        let query = Query {
            table: 0,
            series: Selection::All,
            range,
            ask: Ask::LastReading { fields: FieldSet::one(0) },
        };
        let slices = slices(&query, grouping, 5)?;
        let pair = |slice: &Slice| (slice.start.unwrap(), slice.range.start_ns);
        Some(slices.iter().map(pair).collect())
    }

    #[test]
    fn windows_are_cut_to_the_range_and_keep_their_names() {
        let range = TimeRange::new(25, 45);
        assert_eq!(starts(range, 10, 3), Some(vec![(23, 25), (33, 33), (43, 43)]));
        assert_eq!(starts(TimeRange::new(5, 5), 10, 0), Some(Vec::new()));
        assert_eq!(starts(TimeRange::new(0, 1_000), 10, 0), None);
    }

    #[test]
    fn sums_of_many_narrow_numbers_are_not_trusted() {
        let of = |count| Parts::from([((3, Part::Count), Value::I64(count))]);
        assert!(is_trusted(&of(32_768), &[3]));
        assert!(!is_trusted(&of(32_769), &[3]));
        assert!(is_trusted(&of(1 << 40), &[]));
    }

    #[test]
    fn parts_of_several_series_are_added_up() {
        let mut least = Value::Null;
        for value in [3, 1, 2] {
            add(&mut least, Value::I64(value), Part::Min);
        }
        assert_eq!(least, Value::I64(1));
        let mut sum = Value::F64(0.5);
        add(&mut sum, Value::F64(1.0), Part::Sum);
        assert_eq!(sum, Value::F64(1.5));
    }
}
