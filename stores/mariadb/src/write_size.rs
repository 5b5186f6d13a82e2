//! The size of write that MariaDB's documentation advises: many rows in a statement, within a packet.

use crate::write::reading_bytes;
use sensormark_store::{Layout, Shape, Table, WriteSize};

/// Rows in a statement: no number is documented, so what a sweep (scripts/batches.py) shows to be within a tenth of the best.
const READINGS: usize = 5_000;
/// The same where a reading is as many rows as it has fields.
const READINGS_PER_FIELD: usize = 1_000;
/// Bytes in a statement: within MariaDB's default max_allowed_packet of 16 MiB by far.
const BYTES: usize = 1 << 20;

const ADVICE: &str = "Many rows in one statement and one commit, within max_allowed_packet (16 MiB as it comes). No number of rows is given; ours is from a sweep.";
const LINK: &str = "https://mariadb.com/kb/en/how-to-quickly-insert-data-into-mariadb/";

/// The size of a write with this layout and table.
pub(crate) fn write_size(layout: &Layout, table: &Table) -> WriteSize {
    let readings = match layout.shape {
        Shape::RowPerField => READINGS_PER_FIELD,
        _ => READINGS,
    };
    WriteSize {
        readings,
        bytes: BYTES,
        reading_bytes: reading_bytes(layout, table),
        advice: ADVICE,
        link: LINK,
    }
}
