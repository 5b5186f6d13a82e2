//! What the tests of iot-platform share: small numbers.

use crate::support::Place;
use std::process::Output;

/// Four days of a home, few messages and questions.
const SMALL: [&str; 6] = ["days=4", "messages=150", "spans=1,3", "statistics=1", "questions=12", "grown=0"];

/// Measures the small workload, with further settings and arguments.
pub fn measure(place: &Place, settings: &[&str], further: &[&str]) -> Output {
    place.measure("iot-platform", &[&SMALL, settings].concat(), further)
}
