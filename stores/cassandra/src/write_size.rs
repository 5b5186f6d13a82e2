//! The size of write that Cassandra's documentation advises: small batches, each of one partition.

use sensormark_store::write_size::field_value_bytes;
use sensormark_store::{FieldType, Layout, Shape, Table, WriteSize};

/// Readings that a client hands over at a time; they become unlogged batches, each of one partition, several on their way at once.
const READINGS: usize = 2_500;
/// The same where they become one record a series and span.
const READINGS_OF_RECORDS: usize = 10_000;
/// Bytes of them: so few that a partition's share stays near the 5 KiB at which Cassandra warns, where they are of a hundred series or more.
const BYTES: usize = 1 << 20;

const ADVICE: &str = "Small batches of one partition each (a warning from 5 KiB on, batch_size_warn_threshold), many on their way at once. No number of rows is given; ours is from a sweep.";
const LINK: &str = "https://cassandra.apache.org/doc/latest/cassandra/managing/configuration/cass_yaml_file.html#batch_size_warn_threshold";

/// The size of a write with this layout and table.
pub(crate) fn write_size(layout: &Layout, table: &Table) -> WriteSize {
    let of = |kind| match kind {
        FieldType::Bool => 5,
        FieldType::U16 => 8,
        FieldType::I64 | FieldType::F64 => 12,
        FieldType::Text => 44,
    };
    let values = field_value_bytes(table, of);
    let (readings, reading_bytes) = match layout.shape {
        Shape::RecordPerSpan { .. } => (READINGS_OF_RECORDS, 8 + values),
        _ => (READINGS, 48 + values),
    };
    WriteSize { readings, bytes: BYTES, reading_bytes, advice: ADVICE, link: LINK }
}
