//! The statements of every layout, held to the text in `tests/pins/schema.txt` and to the order of the series' key.

use super::layouts;
use crate::dialect::SqliteDialect;
use sensormark_conformance::pins::pin;
use sensormark_relational::{ddl, physical_schema::PhysicalSchema};

#[test]
fn statements_are_as_kept() {
    pin(env!("CARGO_MANIFEST_DIR"), layouts, |schema, offer| {
        let physical = PhysicalSchema::new(&SqliteDialect, schema, offer.layout).expect("an offered layout");
        ddl::statements(&physical)
    });
}
