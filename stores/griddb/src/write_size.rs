//! The size of write that GridDB's documentation advises: a multi-put.

use sensormark_store::write_size::field_value_bytes;
use sensormark_store::{FieldType, Layout, Shape, Table, WriteSize};

/// Rows in a write, which goes out container by container in multi-puts of 1,000 rows, as in the documentation's examples. No best number is
/// given; ours is from a sweep (scripts/batches.py): what counts is how many rows of one container a multi-put brings.
const READINGS: usize = 100_000;
/// The same where they become one record a series and span.
const READINGS_OF_RECORDS: usize = 10_000;
/// Bytes in a write: 16 clients stay under 250 MB.
const BYTES: usize = 10_000_000;

const ADVICE: &str = "Batches by multi-put instead of single puts; the examples put 1,000 rows at a time, and so do we, container by container. No best number is given; ours is from a sweep.";
const LINK: &str = "https://griddb.net/en/blog/griddb-optimization-with-multi-put-and-query/";

/// The size of a write with this layout and table.
pub(crate) fn write_size(layout: &Layout, table: &Table) -> WriteSize {
    let values = field_value_bytes(table, |kind| match kind {
        FieldType::Bool => 1,
        FieldType::U16 => 4,
        FieldType::I64 | FieldType::F64 => 8,
        FieldType::Text => 40,
    });
    let readings = match layout.shape {
        Shape::RecordPerSpan { .. } => READINGS_OF_RECORDS,
        _ => READINGS,
    };
    WriteSize { readings, bytes: BYTES, reading_bytes: 16 + values, advice: ADVICE, link: LINK }
}
