//! The size of write that PostgreSQL's documentation advises: a COPY.

use sensormark_store::write_size::{field_value_bytes, tag_value_bytes};
use sensormark_store::{FieldType, Layout, Shape, Table, TagPlacement, WriteSize};

/// Rows in a COPY: no number is documented, so what a sweep (scripts/batches.sh) shows to be within a tenth of the best.
const READINGS: usize = 10_000;
/// Bytes in a COPY: enough that it does not cut the rows of a usual table.
const BYTES: usize = 8 << 20;

const ADVICE: &str =
    "COPY for loads, many rows in one transaction. No number is given; ours is from a sweep.";
const LINK: &str = "https://www.postgresql.org/docs/current/populate.html";

/// The size of a write with this layout and table.
pub(crate) fn write_size(layout: &Layout, table: &Table) -> WriteSize {
    // A value in binary COPY: four bytes of length, and itself.
    let tags = match layout.tags {
        TagPlacement::OwnTable => 8,
        _ => tag_value_bytes(table) + 4 * table.tags.len(),
    };
    let of = |kind| match kind {
        FieldType::Bool => 5,
        FieldType::U16 => 8,
        FieldType::I64 | FieldType::F64 => 12,
        FieldType::Text => 44,
    };
    let values = field_value_bytes(table, of);
    let reading_bytes = match layout.shape {
        Shape::RowPerField => (14 + 8 + tags) * table.fields.len().max(1) + values,
        _ => 14 + tags + values,
    };
    WriteSize { readings: READINGS, bytes: BYTES, reading_bytes, advice: ADVICE, link: LINK }
}
