//! MongoDB against every rule of the store contract; in part, unless `SENSORMARK_SLOW` is set.

use sensormark_mongodb::Mongodb;
use sensormark_store::conformance;
use std::sync::Arc;

fn main() {
    conformance::main_in_part(Arc::new(Mongodb::new()));
}
