//! The conformance suite of the contract, on a MariaDB server that it starts (or on the one that `SENSORMARK_CONFORMANCE_URL` names).

use sensormark_mariadb::Mariadb;
use std::sync::Arc;

fn main() {
    sensormark_conformance::main_in_part_with_pins(Arc::new(Mariadb::new()), env!("CARGO_MANIFEST_DIR"));
}
