//! A run whose server and client are held to processors of their own says so, and is as valid as any.

use crate::support::{Place, errors, held_against, postgresql_is_here};

#[test]
fn server_and_client_have_processors_of_their_own() {
    if !postgresql_is_here() {
        println!("ignored: PostgreSQL is not installed");
        return;
    }
    if std::thread::available_parallelism().is_ok_and(|processors| processors.get() < 2) {
        println!("ignored: there is one processor");
        return;
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
}

#[test]
fn processors_that_cannot_be_are_refused() {
    let output = Place::new().run(&["run", "machine-tool", "--pin=0/0"]);
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(
        text.contains("--pin") && text.contains("processor 0 is on both sides"),
        "{text}"
    );
}
