//! How a command fails: an exit code and one clear message. Never a backtrace for a user's mistake.

use sensormark_result::measurement::FolderError;
use sensormark_store::{ErrorKind, StoreError};
use std::fmt::Display;
use std::process::ExitCode;

/// Exit code: a trial is not valid, or a threshold was missed.
pub const NOT_VALID: u8 = 1;
/// Exit code: usage or configuration.
pub const USAGE: u8 = 2;
/// Exit code: a store could not be reached or started.
pub const UNREACHABLE: u8 = 3;
/// Exit code: a file could not be read or written: the disk is full, say.
pub const INPUT_OUTPUT: u8 = 4;
/// Exit code: broken off by the user (128 + SIGINT, as shells have it).
pub const INTERRUPTED: u8 = 130;

/// A failed command.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// Wrong usage or configuration.
    pub fn usage(message: impl Display) -> Self {
        Self { code: USAGE, message: message.to_string() }
    }

    /// A file or standard output that cannot be read or written.
    pub fn input_output(message: impl Display) -> Self {
        Self { code: INPUT_OUTPUT, message: message.to_string() }
    }

    /// A host that cannot be reached, or where this program does not run.
    pub fn unreachable(message: impl Display) -> Self {
        Self { code: UNREACHABLE, message: message.to_string() }
    }

    /// Something that was asked for is not here, and does not come.
    pub fn missing(message: impl Display) -> Self {
        Self { code: NOT_VALID, message: message.to_string() }
    }

    /// Prints the message and gives the exit code.
    pub fn show(&self) -> ExitCode {
        crate::messages::say(format_args!("sensormark: {}", self.message));
        ExitCode::from(self.code)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let code = match error.kind() {
            ErrorKind::Configuration | ErrorKind::Foreign | ErrorKind::Unsupported => USAGE,
            _ => UNREACHABLE,
        };
        Self { code, message: error.to_string() }
    }
}

impl From<FolderError> for Failure {
    fn from(error: FolderError) -> Self {
        let code = match error {
            FolderError::Io { .. } => INPUT_OUTPUT,
            _ => USAGE,
        };
        Self { code, message: error.to_string() }
    }
}
