//! From a question to statements.
//!
//! A [`Plan`] depends on the question's [shape](shape::QueryShape) alone; a store keeps it. What each question is written from is in
//! [`relation`]; the questions are in [`readings`], [`latest`], [`search`], [`aggregate`], [`merged`] and [`sums`].

mod aggregate;
mod latest;
mod merged;
mod readings;
pub mod relation;
mod search;
pub mod shape;
pub mod slot;
mod statement;
mod sums;

use self::relation::Builder;
use self::shape::QueryShape;
use self::slot::{Bindings, Slots};
use crate::dialect::Aggregates;
use crate::physical_schema::PhysicalSchema;
use sensormark_kit::ByShape;
use sensormark_store::{
    Answer, Ask, Batch, ErrorKind, FieldType, Query, Selection, StoreError, Table, TagColumn, TimeRange,
};
use std::rc::Rc;

pub use self::statement::{Form, GroupForm, RecordForm, Statement, with_keys};

const OPERATION: &str = "plan a question";

/// The plans of a session's questions.
pub type Plans = ByShape<QueryShape, Rc<Plan>>;

/// The plan of a question, made when the first of its shape is asked.
///
/// # Errors
/// As [`Plan::new`].
pub fn planned(plans: &mut Plans, physical: &PhysicalSchema, query: &Query) -> Result<Rc<Plan>, StoreError> {
    let make = || Plan::new(physical, query).map(Rc::new);
    plans.get(QueryShape::of(query, physical), make)
}

/// A question with its table, if it can be asked.
///
/// # Errors
/// [`ErrorKind::NotFound`] for a table, tag or field that the schema does not have; [`ErrorKind::Rejected`] for a question without a field;
/// [`ErrorKind::Unsupported`] for a threshold on text.
pub fn checked<'a>(physical: &'a PhysicalSchema, query: &'a Query) -> Result<Bindings<'a>, StoreError> {
    let asked = Bindings::new(physical, query)?;
    check(query, asked.description)?;
    Ok(asked)
}

/// The answer to a question that finds nothing whatever is stored, so that the database need not be asked.
pub fn nothing_to_find(asked: &Bindings<'_>) -> Option<Answer> {
    let (query, description) = (asked.query, asked.description);
    finds_nothing(query, asked.physical, description).then(|| empty(query, description))
}

/// The statements that answer a question, in the order in which they are sent.
#[derive(Debug)]
pub struct Plan {
    /// The statements: one, or the parts of an aggregate, whose groups are merged.
    pub statements: Vec<Statement>,
}

impl Plan {
    /// The statements for a question.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for what the layout cannot answer.
    pub fn new(physical: &PhysicalSchema, query: &Query) -> Result<Self, StoreError> {
        let (description, table) = physical.table(query.table)?;
        let part = || Builder { physical, table, description, query, slots: Slots::default(), member: None };
        if let Ask::Aggregate { aggregates, grouping, from_sums } = &query.ask {
            if *from_sums {
                return one(part(), |builder| builder.aggregate_sums(aggregates, *grouping));
            }
            if physical.dialect.aggregates() == Aggregates::Merged {
                let statements = merged::statements(part, aggregates, *grouping)?;
                return Ok(Self { statements });
            }
            return one(part(), |builder| builder.aggregate(aggregates, *grouping));
        }
        one(part(), Builder::statement)
    }

    /// What the rows of its statements are.
    pub fn form(&self) -> &Form {
        self.statements.last().map_or(&Form::Series, |statement| &statement.form)
    }

    /// The statement for everything in a table.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when the schema has no such table.
    pub fn everything(physical: &PhysicalSchema, number: usize) -> Result<(Statement, Query), StoreError> {
        let (description, table) = physical.table(number)?;
        let query = Query {
            table: number,
            series: Selection::All,
            range: TimeRange::new(i64::MIN, i64::MAX),
            ask: Ask::Range { fields: description.all_fields(), coarse_filter: false },
        };
        let builder =
            Builder { physical, table, description, query: &query, slots: Slots::default(), member: None };
        let (text, form) = builder.everything();
        Ok((builder.finish(&text, form), query))
    }
}

fn one<'a>(
    mut builder: Builder<'a>,
    write: impl FnOnce(&mut Builder<'a>) -> Result<(String, Form), StoreError>,
) -> Result<Plan, StoreError> {
    let (text, form) = write(&mut builder)?;
    Ok(Plan { statements: vec![builder.finish(&text, form)] })
}

