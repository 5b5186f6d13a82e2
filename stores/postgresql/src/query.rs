//! Asking: each question becomes one prepared statement in SQL, answered by the database itself.
//!
//! Statements are prepared once for each shape of question and session. What a question means is in the contract; how
//! it is written is in [`build`], [`latest`] and [`aggregate`], on top of the relation in [`relation`].

mod aggregate;
mod build;
mod decode;
mod document;
mod latest;
mod relation;
mod scan;
mod shape;
mod slot;

use self::build::Form;
use self::decode::Decoder;
use self::relation::Builder;
use self::shape::QueryShape;
use self::slot::{Encoded, Slot, Slots};
use crate::connection::{Link, Planning};
use crate::schema::{Model, TableModel};
use crate::shown;
use futures_util::TryStreamExt;
use futures_util::future::join;
use sensormark_store::{
    Answer, Ask, Batch, ErrorKind, Query, Selection, StoreError, Table, TagColumn, TimeKey,
};
use std::collections::HashMap;
use std::pin::pin;
use std::rc::Rc;

const OPERATION: &str = "query PostgreSQL";

/// Prepared statements for questions, by shape.
#[derive(Default)]
pub(crate) struct Statements(HashMap<QueryShape, Rc<Prepared>>);

struct Prepared {
    statement: shown::Prepared,
    slots: Vec<Slot>,
    form: Form,
    planning: Planning,
}

/// What asks questions over a connection.
pub(crate) struct Reader<'a> {
    /// The connection.
    pub(crate) link: &'a mut Link,
    /// Its prepared statements.
    pub(crate) statements: &'a mut Statements,
    /// The plan's tables.
    pub(crate) model: &'a Model,
}

impl Reader<'_> {
    /// Answers a question.
    pub(crate) async fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        let model = self.model;
        let (description, table) = model.table(query.table)?;
        check(query, description)?;
        if nothing_to_find(query, model, description) {
            return Ok(empty(query, description));
        }
        let prepared = self.prepared(query, table, description).await?;
        let encoded = Encoded::new(&prepared.slots, query, table, description);
        let value = |&slot: &Slot| slot::value(slot, query, model, table, description, &encoded);
        let cells = || prepared.slots.iter().map(value);
        let mut decoder = Decoder::new(model, table, description, query);
        let mut failure = None;
        let change =
            (self.link.planning != prepared.planning).then(|| prepared.planning.statement());
        self.link.planning = prepared.planning;
        if let Some(change) = change {
            self.link.kept.note_text(change, || None);
        }
        self.link
            .kept
            .note(&prepared.statement, || Box::new(cells()));
        let client = &self.link.client;
        let asking = async {
            let asked = client.query_raw(&prepared.statement.statement, cells());
            let rows = match change {
                None => asked.await?,
                Some(change) => {
                    // Both go out together.
                    let (changed, rows) = join(client.batch_execute(change), asked).await;
                    changed?;
                    rows?
                }
            };
            let mut rows = pin!(rows);
            while let Some(row) = rows.try_next().await? {
                if failure.is_none() {
                    failure = decoder.row(&prepared.form, &row).err();
                }
            }
            Ok(())
        };
        self.link.wire.run(OPERATION, asking).await?;
        match failure {
            None => Ok(decoder.finish(&prepared.form)),
            Some(error) => Err(error),
        }
    }

    async fn prepared(
        &mut self,
        query: &Query,
        table: &TableModel,
        description: &Table,
    ) -> Result<Rc<Prepared>, StoreError> {
        let shape = QueryShape::of(query, self.model);
        if let Some(prepared) = self.statements.0.get(&shape) {
            return Ok(Rc::clone(prepared));
        }
        let mut builder = Builder {
            model: self.model,
            table,
            description,
            query,
            slots: Slots::default(),
        };
        let (text, form) = builder.statement()?;
        let Slots { slots, kinds } = builder.slots;
        let statement = self.link.prepare("prepare a query", text, &kinds).await?;
        let prepared = Rc::new(Prepared {
            statement,
            slots,
            form,
            planning: planning(query, table),
        });
        self.statements.0.insert(shape, Rc::clone(&prepared));
        Ok(prepared)
    }
}

/// Questions that may read and sort much are planned for their range; those that an index leads to their readings are planned once.
fn planning(query: &Query, table: &TableModel) -> Planning {
    let by_key = matches!(query.series, Selection::One(_)) && !table.keys.is_empty();
    let each_time = match &query.ask {
        Ask::Range { .. } => !by_key && !table.keys.is_empty(),
        Ask::Aggregate { grouping, .. } => !by_key || grouping.window.is_some(),
        Ask::SeriesMatching(_) => true,
        _ => false,
    };
    if each_time {
        Planning::EachTime
    } else {
        Planning::Once
    }
}

/// Refuses what the schema does not have.
fn check(query: &Query, description: &Table) -> Result<(), StoreError> {
    let missing = |what: String| Err(StoreError::new(ErrorKind::NotFound, OPERATION, what));
    if let Selection::Tagged { tag, .. } = &query.series
        && *tag >= description.tags.len()
    {
        return missing(format!(
            "table {} has no tag number {tag}",
            description.name
        ));
    }
    let fields = description.fields.len();
    let field = match &query.ask {
        Ask::Point { fields } | Ask::Range { fields, .. } | Ask::LastReading { fields } => {
            fields.iter().last()
        }
        Ask::First(predicate) | Ask::Last(predicate) | Ask::SeriesMatching(predicate) => {
            Some(predicate.field)
        }
        Ask::Minimum { field } => Some(*field),
        Ask::Aggregate { aggregates, .. } => aggregates.iter().map(|one| one.field).max(),
    };
    match field {
        Some(field) if field < fields => Ok(()),
        Some(field) => missing(format!(
            "table {} has no field number {field}",
            description.name
        )),
        None => Err(StoreError::new(
            ErrorKind::Rejected,
            OPERATION,
            "the question names no field",
        )),
    }
}

/// Whether no reading can be meant, so that the server need not be asked.
fn nothing_to_find(query: &Query, model: &Model, description: &Table) -> bool {
    let point = matches!(query.ask, Ask::Point { .. });
    if !point && query.range.end_ns <= query.range.start_ns {
        return true;
    }
    if point && model.layout.time == TimeKey::Native && query.range.start_ns.rem_euclid(1_000) != 0
    {
        return true;
    }
    match &query.series {
        Selection::Set(set) => set.iter().all(|&series| series >= description.series.len()),
        Selection::Tagged { tag, value } => match &description.series.columns()[*tag] {
            TagColumn::Integer(_) => value
                .parse::<i64>()
                .map_or(true, |number| number.to_string() != *value),
            TagColumn::Text(_) => false,
        },
        Selection::One(series) => *series >= description.series.len(),
        Selection::All => false,
    }
}

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
