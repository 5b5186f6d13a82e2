//! The conformance suite of the contract, on a GridDB server that it starts (or on the one that `SENSORMARK_CONFORMANCE_URL` names).

use sensormark_griddb::Griddb;
use std::sync::Arc;

fn main() {
    sensormark_conformance::main(Arc::new(Griddb::new()));
}
