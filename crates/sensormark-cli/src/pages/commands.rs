//! Every command that a page shows is one that the program takes.

use crate::arguments::Arguments;
use clap::Parser;
use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

/// The commands that a page shows: lines of its code blocks, up to their comment, each `sensormark` of them. Blocks that are marked as another
/// language are left out, because they are files, or what a program printed.
fn commands(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_shell = false;
    for event in super::parse(page) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => is_shell = true,
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                is_shell = ["", "sh", "bash", "console"].contains(&language.as_ref());
            }
            Event::End(TagEnd::CodeBlock) => is_shell = false,
            Event::Text(text) if is_shell => {
                let text = text.replace("\\\n", " ");
                let lines = text.lines().filter_map(|line| line.split(" #").next());
                let lines = lines.flat_map(|line| line.split("&&")).map(str::trim);
                let lines = lines.map(|line| line.strip_prefix("$ ").unwrap_or(line));
                found.extend(
                    lines
                        .filter(|line| line.starts_with("sensormark "))
                        .map(str::to_owned),
                );
            }
            _ => {}
        }
    }
    found
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
