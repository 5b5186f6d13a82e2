//! Writing: which statement carries a batch, and how its cells travel.
//!
//! One reading goes by a prepared INSERT, a batch by a binary COPY, unless the layout names another way. It takes no
//! time and knows no workload.

pub(crate) mod record;
mod statement;

use crate::cell::native;
use crate::cell::{Parameter, array};
use crate::connection::Link;
use crate::sent::Prepared;
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::SinkExt;
use sensormark_kit::ByShape;
use sensormark_relational::cell::Cell;
use sensormark_relational::column_type::ColumnType;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_relational::write::statement::{Text, entity, insert, insert_head};
use sensormark_relational::write::{Rows, entity_cells};
use sensormark_store::{
    Acknowledgement, Atomicity, Batch, EntityReading, ErrorKind, Schema, StoreError, WriteMethod,
};
use std::pin::pin;

const OPERATION: &str = "write readings to PostgreSQL";
const UPSERT: &str = "update an entity in PostgreSQL";

/// Bytes of COPY that are encoded before they are handed on.
const COPY_CHUNK: usize = 64 * 1024;

/// Prepared statements for writing, by what they do.
pub(crate) type Statements = ByShape<Key, Prepared>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// Insert this many rows into a table.
    Insert { table: usize, rows: usize },
    /// COPY into a table.
    Copy { table: usize },
    /// Insert a reading and add it to its sums.
    SummariseOne { table: usize },
    /// The same for many.
    SummariseMany { table: usize },
    /// Insert or update an entity.
    Entity { table: usize },
    /// Both, with this many rows for the reading.
    EntityAndReading { table: usize, rows: usize },
}

/// What sends writes over a connection.
pub(crate) struct Writer<'a> {
    /// The connection.
    pub(crate) link: &'a mut Link,
    /// Its prepared statements.
    pub(crate) statements: &'a mut Statements,
    /// The plan's tables.
    pub(crate) physical: &'a PhysicalSchema,
}

