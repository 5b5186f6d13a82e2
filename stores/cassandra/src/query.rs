//! Asking: which partitions hold the answer, and one statement for each, several of them on their way at once.
//!
//! Rows are asked partition by partition, in the order of series and time. Small ranges go straight to their buckets. Before other ranges the store reads which
//! buckets a series has. So a long range does not walk through partitions that are not there.

use crate::connection::PIPELINE;
use crate::connection::{Cell, Cells, Link};
use crate::schema::{BUCKETS, LOOKUP, PhysicalSchema, PhysicalTable, Rows, has_tags};
use crate::statements::{Shape, Statements};
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use scylla::response::query_result::QueryRowsResult;
use scylla::statement::prepared::PreparedStatement;
use sensormark_store::client_side::IN_THE_CLIENT;
use sensormark_store::{Answer, Ask, Batch, FieldSet, Query, Selection, StoreError, TimeRange};

mod aggregate;

pub(crate) mod decode;

mod scan;

mod search;

/// What asks over a connection.
pub(crate) struct Reader<'a> {
    pub(crate) link: &'a Link,
    pub(crate) statements: &'a mut Statements,
    pub(crate) physical: &'a PhysicalSchema,
}

/// The partitions that may hold the answer, by (series, bucket), and the keys to ask for in each.
struct Places {
    partitions: Vec<(u32, i64)>,
    first: i64,
    last: i64,
}

impl Reader<'_> {
    /// Answers a question.
    pub(crate) async fn query(&mut self, query: &Query) -> Result<Answer, StoreError> {
        Ok(match &query.ask {
            Ask::Point { fields } => {
                let range = TimeRange::new(query.range.start_ns, query.range.start_ns.saturating_add(1));
                Answer::Readings(self.range(query, range, *fields).await?)
            }
            Ask::Range { fields, .. } => Answer::Readings(self.range(query, query.range, *fields).await?),
            Ask::First(predicate) => Answer::Moment(self.search(query, *predicate, false).await?),
            Ask::Last(predicate) => Answer::Moment(self.search(query, *predicate, true).await?),
            Ask::Minimum { field } => Answer::Moment(self.minimum(query, *field).await?),
            Ask::Aggregate { from_sums: true, .. } => {
                return Err(StoreError::unsupported("read sums", "no layout keeps sums at write time"));
            }
            Ask::Aggregate { aggregates, grouping, .. } => {
                Answer::groups(self.aggregate(query, aggregates, *grouping).await?)
            }
            Ask::LastReading { fields } => Answer::Readings(self.latest(query, *fields).await?),
            Ask::SeriesMatching(predicate) => Answer::Series(self.matching(query, *predicate).await?),
            Ask::Derived(_) => return Err(StoreError::unsupported("ask", IN_THE_CLIENT)),
        })
    }

    fn own(&self, query: &Query) -> &PhysicalTable {
        &self.physical.tables[query.table]
    }

    /// The chosen series, ascending.
    async fn series(&mut self, query: &Query) -> Result<Vec<u32>, StoreError> {
        let table = &self.physical.schema.tables[query.table];
        let mut series = match &query.series {
            Selection::One(series) => vec![*series],
            Selection::Set(series) => series.clone(),
            Selection::All => (0..table.series.len()).collect(),
            Selection::Tagged { tag, value } if has_tags(self.physical, table) => {
                self.tagged(query.table, *tag, value).await?
            }
            Selection::Tagged { tag, value } => table.series.with_tag(*tag, value),
        };
        series.sort_unstable();
        series.dedup();
        Ok(series)
    }

    async fn tagged(&mut self, table: usize, tag: usize, value: &str) -> Result<Vec<u32>, StoreError> {
        let own = &self.physical.tables[table];
        let name = &self.physical.schema.tables[table].tags[tag].name;
        let statement = self.lookup_statement().await?;
        let mut series = Vec::new();
        let pages = look_up(self.link, &statement, (&own.name, name, value), (0, i64::MAX)).await?;
        decode::each(&pages, |row| {
            let number = decode::big(decode::next(row)?)?;
            series.push(u32::try_from(number).map_err(|_| decode::odd("no number of a series"))?);
            Ok(())
        })?;
        Ok(series)
    }

    /// The statement that looks numbers up.
    async fn lookup_statement(&mut self) -> Result<PreparedStatement, StoreError> {
        let text = |keyspace: &str| {
            format!(
                "SELECT \"_number\" FROM {keyspace}.\"{LOOKUP}\" WHERE \"_table\" = ? AND \"_what\" = ? AND \"_value\" = ? AND \"_number\" >= ? AND \"_number\" <= ?"
            )
        };
        self.statements.get(self.link, Shape::LookUp, text).await
    }

    /// The partitions of these series that a range touches and that may be there.
    async fn places(
        &mut self,
        query: &Query,
        series: &[u32],
        range: TimeRange,
    ) -> Result<Option<Places>, StoreError> {
        const STRAIGHT: i64 = 2;
        let own = &self.physical.tables[query.table];
        let Some((first, last)) = own.keys(range) else {
            return Ok(None);
        };
        let (from, to) = (own.bucket(first), own.bucket(last));
        let mut partitions = Vec::with_capacity(series.len());
        if to.saturating_sub(from) < STRAIGHT {
            for &series in series {
                partitions.extend((from..=to).map(|bucket| (series, bucket)));
            }
        } else {
            let statement = self.lookup_statement().await?;
            let (link, statement) = (self.link, &statement);
            let ask = async |series: u32| {
                let value = series.to_string();
                let what = (own.name.as_str(), BUCKETS, value.as_str());
                let pages = look_up(link, statement, what, (from, to)).await?;
                Ok::<_, StoreError>((series, pages))
            };
            let mut asked = iter(series.iter().copied()).map(ask).buffered(PIPELINE);
            while let Some((series, pages)) = asked.try_next().await? {
                decode::each(&pages, |row| {
                    partitions.push((series, decode::big(decode::next(row)?)?));
                    Ok(())
                })?;
            }
        }
        Ok(Some(Places { partitions, first, last }))
    }

    /// The readings of a range with the chosen fields, in the order of (series, time).
    async fn range(
        &mut self,
        query: &Query,
        range: TimeRange,
        fields: FieldSet,
    ) -> Result<Batch, StoreError> {
        let table = &self.physical.schema.tables[query.table];
        let mut batch = Batch::new(query.table, table);
        let series = self.series(query).await?;
        let Some(places) = self.places(query, &series, range).await? else {
            return Ok(batch);
        };
        let statement = self.range_statement(query.table, fields).await?;
        let (link, statement) = (self.link, &statement);
        let ask = async |(series, bucket): (u32, i64)| {
            let cells = within(series, bucket, &places);
            let pages = link.pages("read a range", statement, &Cells(&cells)).await?;
            Ok::<_, StoreError>((series, pages))
        };
        let mut asked = iter(places.partitions.iter().copied()).map(ask).buffered(PIPELINE);
        while let Some((series, pages)) = asked.try_next().await? {
            self.decode(query, range, fields, series, &pages, &mut batch)?;
        }
        Ok(batch.sorted())
    }

    /// Appends the readings of an answer's pages that lie in the range and have a chosen field.
    fn decode(
        &self,
        query: &Query,
        range: TimeRange,
        fields: FieldSet,
        series: u32,
        pages: &[QueryRowsResult],
        batch: &mut Batch,
    ) -> Result<(), StoreError> {
        let description = &self.physical.schema.tables[query.table];
        match self.own(query).rows {
            Rows::Reading { unit_ns } => {
                decode::each(pages, |row| decode::reading(row, series, unit_ns, fields, batch))
            }
            Rows::Record { span_ns, json } => {
                let mut all = Batch::new(query.table, description);
                decode::each(pages, |row| {
                    decode::record(row, series, (span_ns, json), range, fields, &mut all)
                })?;
                let has = |row: usize| fields.iter().any(|field| all.columns[field].has(row));
                if (0..all.len()).all(has) && batch.is_empty() {
                    *batch = all;
                } else {
                    (0..all.len()).filter(|&row| has(row)).for_each(|row| batch.push_row(&all, row));
                }
                Ok(())
            }
        }
    }

    async fn range_statement(
        &mut self,
        table: usize,
        fields: FieldSet,
    ) -> Result<PreparedStatement, StoreError> {
        let physical = self.physical;
        let own = &physical.tables[table];
        let shape = match own.rows {
            Rows::Reading { .. } => Shape::Range(table, fields),
            Rows::Record { .. } => Shape::Range(table, FieldSet::first(0)),
        };
        let text = |keyspace: &str| {
            let (columns, key) = columns(physical, table, fields);
            format!(
                "SELECT {columns} FROM {keyspace}.\"{}\" WHERE {PARTITION} AND \"{key}\" >= ? AND \"{key}\" <= ?",
                own.readings()
            )
        };
        let mut statement = self.statements.get(self.link, shape, text).await?;
        statement.set_page_size(own.page());
        Ok(statement)
    }
}

