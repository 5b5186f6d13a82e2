//! Kept runs against each other: what a terminal shows, and what a gate says that sees little.

use crate::support::{Place, errors};
use std::path::Path;
use std::process::Output;

fn compared(workload: &str, further: &[&str]) -> Output {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let folder = kept.join(workload).to_string_lossy().into_owned();
    Place::new().run(&[&["compare", &folder, &folder], further].concat())
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A gate that would have seen nothing let everything through without a word.
#[test]
fn a_gate_that_sees_little_says_so_and_fails_where_it_is_asked_to() {
    let gate = ["--fail-on", "regression"];
    let warned = compared("billing", &gate);
    let told = errors(&warned);
    assert_eq!(warned.status.code(), Some(0), "{told}");
    for part in [
        "warning: no regression was found, but in ",
        "a change of --threshold 2 % could go unseen",
        "--must-see PERCENT",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let sharp = compared("billing", &[&gate[..], &["--must-see", "9999999"]].concat());
    assert_eq!(sharp.status.code(), Some(0), "{}", errors(&sharp));
    let blunt = compared("billing", &[&gate[..], &["--must-see", "3"]].concat());
    let told = errors(&blunt);
    assert_eq!(blunt.status.code(), Some(1), "{told}");
    assert!(told.contains("a change of --must-see 3 % could go unseen"), "{told}");
    let alone = compared("billing", &["--must-see", "3"]);
    assert_eq!(alone.status.code(), Some(2), "{}", errors(&alone));
}

#[test]
fn a_comparison_fits_a_terminal_and_says_what_would_have_been_seen() {
    let text = printed(&compared("billing", &[]));
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("no change found; would have seen one over"), "{text}");
    assert!(!text.contains(" alike "), "{text}");
    let single = printed(&compared("first-run", &[]));
    assert!(single.contains("The 10 largest of "), "{single}");
    let drawn = single.lines().filter(|line| line.contains('●') && line.ends_with("not tested"));
    assert_eq!(drawn.count(), 10, "{single}");
    for line in text.lines().chain(single.lines()) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

/// One run's implementations took turns, so they can be told apart where two runs could not.
#[test]
fn of_one_run_the_others_are_held_against_the_one_that_leads() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let folder = |name: &str| kept.join(name).to_string_lossy().into_owned();
    let told = Place::new().run(&["compare", &folder("sensor-operations")]);
    assert_eq!(told.status.code(), Some(0), "{}", errors(&told));
    let text = printed(&told);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        [": the others against ", "which leads the ranking", "significantly (5 % after Holm's correction)"]
    {
        assert!(flat.contains(part), "{part}: {text}");
    }
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let gate = ["compare", &folder("billing"), "--fail-on", "regression"];
    let refused = Place::new().run(&gate);
    assert_eq!(refused.status.code(), Some(2), "{}", errors(&refused));
}
