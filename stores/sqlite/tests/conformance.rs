//! SQLite against every rule of the store contract.

use sensormark_sqlite::Sqlite;
use std::sync::Arc;

fn main() {
    sensormark_conformance::main_with_pins(Arc::new(Sqlite::new()), env!("CARGO_MANIFEST_DIR"));
}
