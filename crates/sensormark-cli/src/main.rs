//! The sensormark command.
fn main() {}
