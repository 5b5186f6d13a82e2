//! PostgreSQL against every rule of the store contract.

use sensormark_postgresql::Postgresql;
use std::sync::Arc;

fn main() {
    sensormark_conformance::main_in_part_with_pins(Arc::new(Postgresql::new()), env!("CARGO_MANIFEST_DIR"));
}
