//! Every command that a page shows is one that the program takes, also behind what starts it on other hosts.

use crate::arguments::Arguments;
use clap::Parser;
use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

/// The commands that a page shows: lines of its code blocks, up to their comment, each `sensormark` of them. Blocks that are marked as another
/// language are left out, because they are files, or what a program printed. A manifest's (yaml) are those that begin a line.
fn commands(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_shell = false;
    for event in super::parse(page) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => is_shell = true,
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                is_shell = ["", "sh", "bash", "console", "yaml"].contains(&language.as_ref());
            }
            Event::End(TagEnd::CodeBlock) => is_shell = false,
            Event::Text(text) if is_shell => {
                let text = text.replace("\\\n", " ").replace("$rank", "0");
                let text = text.replace("$start", "2026-01-01T00:00:00Z");
                let lines = text.lines().filter_map(|line| line.split(" #").next());
                // Where the output goes is the shell's business.
                let lines = lines.filter_map(|line| line.split(" > ").next());
                let lines = lines.flat_map(|line| line.split("&&")).map(str::trim);
                let lines = lines.map(|line| line.strip_prefix("$ ").unwrap_or(line));
                let lines = lines.map(launched);
                found.extend(lines.filter(|line| line.starts_with("sensormark ")));
            }
            _ => {}
        }
    }
    found
}

/// What another program starts on its hosts, without its quotes; other lines as they are.
fn launched(line: &str) -> String {
    let is_launcher = ["ssh ", "srun ", "mpirun "]
        .iter()
        .any(|one| line.starts_with(one));
    match line.find("sensormark run") {
        Some(start) if is_launcher => line[start..].replace(['"', '\'', '&'], ""),
        _ => line.to_owned(),
    }
}

#[test]
fn every_command_of_the_pages_is_accepted() {
    let mut accepted = 0;
    for page in super::docs() {
        for command in commands(&page.text) {
            if let Err(error) = Arguments::try_parse_from(command.split_whitespace()) {
                panic!("{}: {command}\n{error}", page.path.display());
            }
            accepted += 1;
        }
    }
    assert!(accepted >= 75, "{accepted}");
}

#[test]
fn commands_are_found_in_lists_and_after_others() {
    let page = "1. Do:\n\n        sensormark list # all\n\n```sh\n$ sensormark init a.toml && sensormark run a.toml\n```\n\n```text\nsensormark says\n```\n";
    let expected = [
        "sensormark list",
        "sensormark init a.toml",
        "sensormark run a.toml",
    ];
    assert_eq!(commands(page), expected);
}
