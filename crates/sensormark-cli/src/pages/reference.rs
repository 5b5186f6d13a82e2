//! docs/reference/commands.md is what `--help` prints.
//!
//! clap's own text is taken as it is: clap-markdown leaves out the headings that group the options. `SENSORMARK_WRITE_PINS=1` writes the page anew.

use crate::arguments::Arguments;
use clap::{Command, CommandFactory};
use sensormark_conformance::pins::hold;
use std::fmt::Write;

/// Columns of the text: what the program takes at most.
const WIDTH: usize = 100;

const HEAD: &str = "\
# Commands

This page shows what `sensormark --help` and `sensormark COMMAND --help` print. It is generated from the program, and a test fails when it is stale.
The program prints the same as manual pages (`sensormark man FOLDER`) and as a shell's completions (`sensormark completions SHELL`).
";

fn reference() -> String {
    let mut whole = Arguments::command().term_width(WIDTH);
    whole.build();
    let mut text = HEAD.to_owned();
    describe(&mut whole, "sensormark", &mut text);
    text
}

/// Adds a command's help, and that of the commands below it.
fn describe(command: &mut Command, name: &str, text: &mut String) {
    let help = command.clone().term_width(WIDTH).render_long_help();
    let help = help.to_string();
    let lines: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
    let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", lines.join("\n"));
    for below in command.get_subcommands_mut() {
        if below.is_hide_set() || below.get_name() == "help" {
            continue;
        }
        let name = format!("{name} {}", below.get_name());
        describe(below, &name, text);
    }
}

#[test]
fn the_command_reference_is_what_the_help_says() {
    let path = super::root().join("docs/reference/commands.md");
    if let Err(text) = hold(&path, &reference()) {
        panic!("{text}");
    }
}
