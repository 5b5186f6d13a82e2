//! Writing: prepared statements inside one transaction a batch, or one alone for a single row.
//!
//! Rows of readings and fields are here, entities in [`entities`], records of a span in [`records`], sums in [`sums`], whole statements as text in [`text`].

use crate::design::{Design, SeriesKey, TableDesign};
use crate::error;
use crate::schema;
use crate::session::{SqliteSession, tag_ref};
use rusqlite::types::{Null, ToSqlOutput};
use rusqlite::{CachedStatement, Connection, ffi};
use sensormark_store::{
    Acknowledgement, Atomicity, Batch, Column, EntityReading, Shape, StoreError, Table, Values,
    WriteMethod,
};
use std::collections::HashMap;
use std::ops::Range;

mod entities;
mod records;
mod sums;
mod text;

const OPERATION: &str = "write readings";

/// The statements that write one table, and the buffers that they need.
pub struct Writer {
    /// Inserts one row.
    insert: String,
    /// Inserts one row whose key a clustered table has already.
    repeat: Option<String>,
    /// Inserts this many rows.
    many: HashMap<usize, String>,
    /// Adds to a row of sums.
    add_sums: Option<String>,
    /// Inserts or updates an entity.
    entity: Option<String>,
    buffer: Vec<u8>,
}

impl Writer {
    /// The statements of this table.
    pub fn new(design: &Design, number: usize) -> Self {
        let table = &design.tables[number];
        let binary_json = matches!(
            design.layout.shape,
            Shape::RecordPerSpan {
                encoding: sensormark_store::Encoding::BinaryJson,
                ..
            }
        );
        Self {
            insert: insert(table, 1, "0", binary_json),
            repeat: table
                .copy
                .as_ref()
                .map(|copy| insert(table, 1, &next_copy(table, copy), false)),
            many: HashMap::new(),
            add_sums: sums::statement(design, number),
            entity: entities::statement(table),
            buffer: Vec::new(),
        }
    }

    fn many(&mut self, table: &TableDesign, rows: usize) -> &str {
        self.many
            .entry(rows)
            .or_insert_with(|| insert(table, rows, "0", false))
    }
}

/// How many values a row is given.
fn width(table: &TableDesign) -> usize {
    table.key.written().len() + 1 + table.values.len()
}

fn insert(table: &TableDesign, rows: usize, copy: &str, binary_json: bool) -> String {
    let mut columns = table.key.written();
    columns.push(&table.time);
    columns.extend(table.copy.as_deref());
    columns.extend(table.values.iter().map(String::as_str));
    let (width, before) = (width(table), table.key.written().len() + 1);
    let row = |row: usize| {
        let mut values: Vec<String> = (1..=width)
            .map(|place| format!("?{}", row * width + place))
            .collect();
        if binary_json && let Some(last) = values.last_mut() {
            *last = format!("jsonb({last})");
        }
        if table.copy.is_some() {
            values.insert(before, copy.to_owned());
        }
        format!("({})", values.join(", "))
    };
    let values: Vec<String> = (0..rows).map(row).collect();
    format!(
        "INSERT INTO {} ({}) VALUES {}",
        table.readings,
        columns.join(", "),
        values.join(", ")
    )
}

/// The next number for a key that is there already, as a subquery on the parameters of [`insert`].
fn next_copy(table: &TableDesign, copy: &str) -> String {
    let written = table.key.written();
    let mut conditions: Vec<String> = table
        .key
        .identifying()
        .iter()
        .map(|column| {
            let place = written.iter().position(|other| other == column);
            format!("{column} = ?{}", place.unwrap_or(0) + 1)
        })
        .collect();
    conditions.push(format!("{} = ?{}", table.time, written.len() + 1));
    format!(
        "(SELECT max({copy}) + 1 FROM {} WHERE {})",
        table.readings,
        conditions.join(" AND ")
    )
}

/// Writes a batch as one transaction, or as several where it is larger than the largest of them.
///
/// # Errors
/// What SQLite says, with how many readings were committed before.
pub fn write(session: &mut SqliteSession, batch: &Batch) -> Result<Acknowledgement, StoreError> {
    let mut acknowledgement = Acknowledgement::default();
    let width = width(&session.design.tables[batch.table]);
    let (limit, rows_per_statement) = match session.design.layout.write {
        WriteMethod::ConcatenatedStatements => (schema::CONCATENATED, schema::CONCATENATED),
        WriteMethod::MultiRow => (schema::TRANSACTION, schema::rows_per_statement(width)),
        _ => (schema::TRANSACTION, schema::TRANSACTION),
    };
    let mut start = 0;
    while start < batch.len() {
        let rows = start..batch.len().min(start + limit);
        write_rows(session, batch, rows.clone())
            .map_err(|error| error.after_acknowledging(acknowledgement.readings))?;
        start = rows.end;
        acknowledgement.readings += rows.len() as u64;
        acknowledgement.statements += rows.len().div_ceil(rows_per_statement) as u64;
    }
    acknowledgement.sent = acknowledgement.readings;
    Ok(acknowledgement)
}

