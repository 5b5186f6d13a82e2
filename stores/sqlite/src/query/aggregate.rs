//! Aggregates in SQL: one statement for counts, sums, extremes and means, and one for each field's last value, share of time and
//! most frequent value. Their groups are put together here by key.

use super::{is_packed, local, value_of, whole};
use crate::design::SeriesKey;
use crate::error;
use crate::relation::{Bind, Choice, Relation, Statement, by_day, filter, window};
use crate::session::SqliteSession;
use rusqlite::Row;
use sensormark_store::{
    Aggregate, FieldSet, FieldType, Function, Group, Grouping, Query, StoreError, Value,
};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

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
    parts: Vec<Part>,
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
    run(session, query, aggregates, grouping, false, plan_parts)
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

/// The type of an aggregate's value.
pub const fn output_type(function: Function, kind: FieldType) -> FieldType {
    match (function, kind) {
        (Function::Count, _) => FieldType::I64,
        (Function::Mean | Function::TimeWeightedShare, _) => FieldType::F64,
        (Function::Sum, FieldType::Bool | FieldType::U16) => FieldType::I64,
        _ => kind,
    }
}

fn plan_parts(
    relation: &Relation<'_>,
    choice: Choice,
    aggregates: &[Aggregate],
    shape: GroupShape,
) -> Vec<Part> {
    let mut parts = Vec::new();
    let simple: Vec<usize> = (0..aggregates.len())
        .filter(|&number| simple(relation, aggregates[number]).is_some())
        .collect();
    if !simple.is_empty() {
        parts.push(simple_part(relation, choice, aggregates, &simple, shape));
    }
    for (number, aggregate) in aggregates.iter().enumerate() {
        let output = (
            number,
            output_type(
                aggregate.function,
                relation.table.fields[aggregate.field].kind,
            ),
        );
        let from = From::new(relation, choice, shape, FieldSet::one(aggregate.field));
        match aggregate.function {
            Function::Last => {
                parts.push(last_part(relation, choice, from, output, aggregate.field))
            }
            Function::TimeWeightedShare => {
                parts.push(share_part(relation, from, output, aggregate.field));
            }
            Function::MostFrequent => {
                parts.push(frequent_part(relation, from, output, aggregate.field))
            }
            _ => {}
        }
    }
    parts
}

/// The aggregates that SQL has as functions of their own.
fn simple(relation: &Relation<'_>, aggregate: Aggregate) -> Option<String> {
    let value = relation.field(aggregate.field);
    match aggregate.function {
        Function::Count => Some(format!("count({value})")),
        Function::Sum => Some(format!("sum({value})")),
        Function::Min => Some(format!("min({value})")),
        Function::Max => Some(format!("max({value})")),
        Function::Mean => Some(format!("avg({value})")),
        Function::Last | Function::TimeWeightedShare | Function::MostFrequent => None,
    }
}

/// What all parts of an aggregate begin with.
struct From {
    statement: Statement,
    /// The columns that tell groups apart.
    groups: Vec<String>,
    /// From which tables, and which readings.
    readings: String,
    shape: GroupShape,
}

impl From {
    fn new(relation: &Relation<'_>, choice: Choice, shape: GroupShape, fields: FieldSet) -> Self {
        let mut statement = Statement::default();
        let groups = shape.columns(relation, &relation.time(), None, &mut statement);
        let mut conditions = relation.chosen(choice, &mut statement);
        conditions.extend(relation.in_range(&mut statement));
        conditions.extend(relation.has_any(fields));
        let readings = format!(
            "{}{}{}",
            relation.from(),
            shape.tags(relation),
            filter(&conditions)
        );
        Self {
            statement,
            groups,
            readings,
            shape,
        }
    }

