//! Writing records of a span: one row for each series and span that a batch touches. One buffer serves all of them.

use super::writer::{OPERATION, Writer, bind};
use crate::error;
use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};
use sensormark_relational::cell::Cell;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_relational::table::series_cell;
use sensormark_store::record::{blob, json, records, runs};
use sensormark_store::{Batch, Encoding, StoreError};
use std::ops::Range;

/// Inserts the records of these rows.
pub fn insert(
    connection: &Connection,
    physical: &PhysicalSchema,
    writer: &mut Writer,
    batch: &Batch,
    (rows, span_ns, encoding): (Range<usize>, i64, Encoding),
) -> Result<(), StoreError> {
    let wrong = |cause| error::native(OPERATION, cause);
    let (description, table) = physical.table(batch.table)?;
    let mut statement = connection.prepare_cached(&writer.insert).map_err(wrong)?;
    let buffer = &mut writer.buffer;
    let runs = runs(batch, rows, span_ns);
    for record in records(&runs, span_ns) {
        buffer.clear();
        let data = if encoding == Encoding::Blob {
            blob::encode(batch, &record, buffer)?;
            ValueRef::Blob(buffer)
        } else {
            json::encode(batch, &record, buffer);
            ValueRef::Text(buffer)
        };
        for (place, column) in table.series_columns().enumerate() {
            let cell = series_cell(column.content, description, record.series);
            bind(&mut statement, place + 1, cell).map_err(wrong)?;
        }
        let place = writer.of_series;
        bind(&mut statement, place + 1, Cell::I64(record.span))
            .and_then(|()| statement.raw_bind_parameter(place + 2, record.readings() as i64))
            .and_then(|()| statement.raw_bind_parameter(place + 3, ToSqlOutput::Borrowed(data)))
            .and_then(|()| statement.raw_execute())
            .map_err(wrong)?;
    }
    Ok(())
}
