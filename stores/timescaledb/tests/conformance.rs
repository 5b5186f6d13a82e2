//! TimescaleDB, which extends PostgreSQL, against every rule of the store contract.

fn main() {
    sensormark_conformance::main_in_part(std::sync::Arc::new(sensormark_stores::timescaledb()));
}
