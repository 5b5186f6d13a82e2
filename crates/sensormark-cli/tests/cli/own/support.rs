//! What the tests of own workloads share: a small one, in a file.

use crate::support::{Place, numbers, others};
use std::process::Output;

/// A small workload: some seconds with everything in it. Closed loops, so that other tests beside it do not make a schedule late.
pub const SMALL: &str = concat!(
    r#"
limits = ["lost = 0", "wrong answers = 0"]
layouts = ["individual"]
[series]
count = 8
interval = "1s"
jitter = "300ms"
duration = "5m"
missing = 0.02
late = 0.05
late_by = "10s"
repeated = 0.03
[[tags]]
name = "sensor"
[[tags]]
name = "hall"
values = ["north", "south"]
"#,
    numbers!(),
    others!(),
    r#"[load]
clients = 2
batch = 100
[mixed]
duration = "1500ms"
[writers]
clients = 1
batch = 20
[[queries]]
name = "point"
kind = "point"
[[queries]]
name = "board"
kind = "window mean"
field = "temperature"
span = "2m"
window = "10s"
when = "latest"
[[queries]]
name = "total"
kind = "sum"
field = "pulses"
of = "hall"
span = "1m"
by = "series"
[[queries]]
name = "current"
kind = "last value"
of = "all"
when = "latest"
[[queries]]
name = "alarm"
kind = "matching"
field = "temperature"
above = 25
span = "1m"
[[queries]]
name = "raw"
kind = "range"
span = "30s"
"#
);

/// A place with this workload file, `own.toml`.
pub fn with(text: &str) -> Place {
    let place = Place::new();
    std::fs::write(place.path().join("own.toml"), text).expect("the folder is ours");
    place
}

/// Measures `own.toml`.
pub fn measure(place: &Place, further: &[&str]) -> Output {
    place.measure("own.toml", &[], further)
}
