//! What a killed run left: named by the next run, listed by `doctor`, removed by `clean`. Nothing else is touched.

use crate::interruption::{signal, start, wait_until};
use crate::support::{Place, errors, read_folder, said};
use std::process::Output;

/// What `clean` says of these places.
fn cleaned(place: &Place, arguments: &[&str]) -> String {
    let output: Output = place.run(&[&["clean"], arguments].concat());
    assert!(output.status.success(), "{}", errors(&output));
    said(&output)
}

/// A killed run's database in a place that `url` names (`STORE=URL`), from naming to dropping. `layout` is one that takes few trials.
pub fn a_killed_run_is_named_and_cleaned(place: &Place, store: &str, url: &str) {
    let named = format!("{store}={url}");
    let on = format!("{store}:bulk/bulk={url}");
    let mut child = start(place, &["--on", &on]);
    wait_until("its database", || {
        cleaned(place, &[&named, "--dry-run", "--older-than=0s"]).contains("going on")
    });
    let meanwhile = cleaned(place, &[&named, "--older-than=0s"]);
    assert!(meanwhile.contains("left alone, because its run is going on"), "{meanwhile}");
    signal(&child, "KILL");
    child.wait().expect("it ends");

    std::fs::remove_dir_all(place.results()).expect("its results");
    let next = errors(&place.short(&["--on", &on]));
    let notes: Vec<&str> = next.lines().filter(|line| line.starts_with("note: ")).collect();
    let note = notes.iter().find(|line| line.contains("of a run that was killed"));
    let note = note.unwrap_or_else(|| panic!("the next run says nothing: {next}"));
    for words in ["sensormark_", " s old", "was not dropped", "sensormark clean"] {
        assert!(note.contains(words), "{words:?} is not in: {note}");
    }
    let strange = Place::new();
    let unknown = cleaned(&strange, &[&named]);
    assert!(unknown.contains("left alone, because this machine does not know"), "{unknown}");
    let would = cleaned(place, &[&named, "--dry-run"]);
    assert!(would.contains("would be dropped"), "{would}");
    let done = cleaned(place, &[&named]);
    assert!(done.contains(": dropped"), "{done}");
    let again = cleaned(place, &[&named, "--older-than=0s"]);
    assert!(again.contains("nothing is left"), "{again}");
}

#[test]
fn a_database_in_a_folder_of_the_users_own() {
    let place = Place::new();
    let folder = place.path().join("mine");
    std::fs::create_dir(&folder).expect("a folder");
    for name in ["sensormark_foreign.sqlite", "other.sqlite"] {
        std::fs::write(folder.join(name), "somebody's").expect("a file");
    }
    let before = read_folder(&folder).len();
    a_killed_run_is_named_and_cleaned(&place, "sqlite", &folder.to_string_lossy());
    assert_eq!(read_folder(&folder).len(), before, "the others are left alone");
}

#[test]
fn doctor_lists_what_a_killed_run_left_and_clean_removes_it() {
    let place = Place::new();
    let mut child = start(&place, &["--on", "sqlite:bulk/bulk"]);
    wait_until("a database", || place.has_begun());
    signal(&child, "KILL");
    child.wait().expect("it ends");
    let doctor = said(&place.run(&["doctor"]));
    assert!(doctor.contains("Left by runs that were killed"), "{doctor}");
    assert!(cleaned(&place, &["--dry-run"]).contains("sqlite"));
    assert!(!place.leftovers().is_empty(), "a dry run removes nothing");
    assert!(cleaned(&place, &[]).contains("removed its folders"));
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
    let doctor = said(&place.run(&["doctor"]));
    assert!(!doctor.contains("Left by runs"), "{doctor}");
}

#[test]
fn doctor_removes_what_a_killed_run_left_where_that_is_asked_for() {
    let place = Place::new();
    let mut child = start(&place, &["--on", "sqlite:bulk/bulk"]);
    wait_until("a database", || place.has_begun());
    signal(&child, "KILL");
    child.wait().expect("it ends");
    let doctor = said(&place.run(&["doctor"]));
    assert!(doctor.contains("doctor --clean removes it"), "{doctor}");
    assert!(!place.leftovers().is_empty(), "it only looks");
    let doctor = said(&place.run(&["doctor", "--clean"]));
    assert!(doctor.contains("removed its folders"), "{doctor}");
    assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
    let doctor = said(&place.run(&["doctor", "--clean"]));
    assert!(!doctor.contains("Left by runs"), "{doctor}");
}

#[test]
fn a_place_without_a_url_is_refused() {
    let place = Place::new();
    let output = place.run(&["clean", "postgresql"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(errors(&output).contains("postgresql=URL"), "{}", errors(&output));
}
