//! PostgreSQL against every rule of the store contract.

use sensormark_postgresql::Postgresql;
use sensormark_store::conformance;
use std::sync::Arc;

fn main() {
    conformance::main(Arc::new(Postgresql::new()));
}
