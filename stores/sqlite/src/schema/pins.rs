//! The statements of every layout, held to the text in `tests/pins/schema.txt` and to the order of the series' key.

use super::layouts;
use crate::design::Design;
use sensormark_conformance::pins::pin;
use sensormark_store::{DatabaseName, Durability, Endpoint, Plan, Secret};
use std::sync::Arc;

#[test]
fn statements_are_as_kept() {
    pin(env!("CARGO_MANIFEST_DIR"), layouts, |schema, offer| {
        let plan = Plan {
            schema: Arc::clone(schema),
            layout: offer.layout,
            endpoint: Endpoint {
                url: Secret::new(String::new()),
                label: "nowhere".to_owned(),
                managed: false,
                ports: Vec::new(),
            },
            database: DatabaseName::new("pins").expect("a name"),
            owner: "tests".to_owned(),
            durability: Durability::Default,
            clients: 1,
            timeout_ms: 1_000,
        };
        let design = Design::new(&plan).expect("an offered layout");
        design.statements()
    });
}
