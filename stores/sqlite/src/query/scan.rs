//! Everything that is stored, read back for the census.

use super::{push, readings, records, value_of, whole};
use crate::error;
use crate::relation::{Relation, Statement};
use crate::series::SeriesReader;
use crate::session::SqliteSession;
use sensormark_store::{Batch, Selection, Shape, StoreError, Value};

const OPERATION: &str = "read everything back";
/// Readings in a batch of a scan.
const ROWS: usize = 8_192;

/// Reads back every reading of a table.
///
/// # Errors
/// What SQLite says.
pub fn readings(
    session: &SqliteSession,
    table: usize,
    sink: &mut dyn FnMut(&Batch),
) -> Result<(), StoreError> {
    match session.design.layout.shape {
        Shape::RecordPerSpan { .. } => scan_records(session, table, sink),
        Shape::RowPerField => scan_fields(session, table, sink),
        _ => scan_rows(session, table, sink),
    }
}

fn scan_rows(
    session: &SqliteSession,
    table: usize,
    sink: &mut dyn FnMut(&Batch),
) -> Result<(), StoreError> {
    let wrong = |cause| error::native(OPERATION, cause);
    let relation = Relation::new(&session.design, table);
    let fields = relation.table.fields.len();
    let mut columns = vec![relation.time()];
    columns.extend(relation.series());
    let values = columns.len();
    columns.extend((0..fields).map(|field| relation.field(field)));
    let sql = format!("SELECT {} FROM {}", columns.join(", "), relation.from());
    let mut statement = session.connection.prepare_cached(&sql).map_err(wrong)?;
    let reader = session.reader(table);
    let mut batch = Batch::new(table, relation.table);
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(wrong)? {
        batch.times_ns.push(whole(row.get_ref_unwrap(0))?);
        batch.series.push(reader.read(row, 1, values - 1)?);
        for (field, column) in batch.columns.iter_mut().enumerate() {
            push(column, row.get_ref_unwrap(values + field))?;
        }
        hand_over(&mut batch, sink, ROWS);
    }
    hand_over(&mut batch, sink, 1);
    Ok(())
}

fn hand_over(batch: &mut Batch, sink: &mut dyn FnMut(&Batch), least: usize) {
    if batch.len() >= least {
        sink(batch);
        batch.clear();
    }
}

/// Rows of one reading were written together, so they follow each other in the order of writing.
fn scan_fields(
    session: &SqliteSession,
    table: usize,
    sink: &mut dyn FnMut(&Batch),
) -> Result<(), StoreError> {
    let relation = Relation::new(&session.design, table);
    let mut columns = vec![relation.time()];
    columns.extend(relation.series());
    columns.extend(relation.field_and_value());
    let sql = format!(
        "SELECT {} FROM {} ORDER BY {}",
        columns.join(", "),
        relation.from(),
        relation.copy()
    );
    let wrong = |cause| error::native(OPERATION, cause);
    let mut statement = session.connection.prepare_cached(&sql).map_err(wrong)?;
    let mut pivot =
        readings::Pivot::new(session, table, relation.table.all_fields(), &Selection::All);
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(wrong)? {
        if pivot.starts_reading(row)? && pivot.batch.len() >= ROWS {
            pivot.finish();
            sink(&pivot.batch);
            pivot.batch.clear();
        }
        pivot.take(row)?;
    }
    pivot.finish();
    hand_over(&mut pivot.batch, sink, 1);
    Ok(())
}

fn scan_records(
    session: &SqliteSession,
    table: usize,
    sink: &mut dyn FnMut(&Batch),
) -> Result<(), StoreError> {
    let wrong = |cause| error::native(OPERATION, cause);
    let relation = Relation::new(&session.design, table);
    let mut statement = Statement::default();
    records::select(&relation, &[], &mut statement);
    let mut prepared = session
        .connection
        .prepare_cached(&statement.sql)
        .map_err(wrong)?;
    let mut batch = Batch::new(table, relation.table);
    let all = relation.table.all_fields();
    let mut rows = prepared.raw_query();
    while let Some(row) = rows.next().map_err(wrong)? {
        records::decode(session, row, (i64::MIN, i64::MAX), all, &mut batch)?;
        hand_over(&mut batch, sink, ROWS);
    }
    hand_over(&mut batch, sink, 1);
    Ok(())
}

/// Reads back every entity of a table.
///
/// # Errors
/// What SQLite says, or that the table has none.
pub fn entities(
    session: &SqliteSession,
    table: usize,
    sink: &mut dyn FnMut(u32, i64, &[Value]),
) -> Result<(), StoreError> {
    let logical = &session.design.schema.tables[table];
    let (Some(entity), Some(description)) = (&session.design.tables[table].entity, &logical.entity)
    else {
        return Err(StoreError::unsupported(
            "read entities back",
            format!("table {} has no entities", logical.name),
        ));
    };
    let wrong = |cause| error::native(OPERATION, cause);
    let reader = SeriesReader::new(logical, &entity.key);
    let mut columns: Vec<&str> = entity.key.identifying();
    let keys = columns.len();
    columns.push(&entity.last_time);
    columns.extend(entity.columns.iter().map(String::as_str));
    let sql = format!("SELECT {} FROM {}", columns.join(", "), entity.table);
    let mut statement = session.connection.prepare_cached(&sql).map_err(wrong)?;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(wrong)? {
        let mut values = Vec::with_capacity(description.columns.len());
        for (place, column) in description.columns.iter().enumerate() {
            values.push(value_of(row.get_ref_unwrap(keys + 1 + place), column.kind)?);
        }
        sink(
            reader.read(row, 0, keys)?,
            whole(row.get_ref_unwrap(keys))?,
            &values,
        );
    }
    Ok(())
}
