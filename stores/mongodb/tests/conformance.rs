//! MongoDB against every rule of the store contract.

use sensormark_mongodb::Mongodb;
use sensormark_store::conformance;
use std::sync::Arc;

fn main() {
    conformance::main(Arc::new(Mongodb::new()));
}
