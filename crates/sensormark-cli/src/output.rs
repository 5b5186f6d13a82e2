//! Standard output: results go there. Every write is checked, and a reader that has gone away (`| head`) is no failure.

use crate::failure::Failure;
use std::fmt::Display;
use std::io::{ErrorKind, Write};

/// Prints a text as it is.
///
/// # Errors
/// When it cannot be written, to a full disk for example.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut output = std::io::stdout().lock();
    let written = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::input_output(format!(
            "cannot write to standard output: {error}"
        ))),
        Ok(()) => Ok(()),
    }
}

/// Prints a line.
///
/// # Errors
/// As [`print`].
pub fn line(text: impl Display) -> Result<(), Failure> {
    print(&format!("{text}\n"))
}
