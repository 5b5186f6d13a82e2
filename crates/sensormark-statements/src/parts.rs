//! Aggregates of a database that aggregates each series or partition by itself: rows are parts of groups, which the client adds up.

use crate::question::Asked;
use sensormark_kit::Row;
use sensormark_kit::sums::PartialSum;
use sensormark_store::client_side::{group_names, order};
use sensormark_store::{Answer, FieldType, Function, Group, StoreError, Value};
use std::collections::BTreeMap;

/// One aggregate of a group so far.
#[derive(Debug, Clone)]
struct Part {
    count: i64,
    sum: PartialSum,
    /// The least value, or the largest.
    extreme: Value,
}

/// What a group's series is called.
type Name<'a> = Box<dyn Fn(u32) -> Option<u32> + 'a>;

/// Groups by name, and in each its aggregates.
pub struct Parts<'a> {
    asked: Asked<'a>,
    name: Name<'a>,
    groups: BTreeMap<Option<u32>, Vec<Part>>,
}

impl<'a> Parts<'a> {
    /// No rows yet.
    pub fn new(asked: Asked<'a>) -> Self {
        let name = Box::new(group_names(&asked.description.series, asked.grouping()));
        Self { asked, name, groups: BTreeMap::new() }
    }

    /// Adds a row of a series: from this place on, each aggregate has how many readings have the field, and unless that is asked, what is asked of them. Sums of whole
    /// numbers are printed, because they may be larger than 64 bits.
    ///
    /// # Errors
    /// When it is of another form.
    pub fn add(&mut self, series: u32, row: &dyn Row, mut place: usize) -> Result<(), StoreError> {
        let aggregates = self.asked.aggregates();
        let none = Part { count: 0, sum: PartialSum::default(), extreme: Value::Null };
        let parts = self.groups.entry((self.name)(series)).or_insert_with(|| vec![none; aggregates.len()]);
        for (part, one) in parts.iter_mut().zip(aggregates) {
            let (count, kind) = (row.integer(place)?, self.asked.description.fields[one.field].kind);
            place += if one.function == Function::Count { 1 } else { 2 };
            part.count += count;
            if count == 0 || one.function == Function::Count {
                continue;
            }
            match one.function {
                Function::Min | Function::Max => {
                    let value = row.value(place - 1, kind)?;
                    let order = order(&value, &part.extreme);
                    let is_further =
                        if one.function == Function::Min { order.is_lt() } else { order.is_gt() };
                    if part.extreme == Value::Null || is_further {
                        part.extreme = value;
                    }
                }
                _ if kind == FieldType::F64 => part.sum.add(&row.value(place - 1, kind)?),
                _ => part.sum.add_whole(row.printed(place - 1)?.parse().unwrap_or_default()),
            }
        }
        Ok(())
    }

    /// The groups that have readings.
    pub fn answer(self) -> Answer {
        let aggregates = self.asked.aggregates();
        let value = |part: &Part, function: Function| match (function, part.count) {
            (Function::Count, count) => Value::I64(count),
            (_, 0) => Value::Null,
            (Function::Min | Function::Max, _) => part.extreme.clone(),
            (Function::Sum, _) => part.sum.value(),
            (_, count) => match part.sum.value() {
                Value::I64(sum) => Value::F64(sum as f64 / count as f64),
                Value::F64(sum) => Value::F64(sum / count as f64),
                other => other,
            },
        };
        let mut groups = self.groups;
        groups.retain(|_, parts| parts.iter().any(|part| part.count > 0));
        let group = |(series, parts): (Option<u32>, Vec<Part>)| Group {
            series,
            window_start_ns: None,
            day: None,
            values: parts.iter().zip(aggregates).map(|(part, one)| value(part, one.function)).collect(),
        };
        Answer::groups(groups.into_iter().map(group).collect())
    }
}
