//! InfluxDB against every rule of the store contract.

use sensormark_influxdb::Influxdb;
use sensormark_store::conformance;
use std::sync::Arc;

fn main() {
    conformance::main(Arc::new(Influxdb::new()));
}
