//! The statements of every layout, held to the text in `tests/pins/schema.txt` and to the order of the series' key.

use super::{PhysicalSchema, layout_options::layouts};
use sensormark_conformance::pins::pin;

#[test]
fn statements_are_as_kept() {
    pin(env!("CARGO_MANIFEST_DIR"), layouts, |schema, offer| {
        let physical = PhysicalSchema::new(schema, offer.layout).expect("an offered layout");
        physical
            .commands()
            .iter()
            .map(ToString::to_string)
            .collect()
    });
}