impl Writer<'_> {
    /// Writes a batch, split where the limits say.
    pub(crate) async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        let mut done = Acknowledgement::default();
        let most = self.physical.table(batch.table)?.1.readings_per_statement;
        let mut start = 0;
        while start < batch.len() {
            let end = batch.len().min(start.saturating_add(most));
            let rows = Rows::new(self.physical, batch, start..end)?;
            done.statements += self
                .write_rows(&rows, end - start)
                .await
                .map_err(|error| error.after_acknowledging(done.readings))?;
            done.readings += (end - start) as u64;
            done.sent = done.readings;
            start = end;
        }
        Ok(done)
    }

    /// Writes rows as one statement (or one request of many); returns how many statements or requests it took.
    async fn write_rows(&mut self, rows: &Rows<'_>, readings: usize) -> Result<u64, StoreError> {
        if rows.physical.summary().is_some() {
            return self.summarise(rows).await;
        }
        match rows.physical.layout.write {
            WriteMethod::FastPath => self.copy(rows).await,
            WriteMethod::ConcatenatedStatements => self.concatenated(rows).await,
            WriteMethod::MultiRow => self.insert(rows).await,
            _ if readings == 1 => self.insert(rows).await,
            _ => self.copy(rows).await,
        }
    }

    /// A prepared INSERT.
    async fn insert(&mut self, rows: &Rows<'_>) -> Result<u64, StoreError> {
        let key = Key::Insert { table: rows.table.number, rows: rows.len() };
        let statement = self.prepared(key, || insert(rows.physical, rows.table, rows.len())).await?;
        self.link.kept.note(&statement, || Box::new(parameters(rows)));
        let sending = self.link.client.execute_raw(&statement.statement, parameters(rows));
        let stored = self.link.wire.run(OPERATION, sending).await?;
        complete(stored, rows.len())
    }

    /// A binary COPY: the rows are encoded piece by piece while the server takes them.
    async fn copy(&mut self, rows: &Rows<'_>) -> Result<u64, StoreError> {
        let key = Key::Copy { table: rows.table.number };
        let statement = self.prepared(key, || statement::copy(rows.table)).await?;
        self.link.kept.note_text(statement.text(), || {
            Some(format!("{} rows follow in the binary form of COPY", rows.len()))
        });
        let client = &self.link.client;
        let sending = async {
            let sink = client.copy_in::<_, Bytes>(&statement.statement).await?;
            let mut sink = pin!(sink);
            let mut buffer = BytesMut::with_capacity(COPY_CHUNK + 4096);
            buffer.put_slice(b"PGCOPY\n\xff\r\n\0");
            buffer.put_u64(0);
            let columns = rows.table.columns.len();
            for row in 0..rows.len() {
                buffer.put_i16(i16::try_from(columns).unwrap_or(i16::MAX));
                for column in 0..columns {
                    Parameter(rows.cell(row, column)).put_with_length(&mut buffer);
                }
                if buffer.len() >= COPY_CHUNK {
                    sink.feed(buffer.split().freeze()).await?;
                    buffer.reserve(COPY_CHUNK + 4096);
                }
            }
            buffer.put_i16(-1);
            sink.feed(buffer.freeze()).await?;
            sink.finish().await
        };
        let stored = self.link.wire.run(OPERATION, sending).await?;
        complete(stored, rows.len())
    }

    /// One string of INSERT statements, which the server runs as one transaction.
    async fn concatenated(&mut self, rows: &Rows<'_>) -> Result<u64, StoreError> {
        let columns = rows.table.columns.len();
        let head = format!("{}(", insert_head(rows.table));
        let mut text = String::with_capacity(rows.len() * (head.len() + columns * 16));
        for row in 0..rows.len() {
            text.push_str(&head);
            for column in 0..columns {
                if column > 0 {
                    text.push(',');
                }
                self.put_literal(rows, row, column, &mut text);
            }
            text.push_str(");");
        }
        self.link.kept.note_text(&text, || Some(format!("{} statements in one request", rows.len())));
        self.link.batch(OPERATION, &text).await?;
        Ok(1)
    }

    fn put_literal(&self, rows: &Rows<'_>, row: usize, column: usize, text: &mut String) {
        let cell = rows.cell(row, column);
        match cell {
            Cell::I64(key) if rows.table.columns[column].kind == ColumnType::Timestamp => {
                let micros = self.physical.time_ns(key).div_euclid(1_000);
                text.push_str("'epoch'::timestamptz + interval '1 microsecond' * ");
                Parameter(Cell::I64(micros)).put_literal(text);
            }
            cell => Parameter(cell).put_literal(text),
        }
    }

    /// Readings and their sums in one statement.
    async fn summarise(&mut self, rows: &Rows<'_>) -> Result<u64, StoreError> {
        let (physical, table) = (rows.physical, rows.table);
        let Some(((per_ns, split), sums)) = physical.summary().zip(table.sums.as_ref()) else {
            return Ok(0);
        };
        if rows.len() == 1 {
            let key = Key::SummariseOne { table: table.number };
            let parts = || statement::summarise_one(physical, table, sums, per_ns, split);
            let text = || statement::together(parts());
            let statement = self.prepared(key, text).await?;
            self.link.kept.note(&statement, || Box::new(parameters(rows)));
            let sending = self.link.client.execute_raw(&statement.statement, parameters(rows));
            self.link.wire.run(OPERATION, sending).await?;
            return Ok(1);
        }
        let key = Key::SummariseMany { table: table.number };
        let text = || statement::summarise_many(physical, table, sums, per_ns, split);
        let statement = self.prepared(key, text).await?;
        let arrays: Vec<Vec<u8>> = table
            .columns
            .iter()
            .enumerate()
            .map(|(number, column)| {
                let cells = (0..rows.len()).map(|row| rows.cell(row, number));
                array(&native(column.kind), rows.len(), cells)
            })
            .collect();
        let cells = || arrays.iter().map(|array| Parameter(Cell::Encoded(array)));
        self.link.kept.note(&statement, || Box::new(cells()));
        let sending = self.link.client.execute_raw(&statement.statement, cells());
        self.link.wire.run(OPERATION, sending).await?;
        Ok(1)
    }

    /// Inserts a reading and updates its entity.
    pub(crate) async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        let rows = Rows::new(self.physical, write.reading, 0..write.reading.len())?;
        let (table, description) = (rows.table, rows.description);
        let physical = self.physical;
        let entity_cells = entity_cells(physical, write)?;
        let text = |first| entity(physical, table, description, first).unwrap_or_default();
        let statements = match write.atomicity {
            Atomicity::Separate => {
                let statement = self.prepared(Key::Entity { table: table.number }, || text(1)).await?;
                let cells = || entity_cells.iter().copied().map(Parameter);
                self.link.kept.note(&statement, || Box::new(cells()));
                let sending = self.link.client.execute_raw(&statement.statement, cells());
                self.link.wire.run(UPSERT, sending).await?;
                1 + self.write_rows(&rows, 1).await?
            }
            Atomicity::Atomic => {
                let key = Key::EntityAndReading { table: table.number, rows: rows.len() };
                let first = rows.len() * table.columns.len() + 1;
                let statement = self.prepared(key, || with_reading(&rows, text(first))).await?;
                let reading = rows.cells().len();
                let columns = table.columns.len();
                let cell = |number: usize| match number.checked_sub(reading) {
                    None => Parameter(rows.cell(number / columns, number % columns)),
                    Some(number) => Parameter(entity_cells[number]),
                };
                let cells = || (0..reading + entity_cells.len()).map(cell);
                self.link.kept.note(&statement, || Box::new(cells()));
                let sending = self.link.client.execute_raw(&statement.statement, cells());
                self.link.wire.run(UPSERT, sending).await?;
                1
            }
        };
        Ok(Acknowledgement { readings: 1, sent: 1, statements })
    }

    /// The statement for this key, prepared when it is first used.
    async fn prepared(&mut self, key: Key, text: impl FnOnce() -> Text) -> Result<Prepared, StoreError> {
        let link = &mut *self.link;
        let make = async || {
            let (text, kinds) = text();
            let kinds = statement::types(&kinds);
            link.prepare("prepare a statement for writing", text, &kinds).await
        };
        self.statements.prepared(key, make).await
    }
}

