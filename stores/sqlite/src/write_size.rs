//! The size of write that SQLite's documentation advises: a transaction.

use sensormark_store::write_size::{field_value_bytes, tag_value_bytes};
use sensormark_store::{FieldType, Layout, Table, TagPlacement, WriteSize};

/// Rows in a transaction: no number is documented, so what a sweep (scripts/batches.sh) shows to be within a tenth of the best.
const READINGS: usize = 50_000;
/// Bytes in a transaction, which is what sets its size but for narrow tables. Larger ones are hardly faster, and each client holds one.
const BYTES: usize = 6 << 20;

const ADVICE: &str = "Many rows in one transaction: a transaction, not a row, is what waits for the disk. No number is given; ours is from a sweep.";
const LINK: &str = "https://www.sqlite.org/faq.html#q19";

/// The size of a write with this layout and table.
pub fn write_size(layout: &Layout, table: &Table) -> WriteSize {
    let tags = match layout.tags {
        TagPlacement::OwnTable => 4,
        _ => tag_value_bytes(table),
    };
    let values = field_value_bytes(table, |kind| match kind {
        FieldType::Bool => 1,
        FieldType::Text => 40,
        _ => 9,
    });
    WriteSize {
        readings: READINGS,
        bytes: BYTES,
        reading_bytes: 12 + tags + values,
        advice: ADVICE,
        link: LINK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::limits;
    use sensormark_store::{Field, Series, TimeResolution};

    /// A table of one series with so many floating point fields.
    fn table(fields: usize) -> Table {
        let field = |number| Field { name: format!("f{number}"), kind: FieldType::F64, nullable: false };
        Table {
            name: "t".to_owned(),
            tags: Vec::new(),
            fields: (0..fields).map(field).collect(),
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::single(),
        }
    }

    #[test]
    fn a_sweep_up_to_four_times_the_size_stays_one_transaction() {
        let layout = Layout::row_per_reading();
        for fields in [1, 10, 30, 64] {
            let table = table(fields);
            let size = write_size(&layout, &table).readings_per_write();
            assert!(size >= 1_000, "{size} of {fields} fields");
            assert!(4 * size <= limits(&layout, &table).readings_per_statement);
        }
    }
}
