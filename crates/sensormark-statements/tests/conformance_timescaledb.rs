//! TimescaleDB, which extends PostgreSQL, against every rule of the store contract.

use sensormark_drivers::postgres::Postgres;
use sensormark_statements::FileStore;
use std::sync::Arc;

fn main() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../stores");
    let read = |name: &str| std::fs::read_to_string(format!("{folder}/{name}")).expect("the stores' files");
    let [base, base_statements] = ["postgresql/store.toml", "postgresql/statements.sql"].map(read);
    let [own, own_statements] = ["timescaledb/store.toml", "timescaledb/statements.sql"].map(read);
    let store = FileStore::extending((&base, &base_statements), (&own, &own_statements), Arc::new(Postgres));
    let store = store.unwrap_or_else(|cause| panic!("{cause}"));
    sensormark_conformance::main_in_part(Arc::new(store));
}
