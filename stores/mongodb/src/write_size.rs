//! The size of write that MongoDB's documentation advises: an insert of many documents.

use sensormark_store::write_size::{field_name_bytes, field_value_bytes, tag_name_bytes, tag_value_bytes};
use sensormark_store::{FieldType, Layout, Shape, Table, TagPlacement, WriteSize};

/// Documents in an insert: no best number is documented, so what a sweep (scripts/batches.py) shows to be within a tenth of the best.
const READINGS: usize = 2_500;
/// The same in a time-series collection, where what counts is how many measurements of one series an insert brings to its bucket.
const READINGS_OF_TIME_SERIES: usize = 40_000;
/// Bytes in an insert. A message holds 48 MB at most. But the driver holds an insert about four times while it sends it, and 16 clients stay under 250 MB.
const BYTES: usize = 2_000_000;
/// Bytes in a write to a time-series collection, which goes out in several inserts, series by series.
const BYTES_OF_TIME_SERIES: usize = 18_000_000;

const ADVICE: &str = "One insertMany instead of many single inserts, unordered, several measurements of a series together; at most 100,000 documents and 48 MB. No best number is given; ours is from a sweep.";
const LINK: &str = "https://www.mongodb.com/docs/manual/core/timeseries/timeseries-best-practices/";

/// The size of a write with this layout and table.
pub(crate) fn write_size(layout: &Layout, table: &Table) -> WriteSize {
    let (readings, bytes) = match layout.shape {
        Shape::NativeTimeSeries => (READINGS_OF_TIME_SERIES, BYTES_OF_TIME_SERIES),
        _ => (READINGS, BYTES),
    };
    WriteSize { readings, bytes, reading_bytes: reading_bytes(layout, table), advice: ADVICE, link: LINK }
}

/// About how many bytes a reading takes in an insert.
fn reading_bytes(layout: &Layout, table: &Table) -> usize {
    // An element of text is its type, its name, its length, itself and two NULs; in an array, a document with two of them.
    let around = match layout.tags {
        TagPlacement::KeyValueArray => 32,
        _ => 7,
    };
    let tags = match layout.shape {
        Shape::RowPerReading | Shape::NativeTimeSeries => {
            tag_name_bytes(table) + tag_value_bytes(table) + around * table.tags.len()
        }
        _ => 0,
    };
    let values = field_value_bytes(table, |kind| match kind {
        FieldType::Text => 60,
        _ => 10,
    });
    40 + tags + field_name_bytes(table) + values
}
