//! What the conformance suite cannot see from outside.
fn main() {}