/// The statement for every entity of a table: keys, last time, columns.
///
/// # Errors
/// [`ErrorKind::NotFound`] when the schema has no such table, [`ErrorKind::Unsupported`] when the table has no entity.
pub fn entities(physical: &PhysicalSchema, number: usize) -> Result<String, StoreError> {
    let (description, table) = physical.table(number)?;
    let Some(entity) = &table.entity else {
        return Err(StoreError::unsupported(
            "read entities back",
            format!("table {} has no entity", description.name),
        ));
    };
    let mut columns = table.key_names();
    columns.push(physical.dialect.answered_time(&entity.last_time));
    columns.extend(entity.columns.iter().cloned());
    Ok(format!("SELECT {} FROM {}", columns.join(", "), entity.name))
}

/// Refuses what the schema does not have.
///
/// # Errors
/// [`ErrorKind::NotFound`] for a table, tag or field that the schema does not have; [`ErrorKind::Rejected`] for a question without a field;
/// [`ErrorKind::Unsupported`] for a threshold on text.
fn check(query: &Query, description: &Table) -> Result<(), StoreError> {
    let missing = |what: String| Err(StoreError::new(ErrorKind::NotFound, OPERATION, what));
    let selected = match &query.series {
        Selection::Tagged { tag, .. } => Some(*tag),
        _ => None,
    };
    let mut grouped = None;
    let fields = description.fields.len();
    let field = match &query.ask {
        Ask::Point { fields } | Ask::Range { fields, .. } | Ask::LastReading { fields } => {
            fields.iter().last()
        }
        Ask::First(predicate) | Ask::Last(predicate) | Ask::SeriesMatching(predicate) => {
            Some(predicate.field)
        }
        Ask::Minimum { field } => Some(*field),
        Ask::Aggregate { aggregates, grouping, .. } => {
            grouped = grouping.by_tag;
            aggregates.iter().map(|one| one.field).max()
        }
    };
    let mut tags = selected.into_iter().chain(grouped);
    if let Some(tag) = tags.find(|&tag| tag >= description.tags.len()) {
        return missing(format!("table {} has no tag number {tag}", description.name));
    }
    let is_compared =
        matches!(query.ask, Ask::First(_) | Ask::Last(_) | Ask::SeriesMatching(_) | Ask::Minimum { .. });
    match field {
        Some(field) if field < fields && is_compared && description.fields[field].kind == FieldType::Text => {
            Err(StoreError::unsupported(OPERATION, "text has no threshold and no minimum"))
        }
        Some(field) if field < fields => Ok(()),
        Some(field) => missing(format!("table {} has no field number {field}", description.name)),
        None => Err(StoreError::new(ErrorKind::Rejected, OPERATION, "the question names no field")),
    }
}

/// Whether no reading can be meant, so that the database need not be asked.
fn finds_nothing(query: &Query, physical: &PhysicalSchema, description: &Table) -> bool {
    let point = matches!(query.ask, Ask::Point { .. });
    if !point && query.range.end_ns <= query.range.start_ns {
        return true;
    }
    if point && query.range.start_ns.rem_euclid(physical.unit_ns()) != 0 {
        return true;
    }
    match &query.series {
        Selection::Set(set) => set.iter().all(|&series| series >= description.series.len()),
        Selection::Tagged { tag, value } => match &description.series.columns()[*tag] {
            TagColumn::Integer(_) => value.parse::<i64>().map_or(true, |number| number.to_string() != *value),
            TagColumn::Text(_) => false,
        },
        Selection::One(series) => *series >= description.series.len(),
        Selection::All => false,
    }
}

/// The answer to a question that finds nothing.
fn empty(query: &Query, description: &Table) -> Answer {
    match query.ask {
        Ask::Point { .. } | Ask::Range { .. } | Ask::LastReading { .. } => {
            Answer::Readings(Batch::new(query.table, description))
        }
        Ask::First(_) | Ask::Last(_) | Ask::Minimum { .. } => Answer::Moment(None),
        Ask::Aggregate { .. } => Answer::Groups(Vec::new()),
        Ask::SeriesMatching(_) => Answer::Series(Vec::new()),
    }
}
