//! The size of write that QuestDB's documentation advises: a request of its own clients.

use sensormark_store::write_size::{field_name_bytes, field_value_bytes, tag_name_bytes, tag_value_bytes};
use sensormark_store::{FieldType, Layout, Table, WriteSize};

const ADVICE: &str = "QuestDB's clients send a request over HTTP after 75,000 rows, and hold at most 100 MiB for one. A load of ours sends as many.";
const LINK: &str = "https://questdb.com/docs/ingestion/clients/configuration-string/";

/// A request is closed when it holds this many bytes: as many as QuestDB's own clients hold.
pub(crate) const BODY_BYTES: usize = 100 << 20;
/// Lines that go out together. A client holds a few such pieces, not its whole request.
pub(crate) const PIECE_BYTES: usize = 64 << 10;
/// The most readings in one request: as many as QuestDB's own clients send.
pub(crate) const READINGS: usize = 75_000;

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
        readings: READINGS,
        bytes: BODY_BYTES,
        reading_bytes: heads + names + signs + values,
        advice: ADVICE,
        link: LINK,
    }
}
