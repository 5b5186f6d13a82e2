//! Asking: from a question to a find or an aggregation pipeline, and from documents to the answer.
//!
//! Everything is searched, grouped and added up by the server; the client decodes and puts readings into the order of the
//! series' numbers, which the server does not know. Where readings come from is in [`source`], whole readings in
//! [`readings`] and [`unwound`], the latest ones in [`latest`], searches in [`search`], aggregates in [`aggregate`] and [`sums`], decoding in [`decode`].

mod aggregate;
mod choice;
mod decode;
pub(crate) mod derived;
mod expression;
mod groups;
mod latest;
mod readings;
mod search;
mod source;
mod sums;
mod unwound;

use self::choice::Choice;
use crate::connection::{Link, TimeLimit};
use crate::schema::{PhysicalSchema, PhysicalTable, Tags};
use mongodb::bson::{Bson, Document, RawDocument, doc};
use sensormark_store::{
    Answer, Ask, Batch, FieldSet, Index, Query, Selection, Shape, StoreError, Table, TimeRange,
};

const OPERATION: &str = "ask MongoDB";

/// What asks a database.
pub(crate) struct Reader<'a> {
    /// The client.
    pub(crate) link: &'a Link,
    /// The plan's collections.
    pub(crate) physical: &'a PhysicalSchema,
}

/// A question, with what is known of its table.
struct Question<'a> {
    query: &'a Query,
    table: &'a Table,
    kept: &'a PhysicalTable,
    choice: Choice,
    /// The range as kept times are compared with it.
    range: TimeRange,
}

/// The most series that a question names in place of their tag.
const MOST_NAMED: usize = 10_000;

impl Reader<'_> {
    /// How many series of its tag a question names at most. It names none unless an index finds documents by series. Then either the tag is not where an index
    /// begins, or the question is about each series by itself.
    pub(crate) fn most_named(&self, query: &Query) -> usize {
        let (Ok((_, kept)), Selection::Tagged { tag, .. }) =
            (self.physical.table(query.table), &query.series)
        else {
            return 0;
        };
        let is_indexed = matches!(self.physical.layout.index, Index::Series | Index::SeriesTime)
            && (kept.is_flat() || matches!(kept.shape, Shape::RecordPerSpan { .. }));
        let is_latest = matches!(query.ask, Ask::LastReading { .. });
        // An index of pairs has all tags.
        let begins = matches!(kept.tags, Tags::Pairs(_)) || kept.roster.identity().first() == Some(tag);
        match is_indexed && (is_latest || !begins) {
            true => MOST_NAMED,
            false => 0,
        }
    }

    /// Answers a question.
    pub(crate) async fn query(&self, query: &Query) -> Result<Answer, StoreError> {
        let (table, kept) = self.physical.table(query.table)?;
        let question = Question {
            query,
            table,
            kept,
            choice: Choice::of(table, &query.series),
            range: kept.range(match query.ask {
                Ask::Point { .. } => {
                    let start = query.range.start_ns;
                    TimeRange::new(start, start.saturating_add(1))
                }
                _ => query.range,
            }),
        };
        if let Some(field) = outside(query, table) {
            return Err(StoreError::new(
                sensormark_store::ErrorKind::NotFound,
                OPERATION,
                format!("the table has no field number {field}; check the question"),
            ));
        }
        match &query.ask {
            Ask::Aggregate { aggregates, grouping, from_sums } => {
                let groups = if *from_sums {
                    self.kept_sums(&question, aggregates, *grouping).await?
                } else {
                    self.aggregate(&question, aggregates, *grouping).await?
                };
                Ok(Answer::groups(groups))
            }
            Ask::Point { fields } => self.range(&question, *fields, true, None).await,
            Ask::Range { fields, coarse_filter } => {
                self.range(&question, *fields, *coarse_filter, None).await
            }
            Ask::LastReading { fields } => self.last_readings(&question, *fields).await,
            Ask::First(predicate) => self.first(&question, *predicate, false).await,
            Ask::Last(predicate) => self.first(&question, *predicate, true).await,
            Ask::Minimum { field } => self.minimum(&question, *field).await,
            Ask::SeriesMatching(predicate) => self.matching(&question, *predicate).await,
            Ask::Derived(derived) => self.derived(&question, derived).await,
        }
    }

    /// Asks by a pipeline over a collection.
    async fn pipeline(
        &self,
        kept: &PhysicalTable,
        stages: Vec<Document>,
        take: impl FnMut(&RawDocument) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.pipeline_of(&kept.collection, stages, take).await
    }

    /// Asks by a pipeline over a collection of this name, or over the pipeline's own documents, of which 1 is the name.
    async fn pipeline_of(
        &self,
        collection: impl Into<Bson>,
        stages: Vec<Document>,
        take: impl FnMut(&RawDocument) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let command = doc! {
            "aggregate": collection,
            "pipeline": stages,
            "cursor": { "batchSize": i64::from(crate::connection::BATCH_SIZE) },
            "maxTimeMS": self.link.max_time_ms(),
        };
        self.link.ask(OPERATION, command, TimeLimit::Whole, take).await
    }

    /// Asks by a find; `further` are its clauses.
    async fn find(
        &self,
        kept: &PhysicalTable,
        filter: Document,
        further: Document,
        take: impl FnMut(&RawDocument) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut command = doc! {
            "find": &kept.collection,
            "filter": filter,
            "batchSize": i64::from(crate::connection::BATCH_SIZE),
            "maxTimeMS": self.link.max_time_ms(),
        };
        command.extend(further);
        self.link.ask(OPERATION, command, TimeLimit::Whole, take).await
    }
}

/// The first field of a question that the table does not have.
fn outside(query: &Query, table: &Table) -> Option<usize> {
    let count = table.fields.len();
    let beyond = |field: usize| (field >= count).then_some(field);
    let any = |fields: FieldSet| fields.iter().find(|&field| field >= count);
    match &query.ask {
        Ask::Point { fields } | Ask::Range { fields, .. } | Ask::LastReading { fields } => any(*fields),
        Ask::First(predicate) | Ask::Last(predicate) | Ask::SeriesMatching(predicate) => {
            beyond(predicate.field)
        }
        Ask::Minimum { field } => beyond(*field),
        Ask::Aggregate { aggregates, .. } => aggregates.iter().find_map(|one| beyond(one.field)),
        Ask::Derived(derived) => any(derived.fields()),
    }
}

impl Question<'_> {
    /// Whether nothing can be found.
    fn is_empty(&self) -> bool {
        self.range.length_ns() == 0 || matches!(self.choice, Choice::Nothing)
    }

    fn empty(&self) -> Answer {
        Answer::Readings(Batch::new(self.query.table, self.table))
    }
}
