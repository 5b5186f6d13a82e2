//! A run whose server and client are held to processors of their own says so, and is as valid as any.

use crate::Outcome;
use crate::support::{Place, errors, held_against};

pub fn server_and_client_have_processors_of_their_own() -> Outcome {
    if std::thread::available_parallelism().is_ok_and(|processors| processors.get() < 2) {
        return Some("there is one processor");
    }
    let place = Place::new();
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/own.toml");
    let output = place.measure(own, &[], &["--on=postgresql:individual", "--pin"]);
    let pinned = &place.record()["environment"]["pinned"];
    let of = |part: &str| pinned[part].as_str().expect("a list").to_owned();
    assert!(of("server") != of("client"), "{pinned}");
    for trial in place.trials() {
        assert_eq!(held_against(&trial), [""; 0], "{}", errors(&output));
    }
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = format!("server to processors {}", of("server"));
    let flat = report.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&line), "{report}");
    assert!(!flat.contains("client and server share"), "{report}");
    None
}