/// Inserts a reading and updates its entity.
///
/// # Errors
/// What SQLite says.
pub fn upsert(
    session: &mut SqliteSession,
    write: EntityReading<'_>,
) -> Result<Acknowledgement, StoreError> {
    let number = write.reading.table;
    if session.design.tables[number].entity.is_none() {
        return Err(StoreError::unsupported(
            "update an entity",
            format!(
                "table {} has no entities",
                session.design.schema.tables[number].name
            ),
        ));
    }
    let _turn = session.turn()?;
    let SqliteSession {
        connection,
        design,
        writers,
        ..
    } = session;
    let writer = &mut writers[number];
    let rows = 0..write.reading.len();
    match write.atomicity {
        Atomicity::Atomic => atomically(connection, || {
            entities::put(connection, design, writer, write)?;
            insert_rows(connection, design, writer, write.reading, rows)
        })?,
        Atomicity::Separate => {
            entities::put(connection, design, writer, write)?;
            commit_rows(connection, design, writer, write.reading, rows)?;
        }
    }
    Ok(Acknowledgement {
        readings: write.reading.len() as u64,
        sent: write.reading.len() as u64,
        statements: 2,
    })
}

fn write_rows(
    session: &mut SqliteSession,
    batch: &Batch,
    rows: Range<usize>,
) -> Result<(), StoreError> {
    let _turn = session.turn()?;
    let SqliteSession {
        connection,
        design,
        writers,
        ..
    } = session;
    let writer = &mut writers[batch.table];
    match design.layout.write {
        WriteMethod::ConcatenatedStatements => text::write(connection, design, writer, batch, rows),
        _ => commit_rows(connection, design, writer, batch, rows),
    }
}

/// Writes rows as one commit: a single row by its statement alone, more in a transaction.
fn commit_rows(
    connection: &Connection,
    design: &Design,
    writer: &mut Writer,
    batch: &Batch,
    rows: Range<usize>,
) -> Result<(), StoreError> {
    let alone = rows.len() == 1
        && matches!(
            design.layout.shape,
            Shape::RowPerReading | Shape::RecordPerSpan { .. }
        );
    if alone {
        return insert_rows(connection, design, writer, batch, rows);
    }
    atomically(connection, || {
        insert_rows(connection, design, writer, batch, rows)
    })
}

/// Runs statements as one transaction: all or none.
fn atomically(
    connection: &Connection,
    work: impl FnOnce() -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let run = |sql: &str| {
        let mut statement = connection.prepare_cached(sql)?;
        statement.raw_execute().map(|_| ())
    };
    let wrong = |cause| error::native(OPERATION, cause);
    run("BEGIN IMMEDIATE").map_err(wrong)?;
    let done = work().and_then(|()| run("COMMIT").map_err(wrong));
    if done.is_err() && !connection.is_autocommit() {
        // What failed is reported; a failing ROLLBACK leaves the transaction to the closing of the connection.
        drop(run("ROLLBACK"));
    }
    done
}

fn insert_rows(
    connection: &Connection,
    design: &Design,
    writer: &mut Writer,
    batch: &Batch,
    rows: Range<usize>,
) -> Result<(), StoreError> {
    match (design.layout.shape, design.layout.write) {
        (Shape::RecordPerSpan { span_ns, encoding }, _) => {
            records::insert(connection, design, writer, batch, (rows, span_ns, encoding))
        }
        (Shape::RowPerField, _) => insert_fields(connection, design, writer, batch, rows),
        (Shape::Summary { .. }, _) => {
            insert_readings(connection, design, writer, batch, rows.clone())?;
            sums::add(connection, design, writer, batch, rows)
        }
        (_, WriteMethod::MultiRow) => insert_many(connection, design, writer, batch, rows),
        _ => insert_readings(connection, design, writer, batch, rows),
    }
}

/// One execution of the prepared statement a reading. Parameters keep their values between executions, so a series
/// is bound only when it changes.
fn insert_readings(
    connection: &Connection,
    design: &Design,
    writer: &Writer,
    batch: &Batch,
    rows: Range<usize>,
) -> Result<(), StoreError> {
    let wrong = |cause| error::native(OPERATION, cause);
    let (table, logical) = (
        &design.tables[batch.table],
        &design.schema.tables[batch.table],
    );
    let mut statement = connection.prepare_cached(&writer.insert).map_err(wrong)?;
    let tags = table.key.written().len();
    let mut bound = None;
    for row in rows {
        if bound != Some(batch.series[row]) {
            bind_series(&mut statement, &table.key, logical, batch.series[row], 0)
                .map_err(wrong)?;
            bound = Some(batch.series[row]);
        }
        bind_reading(&mut statement, batch, row, tags).map_err(wrong)?;
        match (statement.raw_execute(), &writer.repeat) {
            (Ok(_), _) => {}
            (Err(cause), Some(repeat)) if is_repeated(&cause) => {
                let mut statement = connection.prepare_cached(repeat).map_err(wrong)?;
                bind_series(&mut statement, &table.key, logical, batch.series[row], 0)
                    .and_then(|_| bind_reading(&mut statement, batch, row, tags))
                    .and_then(|()| statement.raw_execute())
                    .map_err(wrong)?;
            }
            (Err(cause), _) => return Err(wrong(cause)),
        }
    }
    Ok(())
}