/// The cells of rows as the driver takes them.
fn parameters<'a>(rows: &'a Rows<'_>) -> impl ExactSizeIterator<Item = Parameter<'a>> {
    rows.cells().map(Parameter)
}

/// One statement that writes the reading (and its sums) and the entity.
fn with_reading(rows: &Rows<'_>, entity: Text) -> Text {
    let (physical, table) = (rows.physical, rows.table);
    let mut parts = match physical.summary().zip(table.sums.as_ref()) {
        Some(((per_ns, split), sums)) => statement::summarise_one(physical, table, sums, per_ns, split),
        None => vec![insert(physical, table, rows.len())],
    };
    parts.push(entity);
    statement::together(parts)
}

/// The server must have stored as many rows as were sent.
fn complete(stored: u64, sent: usize) -> Result<u64, StoreError> {
    if stored == sent as u64 {
        return Ok(1);
    }
    Err(StoreError::new(
        ErrorKind::Protocol,
        OPERATION,
        format!("{sent} rows were sent and the server says that it stored {stored}"),
    )
    .with_doubt(true))
}

/// Fills the tables of tags, in one statement each.
pub(crate) async fn fill_tags(
    link: &mut Link,
    physical: &PhysicalSchema,
    schema: &Schema,
) -> Result<(), StoreError> {
    for (table, description) in physical.tables.iter().zip(&schema.tables) {
        let Some(name) = &table.tags else { continue };
        let (text, kinds) = statement::fill_tags(name, table, description);
        let kinds = statement::types(&kinds);
        let count = description.series.len();
        let mut arrays = vec![array(&native(ColumnType::I32), count as usize, (0..count).map(Cell::series))];
        for (tag, values) in description.series.columns().iter().enumerate() {
            let cells = (0..count).map(|series| Cell::tag(description, tag, series));
            let kind = native(ColumnType::of_tag(values));
            arrays.push(array(&kind, count as usize, cells));
        }
        let statement =
            link.wire.run("fill the table of tags", link.client.prepare_typed(&text, &kinds)).await?;
        let cells = arrays.iter().map(|array| Parameter(Cell::Encoded(array)));
        link.wire.run("fill the table of tags", link.client.execute_raw(&statement, cells)).await?;
    }
    Ok(())
}
