//! docs/reference/commands.md is what the help says: of the program all of it, of its commands the short help without what is said twice.
//!
//! clap's own text is taken as it is: clap-markdown leaves out the headings that group the options. `SENSORMARK_WRITE_PINS=1` writes the page anew.

use crate::arguments::Arguments;
use clap::{Command, CommandFactory};
use sensormark_conformance::pins::hold;
use std::collections::HashSet;
use std::fmt::Write;

/// Columns of the text: what the program takes at most.
const WIDTH: usize = 100;

const HEAD: &str = "\
# Commands

The program's own help makes this page, and a test fails when it is stale. `sensormark COMMAND --help` adds examples and says more of each option.
The options `-q` (quiet), `-v` (verbose) and `-h` (help) go with every command.
";

/// Options of every command, which the page's head names.
const GENERAL: [&str; 3] = ["-q, --quiet", "-v, --verbose...", "-h, --help"];

fn reference() -> String {
    let mut whole = Arguments::command().term_width(WIDTH);
    whole.build();
    let mut text = HEAD.to_owned();
    describe(&mut whole, "sensormark", &mut HashSet::new(), &mut text);
    text
}

/// Adds a command's help, and that of the commands below it. `said` holds the options of `run`.
fn describe(command: &mut Command, name: &str, said: &mut HashSet<String>, text: &mut String) {
    let mut shown = command.clone().term_width(WIDTH);
    let (help, same) = if name == "sensormark" {
        (trimmed(&shown.render_long_help().to_string()).join("\n"), Vec::new())
    } else {
        brief(&shown.render_help().to_string(), name == "sensormark run", said)
    };
    let _ = write!(text, "\n## {name}\n\n```text\n{help}\n```\n");
    if !same.is_empty() {
        let _ = write!(text, "\nAs with `sensormark run`: {}.\n", same.join(", "));
    }
    for below in command.get_subcommands_mut() {
        if below.is_hide_set() || below.get_name() == "help" {
            continue;
        }
        let name = format!("{name} {}", below.get_name());
        describe(below, &name, said, text);
    }
}

fn trimmed(help: &str) -> Vec<&str> {
    help.trim_end().lines().map(str::trim_end).collect()
}

fn is_option(line: &str) -> bool {
    line.starts_with("  ") && line.trim_start().starts_with('-')
}

/// The lines of each option together, every other line alone.
fn parts(help: &str) -> Vec<Vec<&str>> {
    let mut parts: Vec<Vec<&str>> = Vec::new();
    for line in trimmed(help) {
        let indentation = line.len() - line.trim_start().len();
        match parts.last_mut() {
            Some(part) if indentation > 6 && is_option(part[0]) => part.push(line),
            _ => parts.push(vec![line]),
        }
    }
    parts
}

/// A command's help without examples, without options of every command, and without those that `run` has in the same words; and the names of the latter.
fn brief(help: &str, is_run: bool, said: &mut HashSet<String>) -> (String, Vec<String>) {
    let (mut kept, mut same) = (Vec::new(), Vec::new());
    for part in parts(help) {
        let words: Vec<&str> = part.iter().flat_map(|line| line.split_whitespace()).collect();
        let option = words.join(" ");
        if is_option(part[0]) {
            if GENERAL.iter().any(|one| option.starts_with(one)) {
                continue;
            }
            if is_run {
                said.insert(option);
            } else if said.contains(&option) {
                let name = words.iter().find(|word| word.starts_with("--")).unwrap_or(&"");
                same.push(format!("`{}`", name.split('[').next().unwrap_or_default()));
                continue;
            }
        }
        kept.extend(part);
    }
    (without_gaps(&kept), same)
}

/// The lines without examples, without headings that have nothing below, and without a second blank line.
fn without_gaps(lines: &[&str]) -> String {
    let mut left: Vec<&str> = Vec::new();
    let mut is_example = false;
    for (number, &line) in lines.iter().enumerate() {
        is_example = !line.is_empty() && (is_example || line == "Examples:");
        let is_heading = line.ends_with(':') && !line.starts_with(' ');
        let is_last = lines.get(number + 1).is_none_or(|next| next.is_empty());
        let is_second_blank = line.is_empty() && left.last().is_some_and(|before| before.is_empty());
        if !is_example && !(is_heading && is_last) && !is_second_blank {
            left.push(line);
        }
    }
    left.join("\n").trim().to_owned()
}

#[test]
fn the_command_reference_is_what_the_help_says() {
    let path = super::root().join("docs/reference/commands.md");
    if let Err(text) = hold(&path, &reference()) {
        panic!("{text}");
    }
}
