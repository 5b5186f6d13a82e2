//! The size of write that InfluxDB's documentation advises: lines in a request.

use sensormark_store::write_size::{field_name_bytes, field_value_bytes, tag_name_bytes, tag_value_bytes};
use sensormark_store::{FieldType, Layout, Table, WriteSize};

/// Lines in a request, as documented.
const READINGS: usize = 5_000;
/// Bytes in a request, as documented for later versions; 1.8 takes 25 MB as it comes (max-body-size).
const BYTES: usize = 10_000_000;

const ADVICE: &str = "The optimal batch size is 5,000 lines of line protocol.";
const LINK: &str = "https://docs.influxdata.com/influxdb/v2/write-data/best-practices/optimize-writes/";

/// The size of a write with this layout and table.
pub(crate) fn write_size(_: &Layout, table: &Table) -> WriteSize {
    // A line: the table's name, `,tag=value` each, ` field=value` each, the time's 19 digits and an end.
    let tags = tag_name_bytes(table) + tag_value_bytes(table) + 2 * table.tags.len();
    let values = field_value_bytes(table, |kind| match kind {
        FieldType::Bool => 4,
        FieldType::U16 => 6,
        FieldType::I64 => 10,
        FieldType::F64 => 18,
        FieldType::Text => 40,
    });
    let fields = field_name_bytes(table) + values + 2 * table.fields.len();
    WriteSize {
        readings: READINGS,
        bytes: BYTES,
        reading_bytes: table.name.len() + tags + fields + 21,
        advice: ADVICE,
        link: LINK,
    }
}
