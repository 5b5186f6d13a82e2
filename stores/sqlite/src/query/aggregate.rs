//! Aggregates in SQL: one statement for counts, sums, extremes and means, and one for each field's last value, share of time and
//! most frequent value. Their groups are put together here by key.

use super::{is_packed, local, value_of, whole};
use crate::error;
use crate::relation::{Choice, Relation, Statement, by_day, window};
use crate::session::SqliteSession;
use rusqlite::Row;
use sensormark_store::{Aggregate, FieldType, Function, Group, Grouping, Query, StoreError, Value};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

pub mod parts;

const OPERATION: &str = "aggregate readings";

/// What tells plans apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PlanKey {
    table: usize,
    choice: Choice,
    aggregates: Vec<Aggregate>,
    shape: GroupShape,
    from_sums: bool,
}

/// How readings are grouped, without the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GroupShape {
    by_series: bool,
    by_tag: Option<usize>,
    window: bool,
    day: bool,
    /// No reading is before the windows' origin.
    after_origin: bool,
    /// No reading is before the epoch.
    after_epoch: bool,
}

/// The statements that answer an aggregate.
#[derive(Debug)]
pub struct Plan {
    shape: GroupShape,
    pub(super) parts: Vec<Part>,
}

/// One statement: a row a group, with the group's columns first.
#[derive(Debug)]
pub struct Part {
    /// The statement.
    pub statement: Statement,
    /// Which aggregates its further columns are, by number, and of which type.
    pub outputs: Vec<(usize, FieldType)>,
    /// Whether several rows of a group may come, each with its series behind the outputs; the lowest series' last one counts.
    pub ties: bool,
}

/// What tells groups apart: series, window, and night after day.
pub type GroupKey = (Option<u32>, Option<i64>, Option<bool>);

impl GroupShape {
    fn of(query: &Query, grouping: Grouping) -> Self {
        let start = query.range.start_ns;
        Self {
            by_series: grouping.by_series,
            by_tag: grouping.by_tag,
            window: grouping.window.is_some(),
            day: grouping.by_day_part.is_some(),
            after_origin: grouping
                .window
                .is_none_or(|window| start >= window.origin_ns),
            after_epoch: start >= 0,
        }
    }

    /// The columns that tell groups apart, given what time is and, in sums, the column that tells day from night.
    pub fn columns(
        self,
        relation: &Relation<'_>,
        time: &str,
        day: Option<&str>,
        statement: &mut Statement,
    ) -> Vec<String> {
        let mut columns = Vec::new();
        if self.by_series {
            columns.extend(relation.series());
        }
        if let Some(tag) = self.by_tag {
            columns.push(relation.tag(tag));
        }
        if self.window {
            columns.push(window(time, self.after_origin, statement));
        }
        if self.day {
            columns.push(match day {
                Some(column) => column.to_owned(),
                None => by_day(time, self.after_epoch, statement),
            });
        }
        columns
    }

    /// The table of tags joined to the readings, where grouping needs it.
    pub fn tags(self, relation: &Relation<'_>) -> String {
        match (self.by_tag, &relation.design.tags) {
            (Some(_), Some(tags)) => format!(
                " JOIN {} AS g ON g.\"series\" = {}",
                tags.table,
                relation.series()[0]
            ),
            _ => String::new(),
        }
    }
}

/// The groups that aggregates over the range give.
///
/// # Errors
/// What SQLite says.
pub fn aggregate(
    session: &mut SqliteSession,
    query: &Query,
    aggregates: &[Aggregate],
    grouping: Grouping,
) -> Result<Vec<Group>, StoreError> {
    if is_packed(session) {
        return local::aggregate(session, query, aggregates, grouping);
    }
    run(session, query, aggregates, grouping, false, parts::plan)
}

