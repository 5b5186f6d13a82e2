//! The size of write that QuestDB's documentation advises: a request of its own clients.

use sensormark_store::write_size::{
    field_name_bytes, field_value_bytes, tag_name_bytes, tag_value_bytes,
};
use sensormark_store::{FieldType, Layout, Table, WriteSize};

const ADVICE: &str = "QuestDB's clients send a request over HTTP after 75,000 rows, and hold at most 100 MiB for one. A load of ours sends 60,000: larger requests are up to a fifth faster, but 16 clients then hold more than 100 MB, as columns.";
const LINK: &str = "https://questdb.com/docs/ingestion/clients/configuration-string/";

/// A request is closed when it holds this many bytes: as many as QuestDB's own clients hold.
pub(crate) const BODY_BYTES: usize = 100 << 20;
/// Lines that go out together. A client holds a few such pieces, not its whole request.
pub(crate) const PIECE_BYTES: usize = 64 << 10;
/// The most readings in one request: as many as QuestDB's own clients send.
pub(crate) const READINGS: usize = 75_000;
/// Readings in a write of a load. Each client holds its readings as columns, and 16 clients have to stay under 100 MB.
const READINGS_OF_A_LOAD: usize = 60_000;
/// Bytes of columns that a write of a load holds at most, whole numbers counted with 4 each: it binds for wide tables and for texts.
const COLUMN_BYTES: usize = 8_200_000;

/// The size of a write with this layout and table.
pub(crate) fn write_size(_: &Layout, table: &Table) -> WriteSize {
    let values = field_value_bytes(table, |kind| match kind {
        FieldType::Bool => 1,
        FieldType::U16 => 5,
        FieldType::I64 => 10,
        FieldType::F64 => 17,
        FieldType::Text => 40,
    });
    // A comma and an equals sign for each name, blanks and the time in ns.
    let names = tag_name_bytes(table) + field_name_bytes(table);
    let signs = 2 * (table.tags.len() + table.fields.len()) + 22;
    let heads = 40 + table.name.len() + tag_value_bytes(table);
    WriteSize {
        readings: readings_held(table),
        bytes: BODY_BYTES,
        reading_bytes: heads + names + signs + values,
        advice: ADVICE,
        link: LINK,
    }
}

/// Readings of a load's write, as columns bound them.
fn readings_held(table: &Table) -> usize {
    let values = field_value_bytes(table, |kind| match kind {
        FieldType::Bool => 1,
        FieldType::U16 => 2,
        FieldType::I64 => 4,
        FieldType::F64 => 8,
        FieldType::Text => 48,
    });
    let time_and_series = 12;
    READINGS_OF_A_LOAD.min(COLUMN_BYTES / (time_and_series + values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::{Field, Series, TimeResolution};

    /// Readings in a write to a table of so many fields of one type.
    fn readings(fields: usize, kind: FieldType) -> usize {
        let field = |number| Field {
            name: format!("f{number}"),
            kind,
            nullable: false,
        };
        let table = Table {
            name: "t".to_owned(),
            tags: Vec::new(),
            fields: (0..fields).map(field).collect(),
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::single(),
        };
        readings_held(&table)
    }

    #[test]
    fn columns_bound_writes_to_wide_tables() {
        assert_eq!(readings(31, FieldType::I64), 60_000, "the widest of devops");
        assert_eq!(readings(100, FieldType::F64), 8_200_000 / 812);
        assert_eq!(readings(100, FieldType::Text), 8_200_000 / 4_812);
    }
}
