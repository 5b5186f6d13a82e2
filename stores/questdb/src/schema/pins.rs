//! The statements of every layout, held to the text in `tests/pins/schema.txt` and to the order of the series' key.

use super::layouts;
use sensormark_conformance::pins::pin;
use sensormark_relational::ddl;

#[test]
fn statements_are_as_kept() {
    pin(env!("CARGO_MANIFEST_DIR"), layouts, |schema, offer| {
        let tables = super::Tables::new(schema, offer.layout).expect("an offered layout");
        ddl::statements(&tables.physical)
    });
}
