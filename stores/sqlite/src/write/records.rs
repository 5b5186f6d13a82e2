//! Writing records of a span: one row for each series and span that a batch touches.

use super::{OPERATION, Writer, bind_series};
use crate::design::Design;
use crate::error;
use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};
use sensormark_store::record::{blob, json, records, runs};
use sensormark_store::{Batch, Encoding, StoreError};
use std::ops::Range;

/// Inserts the records of these rows.
pub fn insert(
    connection: &Connection,
    design: &Design,
    writer: &mut Writer,
    batch: &Batch,
    (rows, span_ns, encoding): (Range<usize>, i64, Encoding),
) -> Result<(), StoreError> {
    let wrong = |cause| error::native(OPERATION, cause);
    let (table, logical) = (
        &design.tables[batch.table],
        &design.schema.tables[batch.table],
    );
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
        let place =
            bind_series(&mut statement, &table.key, logical, record.series, 0).map_err(wrong)?;
        statement
            .raw_bind_parameter(place + 1, record.span)
            .and_then(|()| statement.raw_bind_parameter(place + 2, record.readings() as i64))
            .and_then(|()| statement.raw_bind_parameter(place + 3, ToSqlOutput::Borrowed(data)))
            .and_then(|()| statement.raw_execute())
            .map_err(wrong)?;
    }
    Ok(())
}
