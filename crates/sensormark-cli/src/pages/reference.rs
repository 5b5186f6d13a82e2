//! docs/reference/commands.md is what the help says: of the program all of it, of each command the short one, without what an earlier command says.
//!
//! clap's own text is taken as it is: clap-markdown leaves out the headings that group the options. `SENSORMARK_WRITE_PINS=1` writes the page anew.

use crate::arguments::Arguments;
use clap::{Command, CommandFactory};
use sensormark_conformance::pins::hold;
use std::collections::HashSet;

/// Columns of the text: what the program takes at most.
const WIDTH: usize = 100;

const HEAD: &str = "\
# Commands

`sensormark COMMAND --help` has all options and examples. Here, an option of several commands stands below the first.
";

fn reference() -> String {
    let mut whole = Arguments::command().term_width(WIDTH);
    whole.build();
    let mut text = HEAD.to_owned();
    describe(&mut whole, "sensormark", &mut HashSet::new(), &mut text);
    text
}

/// Adds a command's help, and that of the commands below it.
fn describe(command: &mut Command, name: &str, said: &mut HashSet<String>, text: &mut String) {
    let mut shown = command.clone().term_width(WIDTH);
    let help = if said.is_empty() { shown.render_long_help() } else { shown.render_help() };
    text.push_str(&format!("\n## {name}\n\n```text\n{}\n```\n", brief(&help.to_string(), said)));
    for below in command.get_subcommands_mut() {
        let name = format!("{name} {}", below.get_name());
        if !below.is_hide_set() && !name.ends_with(" help") {
            describe(below, &name, said, text);
        }
    }
}

/// Help without examples, without options that were said in the same words, and without headings that have nothing below.
fn brief(help: &str, said: &mut HashSet<String>) -> String {
    let mut kept = Vec::new();
    for part in help.trim_end().split("\n\n").filter(|part| !part.starts_with("Examples:")) {
        let mut is_new = true;
        let lines = part.lines().map(str::trim_end).filter(|line| {
            let start = line.trim_start();
            if start.starts_with('-') && line.len() < start.len() + 10 {
                is_new = said.insert(start.split_whitespace().collect());
            }
            is_new
        });
        let part = lines.collect::<Vec<_>>().join("\n");
        if !part.ends_with(':') {
            kept.push(part);
        }
    }
    kept.join("\n\n")
}

#[test]
fn the_command_reference_is_what_the_help_says() {
    let path = super::root().join("docs/reference/commands.md");
    assert_eq!(hold(&path, &reference()), Ok(()));
}
