//! The last screen of a terminal: what a person sees when the program has ended, through a pseudo-terminal of 80 columns and 24 lines.

use crate::support::Place;
use crate::terminal::Session;
use std::path::PathBuf;
use std::process::Command;

/// What the command writes to a terminal of this size.
fn on_a_terminal(command: Command, columns: u16, rows: u16) -> String {
    Session::start(command, columns, rows).finish().1
}

/// The lines that are on the screen when the prompt follows.
fn last_screen(text: &str, rows: usize) -> Vec<&str> {
    let lines: Vec<&str> = text.trim_end_matches('\n').lines().collect();
    lines[lines.len().saturating_sub(rows - 1)..].to_vec()
}

fn kept() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/results")
}

#[test]
fn the_answer_of_every_workload_is_on_the_last_screen() {
    let place = Place::new();
    for workload in ["machine-tool", "sensor-operations", "devops", "iot-platform", "billing"] {
        let run = kept().join(workload);
        let run = run.canonicalize().expect("a kept result");
        let text = on_a_terminal(place.command(&["report", &run.to_string_lossy()]), 80, 24);
        let screen = last_screen(&text, 24).join("\n");
        assert!(screen.starts_with(workload), "{workload}: {text}");
        for needed in
            ["cost", "  1 ", "checked answers right", "  page        ", "  everything  sensormark report "]
        {
            assert!(screen.contains(needed), "{workload} {needed}: {text}");
        }
    }
}

#[test]
fn a_run_ends_with_its_answer_and_where_to_go_on() {
    let place = Place::new();
    let run = [
        "run",
        "devops",
        "--on",
        "sqlite",
        "--tolerate-disturbance",
        "--set",
        "hosts=2",
        "--set",
        "hours=1",
        "--set",
        "more_hours=",
        "--set",
        "clients=1",
        "--set",
        "queries=1",
    ];
    let text = on_a_terminal(place.command(&run), 80, 24);
    let screen = last_screen(&text, 24).join("\n");
    for needed in [
        "devops · quick · sqlite",
        "SQLite",
        "page        results/",
        "everything  sensormark report results/",
        "firmer      sensormark run devops",
    ] {
        assert!(screen.contains(needed), "{needed}: {text}");
    }
}

#[test]
fn everything_is_printed_where_it_is_asked_for() {
    let place = Place::new();
    let run = kept().join("devops").canonicalize().expect("a kept result");
    let run = run.to_string_lossy();
    let brief = place.command(&["report", &run]).output().expect("the program");
    let full = place.command(&["report", &run, "--full"]).output().expect("the program");
    let (brief, full) = (brief.stdout, full.stdout);
    let text = String::from_utf8(full).expect("text");
    assert!(text.contains("Verdicts\n========") && text.lines().count() > 100);
    let brief = String::from_utf8(brief).expect("text");
    assert!(!brief.contains("Verdicts") && brief.lines().count() < 40, "{brief}");
}
