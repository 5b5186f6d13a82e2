//! Aggregates in Flux: one result a function, of all fields that are aggregated by it.
//!
//! The server groups by series, tag, part of the day and window, and aggregates. It has no share of time: of that the readings are fetched.

use super::script::{COUNTED, DAY, Script};
use super::{FIELD, START, STOP, VALUE, cell, field, keys, of_text, series, time};
use crate::query::Reader;
use crate::query::aggregate::{Key, holds_something};
use crate::query::flux::rows::Rows;
use crate::query::range::kept;
use crate::schema::Measurement;
use sensormark_store::{
    Aggregate, Answer, DaySplit, FieldSet, FieldType, Function, Group, Grouping, Query, StoreError, Value,
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

/// How parts of the day are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parts {
    /// They are not.
    None,
    /// By a stream for each, chosen by the hours of the day, which is fast.
    Streams,
    /// By a column, made reading by reading.
    Column,
}

const HOUR_NS: i64 = 3_600_000_000_000;

/// Whether day begins and ends at whole hours.
const fn is_of_hours(split: DaySplit) -> bool {
    split.day_start_ns % HOUR_NS == 0
        && split.day_end_ns % HOUR_NS == 0
        && 0 <= split.day_start_ns
        && split.day_start_ns < split.day_end_ns
        && split.day_end_ns < DaySplit::DAY_NS
}

/// Hours of the day, each from a first to a last.
type Hours = Vec<(i64, i64)>;

/// The hours of day and of night.
fn hours(split: DaySplit) -> (Hours, Hours) {
    let (start, end) = (split.day_start_ns / HOUR_NS, split.day_end_ns / HOUR_NS);
    let mut night = vec![(end, 23)];
    if start > 0 {
        night.insert(0, (0, start - 1));
    }
    (vec![(start, end - 1)], night)
}

impl Reader<'_> {
    /// Has the server aggregate.
    pub(in crate::query) async fn groups_in_flux(
        &mut self,
        query: &Query,
        aggregates: &[Aggregate],
        grouping: Grouping,
    ) -> Result<Answer, StoreError> {
        let physical = self.physical;
        let measurement = &physical.tables[query.table];
        let tags = match grouping.by_tag {
            Some(tag) => vec![tag],
            None if grouping.by_series => keys(measurement, &query.series).to_vec(),
            None => Vec::new(),
        };
        let plan = Plan { query, grouping, measurement, tags };
        let source = self.source();
        let mut script = Script::new(&source, measurement);
        let mut streams: Vec<FieldSet> = Vec::new();
        for (function, name) in FUNCTIONS {
            let fields = aggregates
                .iter()
                .filter(|one| one.function == function)
                .fold(FieldSet::first(0), |set, one| set.with(one.field));
            for text in [false, true] {
                let fields = of_text(physical, query.table, fields, text);
                if fields.is_empty() {
                    continue;
                }
                let known = streams.iter().position(|one| *one == fields);
                let stream = known.unwrap_or_else(|| {
                    plan.write_stream(&mut script, streams.len(), fields);
                    streams.push(fields);
                    streams.len() - 1
                });
                plan.write(&mut script, stream, (function, name), text);
            }
        }
        let rows = self.run("aggregate", script).await?;
        plan.read(rows, aggregates)
    }
}

