//! Plans and announcements of runs with a server.

use crate::dry_run::the_announced_time_of;
use crate::support::{Place, errors, read_folder, said};
use std::process::Command;

pub fn the_announced_time_of_a_server_is_true() -> Option<String> {
    the_announced_time_of("postgresql:individual")
}

/// Processes of this user that have a place's path among their arguments or files.
fn processes_of(place: &Place) -> usize {
    let output = Command::new("ps").args(["-eo", "args"]).output().expect("ps");
    let path = place.path().to_string_lossy().into_owned();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter(|line| line.contains(&path)).count()
}

pub fn a_plan_starts_no_server() {
    let place = Place::new();
    let output = place.run(&["run", "devops", "--on=sqlite,postgresql", "--scale=firm", "--dry-run"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{}", errors(&output));
    assert!(text.contains("  servers     PostgreSQL "), "{text}");
    assert!(text.contains("one at a time"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(processes_of(&place), 0, "{text}");
    assert!(read_folder(place.path()).is_empty(), "{text}");
}