/// Whether a clustered table has this key already.
fn is_repeated(error: &rusqlite::Error) -> bool {
    error
        .sqlite_error()
        .is_some_and(|code| code.extended_code == ffi::SQLITE_CONSTRAINT_PRIMARYKEY)
}

fn insert_many(
    connection: &Connection,
    design: &Design,
    writer: &mut Writer,
    batch: &Batch,
    rows: Range<usize>,
) -> Result<(), StoreError> {
    let wrong = |cause| error::native(OPERATION, cause);
    let (table, logical) = (
        &design.tables[batch.table],
        &design.schema.tables[batch.table],
    );
    let (width, tags) = (width(table), table.key.written().len());
    let most = schema::rows_per_statement(width);
    let mut start = rows.start;
    while start < rows.end {
        let part = start..rows.end.min(start + most);
        start = part.end;
        let sql = writer.many(table, part.len());
        let mut statement = connection.prepare_cached(sql).map_err(wrong)?;
        for (place, row) in part.enumerate() {
            let before = place * width;
            bind_series(
                &mut statement,
                &table.key,
                logical,
                batch.series[row],
                before,
            )
            .and_then(|_| bind_reading(&mut statement, batch, row, before + tags))
            .map_err(wrong)?;
        }
        statement.raw_execute().map_err(wrong)?;
    }
    Ok(())
}

/// A row a present field; a reading without any leaves one row that holds nothing.
fn insert_fields(
    connection: &Connection,
    design: &Design,
    writer: &Writer,
    batch: &Batch,
    rows: Range<usize>,
) -> Result<(), StoreError> {
    let wrong = |cause| error::native(OPERATION, cause);
    let (table, logical) = (
        &design.tables[batch.table],
        &design.schema.tables[batch.table],
    );
    let mut statement = connection.prepare_cached(&writer.insert).map_err(wrong)?;
    let tags = table.key.written().len();
    for row in rows {
        bind_series(&mut statement, &table.key, logical, batch.series[row], 0)
            .and_then(|_| statement.raw_bind_parameter(tags + 1, batch.times_ns[row]))
            .map_err(wrong)?;
        let mut any = false;
        for (field, column) in batch
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.has(row))
        {
            any = true;
            statement
                .raw_bind_parameter(tags + 2, field as i64)
                .and_then(|()| bind_value(&mut statement, column, row, tags + 3))
                .and_then(|()| statement.raw_execute())
                .map_err(wrong)?;
        }
        if !any {
            statement
                .raw_bind_parameter(tags + 2, 0)
                .and_then(|()| statement.raw_bind_parameter(tags + 3, Null))
                .and_then(|()| statement.raw_execute())
                .map_err(wrong)?;
        }
    }
    Ok(())
}

/// Binds what names a series after place `before`; gives the last place that was bound.
fn bind_series(
    statement: &mut CachedStatement<'_>,
    key: &SeriesKey,
    table: &Table,
    series: u32,
    before: usize,
) -> rusqlite::Result<usize> {
    match key {
        SeriesKey::Only => Ok(before),
        SeriesKey::Number(_) => {
            statement.raw_bind_parameter(before + 1, series)?;
            Ok(before + 1)
        }
        SeriesKey::Tags { .. } => {
            let columns = table.series.columns();
            for (tag, column) in columns.iter().enumerate() {
                let value = ToSqlOutput::Borrowed(tag_ref(column, series));
                statement.raw_bind_parameter(before + 1 + tag, value)?;
            }
            Ok(before + columns.len())
        }
    }
}

/// Binds time and fields of a reading after place `before`.
fn bind_reading(
    statement: &mut CachedStatement<'_>,
    batch: &Batch,
    row: usize,
    before: usize,
) -> rusqlite::Result<()> {
    statement.raw_bind_parameter(before + 1, batch.times_ns[row])?;
    for (field, column) in batch.columns.iter().enumerate() {
        bind_value(statement, column, row, before + 2 + field)?;
    }
    Ok(())
}

fn bind_value(
    statement: &mut CachedStatement<'_>,
    column: &Column,
    row: usize,
    place: usize,
) -> rusqlite::Result<()> {
    if !column.has(row) {
        return statement.raw_bind_parameter(place, Null);
    }
    match &column.values {
        Values::Bool(values) => statement.raw_bind_parameter(place, values[row]),
        Values::I64(values) => statement.raw_bind_parameter(place, values[row]),
        Values::U16(values) => statement.raw_bind_parameter(place, values[row]),
        Values::F64(values) => statement.raw_bind_parameter(place, values[row]),
        Values::Text(values) => statement.raw_bind_parameter(place, values.get(row)),
    }
}
