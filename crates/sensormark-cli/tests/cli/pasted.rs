//! Commands that the program prints: a shell takes each as it stands, also where names of files need quotes.

use crate::support::{Place, numbers, runs, said};
use std::fs;
use std::process::{Command, Output};

/// What the program prints before the name of a file, so that a shell would cut it.
const AWKWARD: &str = "my plant's & co";

/// A small file of the user's own.
const FILE: &str = concat!(
    r#"name = "plant"
[series]
count = 3
interval = "10s"
duration = "10m"
"#,
    numbers!(),
);

/// A command as a shell runs it that was given the printed line.
fn pasted(place: &Place, command: &str, further: &str) -> Output {
    let program = place.command(&[]);
    let rest = command.strip_prefix("sensormark ").expect("a command");
    // What is added stands before a remark.
    let (rest, remark) = rest.split_once("   # ").unwrap_or((rest, ""));
    let line = format!("\"$PROGRAM\" {rest} {further} #{remark}");
    Command::new("sh")
        .args(["-c", &line])
        .current_dir(place.path())
        .env("PROGRAM", program.get_program())
        .env("SENSORMARK_STATE", place.path().join("state"))
        .output()
        .expect("a shell")
}

/// The commands in what was printed: from the program's name to the line's end.
fn commands(text: &str) -> Vec<String> {
    let starts = ["command: ", "everything  ", "firmer      ", "next: ", "then: "];
    let command = |line: &str| {
        let after = starts.iter().find_map(|start| line.split_once(start));
        let command = after?.1.trim();
        command.starts_with("sensormark ").then(|| command.to_owned())
    };
    text.lines().filter_map(command).collect()
}

fn taken(place: &Place, command: &str, further: &str) {
    let output = pasted(place, command, further);
    assert!(output.status.success(), "{command}\n{}", said(&output));
}

#[test]
fn the_commands_that_a_run_prints_can_be_pasted() {
    let place = Place::new();
    let file = format!("{AWKWARD}.toml");
    fs::write(place.path().join(&file), FILE).expect("a file");
    let results = format!("results of {AWKWARD}");
    let on = ["--on", "sqlite:individual"];
    let run = ["run", &file, "--results", &results, "--tolerate-disturbance"];
    let text = said(&place.run(&[&run[..], &on].concat()));
    let folder = runs(&place.path().join(&results)).remove(0);
    let full = said(&place.run(&["report", &folder.to_string_lossy(), "--full"]));
    let printed = [commands(&text), commands(&full)].concat();
    assert_eq!(printed.len(), 3, "{printed:?}\n{text}");
    for command in printed {
        let is_run = command.starts_with("sensormark run ");
        taken(&place, &command, if is_run { "--dry-run" } else { "" });
    }
}

#[test]
fn the_command_that_init_prints_can_be_pasted() {
    for further in [&["--example"][..], &["--yes", "--on", "sqlite"]] {
        let place = Place::new();
        let file = format!("{AWKWARD}.toml");
        let text = said(&place.run(&[&["init", &file], further].concat()));
        let printed = commands(&text);
        assert_eq!(printed.len(), 1, "{text}");
        taken(&place, &printed[0], "--dry-run --on sqlite");
    }
}

#[test]
fn a_server_of_a_list_is_kept_and_a_password_is_asked_for() {
    let place = Place::new();
    let folders = ["one", "two"].map(|name| {
        let folder = place.path().join(name);
        fs::create_dir(&folder).expect("a folder");
        folder.display().to_string()
    });
    let on = format!("sqlite#a:bulk=sqlite:{},sqlite#b:bulk=sqlite:{}", folders[0], folders[1]);
    let text = said(&place.short(&["--on", &on]));
    let command = commands(&text).pop().expect("the command");
    assert!(command.contains(&on), "{command}");
    taken(&place, &command, "--dry-run");

    let refused = pasted(&place, "sensormark run machine-tool --on 'postgresql=postgresql://***@h:1/'", "");
    let text = said(&refused);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(text.contains("a user and a password; write them in its place"), "{text}");
}
