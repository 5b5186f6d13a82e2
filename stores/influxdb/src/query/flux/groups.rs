//! Aggregates in Flux: one result a function, of all fields that are aggregated by it.
//!
//! The server groups by series, tag, part of the day and window, and aggregates. It has no share of time: of that the readings are fetched.

use super::script::{COUNTED, DAY, Script};
use super::{FIELD, START, STOP, VALUE, cell, field, keys, of_text, series, time};
use crate::query::aggregate::{Key, holds_something};
use crate::query::flux::rows::Rows;
use crate::query::{Reader, kept};
use crate::schema::Measurement;
use sensormark_store::{
    Aggregate, Answer, FieldSet, FieldType, Function, Group, Grouping, Query, StoreError, Value,
};
use std::collections::BTreeMap;

/// The functions that a script may have, in the order of their results.
const FUNCTIONS: [(Function, &str); 7] = [
    (Function::Count, "count"),
    (Function::Sum, "sum"),
    (Function::Min, "min"),
    (Function::Max, "max"),
    (Function::Mean, "mean"),
    (Function::Last, "last"),
    (Function::MostFrequent, "mode"),
];

/// How an answer's tables come about.
struct Plan<'a> {
    query: &'a Query,
    grouping: Grouping,
    measurement: &'a Measurement,
    /// The tags by which tables are told apart.
    tags: Vec<usize>,
}

impl Reader<'_> {
    /// Has the server aggregate.
    pub(in crate::query) async fn groups_in_flux(
        &mut self,
        query: &Query,
        aggregates: &[Aggregate],
        grouping: Grouping,
    ) -> Result<Answer, StoreError> {
        let model = self.model;
        let measurement = &model.tables[query.table];
        let tags = match grouping.by_tag {
            Some(tag) => vec![tag],
            None if grouping.by_series => keys(measurement, &query.series).to_vec(),
            None => Vec::new(),
        };
        let plan = Plan {
            query,
            grouping,
            measurement,
            tags,
        };
        let source = self.source();
        let mut script = Script::new(&source, measurement);
        for (function, name) in FUNCTIONS {
            let fields = aggregates
                .iter()
                .filter(|one| one.function == function)
                .fold(FieldSet::first(0), |set, one| set.with(one.field));
            for text in [false, true] {
                let fields = of_text(model, query.table, fields, text);
                if !fields.is_empty() {
                    plan.write(&mut script, (function, name), fields, text);
                }
            }
        }
        let rows = self.run("aggregate", script).await?;
        plan.read(rows, aggregates)
    }
}

impl Plan<'_> {
    /// Writes the part of a script that aggregates these fields by one function.
    fn write(
        &self,
        script: &mut Script<'_>,
        (function, name): (Function, &str),
        fields: FieldSet,
        is_text: bool,
    ) {
        script.read(self.query, fields);
        let mut columns = vec![FIELD];
        if let Some(split) = self.grouping.by_day_part {
            script.keep(&["_time", FIELD, VALUE], &self.tags);
            script.split(split);
            columns.push(DAY);
        }
        let by_series = self.grouping.by_series && self.grouping.by_tag.is_none();
        if self.grouping.by_day_part.is_some() || !by_series {
            script.group(&columns, &self.tags);
        }
        if let Some(window) = self.grouping.window {
            script.window(window);
            columns.extend([START, STOP]);
        }
        let found = if function == Function::MostFrequent {
            self.count_values(script, &columns);
            COUNTED
        } else {
            script.push(&format!(" |> {name}()"));
            VALUE
        };
        columns.push(found);
        script.keep(&columns, &self.tags);
        let is_given = matches!(function, Function::Last | Function::MostFrequent);
        if is_text && is_given {
            script.escape(found);
        }
        let suffix = if is_text { "_text" } else { "" };
        script.give(&format!("{name}{suffix}"));
    }

    /// Counts each value, and takes the one that occurs most often: the first, in the order of values, of those that do.
    fn count_values(&self, script: &mut Script<'_>, columns: &[&str]) {
        script.push(&format!(
            " |> duplicate(column: \"{VALUE}\", as: \"{COUNTED}\")"
        ));
        let mut with_value = columns.to_vec();
        with_value.push(COUNTED);
        script.group(&with_value, &self.tags);
        script.push(" |> count()");
        script.group(columns, &self.tags);
        script.push(&format!(" |> sort(columns: [\"{COUNTED}\"]) |> max()"));
    }

    /// Puts the functions' results together, group by group.
    fn read(&self, mut rows: Rows<'_>, aggregates: &[Aggregate]) -> Result<Answer, StoreError> {
        let mut groups: BTreeMap<Key, Vec<Value>> = BTreeMap::new();
        while rows.advance()? {
            let field = field(&rows, self.measurement)?;
            let name = rows.result().trim_end_matches("_text");
            let (function, _) = FUNCTIONS
                .into_iter()
                .find(|(_, one)| *one == name)
                .ok_or_else(|| rows.strange())?;
            let aggregate = Aggregate { function, field };
            let Some(value) = self.value(&rows, aggregate)? else {
                continue;
            };
            let values = groups.entry(self.key(&rows)?).or_insert_with(|| {
                let nothing = |one: &Aggregate| match one.function {
                    Function::Count => Value::I64(0),
                    _ => Value::Null,
                };
                aggregates.iter().map(nothing).collect()
            });
            for (place, one) in values.iter_mut().zip(aggregates) {
                if *one == aggregate {
                    *place = value.clone();
                }
            }
        }
        let group = |((series, start, night), values): (Key, Vec<Value>)| Group {
            series,
            window_start_ns: start,
            day: night.map(|night| !night),
            values,
        };
        let kept = groups
            .into_iter()
            .map(group)
            .filter(|group| holds_something(&group.values, aggregates));
        Ok(Answer::groups(kept.collect()))
    }

    /// The group that a row is of.
    fn key(&self, rows: &Rows<'_>) -> Result<Key, StoreError> {
        let measurement = self.measurement;
        let series = match self.grouping.by_tag {
            Some(tag) => {
                let value = rows.named(&measurement.tags[tag]);
                let lowest = measurement.lowest_with(tag, value);
                Some(lowest.ok_or_else(|| rows.strange())?)
            }
            None if self.grouping.by_series => Some(series(rows, measurement, &self.query.series)?),
            None => None,
        };
        let start = match self.grouping.window {
            Some(window) => {
                let (start, stop) = (time(rows, START)?, time(rows, STOP)?);
                // a window of the range's last nanosecond alone comes as one of no length at the range's start
                let inside = if start == stop {
                    kept(self.query.range).end_ns - 1
                } else {
                    start
                };
                Some(window.start_of(inside))
            }
            None => None,
        };
        let night = match self.grouping.by_day_part {
            Some(_) => Some(rows.cell(rows.needed(DAY)?) != "true"),
            None => None,
        };
        Ok((series, start, night))
    }

    /// What a row says of an aggregate; nothing where there were no values.
    fn value(&self, rows: &Rows<'_>, aggregate: Aggregate) -> Result<Option<Value>, StoreError> {
        let kind = self.measurement.kinds[aggregate.field];
        let (column, kind) = match aggregate.function {
            Function::Count => (VALUE, FieldType::I64),
            Function::Mean => (VALUE, FieldType::F64),
            Function::MostFrequent => (COUNTED, kind),
            _ => (VALUE, kind),
        };
        let text = rows.cell(rows.needed(column)?);
        if text.is_empty() && kind != FieldType::Text {
            return Ok(None);
        }
        let value = cell::value(kind, text).ok_or_else(|| rows.strange())?;
        Ok(Some(value))
    }
}
