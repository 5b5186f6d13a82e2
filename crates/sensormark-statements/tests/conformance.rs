//! SQLite as files against every rule of the store contract.

use sensormark_drivers::sqlite::Sqlite;
use sensormark_statements::FileStore;
use std::sync::Arc;

fn main() {
    let (config, statements) = (
        include_str!("../../../stores/sqlite/store.toml"),
        include_str!("../../../stores/sqlite/statements.sql"),
    );
    let store = FileStore::new(config, "statements.sql", statements, Arc::new(Sqlite));
    let store = store.unwrap_or_else(|cause| panic!("{cause}"));
    sensormark_conformance::main_in_part_with_pins(Arc::new(store), env!("CARGO_MANIFEST_DIR"));
}
