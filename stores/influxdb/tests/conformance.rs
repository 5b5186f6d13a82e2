//! InfluxDB against every rule of the store contract; in part, unless `SENSORMARK_SLOW` is set.

use sensormark_influxdb::Influxdb;
use std::sync::Arc;

fn main() {
    sensormark_conformance::main_in_part(Arc::new(Influxdb::new()));
}
