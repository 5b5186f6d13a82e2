//! What the pages show is what the program prints: the README's report, and the workload file of the tutorial.
//!
//! `SENSORMARK_WRITE_PINS=1` writes the README's report anew.

use crate::support::{Place, errors};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository")
}

/// The indented block of a page whose first line begins so: where it begins and ends.
fn block<'a>(lines: &[&'a str], beginning: &str) -> Option<(usize, usize)> {
    let first = lines.iter().position(|line| line.starts_with(beginning))?;
    let is_part = |line: &&'a str| line.is_empty() || line.starts_with("    ");
    let length = lines[first..]
        .iter()
        .take_while(|line| is_part(line))
        .count();
    let blank = lines[first..first + length]
        .iter()
        .rev()
        .take_while(|line| line.is_empty())
        .count();
    Some((first, first + length - blank))
}

#[test]
fn the_readme_shows_what_the_kept_result_prints() {
    let file = root().join("README.md");
    let page = std::fs::read_to_string(&file).expect("the README");
    let lines: Vec<&str> = page.lines().collect();
    let (first, end) = block(&lines, "    machine-tool · ").expect("the README shows a report");

    let place = Place::new();
    let mut command = place.command(&["report", "docs/results/first-run"]);
    let told = command.current_dir(root()).output().expect("the program");
    assert!(told.status.success(), "{}", errors(&told));
    let told = String::from_utf8(told.stdout).expect("text is UTF-8");
    let indented = told.trim_end().lines().map(|line| match line {
        "" => String::new(),
        _ => format!("    {line}"),
    });
    let now: Vec<String> = indented.collect();

    if std::env::var_os("SENSORMARK_WRITE_PINS").is_some() {
        let parts = [
            &lines[..first],
            &now.iter().map(String::as_str).collect::<Vec<_>>(),
            &lines[end..],
        ];
        std::fs::write(&file, parts.concat().join("\n") + "\n").expect("the README is written");
        return;
    }
    assert_eq!(
        lines[first..end].join("\n"),
        now.join("\n"),
        "README.md shows another report; SENSORMARK_WRITE_PINS=1 writes it anew"
    );
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
