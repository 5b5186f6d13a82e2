//! MongoDB against every rule of the store contract; in part, unless `SENSORMARK_SLOW` is set.

use sensormark_mongodb::Mongodb;
use std::sync::Arc;

fn main() {
    sensormark_conformance::main_in_part(Arc::new(Mongodb::new()));
}
