//! The conformance suite of the contract, on a MariaDB server that it starts (or on the one that `SENSORMARK_CONFORMANCE_URL` names).

use sensormark_mariadb::Mariadb;
use std::sync::Arc;

fn main() {
    sensormark_store::conformance::main(Arc::new(Mariadb::new()));
}
