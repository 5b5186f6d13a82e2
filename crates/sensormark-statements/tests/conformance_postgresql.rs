//! PostgreSQL as files against every rule of the store contract.

use sensormark_drivers::postgres::Postgres;
use sensormark_statements::FileStore;
use std::sync::Arc;

fn main() {
    let (config, statements) = (
        include_str!("../../../stores/postgresql/store.toml"),
        include_str!("../../../stores/postgresql/statements.sql"),
    );
    let store = FileStore::new(config, "statements.sql", statements, Arc::new(Postgres));
    let store = store.unwrap_or_else(|cause| panic!("{cause}"));
    sensormark_conformance::main(Arc::new(store));
}
