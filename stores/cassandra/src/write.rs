//! Writing: a prepared insert for one row, unlogged batches by partition for many, several of them on their way at once.
//!
//! A bucket of a series is noted before its first reading is sent, so that readers know where to look. Of readings of the same
//! series and time in one call the last is sent alone: statements of one batch share a timestamp, and the larger value would win.

use crate::connection::{Cell, Cells, Link};
use crate::schema::{Model, Rows, TableModel};
use crate::session::{Shape, Statements};
use futures_util::stream::{FuturesUnordered, StreamExt, TryStreamExt, iter};
use scylla::serialize::SerializationError;
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::RowWriter;
use scylla::statement::batch::{Batch as Together, BatchStatement, BatchType};
use scylla::statement::prepared::PreparedStatement;
use sensormark_store::{
    Acknowledgement, Atomicity, Batch, Column, EntityReading, ErrorKind, FieldType, Layout, Limits,
    Shape as LayoutShape, StoreError, Table, Value, Values,
};
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) mod blob;

pub(crate) mod json;

pub(crate) mod record;

/// Statements of one call that are on their way at once.
pub(crate) const PIPELINE: usize = 32;

/// Readings in one batch statement.
const READINGS: usize = 1_000;

/// Estimated bytes in one batch statement: our own servers take 16 MiB, those of others fail at 50 KiB unless told otherwise.
const BYTES: usize = 1 << 20;
const BYTES_ELSEWHERE: usize = 24 << 10;

/// The largest row in bytes: half of a commit log segment of 32 MiB is the largest mutation.
const LARGEST_ROW: usize = 15 << 20;

/// The largest statements.
pub(crate) fn limits(layout: &Layout, _: &Table) -> Limits {
    match layout.shape {
        LayoutShape::RecordPerSpan { .. } => Limits {
            readings_per_statement: 1_000_000,
            suggested_batch: 10_000,
        },
        _ => Limits {
            readings_per_statement: READINGS,
            suggested_batch: READINGS,
        },
    }
}

/// What a session knows to be stored already.
#[derive(Debug)]
pub(crate) struct Known {
    buckets: Vec<HashSet<(u32, i64)>>,
    entities: Vec<HashSet<u32>>,
    session: u64,
    writes: u32,
}

impl Known {
    /// Nothing yet.
    pub(crate) fn new(model: &Model) -> Self {
        let tables = model.tables.len();
        Self {
            buckets: vec![HashSet::new(); tables],
            entities: vec![HashSet::new(); tables],
            session: RandomState::new().hash_one(0),
            writes: 0,
        }
    }

    /// A name for a record that no other has: when, by whom, which.
    fn name(&mut self) -> [u8; 20] {
        self.writes = self.writes.wrapping_add(1);
        let mut name = [0; 20];
        name[..8].copy_from_slice(&micros().to_be_bytes());
        name[8..12].copy_from_slice(&self.writes.to_be_bytes());
        name[12..].copy_from_slice(&self.session.to_be_bytes());
        name
    }
}

/// Microseconds since the Unix epoch.
fn micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    })
}

/// One reading as a row.
struct Row<'a> {
    batch: &'a Batch,
    row: usize,
    bucket: i64,
    key: i64,
}

/// The value of a field at a row.
fn cell(column: &Column, row: usize) -> Cell<'_> {
    if !column.has(row) {
        return Cell::Null;
    }
    match &column.values {
        Values::Bool(values) => Cell::Bool(values[row]),
        Values::I64(values) => Cell::Big(values[row]),
        Values::U16(values) => Cell::Int(i32::from(values[row])),
        Values::F64(values) => Cell::Double(values[row]),
        Values::Text(values) => Cell::Bytes(values.get(row).as_bytes()),
    }
}

impl SerializeRow for Row<'_> {
    fn serialize(
        &self,
        _: &RowSerializationContext<'_>,
        writer: &mut RowWriter<'_>,
    ) -> Result<(), SerializationError> {
        Cell::Int(self.batch.series[self.row].cast_signed()).write(writer)?;
        Cell::Big(self.bucket).write(writer)?;
        Cell::Big(self.key).write(writer)?;
        let mut columns = self.batch.columns.iter();
        columns.try_for_each(|column| cell(column, self.row).write(writer))
    }

    fn is_empty(&self) -> bool {
        false
    }
}

