//! MongoDB against every rule of the store contract; in part, unless `SENSORMARK_SLOW` is set.

fn main() {
    let store = std::sync::Arc::new(sensormark_stores::mongodb());
    sensormark_conformance::main_in_part_with_pins(store, concat!(env!("CARGO_MANIFEST_DIR"), "/mongodb"));
}
