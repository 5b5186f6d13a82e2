//! The size of a write that a store advises, as a trial's record keeps it.

use sensormark_store::{Layout, Schema, Store};
use serde::{Deserialize, Serialize};

/// What a store advises for loading one table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteSizeRecord {
    /// The table.
    pub table: String,
    /// Readings in a write, at most.
    pub readings: u64,
    /// Bytes in a write, at most.
    pub bytes: u64,
    /// About how many bytes a reading takes.
    pub reading_bytes: u64,
    /// Readings in a write by the rule: the smaller of both.
    pub readings_per_write: u64,
    /// What the database's documentation advises.
    pub advice: String,
    /// Where it says so.
    pub link: String,
}

/// What the store advises for each of these tables.
pub fn write_sizes(store: &dyn Store, layout: &Layout, schema: &Schema) -> Vec<WriteSizeRecord> {
    let tables = schema.tables.iter();
    let of = |table| {
        let size = store.write_size(layout, table);
        WriteSizeRecord {
            table: table.name.clone(),
            readings: size.readings as u64,
            bytes: size.bytes as u64,
            reading_bytes: size.reading_bytes as u64,
            readings_per_write: size.readings_per_write() as u64,
            advice: size.advice.to_owned(),
            link: size.link.to_owned(),
        }
    };
    tables.map(of).collect()
}
