//! What the program prints on standard output, where every write is checked. Messages on standard error are in [`crate::messages`].
//!
//! A reader that has gone away (`| head`) is no failure. Text for people is cleaned here, so that nothing in it can command the terminal.

use crate::failure::Failure;
use crate::messages::harmless;
use std::fmt::Display;
use std::io::{ErrorKind, Write, stdout};

/// Prints a text as it is.
///
/// # Errors
/// When it cannot be written, to a full disk for example.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut output = stdout().lock();
    let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    checked(written)
}

/// Prints a line.
///
/// # Errors
/// As [`print`].
pub fn line(text: impl Display) -> Result<(), Failure> {
    print(&format!("{text}\n"))
}

/// Prints a text for people, parts of which come from a file or a server.
///
/// # Errors
/// As [`print`].
pub fn print_cleaned(text: &str) -> Result<(), Failure> {
    line(harmless(text))
}

/// Prints a help text or a usage error of the command line's parser, and gives the exit code.
pub fn parser(error: &clap::Error) -> Result<u8, Failure> {
    let written = error.print().and_then(|()| stdout().flush());
    if error.use_stderr() {
        // As with any other message.
        return Ok(crate::failure::USAGE);
    }
    checked(written).map(|()| 0)
}

/// What became of a write to standard output.
fn checked(written: std::io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::input_output(format!("cannot write to standard output: {error}"))),
        Ok(()) => Ok(()),
    }
}
