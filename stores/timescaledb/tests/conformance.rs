//! TimescaleDB, which extends PostgreSQL, against every rule of the store contract.

/// What the edition under the Apache licence refuses.
const COMMUNITY: [&str; 2] = ["compressed", "continuous"];

fn main() {
    let store = std::sync::Arc::new(sensormark_stores::timescaledb());
    sensormark_conformance::main_in_part_unless_refused(store, &COMMUNITY);
}