impl Plan<'_> {
    /// Writes what all functions of these fields begin with, under the stream's number: to read, to take apart by series, day and window. It
    /// is read once however many functions follow.
    fn write_stream(&self, script: &mut Script<'_>, stream: usize, fields: FieldSet) {
        let takes_apart = self.grouping.window.is_some() || self.grouping.by_day_part.is_some();
        script.push(&format!("s{stream} = "));
        script.read(self.query, fields);
        if takes_apart {
            // each row is copied from here on: the fewer columns the better
            script.keep(&["_time", FIELD, VALUE], &self.tags);
        }
        if !self.grouping.by_series || self.grouping.by_tag.is_some() {
            script.group(&[FIELD], &self.tags);
        }
        if let (Some(split), Parts::Column) = (self.grouping.by_day_part, self.parts()) {
            script.split(split);
            script.group(&[FIELD, DAY], &self.tags);
        }
        script.push("\n");
        if let (Some(split), Parts::Streams) = (self.grouping.by_day_part, self.parts()) {
            let stream = format!("s{stream}");
            let (day, night) = hours(split);
            for (name, hours) in [("day", day), ("night", night)] {
                script.push(&format!("{stream}{name} = "));
                script.select_hours(&stream, &hours);
                self.windowed(script);
            }
        } else if self.grouping.window.is_some() {
            script.push(&format!("s{stream}whole = s{stream}"));
            self.windowed(script);
        }
    }

    fn windowed(&self, script: &mut Script<'_>) {
        if let Some(window) = self.grouping.window {
            script.window(window);
        }
        script.push("\n");
    }

    /// How parts of the day are told apart.
    fn parts(&self) -> Parts {
        match self.grouping.by_day_part {
            None => Parts::None,
            Some(split) if is_of_hours(split) => Parts::Streams,
            Some(_) => Parts::Column,
        }
    }

    /// Writes the part of a script that aggregates a stream by one function.
    fn write(
        &self,
        script: &mut Script<'_>,
        stream: usize,
        (function, name): (Function, &str),
        is_text: bool,
    ) {
        let mut columns = vec![FIELD];
        if self.parts() == Parts::Column {
            columns.push(DAY);
        }
        if self.grouping.window.is_some() {
            columns.extend([START, STOP]);
        }
        let streams: &[&str] = match self.parts() {
            Parts::Streams => &["day", "night"],
            _ if self.grouping.window.is_some() => &["whole"],
            _ => &[""],
        };
        for part in streams {
            script.push(&format!("s{stream}{part}"));
            let found = if function == Function::MostFrequent {
                self.count_values(script, &columns);
                COUNTED
            } else {
                if function == Function::Last && *part == "night" {
                    script.push(" |> sort(columns: [\"_time\"])");
                }
                script.push(&format!(" |> {name}()"));
                VALUE
            };
            let mut kept = columns.clone();
            kept.push(found);
            script.keep(&kept, &self.tags);
            if is_text && matches!(function, Function::Last | Function::MostFrequent) {
                script.escape(found);
            }
            let kind = if is_text { "text" } else { "" };
            script.give(&format!("{name}/{part}/{kind}"));
        }
    }

    /// Counts each value, and takes the one that occurs most often: the first, in the order of values, of those that do.
    fn count_values(&self, script: &mut Script<'_>, columns: &[&str]) {
        script.push(&format!(" |> duplicate(column: \"{VALUE}\", as: \"{COUNTED}\")"));
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
            let name = rows.result().split('/').next().unwrap_or_default();
            let (function, _) =
                FUNCTIONS.into_iter().find(|(_, one)| *one == name).ok_or_else(|| rows.strange())?;
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
        let kept = groups.into_iter().map(group).filter(|group| holds_something(&group.values, aggregates));
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
                let inside = if start == stop { kept(self.query.range).end_ns - 1 } else { start };
                Some(window.start_of(inside))
            }
            None => None,
        };
        let night = match self.parts() {
            Parts::None => None,
            Parts::Streams => Some(rows.result().contains("/night/")),
            Parts::Column => Some(rows.cell(rows.needed(DAY)?) != "true"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_of_day_or_night() {
        let split =
            |start: i64, end: i64| DaySplit { day_start_ns: start * HOUR_NS, day_end_ns: end * HOUR_NS };
        assert_eq!(hours(split(6, 22)), (vec![(6, 21)], vec![(0, 5), (22, 23)]));
        assert_eq!(hours(split(0, 12)), (vec![(0, 11)], vec![(12, 23)]));
        assert!(is_of_hours(split(6, 22)) && !is_of_hours(split(22, 6)));
        assert!(!is_of_hours(split(0, 24)) && !is_of_hours(split(6, 6)));
        let odd = DaySplit { day_start_ns: 1, day_end_ns: HOUR_NS };
        assert!(!is_of_hours(odd));
    }
}
