//! What the pages show is what the program prints: the README's report, and each step of the tutorial.
//!
//! `SENSORMARK_WRITE_PINS=1` writes reports anew.

use crate::support::{Place, errors, said};
use crate::terminal::Session;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository")
}

/// The indented block of a page whose first line begins so: where it begins and ends.
fn block<'a>(lines: &[&'a str], beginning: &str) -> Option<(usize, usize)> {
    let first = lines.iter().position(|line| line.starts_with(beginning))?;
    let is_part = |line: &&'a str| line.is_empty() || line.starts_with("    ");
    let length = lines[first..].iter().take_while(|line| is_part(line)).count();
    let blank = lines[first..first + length].iter().rev().take_while(|line| line.is_empty()).count();
    Some((first, first + length - blank))
}

/// What the program prints with these arguments in the repository's folder, indented as on a page.
fn indented(arguments: &[&str]) -> Vec<String> {
    let place = Place::new();
    let mut command = place.command(arguments);
    let told = command.current_dir(root()).output().expect("the program");
    // A layout that misses a limit has the exit code 1.
    assert!(matches!(told.status.code(), Some(0 | 1)), "{}", errors(&told));
    let told = String::from_utf8(told.stdout).expect("text is UTF-8");
    let indented = told.trim_end().lines().map(|line| match line {
        "" => String::new(),
        _ => format!("    {line}"),
    });
    indented.collect()
}

/// A page shows the report of a kept result in the block that begins so.
fn shows_the_report(page: &str, beginning: &str, run: &str) {
    let file = root().join(page);
    let text = std::fs::read_to_string(&file).expect("a page");
    let lines: Vec<&str> = text.lines().collect();
    let (first, end) = block(&lines, beginning).expect("the page shows a report");
    let now = indented(&["report", run]);
    if std::env::var_os("SENSORMARK_WRITE_PINS").is_some() {
        let parts = [&lines[..first], &now.iter().map(String::as_str).collect::<Vec<_>>(), &lines[end..]];
        std::fs::write(&file, parts.concat().join("\n") + "\n").expect("the page is written");
        return;
    }
    assert_eq!(
        lines[first..end].join("\n"),
        now.join("\n"),
        "{page} shows another report; SENSORMARK_WRITE_PINS=1 writes it anew"
    );
}

#[test]
fn the_readme_shows_what_the_kept_result_prints() {
    shows_the_report("README.md", "    machine-tool · ", "docs/results/first-run");
}

#[test]
fn the_file_of_the_tutorial_is_accepted() {
    let place = Place::new();
    let file = root().join("docs/tutorial/greenhouse.toml");
    let told = place.run(&["list", &file.to_string_lossy()]);
    assert!(told.status.success(), "{}", errors(&told));
    let text = String::from_utf8_lossy(&told.stdout);
    assert!(text.contains("sqlite:individual"), "{text}");
}

const TUTORIAL: &str = "docs/tutorial/which-database.md";

fn tutorial() -> String {
    std::fs::read_to_string(root().join(TUTORIAL)).expect("the tutorial")
}

/// The lines of a block, without their indentation.
fn shown(page: &str, beginning: &str) -> Vec<String> {
    let lines: Vec<&str> = page.lines().collect();
    let (first, end) = block(&lines, beginning).unwrap_or_else(|| panic!("no {beginning:?}"));
    let part = lines[first..end].iter();
    part.map(|line| line.strip_prefix("    ").unwrap_or(line).to_owned()).collect()
}

/// Types the tutorial's answers where they are asked for; all that is on the screen.
fn answered_as_shown(place: &Place, block: &[String]) -> String {
    let mut command = place.command(&["init", "plant.toml"]);
    command.env("NO_COLOR", "1").env("TERM", "xterm-256color");
    let mut session = Session::start(command, 200, 60);
    for line in block {
        if let Some((question, answer)) = line.split_once("] >") {
            // The databases are those of the machine.
            let question = question.trim_start().split(", postgresql").next().unwrap_or_default();
            session.expect(question);
            session.expect("] > ");
            session.send(&format!("{}\r", answer.trim()));
        }
    }
    let (status, screen) = session.finish();
    assert!(status.success(), "{screen}");
    screen
}

#[test]
fn the_tutorials_answers_make_the_file_and_the_plan_that_it_shows() {
    let place = Place::new();
    let page = tutorial();
    let questions = shown(&page, "    sensormark init plant.toml");
    let screen = answered_as_shown(&place, &questions);
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let on_screen = words(&screen);
    // What it says between the answers; lines are broken as the terminal is wide.
    for line in &questions[1..] {
        if !line.contains("] >") {
            assert!(on_screen.contains(&words(line)), "{line}: {screen}");
        }
    }
    let file = std::fs::read_to_string(place.path().join("plant.toml")).expect("it wrote a file");
    let limits = page.split("```toml\n").nth(1).expect("limits are shown");
    let limits = limits.split("```").next().expect("their end");
    assert!(file.contains(limits), "{limits} is not in: {file}");

    let embedded = "sqlite:individual,sqlite:individual-clustered";
    let plan = ["run", "plant.toml", "--dry-run", "--on", embedded];
    let plan = said(&place.run(&plan));
    let listed = shown(&page, "    plant · plant.toml · 3 trials");
    for line in &listed {
        if line.contains("SQLite") || line.starts_with("Nothing was") {
            assert!(words(&plan).contains(&words(line)), "{line}: {plan}");
        }
    }
}

const KEPT: &str = "docs/results/which-database";

#[test]
fn the_tutorial_shows_what_its_kept_result_prints() {
    shows_the_report(TUTORIAL, "    plant · plant.toml · sqlite, ", KEPT);
}

#[test]
fn the_tutorial_shows_the_kept_results_projection() {
    let page = tutorial();
    let lines: Vec<&str> = page.lines().collect();
    let (first, end) = block(&lines, "    At 100 readings").expect("the projection");
    let full = indented(&["report", KEPT, "--full", "--disk", "60GB"]).join("\n");
    let projection = lines[first..end].join("\n");
    assert!(full.contains(&projection), "{projection} is not in: {full}");
}
