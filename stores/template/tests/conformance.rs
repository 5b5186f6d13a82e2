//! The template against every rule of the store contract.

use sensormark_template::Template;
use std::sync::Arc;

fn main() {
    sensormark_conformance::main(Arc::new(Template::new()));
}
