//! Writing: a prepared insert for one row, unlogged batches by partition for many, several of them on their way at once.
//!
//! A bucket of a series is noted before its first reading is sent, so that readers know where to look. Of readings of the same
//! series and time in one call the last is sent alone: statements of one batch share a timestamp, and the larger value would win.

use crate::connection::{Cell, Cells, Link, PIPELINE};
use crate::schema::{BUCKETS, LOOKUP, PhysicalSchema, PhysicalTable, Rows};
use crate::statements::{Shape, Statements};
use futures_util::stream::{FuturesUnordered, StreamExt, TryStreamExt, iter};
use scylla::statement::batch::{Batch as Together, BatchStatement, BatchType};
use scylla::statement::prepared::PreparedStatement;
use sensormark_store::{Acknowledgement, Batch, Layout, Limits, Shape as LayoutShape, StoreError, Table};
use std::collections::HashSet;

mod chunk;

pub(crate) mod known;

mod upsert;

use self::chunk::{Chunk, chunks};
use self::known::Known;

/// Readings of one call: they go out in batches of one partition each, several on their way at once.
const READINGS: usize = 10_000;

/// Estimated bytes in one batch statement: our own servers take 16 MiB, those of others fail at 50 KiB unless they are configured otherwise.
const BYTES: usize = 1 << 20;
const BYTES_ELSEWHERE: usize = 24 << 10;

/// The largest statements.
pub(crate) fn limits(layout: &Layout, _: &Table) -> Limits {
    match layout.shape {
        LayoutShape::RecordPerSpan { .. } => Limits { readings_per_statement: 1_000_000 },
        _ => Limits { readings_per_statement: READINGS },
    }
}

/// What sends writes over a connection.
pub(crate) struct Writer<'a> {
    pub(crate) link: &'a Link,
    pub(crate) statements: &'a mut Statements,
    pub(crate) physical: &'a PhysicalSchema,
    pub(crate) known: &'a mut Known,
    pub(crate) managed: bool,
}

/// The statement that makes something to be looked up.
pub(crate) fn note_statement(keyspace: &str) -> String {
    format!(
        "INSERT INTO {keyspace}.\"{LOOKUP}\" (\"_table\", \"_what\", \"_value\", \"_number\") VALUES (?, ?, ?, ?)"
    )
}

/// Its values.
pub(crate) const fn note_cells<'a>(
    table: &'a str,
    what: &'a str,
    value: &'a str,
    number: i64,
) -> [Cell<'a>; 4] {
    [
        Cell::Bytes(table.as_bytes()),
        Cell::Bytes(what.as_bytes()),
        Cell::Bytes(value.as_bytes()),
        Cell::Big(number),
    ]
}

impl Writer<'_> {
    /// Writes a batch.
    pub(crate) async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        let own = &self.physical.tables[batch.table];
        let chunks = self.chunks(own, batch)?;
        let insert = self.insert(batch.table).await?;
        self.note_buckets(own, batch).await?;
        send(self.link, &insert, &chunks, batch).await
    }

    /// The statements that a batch becomes.
    fn chunks<'b>(&mut self, own: &PhysicalTable, batch: &'b Batch) -> Result<Vec<Chunk<'b>>, StoreError> {
        let most = if self.managed { BYTES } else { BYTES_ELSEWHERE };
        chunks(own, batch, most, self.known)
    }

    /// The statement that inserts a row.
    async fn insert(&mut self, table: usize) -> Result<PreparedStatement, StoreError> {
        let (own, fields) = (&self.physical.tables[table], &self.physical.schema.tables[table].fields);
        let text = |keyspace: &str| {
            let mut columns = vec!["_series", "_bucket"];
            match own.rows {
                Rows::Reading { .. } => {
                    columns.push("_time");
                    columns.extend(fields.iter().map(|field| field.name.as_str()));
                }
                Rows::Record { .. } => columns.extend(["_span", "_write", "_record"]),
            }
            format!(
                "INSERT INTO {keyspace}.\"{}\" (\"{}\") VALUES ({})",
                own.readings(),
                columns.join("\", \""),
                vec!["?"; columns.len()].join(", ")
            )
        };
        self.statements.get(self.link, Shape::Insert(table), text).await
    }

    /// Notes buckets that this session has not noted yet.
    async fn note_buckets(&mut self, own: &PhysicalTable, batch: &Batch) -> Result<(), StoreError> {
        if own.bucket_ns.is_none() {
            return Ok(());
        }
        let known = &self.known.buckets[batch.table];
        let mut new = HashSet::new();
        let mut latest = None;
        for (&series, &time) in batch.series.iter().zip(&batch.times_ns) {
            let pair = (series, own.bucket(own.key(time)));
            if latest != Some(pair) && !known.contains(&pair) {
                new.insert(pair);
            }
            latest = Some(pair);
        }
        if new.is_empty() {
            return Ok(());
        }
        let insert = self.statements.get(self.link, Shape::Note, note_statement).await?;
        let note = async |(series, bucket): (u32, i64)| {
            let value = series.to_string();
            let cells = note_cells(&own.name, BUCKETS, &value, bucket);
            let cells = Cells(&cells);
            let noted = self.link.execute("note a bucket", &insert, &cells);
            noted.await.map(drop)
        };
        let notes = iter(new.iter().copied()).map(note);
        // no reading was sent yet, so none may be stored
        let noted: Result<(), StoreError> = notes.buffer_unordered(PIPELINE).try_collect().await;
        noted.map_err(|error| error.with_doubt(false))?;
        self.known.buckets[batch.table].extend(new);
        Ok(())
    }
}

