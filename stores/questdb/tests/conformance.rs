//! QuestDB against every rule of the store contract.

use sensormark_questdb::Questdb;
use std::sync::Arc;

fn main() {
    sensormark_conformance::main_in_part_with_pins(Arc::new(Questdb::new()), env!("CARGO_MANIFEST_DIR"));
}