/// One row of either kind of table, with its values.
enum Line<'a> {
    Reading(Row<'a>),
    Record {
        series: u32,
        bucket: i64,
        span: i64,
        name: [u8; 20],
        record: Vec<u8>,
    },
}

impl SerializeRow for Line<'_> {
    fn serialize(
        &self,
        context: &RowSerializationContext<'_>,
        writer: &mut RowWriter<'_>,
    ) -> Result<(), SerializationError> {
        match self {
            Self::Reading(row) => row.serialize(context, writer),
            Self::Record {
                series,
                bucket,
                span,
                name,
                record,
            } => Cells(&[
                Cell::Int(series.cast_signed()),
                Cell::Big(*bucket),
                Cell::Big(*span),
                Cell::Bytes(name),
                Cell::Bytes(record),
            ])
            .serialize(context, writer),
        }
    }

    fn is_empty(&self) -> bool {
        false
    }
}

/// One statement: its lines, and the batch's rows in them.
struct Chunk<'a> {
    lines: Vec<Line<'a>>,
    rows: Vec<usize>,
    bytes: usize,
}

/// What sends writes over a connection.
pub(crate) struct Writer<'a> {
    pub(crate) link: &'a Link,
    pub(crate) statements: &'a mut Statements,
    pub(crate) model: &'a Model,
    pub(crate) known: &'a mut Known,
    pub(crate) managed: bool,
}

fn no_table(table: usize) -> StoreError {
    StoreError::new(
        ErrorKind::NotFound,
        "find a table",
        format!("the schema has no table number {table}"),
    )
}

