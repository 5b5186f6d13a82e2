//! Writing: prepared statements inside one transaction a batch, or one alone for a single row.
//!
//! Rows and statements are the relational planner's; here they are bound and run. Records of a span are in `records`, whole statements
//! as text in `text`.

use crate::connection::SqliteSession;
use crate::error;
use crate::schema;
use rusqlite::{CachedStatement, Connection, ffi};
use sensormark_relational::cell::Cell;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_relational::write::statement::{insert, insert_tags};
use sensormark_relational::write::sums::Sums;
use sensormark_relational::write::{Rows, entity_cells};
use sensormark_store::{Acknowledgement, Atomicity, Batch, EntityReading, Shape, StoreError, WriteMethod};
use std::ops::Range;

mod records;
mod text;
pub(crate) mod writer;

use writer::{OPERATION, Writer, bind};

/// Writes a batch as one transaction, or as several where it is larger than the largest of them.
///
/// # Errors
/// What SQLite says, with how many readings were committed before.
pub fn write(session: &mut SqliteSession, batch: &Batch) -> Result<Acknowledgement, StoreError> {
    let mut acknowledgement = Acknowledgement::default();
    let width = session.writers[batch.table].written.len();
    let (limit, rows_per_statement) = match session.physical.layout.write {
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
pub fn upsert(session: &mut SqliteSession, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
    let _turn = session.turn()?;
    let SqliteSession { connection, physical, writers, .. } = session;
    let cells = entity_cells(physical, write)?;
    let writer = &mut writers[write.reading.table];
    let readings = write.reading.len();
    match write.atomicity {
        Atomicity::Atomic => atomically(connection, || {
            put_entity(connection, writer, &cells)?;
            insert_rows(connection, physical, writer, write.reading, 0..readings)
        })?,
        Atomicity::Separate => {
            put_entity(connection, writer, &cells)?;
            commit_rows(connection, physical, writer, write.reading, 0..readings)?;
        }
    }
    Ok(Acknowledgement { readings: readings as u64, sent: readings as u64, statements: 2 })
}

fn put_entity(connection: &Connection, writer: &Writer, cells: &[Cell<'_>]) -> Result<(), StoreError> {
    let Some(sql) = &writer.entity else {
        return Ok(());
    };
    run(connection, sql, cells.iter().copied()).map_err(|cause| error::native("update an entity", cause))
}

/// Runs a statement with these values.
fn run<'a>(
    connection: &Connection,
    sql: &str,
    cells: impl IntoIterator<Item = Cell<'a>>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    for (place, cell) in cells.into_iter().enumerate() {
        bind(&mut statement, place + 1, cell)?;
    }
    statement.raw_execute().map(|_| ())
}

fn write_rows(session: &mut SqliteSession, batch: &Batch, rows: Range<usize>) -> Result<(), StoreError> {
    let _turn = session.turn()?;
    let SqliteSession { connection, physical, writers, .. } = session;
    let writer = &mut writers[batch.table];
    match physical.layout.write {
        WriteMethod::ConcatenatedStatements => text::write(connection, physical, writer, batch, rows),
        _ => commit_rows(connection, physical, writer, batch, rows),
    }
}

/// Writes rows as one commit: a single row by its statement alone, more in a transaction.
fn commit_rows(
    connection: &Connection,
    physical: &PhysicalSchema,
    writer: &mut Writer,
    batch: &Batch,
    rows: Range<usize>,
) -> Result<(), StoreError> {
    let alone = rows.len() == 1
        && matches!(physical.layout.shape, Shape::RowPerReading | Shape::RecordPerSpan { .. });
    if alone {
        return insert_rows(connection, physical, writer, batch, rows);
    }
    atomically(connection, || insert_rows(connection, physical, writer, batch, rows))
}

/// Runs statements as one transaction: all or none.
fn atomically(
    connection: &Connection,
    work: impl FnOnce() -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let run = |sql: &str| run(connection, sql, []);
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
    physical: &PhysicalSchema,
    writer: &mut Writer,
    batch: &Batch,
    readings: Range<usize>,
) -> Result<(), StoreError> {
    let wrong = |cause| error::native(OPERATION, cause);
    if let Some((span_ns, encoding)) = physical.span() {
        let place = (readings, span_ns, encoding);
        return records::insert(connection, physical, writer, batch, place);
    }
    let rows = Rows::new(physical, batch, readings.clone())?;
    if physical.layout.write == WriteMethod::MultiRow {
        return insert_many(connection, writer, &rows).map_err(wrong);
    }
    insert_each(connection, writer, &rows).map_err(wrong)?;
    if let Some(sql) = &writer.add_sums {
        let sums = Sums::of(physical, batch, readings)?;
        for cells in sums.rows() {
            run(connection, sql, cells).map_err(wrong)?;
        }
    }
    Ok(())
}

/// One execution of the prepared statement a row. Parameters keep their values between executions, so a series
/// is bound only when it changes.
fn insert_each(connection: &Connection, writer: &Writer, rows: &Rows<'_>) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(&writer.insert)?;
    let mut bound = None;
    for row in 0..rows.len() {
        let series = rows.series(row);
        let first = if bound == Some(series) { writer.of_series } else { 0 };
        bound = Some(series);
        bind_row(&mut statement, writer, rows, row, first..writer.written.len())?;
        match (statement.raw_execute(), &writer.repeat) {
            (Ok(_), _) => {}
            (Err(cause), Some(repeat)) if is_repeated(&cause) => {
                let mut statement = connection.prepare_cached(repeat)?;
                bind_row(&mut statement, writer, rows, row, 0..writer.written.len())?;
                statement.raw_execute()?;
            }
            (Err(cause), _) => return Err(cause),
        }
    }
    Ok(())
}

/// Whether a clustered table has this key already.
fn is_repeated(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|code| code.extended_code == ffi::SQLITE_CONSTRAINT_PRIMARYKEY)
}

fn insert_many(connection: &Connection, writer: &mut Writer, rows: &Rows<'_>) -> rusqlite::Result<()> {
    let width = writer.written.len();
    let most = schema::rows_per_statement(width);
    let mut start = 0;
    while start < rows.len() {
        let part = start..rows.len().min(start + most);
        start = part.end;
        let sql =
            writer.many.entry(part.len()).or_insert_with(|| insert(rows.physical, rows.table, part.len()).0);
        let mut statement = connection.prepare_cached(sql)?;
        let mut place = 1;
        for row in part {
            for &column in &writer.written {
                bind(&mut statement, place, rows.cell(row, column))?;
                place += 1;
            }
        }
        statement.raw_execute()?;
    }
    Ok(())
}

/// Binds these of the written columns of a row.
fn bind_row(
    statement: &mut CachedStatement<'_>,
    writer: &Writer,
    rows: &Rows<'_>,
    row: usize,
    places: Range<usize>,
) -> rusqlite::Result<()> {
    for place in places {
        bind(statement, place + 1, rows.cell(row, writer.written[place]))?;
    }
    Ok(())
}

/// Fills the tables of tags.
pub(crate) fn fill_tags(connection: &Connection, physical: &PhysicalSchema) -> rusqlite::Result<()> {
    for (table, description) in physical.tables.iter().zip(&physical.schema.tables) {
        let Some(sql) = insert_tags(physical, table) else {
            continue;
        };
        let tags = 0..description.tags.len();
        for series in 0..description.series.len() {
            let cells = tags.clone().map(|tag| Cell::tag(description, tag, series));
            run(connection, &sql, [Cell::series(series)].into_iter().chain(cells))?;
        }
    }
    Ok(())
}
