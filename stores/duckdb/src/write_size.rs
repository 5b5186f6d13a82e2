//! The size of write that DuckDB's documentation advises: whole groups of rows. How many comes from a sweep.

use sensormark_store::write_size::{field_value_bytes, tag_value_bytes};
use sensormark_store::{FieldType, Layout, Shape, Table, TagPlacement, WriteSize};

/// Rows in a write: two groups of rows. A group is what DuckDB compresses and writes at once; with one, a sweep (scripts/batches.py) shows a quarter less.
const READINGS: usize = 2 * 122_880;
/// Bytes in a write: each client holds one, and DuckDB another.
const BYTES: usize = 64 << 20;

const ADVICE: &str = "The Appender for loads, and no small transactions: rows are stored in groups of 122,880. How many groups comes from a sweep.";
const LINK: &str = "https://duckdb.org/docs/current/clients/c/appender";

/// The size of a write with this layout and table.
pub(crate) fn write_size(layout: &Layout, table: &Table) -> WriteSize {
    // Values as vectors have them.
    let tags = match layout.tags {
        TagPlacement::OwnTable => 4,
        _ => tag_value_bytes(table) + 16 * table.tags.len(),
    };
    let values = field_value_bytes(table, |kind| match kind {
        FieldType::Bool => 1,
        FieldType::U16 => 2,
        FieldType::I64 | FieldType::F64 => 8,
        FieldType::Text => 48,
    });
    let reading_bytes = match layout.shape {
        Shape::RowPerField => (10 + tags) * table.fields.len().max(1) + values,
        _ => 8 + tags + values,
    };
    WriteSize { readings: READINGS, bytes: BYTES, reading_bytes, advice: ADVICE, link: LINK }
}