/// Sends statements, several at once; after a failure those on their way are waited for and no more are sent.
async fn send(
    link: &Link,
    insert: &PreparedStatement,
    chunks: &[Chunk<'_>],
    batch: &Batch,
) -> Result<Acknowledgement, StoreError> {
    let one = async |chunk: usize| (chunk, send_one(link, insert, &chunks[chunk]).await);
    let mut pending = FuturesUnordered::new();
    let mut rest = 0..chunks.len();
    let mut done = vec![false; chunks.len()];
    let mut failure: Option<StoreError> = None;
    loop {
        while failure.is_none() && pending.len() < PIPELINE {
            let Some(chunk) = rest.next() else { break };
            pending.push(one(chunk));
        }
        match pending.next().await {
            None => break,
            Some((chunk, Ok(()))) => done[chunk] = true,
            Some((_, Err(error))) => {
                failure = Some(match failure {
                    Some(first) if first.is_in_doubt() || !error.is_in_doubt() => first,
                    _ => error,
                });
            }
        }
    }
    if let Some(error) = failure {
        return Err(account(error, chunks, &done, batch.len()));
    }
    let count = batch.len() as u64;
    Ok(Acknowledgement { readings: count, sent: count, statements: chunks.len() as u64 })
}

/// What a failure leaves of a batch: what is stored from its start is acknowledged, and anything stored behind that is in doubt.
fn account(error: StoreError, chunks: &[Chunk<'_>], done: &[bool], readings: usize) -> StoreError {
    let mut stored = vec![false; readings];
    let sent = chunks.iter().zip(done).filter(|(_, done)| **done);
    sent.flat_map(|(chunk, _)| &chunk.rows).for_each(|&row| stored[row] = true);
    let prefix = stored.iter().take_while(|stored| **stored).count();
    let in_doubt = error.is_in_doubt() || stored[prefix..].contains(&true);
    error.with_doubt(in_doubt).after_acknowledging(prefix as u64)
}

async fn send_one(link: &Link, insert: &PreparedStatement, chunk: &Chunk<'_>) -> Result<(), StoreError> {
    if let [line] = chunk.lines.as_slice() {
        return link.execute("write", insert, line).await.map(drop);
    }
    let statement = BatchStatement::PreparedStatement(insert.clone());
    let together = Together::new_with_statements(BatchType::Unlogged, vec![statement; chunk.lines.len()]);
    link.batch("write", &together, &chunk.lines).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::{ErrorKind, Field, Schema, Series, TimeResolution, Value};
    use std::sync::Arc;

    fn physical_schema() -> PhysicalSchema {
        let table = Table {
            name: "values".to_owned(),
            tags: Vec::new(),
            fields: vec![Field {
                name: "value".to_owned(),
                kind: sensormark_store::FieldType::F64,
                nullable: false,
            }],
            entity: None,
            time_resolution: TimeResolution::Seconds,
            series: Series::single(),
        };
        let schema = Arc::new(Schema { tables: vec![table] });
        let layout = crate::schema::layout_options::layouts(&schema, sensormark_store::Family::PerReading);
        PhysicalSchema::new(&schema, layout[0].layout).unwrap()
    }

    /// Readings of series 0 at these times, in units of 31 days: each of a partition of its own.
    fn readings(physical: &PhysicalSchema, months: &[i64]) -> Batch {
        let mut batch = Batch::new(0, &physical.schema.tables[0]);
        for &month in months {
            batch.series.push(0);
            batch.times_ns.push(month * 31 * 86_400_000_000_000);
            batch.columns[0].push(Value::F64(0.5)).unwrap();
        }
        batch
    }

    fn refused() -> StoreError {
        StoreError::new(ErrorKind::Rejected, "write", "the server does not want it")
    }

    #[test]
    fn what_is_stored_behind_a_refusal_is_in_doubt() {
        let physical = physical_schema();
        let batch = readings(&physical, &[1, 2, 3]);
        let mut known = Known::new(&physical);
        let chunks = chunks(&physical.tables[0], &batch, BYTES, &mut known).unwrap();
        assert_eq!(chunks.len(), 3);
        let error = account(refused(), &chunks, &[true, false, false], 3);
        assert_eq!((error.acknowledged(), error.is_in_doubt()), (1, false));
        let error = account(refused(), &chunks, &[true, false, true], 3);
        assert_eq!((error.acknowledged(), error.is_in_doubt()), (1, true));
    }

    #[test]
    fn a_reading_that_a_later_one_replaces_is_acknowledged_with_it() {
        let physical = physical_schema();
        let batch = readings(&physical, &[1, 1, 2]);
        let mut known = Known::new(&physical);
        let chunks = chunks(&physical.tables[0], &batch, BYTES, &mut known).unwrap();
        assert_eq!(chunks.len(), 2);
        let error = account(refused(), &chunks, &[true, false], 3);
        assert_eq!(error.acknowledged(), 2);
    }
}