/// The numbers from the first to the last that are noted of something: (table, what, value).
async fn look_up(
    link: &Link,
    statement: &PreparedStatement,
    (table, what, value): (&str, &str, &str),
    (first, last): (i64, i64),
) -> Result<Vec<QueryRowsResult>, StoreError> {
    let cells = [
        Cell::Bytes(table.as_bytes()),
        Cell::Bytes(what.as_bytes()),
        Cell::Bytes(value.as_bytes()),
        Cell::Big(first),
        Cell::Big(last),
    ];
    link.pages("look up", statement, &Cells(&cells)).await
}

/// What names a partition.
const PARTITION: &str = "\"_series\" = ? AND \"_bucket\" = ?";

/// The columns to ask for, and the name of the key.
fn columns(physical: &PhysicalSchema, table: usize, fields: FieldSet) -> (String, &'static str) {
    match physical.tables[table].rows {
        Rows::Record { .. } => ("\"_span\", \"_record\"".to_owned(), "_span"),
        Rows::Reading { .. } => {
            let names = &physical.schema.tables[table].fields;
            let columns: String = fields.iter().map(|field| format!(", \"{}\"", names[field].name)).collect();
            (format!("\"_time\"{columns}"), "_time")
        }
    }
}

const fn within(series: u32, bucket: i64, places: &Places) -> [Cell<'static>; 4] {
    [Cell::Int(series.cast_signed()), Cell::Big(bucket), Cell::Big(places.first), Cell::Big(places.last)]
}