/// Runs the statements of an aggregate, planned when its shape is met for the first time.
///
/// # Errors
/// What SQLite says.
pub fn run(
    session: &mut SqliteSession,
    query: &Query,
    aggregates: &[Aggregate],
    grouping: Grouping,
    from_sums: bool,
    parts: impl FnOnce(&Relation<'_>, Choice, &[Aggregate], GroupShape) -> Vec<Part>,
) -> Result<Vec<Group>, StoreError> {
    let key = PlanKey {
        table: query.table,
        choice: Choice::of(&query.series),
        aggregates: aggregates.to_vec(),
        shape: GroupShape::of(query, grouping),
        from_sums,
    };
    let plan = if let Some(plan) = session.plans.get(&key) {
        Rc::clone(plan)
    } else {
        let relation = Relation::new(&session.design, query.table);
        let plan = Rc::new(Plan {
            shape: key.shape,
            parts: parts(&relation, key.choice, aggregates, key.shape),
        });
        session.plans.insert(key, Rc::clone(&plan));
        plan
    };
    let names = grouping
        .by_tag
        .map(|tag| lowest_by_tag(session, query.table, tag));
    let mut groups = BTreeMap::new();
    for part in &plan.parts {
        collect(
            session,
            query,
            aggregates,
            (&plan, part, names.as_ref()),
            &mut groups,
        )?;
    }
    let group = |((series, window_start_ns, night), values): (GroupKey, Vec<Value>)| Group {
        series,
        window_start_ns,
        day: night.map(|night| !night),
        values,
    };
    Ok(groups.into_iter().map(group).collect())
}

/// The lowest series with each value of a tag.
fn lowest_by_tag(session: &SqliteSession, table: usize, tag: usize) -> HashMap<String, u32> {
    let series = &session.design.schema.tables[table].series;
    let mut lowest = HashMap::new();
    for number in 0..series.len() {
        lowest
            .entry(series.columns()[tag].text(number))
            .or_insert(number);
    }
    lowest
}

fn collect(
    session: &SqliteSession,
    query: &Query,
    aggregates: &[Aggregate],
    (plan, part, names): (&Plan, &Part, Option<&HashMap<String, u32>>),
    groups: &mut BTreeMap<GroupKey, Vec<Value>>,
) -> Result<(), StoreError> {
    let reader = session.reader(query.table);
    let series_columns = reader.columns(&session.design.tables[query.table].key);
    let mut winners: HashMap<GroupKey, u32> = HashMap::new();
    let mut prepared = session.bound(&part.statement, query)?;
    let mut rows = prepared.raw_query();
    while let Some(row) = rows
        .next()
        .map_err(|cause| error::native(OPERATION, cause))?
    {
        let (key, first) = group_key(session, query.table, plan.shape, names, row)?;
        if part.ties {
            let series = reader.read(row, first + part.outputs.len(), series_columns)?;
            if *winners.entry(key).or_insert(series) < series {
                continue;
            }
            winners.insert(key, series);
        }
        let values = groups
            .entry(key)
            .or_insert_with(|| aggregates.iter().map(nothing).collect());
        for (place, &(output, kind)) in part.outputs.iter().enumerate() {
            values[output] = value_of(row.get_ref_unwrap(first + place), kind)?;
        }
    }
    Ok(())
}

/// The value of an aggregate where no reading has the field.
fn nothing(aggregate: &Aggregate) -> Value {
    match aggregate.function {
        Function::Count => Value::I64(0),
        _ => Value::Null,
    }
}

/// The group that a row is of, and the first column behind those that say so.
fn group_key(
    session: &SqliteSession,
    table: usize,
    shape: GroupShape,
    names: Option<&HashMap<String, u32>>,
    row: &Row<'_>,
) -> Result<(GroupKey, usize), StoreError> {
    let mut place = 0;
    let mut key = (None, None, None);
    if shape.by_series {
        let reader = session.reader(table);
        let columns = reader.columns(&session.design.tables[table].key);
        key.0 = Some(reader.read(row, 0, columns)?);
        place += columns;
    }
    if let Some(names) = names {
        let tag = match row.get_ref_unwrap(place) {
            rusqlite::types::ValueRef::Integer(value) => value.to_string(),
            other => other.as_str().unwrap_or_default().to_owned(),
        };
        key.0 = names.get(&tag).copied();
        place += 1;
    }
    if shape.window {
        key.1 = Some(whole(row.get_ref_unwrap(place))?);
        place += 1;
    }
    if shape.day {
        key.2 = Some(whole(row.get_ref_unwrap(place))? == 0);
        place += 1;
    }
    Ok((key, place))
}