    /// The groups' columns with something more behind them.
    fn columns(&self, more: &[String]) -> String {
        self.groups
            .iter()
            .chain(more)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The groups' columns under names of their own, with something more behind them.
    fn named_columns(&self, more: &[String]) -> String {
        let named = self
            .groups
            .iter()
            .zip(self.names())
            .map(|(column, name)| format!("{column} AS {name}"));
        named
            .chain(more.iter().cloned())
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn names(&self) -> Vec<String> {
        (0..self.groups.len())
            .map(|place| format!("g{place}"))
            .collect()
    }

    /// A clause that names the groups' columns; nothing where there is one group.
    fn clause(&self, word: &str) -> String {
        if self.groups.is_empty() {
            String::new()
        } else {
            format!("{word} {}", self.groups.join(", "))
        }
    }
}

fn simple_part(
    relation: &Relation<'_>,
    choice: Choice,
    aggregates: &[Aggregate],
    numbers: &[usize],
    shape: GroupShape,
) -> Part {
    let fields = numbers.iter().fold(FieldSet::first(0), |set, &number| {
        set.with(aggregates[number].field)
    });
    let mut from = From::new(relation, choice, shape, fields);
    let columns: Vec<String> = numbers
        .iter()
        .filter_map(|&number| simple(relation, aggregates[number]))
        .collect();
    let text = format!(
        "SELECT {} FROM {}{} HAVING count(*) > 0",
        from.columns(&columns),
        from.readings,
        from.clause(" GROUP BY")
    );
    from.statement.push(&text);
    let output = |&number: &usize| {
        let Aggregate { function, field } = aggregates[number];
        (
            number,
            output_type(function, relation.table.fields[field].kind),
        )
    };
    Part {
        statement: from.statement,
        outputs: numbers.iter().map(output).collect(),
        ties: false,
    }
}

fn last_part(
    relation: &Relation<'_>,
    choice: Choice,
    mut from: From,
    output: (usize, FieldType),
    field: usize,
) -> Part {
    let (value, time) = (relation.field(field), relation.time());
    let ordered = choice == Choice::One || relation.in_series_order() || from.shape.by_series;
    let text = if from.groups.is_empty() && choice == Choice::One {
        let span = relation
            .coarse()
            .map_or_else(String::new, |span| format!("{span} DESC, "));
        format!(
            "SELECT {value} FROM {} ORDER BY {span}{time} DESC, {} LIMIT 1",
            from.readings,
            relation.copy_descending()
        )
    } else {
        let mut order = vec![format!("{time} DESC")];
        let mut more = vec![format!("{value} AS v")];
        let mut wanted = from.names();
        wanted.push("v".to_owned());
        let number = if ordered {
            order.extend(relation.series());
            order.push(relation.copy_descending());
            "row_number"
        } else {
            for (place, column) in relation.series().iter().enumerate() {
                more.push(format!("{column} AS s{place}"));
                wanted.push(format!("s{place}"));
            }
            more.push(format!(
                "row_number() OVER (ORDER BY {}) AS c",
                relation.copy()
            ));
            "rank"
        };
        more.push(format!(
            "{number}() OVER ({} ORDER BY {}) AS n",
            from.clause("PARTITION BY"),
            order.join(", ")
        ));
        format!(
            "SELECT {} FROM (SELECT {} FROM {}) WHERE n = 1{}",
            wanted.join(", "),
            from.named_columns(&more),
            from.readings,
            if ordered { "" } else { " ORDER BY c" }
        )
    };
    from.statement.push(&text);
    Part {
        statement: from.statement,
        outputs: vec![output],
        ties: !ordered,
    }
}

fn share_part(
    relation: &Relation<'_>,
    mut from: From,
    output: (usize, FieldType),
    field: usize,
) -> Part {
    let time = relation.time();
    let end = from.statement.parameter(Bind::End);
    let series = match relation.design.key {
        SeriesKey::Only => String::new(),
        _ => format!("PARTITION BY {} ", relation.series().join(", ")),
    };
    let next = format!(
        "lead({time}, 1, {end}) OVER ({series}ORDER BY {time}, {})",
        relation.copy()
    );
    let until = if from.shape.window {
        let start = window(&time, from.shape.after_origin, &mut from.statement);
        let width = from.statement.parameter(Bind::Width);
        format!("min({next}, {start} + {width})")
    } else {
        next
    };
    let more = [
        format!("{} AS v", relation.field(field)),
        format!("{until} - {time} AS held"),
    ];
    let mut columns = from.names();
    columns.push("total(CASE WHEN v THEN held END) / total(held)".to_owned());
    let groups = from.names().join(", ");
    let text = format!(
        "SELECT {} FROM (SELECT {} FROM {}){} HAVING count(*) > 0",
        columns.join(", "),
        from.named_columns(&more),
        from.readings,
        if groups.is_empty() {
            groups
        } else {
            format!(" GROUP BY {groups}")
        }
    );
    from.statement.push(&text);
    Part {
        statement: from.statement,
        outputs: vec![output],
        ties: false,
    }
}

fn frequent_part(
    relation: &Relation<'_>,
    mut from: From,
    output: (usize, FieldType),
    field: usize,
) -> Part {
    let value = relation.field(field);
    let more = [
        format!("{value} AS v"),
        format!(
            "row_number() OVER ({} ORDER BY count(*) DESC, {value}) AS n",
            from.clause("PARTITION BY")
        ),
    ];
    let mut wanted = from.names();
    wanted.push("v".to_owned());
    let mut within = from.groups.clone();
    within.push(value);
    let text = format!(
        "SELECT {} FROM (SELECT {} FROM {} GROUP BY {}) WHERE n = 1",
        wanted.join(", "),
        from.named_columns(&more),
        from.readings,
        within.join(", ")
    );
    from.statement.push(&text);
    Part {
        statement: from.statement,
        outputs: vec![output],
        ties: false,
    }
}
