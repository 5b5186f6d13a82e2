//! GridDB against every rule of the store contract.

fn main() {
    let store = std::sync::Arc::new(sensormark_stores::griddb());
    sensormark_conformance::main_in_part_with_pins(store, concat!(env!("CARGO_MANIFEST_DIR"), "/griddb"));
}
