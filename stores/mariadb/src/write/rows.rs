//! Rows of parameters, from the cells of a batch.
//!
//! It decides in which form the driver takes them; how they travel is decided by [`super::write`].

use super::insert::{Insert, Inserts};
use super::value::native;
use mysql_async::Value as Parameter;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_relational::table::series_cell;
use sensormark_relational::write::sums::Sums;
use sensormark_relational::write::{Rows, entity_cells};
use sensormark_store::record::{json, records, runs};
use sensormark_store::{Batch, EntityReading, StoreError};
use std::ops::Range;

/// Rows of parameters for one statement.
pub(crate) struct Step<'a> {
    pub(super) insert: &'a Insert,
    pub(super) rows: Vec<Vec<Parameter>>,
}

/// The statements that store these readings, with their rows.
pub(crate) fn steps<'a>(
    physical: &PhysicalSchema,
    inserts: &'a Inserts,
    batch: &Batch,
    readings: Range<usize>,
) -> Result<Vec<Step<'a>>, StoreError> {
    let rows = match physical.span() {
        Some((span_ns, _)) => record_rows(physical, batch, readings.clone(), span_ns)?,
        None => {
            let rows = Rows::new(physical, batch, readings.clone())?;
            let columns = rows.table.columns.len();
            let row = |row: usize| -> Vec<Parameter> {
                let cells = (0..columns).map(|column| rows.cell(row, column));
                cells.map(native).collect()
            };
            (0..rows.len()).map(row).collect()
        }
    };
    let mut steps = vec![Step { insert: &inserts.readings, rows }];
    if let Some(insert) = &inserts.sums {
        let sums = Sums::of(physical, batch, readings)?;
        let rows = sums.rows().map(|cells| cells.map(native).collect());
        steps.push(Step { insert, rows: rows.collect() });
    }
    Ok(steps)
}

/// One row for each series and span; each document goes into its parameter as it is.
fn record_rows(
    physical: &PhysicalSchema,
    batch: &Batch,
    readings: Range<usize>,
    span_ns: i64,
) -> Result<Vec<Vec<Parameter>>, StoreError> {
    let (description, table) = physical.table(batch.table)?;
    let runs = runs(batch, readings, span_ns);
    let rows = records(&runs, span_ns).map(|record| {
        let mut document = Vec::new();
        json::encode(batch, &record, &mut document);
        let columns = table.series_columns();
        let mut row = Vec::with_capacity(table.columns.len());
        row.extend(columns.map(|column| native(series_cell(column.content, description, record.series))));
        row.extend([
            Parameter::Int(record.span),
            Parameter::UInt(record.readings() as u64),
            Parameter::Bytes(document),
        ]);
        row
    });
    Ok(rows.collect())
}

/// Parameters for updating a reading's entity, and for inserting it.
pub(crate) fn entity(
    physical: &PhysicalSchema,
    write: EntityReading<'_>,
) -> Result<(Vec<Parameter>, Vec<Parameter>), StoreError> {
    let insert: Vec<Parameter> = entity_cells(physical, write)?.into_iter().map(native).collect();
    let (_, table) = physical.table(write.reading.table)?;
    let last = insert.last().cloned();
    let keys = insert.iter().take(table.keys.len()).cloned();
    Ok((last.into_iter().chain(keys).collect(), insert))
}