impl Writer<'_> {
    /// Writes a batch.
    pub(crate) async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        let own = self.model.tables.get(batch.table);
        let own = own.ok_or_else(|| no_table(batch.table))?;
        if batch.is_empty() {
            return Ok(Acknowledgement::default());
        }
        let chunks = self.chunks(own, batch)?;
        let insert = self.insert(batch.table).await?;
        self.note_buckets(own, batch).await?;
        send(self.link, &insert, &chunks, batch).await
    }

    /// The statement that inserts a row.
    async fn insert(&mut self, table: usize) -> Result<PreparedStatement, StoreError> {
        let (own, fields) = (
            &self.model.tables[table],
            &self.model.schema.tables[table].fields,
        );
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
        self.statements
            .get(self.link, Shape::Insert(table), text)
            .await
    }

    /// Notes buckets that this session has not noted yet.
    async fn note_buckets(&mut self, own: &TableModel, batch: &Batch) -> Result<(), StoreError> {
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
        let text = |keyspace: &str| {
            format!(
                "INSERT INTO {keyspace}.\"{}\" (\"_series\", \"_bucket\") VALUES (?, ?)",
                own.buckets()
            )
        };
        let insert = self
            .statements
            .get(self.link, Shape::Bucket(batch.table), text)
            .await?;
        let note = async |(series, bucket): (u32, i64)| {
            let cells = [Cell::Int(series.cast_signed()), Cell::Big(bucket)];
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

    /// The statements that a batch becomes.
    fn chunks<'b>(
        &mut self,
        own: &TableModel,
        batch: &'b Batch,
    ) -> Result<Vec<Chunk<'b>>, StoreError> {
        match own.rows {
            Rows::Reading { .. } => {
                let most = if self.managed { BYTES } else { BYTES_ELSEWHERE };
                reading_chunks(own, batch, most)
            }
            Rows::Record { span_ns, json } => self.record_chunks(own, batch, span_ns, json),
        }
    }

    fn record_chunks<'b>(
        &mut self,
        own: &TableModel,
        batch: &'b Batch,
        span_ns: i64,
        json: bool,
    ) -> Result<Vec<Chunk<'b>>, StoreError> {
        let runs = record::runs(batch, 0..batch.len(), span_ns);
        let mut chunks = Vec::new();
        for one in record::records(&runs, span_ns) {
            let mut bytes = Vec::new();
            if json {
                json::encode(batch, &one, &mut bytes);
            } else {
                blob::encode(batch, &one, &mut bytes)?;
            }
            if bytes.len() > LARGEST_ROW {
                return Err(too_large("a record", bytes.len()));
            }
            chunks.push(Chunk {
                bytes: bytes.len(),
                lines: vec![Line::Record {
                    series: one.series,
                    bucket: own.bucket(one.span),
                    span: one.span,
                    name: self.known.name(),
                    record: bytes,
                }],
                rows: one.rows().collect(),
            });
        }
        Ok(chunks)
    }

    /// Inserts a reading and updates its entity.
    pub(crate) async fn upsert(
        &mut self,
        write: EntityReading<'_>,
    ) -> Result<Acknowledgement, StoreError> {
        let batch = write.reading;
        let own = self.model.tables.get(batch.table);
        let own = own.ok_or_else(|| no_table(batch.table))?;
        if self.model.schema.tables[batch.table].entity.is_none() {
            return Err(StoreError::unsupported(
                "update an entity",
                "the table has no entity",
            ));
        }
        let (Some(&series), Some(&time)) = (batch.series.first(), batch.times_ns.first()) else {
            return Ok(Acknowledgement::default());
        };
        let chunks = self.chunks(own, batch)?;
        let insert = self.insert(batch.table).await?;
        let (entity, last) = self.entity_statements(batch.table, own).await?;
        self.note_buckets(own, batch).await?;
        let is_known = self.known.entities[batch.table].contains(&series);
        let mut together = Together::new(BatchType::Logged);
        let mut values = Vec::new();
        if !is_known {
            together.append_statement(entity);
            values.push(Update::Entity(series, write.entity));
        }
        together.append_statement(last);
        let unit = match own.rows {
            Rows::Reading { unit_ns } => unit_ns,
            Rows::Record { .. } => 1,
        };
        values.push(Update::LastTime(time - time.rem_euclid(unit), series));
        let mut statements = 1;
        if write.atomicity == Atomicity::Atomic {
            together.append_statement(insert);
            values.extend(
                chunks
                    .iter()
                    .flat_map(|chunk| &chunk.lines)
                    .map(Update::Line),
            );
            self.link
                .batch("update an entity and write", &together, &values)
                .await?;
        } else {
            // both statements are of one partition: nothing to log
            together = Together::new_with_statements(BatchType::Unlogged, together.statements);
            self.link
                .batch("update an entity", &together, &values)
                .await?;
            send(self.link, &insert, &chunks, batch).await?;
            statements = 2;
        }
        self.known.entities[batch.table].insert(series);
        Ok(Acknowledgement {
            readings: 1,
            sent: 1,
            statements,
        })
    }

    async fn entity_statements(
        &mut self,
        table: usize,
        own: &TableModel,
    ) -> Result<(PreparedStatement, PreparedStatement), StoreError> {
        let description = &self.model.schema.tables[table];
        let Some(entity) = &description.entity else {
            return Err(StoreError::unsupported(
                "update an entity",
                "the table has no entity",
            ));
        };
        // The first write of an entity's columns stays: its timestamp counts backwards, so that later ones lose.
        let text = |keyspace: &str| {
            let columns = entity.columns.iter();
            let columns: String = columns
                .map(|column| format!(", \"{}\"", column.name))
                .collect();
            format!(
                "INSERT INTO {keyspace}.\"{}\" (\"_series\"{columns}) VALUES (?{}) USING TIMESTAMP ?",
                own.entities(),
                ", ?".repeat(entity.columns.len())
            )
        };
        let first = self
            .statements
            .get(self.link, Shape::Entity(table), text)
            .await?;
        let text = |keyspace: &str| {
            format!(
                "UPDATE {keyspace}.\"{}\" SET \"{}\" = ? WHERE \"_series\" = ?",
                own.entities(),
                entity.last_time_column
            )
        };
        let last = self
            .statements
            .get(self.link, Shape::LastTime(table), text)
            .await?;
        Ok((first, last))
    }
}

/// Values of one statement of an upsert.
enum Update<'a> {
    Entity(u32, &'a [Value]),
    LastTime(i64, u32),
    Line(&'a Line<'a>),
}

impl SerializeRow for Update<'_> {
    fn serialize(
        &self,
        context: &RowSerializationContext<'_>,
        writer: &mut RowWriter<'_>,
    ) -> Result<(), SerializationError> {
        match self {
            Self::Entity(series, columns) => {
                Cell::Int(series.cast_signed()).write(writer)?;
                for (value, spec) in columns.iter().zip(context.columns().iter().skip(1)) {
                    let small = matches!(
                        spec.typ(),
                        scylla::frame::response::result::ColumnType::Native(
                            scylla::frame::response::result::NativeType::Int
                        )
                    );
                    value_cell(value, small).write(writer)?;
                }
                Cell::Big(-micros()).write(writer)
            }
            Self::LastTime(time, series) => {
                Cell::Big(*time).write(writer)?;
                Cell::Int(series.cast_signed()).write(writer)
            }
            Self::Line(line) => line.serialize(context, writer),
        }
    }

    fn is_empty(&self) -> bool {
        false
    }
}

