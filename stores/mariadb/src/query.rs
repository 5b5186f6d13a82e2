//! Questions, each to the code that answers it.
//!
//! The text of a question's statements is built once for its shape and connection, and the server prepares it once; from then on values are
//! bound. [`statements`] builds them.

mod aggregate;
mod cells;
mod collect;
pub(crate) mod document;
mod groups;
pub(crate) mod readings;
mod search;
mod shape;
mod slot;
mod source;
mod sql;

use self::shape::QueryShape;
use self::source::Source;
use self::sql::Sql;
use crate::connection::Link;
use crate::schema::Model;
use mysql_async::Row;
use sensormark_store::{Answer, Ask, ErrorKind, Query, Selection, StoreError, TimeRange};
use std::collections::HashMap;
use std::rc::Rc;

/// The most shapes whose statements a connection remembers.
const MOST_SHAPES: usize = 256;

/// The statements of questions, by shape. Of one connection.
#[derive(Default)]
pub(crate) struct Statements(HashMap<QueryShape, Rc<[Sql]>>);

/// What asks questions over a connection.
pub(crate) struct Reader<'a> {
    /// The connection.
    pub(crate) link: &'a mut Link,
    /// What it has asked so far.
    pub(crate) statements: &'a mut Statements,
    /// The plan's tables.
    pub(crate) model: &'a Model,
}

impl Reader<'_> {
    /// Answers a question.
    pub(crate) async fn answer(&mut self, query: &Query) -> Result<Answer, StoreError> {
        match &query.ask {
            Ask::Point { fields } => {
                let start = query.range.start_ns;
                let mut point = query.clone();
                point.range = TimeRange::new(start, start.saturating_add(1));
                self.range(&point, *fields).await
            }
            Ask::Range { fields, .. } => self.range(query, *fields).await,
            Ask::First(_) | Ask::Last(_) | Ask::Minimum { .. } => self.moment(query).await,
            Ask::Aggregate {
                aggregates,
                grouping,
                from_sums,
            } => self.groups(query, aggregates, *grouping, *from_sums).await,
            Ask::LastReading { fields } => self.last(query, *fields).await,
            Ask::SeriesMatching(_) => self.matching(query).await,
        }
    }

    /// A question's statements, built when the first of its shape is asked.
    fn asked(&mut self, query: &Query) -> Result<Rc<[Sql]>, StoreError> {
        let shape = QueryShape::of(query, self.model)?;
        if let Some(known) = self.statements.0.get(&shape) {
            return Ok(Rc::clone(known));
        }
        let built: Rc<[Sql]> = statements(self.model, query)?.into();
        if self.statements.0.len() >= MOST_SHAPES {
            self.statements.0.clear();
        }
        self.statements.0.insert(shape, Rc::clone(&built));
        Ok(built)
    }

    /// Executes one of a question's statements, and hands over its rows.
    async fn rows(
        &mut self,
        operation: &str,
        sql: &Sql,
        query: &Query,
        source: &Source<'_>,
        sink: &mut dyn FnMut(Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let values = slot::values(&sql.slots, query, source);
        self.link.rows(operation, &sql.text, values, sink).await
    }
}

/// The statements that answer a question, in the order in which they are sent. (Where a reading is not a row, the last readings are points that
/// follow the last times.) Refuses what the schema does not have and what the layout cannot answer.
fn statements(model: &Model, query: &Query) -> Result<Vec<Sql>, StoreError> {
    check_tags(model, query)?;
    let one = match &query.ask {
        Ask::Point { fields } | Ask::Range { fields, .. } => {
            readings::range_statement(model, query, *fields)
        }
        Ask::First(_) | Ask::Last(_) | Ask::Minimum { .. } => {
            search::moment_statement(model, query)
        }
        Ask::LastReading { fields } => readings::last_statement(model, query, *fields),
        Ask::SeriesMatching(predicate) => search::matching_statement(model, query, *predicate),
        Ask::Aggregate {
            aggregates,
            grouping,
            from_sums,
        } => return aggregate::statements(model, query, aggregates, *grouping, *from_sums),
    };
    Ok(vec![one?])
}

/// Tags that a question names must be there.
fn check_tags(model: &Model, query: &Query) -> Result<(), StoreError> {
    let (table, _) = model.table(query.table)?;
    let chosen = match &query.series {
        Selection::Tagged { tag, .. } => Some(*tag),
        _ => None,
    };
    let grouped = match &query.ask {
        Ask::Aggregate { grouping, .. } => grouping.by_tag,
        _ => None,
    };
    match chosen
        .into_iter()
        .chain(grouped)
        .find(|&tag| tag >= table.tags.len())
    {
        None => Ok(()),
        Some(tag) => Err(StoreError::new(
            ErrorKind::NotFound,
            "find a tag",
            format!("table {} has no tag number {tag}", table.name),
        )),
    }
}
