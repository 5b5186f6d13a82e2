//! PostgreSQL as files against every rule of the store contract.

use sensormark_drivers::postgres::Postgres;
use sensormark_statements::FileStore;
use std::sync::Arc;

fn main() {
    // Read when it runs: a statement is tried again without compiling.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../stores/postgresql");
    let read = |name: &str| std::fs::read_to_string(format!("{folder}/{name}")).expect("the store's files");
    let store =
        FileStore::new(&read("store.toml"), "statements.sql", &read("statements.sql"), Arc::new(Postgres));
    let store = store.unwrap_or_else(|cause| panic!("{cause}"));
    sensormark_conformance::main_in_part_with_pins(
        Arc::new(store),
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/postgresql"),
    );
}
