//! One run against another: like with like is no change, a slowed store is a regression, too few repetitions are no gate.

use crate::support::{Place, errors};
use std::path::Path;
use std::process::Output;

/// Why nothing can be said of like and like here.
const DISTURBED: &str = "the host is disturbed, so that comparisons decide nothing";

fn compared(place: &Place, first: &Path, second: &Path, further: &[&str]) -> Output {
    let folders = [first, second].map(|folder| folder.to_string_lossy().into_owned());
    place.run(&[&["compare", &folders[0], &folders[1]], further].concat())
}

/// What was printed, as one line: where it is broken says nothing.
fn printed(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub fn runs_against_each_other() -> Option<String> {
    let place = Place::new();
    let before = place.measured("before", &[]);
    let gate = ["--fail-on", "regression"];
    let alike = compared(&place, &before, &before, &gate);
    let text = printed(&alike);
    if text.contains("disturbed, which was tolerated") {
        assert!(!text.contains("as far as the runs tell"), "{text}");
        return Some(DISTURBED.to_owned());
    }
    assert_eq!(alike.status.code(), Some(0), "{text}{}", errors(&alike));
    assert!(text.contains("0 better, 0 worse"), "{text}");
    assert!(text.contains("The same parameters"), "{text}");

    let slowed = place.measured("slowed", &["--plant", "late:30:1"]);
    let worse = compared(&place, &before, &slowed, &gate);
    let text = printed(&worse);
    if text.contains("not decided: the host was disturbed") {
        return Some(DISTURBED.to_owned());
    }
    assert_eq!(worse.status.code(), Some(1), "{text}{}", errors(&worse));
    assert!(errors(&worse).contains("regressions: SQLite bulk: "), "{}", errors(&worse));
    assert!(text.contains("worse"), "{text}");
    // The other way round the same change is an improvement. (What a database takes from the disk may change by itself.)
    let better = compared(&place, &slowed, &before, &gate);
    let told = errors(&better);
    assert!(!told.contains("mean") && !told.contains("operations"), "{told}");

    let single = place.measured("single", &["--set", "repetitions=1"]);
    let untested = compared(&place, &before, &single, &gate);
    assert_eq!(untested.status.code(), Some(2));
    assert!(errors(&untested).contains("three valid repetitions"), "{}", errors(&untested));
    let shown = compared(&place, &before, &single, &[]);
    let text = printed(&shown);
    assert_eq!(shown.status.code(), Some(0));
    assert!(
        text.contains("not tested") && text.contains("repetitions: 3 in the first, 1 in the second"),
        "{text}"
    );
    None
}
