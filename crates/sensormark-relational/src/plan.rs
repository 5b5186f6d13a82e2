//! From a question to statements.
//!
//! A [`Plan`] depends on the question's [shape](shape::QueryShape) alone; a store keeps it. What each question is written from is in
//! [`relation`]; the questions are in [`readings`], [`latest`], [`search`], [`aggregate`], [`merged`] and [`sums`].

mod aggregate;
mod derived;
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
use sensormark_store::{Answer, Ask, Query, Selection, StoreError, TimeRange};
use std::rc::Rc;

pub use self::statement::{Form, GroupForm, RecordForm, Statement, with_keys};

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
/// [`sensormark_store::ErrorKind::NotFound`] for a table, tag or field that the schema does not have; [`sensormark_store::ErrorKind::Rejected`] for a question without a field;
/// [`sensormark_store::ErrorKind::Unsupported`] for a threshold on text.
pub fn checked<'a>(physical: &'a PhysicalSchema, query: &'a Query) -> Result<Bindings<'a>, StoreError> {
    let asked = Bindings::new(physical, query)?;
    query.check(asked.description)?;
    Ok(asked)
}

/// The answer to a question that finds nothing whatever is stored, so that the database need not be asked.
pub fn nothing_to_find(asked: &Bindings<'_>) -> Option<Answer> {
    asked.query.finds_nothing(asked.description, asked.physical.unit_ns())
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
    /// [`sensormark_store::ErrorKind::Unsupported`] for what the layout cannot answer.
    pub fn new(physical: &PhysicalSchema, query: &Query) -> Result<Self, StoreError> {
        let (description, table) = physical.table(query.table)?;
        let part = || Builder {
            physical,
            table,
            description,
            query,
            slots: Slots::default(),
            member: None,
            is_of_other: false,
        };
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
    /// [`sensormark_store::ErrorKind::NotFound`] when the schema has no such table.
    pub fn everything(physical: &PhysicalSchema, number: usize) -> Result<(Statement, Query), StoreError> {
        let (description, table) = physical.table(number)?;
        let query = Query {
            table: number,
            series: Selection::All,
            range: TimeRange::new(i64::MIN, i64::MAX),
            ask: Ask::Range { fields: description.all_fields(), coarse_filter: false },
        };
        let builder = Builder {
            physical,
            table,
            description,
            query: &query,
            slots: Slots::default(),
            member: None,
            is_of_other: false,
        };
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
/// [`sensormark_store::ErrorKind::NotFound`] when the schema has no such table, [`sensormark_store::ErrorKind::Unsupported`] when the table has no entity.
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
