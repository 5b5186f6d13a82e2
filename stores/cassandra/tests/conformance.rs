//! The conformance suite of the contract, on a Cassandra server that it starts (or on the one that `SENSORMARK_CONFORMANCE_URL` names); in part, unless
//! `SENSORMARK_SLOW` is set.

use sensormark_cassandra::Cassandra;
use std::sync::Arc;

fn main() {
    sensormark_conformance::main_in_part_with_pins(Arc::new(Cassandra::new()), env!("CARGO_MANIFEST_DIR"));
}
