//! Writing entities: inserted with the first reading, their last time set by each.

use super::{Writer, bind_series};
use crate::design::{Design, TableDesign};
use crate::error;
use rusqlite::Connection;
use rusqlite::types::Null;
use sensormark_store::{EntityReading, StoreError, Value};

/// The statement that inserts or updates an entity.
pub fn statement(table: &TableDesign) -> Option<String> {
    let entity = table.entity.as_ref()?;
    let mut columns = entity.key.written();
    columns.extend(entity.columns.iter().map(String::as_str));
    columns.push(&entity.last_time);
    let values: Vec<String> = (1..=columns.len())
        .map(|place| format!("?{place}"))
        .collect();
    Some(format!(
        "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT ({}) DO UPDATE SET {last} = excluded.{last}",
        entity.table,
        columns.join(", "),
        values.join(", "),
        entity.key.identifying().join(", "),
        last = entity.last_time,
    ))
}

/// Inserts or updates the entity of a reading.
pub fn put(
    connection: &Connection,
    design: &Design,
    writer: &Writer,
    write: EntityReading<'_>,
) -> Result<(), StoreError> {
    let wrong = |cause| error::native("update an entity", cause);
    let number = write.reading.table;
    let (Some(entity), Some(sql)) = (&design.tables[number].entity, &writer.entity) else {
        return Ok(());
    };
    let mut statement = connection.prepare_cached(sql).map_err(wrong)?;
    let (series, time) = (write.reading.series[0], write.reading.times_ns[0]);
    let table = &design.schema.tables[number];
    let mut place = bind_series(&mut statement, &entity.key, table, series, 0).map_err(wrong)?;
    for value in write.entity {
        place += 1;
        let bound = match value {
            Value::Null => statement.raw_bind_parameter(place, Null),
            Value::Bool(value) => statement.raw_bind_parameter(place, value),
            Value::I64(value) => statement.raw_bind_parameter(place, value),
            Value::F64(value) => statement.raw_bind_parameter(place, value),
            Value::Text(value) => statement.raw_bind_parameter(place, value),
        };
        bound.map_err(wrong)?;
    }
    statement
        .raw_bind_parameter(place + 1, time)
        .map_err(wrong)?;
    statement.raw_execute().map_err(wrong)?;
    Ok(())
}