fn value_cell(value: &Value, small: bool) -> Cell<'_> {
    match value {
        Value::Null => Cell::Unset,
        Value::Bool(value) => Cell::Bool(*value),
        Value::I64(value) if small => i32::try_from(*value).map_or(Cell::Unset, Cell::Int),
        Value::I64(value) => Cell::Big(*value),
        Value::F64(value) => Cell::Double(*value),
        Value::Text(value) => Cell::Bytes(value.as_bytes()),
    }
}

fn too_large(what: &str, bytes: usize) -> StoreError {
    StoreError::new(
        ErrorKind::TooLarge,
        "write",
        format!(
            "{what} takes {bytes} bytes, and Cassandra takes {LARGEST_ROW} at most (half a commit log segment); store less in one"
        ),
    )
}

/// About as many bytes as a reading takes in a statement and in the server's own measure of a batch.
fn estimate(batch: &Batch, row: usize) -> usize {
    let columns = batch.columns.iter();
    let values = columns.map(|column| match &column.values {
        Values::Text(values) => 16 + values.get(row).len(),
        other => match other.kind() {
            FieldType::Bool => 13,
            FieldType::U16 => 16,
            _ => 20,
        },
    });
    values.sum::<usize>() + 40
}

/// Readings by partition, in the order of time, each once.
fn reading_chunks<'b>(
    own: &TableModel,
    batch: &'b Batch,
    most: usize,
) -> Result<Vec<Chunk<'b>>, StoreError> {
    let place = |row: usize| {
        let key = own.key(batch.times_ns[row]);
        (batch.series[row], own.bucket(key), key, row)
    };
    let mut places: Vec<_> = (0..batch.len()).map(place).collect();
    if !places.is_sorted() {
        places.sort_unstable();
    }
    let mut chunks: Vec<Chunk<'b>> = Vec::new();
    let mut partition = None;
    for (index, &(series, bucket, key, row)) in places.iter().enumerate() {
        let next = places.get(index + 1);
        if next.is_some_and(|next| (next.0, next.2) == (series, key)) {
            continue; // a later reading of the same series and time takes its place
        }
        let bytes = estimate(batch, row);
        if bytes > LARGEST_ROW {
            return Err(too_large("a reading", bytes));
        }
        let line = Line::Reading(Row {
            batch,
            row,
            bucket,
            key,
        });
        let same = partition.replace((series, bucket)) == Some((series, bucket));
        match chunks.last_mut() {
            Some(chunk) if same && chunk.lines.len() < READINGS && chunk.bytes + bytes <= most => {
                chunk.lines.push(line);
                chunk.rows.push(row);
                chunk.bytes += bytes;
            }
            _ => chunks.push(Chunk {
                lines: vec![line],
                rows: vec![row],
                bytes,
            }),
        }
    }
    Ok(chunks)
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
        let mut stored = vec![false; batch.len()];
        let sent = chunks.iter().zip(&done).filter(|(_, done)| **done);
        sent.flat_map(|(chunk, _)| &chunk.rows)
            .for_each(|&row| stored[row] = true);
        let prefix = stored.iter().take_while(|stored| **stored).count();
        return Err(error.after_acknowledging(prefix as u64));
    }
    let count = batch.len() as u64;
    Ok(Acknowledgement {
        readings: count,
        sent: count,
        statements: chunks.len() as u64,
    })
}

async fn send_one(
    link: &Link,
    insert: &PreparedStatement,
    chunk: &Chunk<'_>,
) -> Result<(), StoreError> {
    if let [line] = chunk.lines.as_slice() {
        return link.execute("write", insert, line).await.map(drop);
    }
    let statement = BatchStatement::PreparedStatement(insert.clone());
    let together =
        Together::new_with_statements(BatchType::Unlogged, vec![statement; chunk.lines.len()]);
    link.batch("write", &together, &chunk.lines).await
}
