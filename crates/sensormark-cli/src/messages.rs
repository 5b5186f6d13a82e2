//! What the program says on standard error, where nothing can fail it. Text is cleaned here, so that nothing in it can command the terminal.

use sensormark_report::clean::clean;
use std::fmt::Display;
use std::io::{Write, stderr};

/// Says something on standard error. Whether somebody can read it changes nothing: the exit code stays.
pub fn say(text: impl Display) {
    // A standard error that is full or closed has no place left to complain to.
    let _ = writeln!(stderr(), "{}", harmless(&text.to_string()));
}

/// The text, each line of which cannot command the terminal.
pub fn harmless(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(clean).collect();
    lines.join("\n")
}
