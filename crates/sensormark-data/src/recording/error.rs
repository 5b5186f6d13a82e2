//! Why a recording cannot be read: each message says what, where, and what to try.

use std::io;

use thiserror::Error;

use super::{bad_rows::BadRows, source::Source};

/// What comes of reading a recording.
pub type Result<T, E = RecordingError> = std::result::Result<T, E>;

/// Why a recording cannot be read.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// What the system says of the file.
    #[error(transparent)]
    System(#[from] io::Error),
    /// What the file holds is not clear, or does not fit the options.
    #[error("{words}")]
    Unclear {
        /// What is wrong, where, and what to do.
        words: String,
        /// The options for each thing that it can be.
        choices: Vec<Vec<String>>,
    },
    /// Rows cannot be read.
    #[error(
        "{} of {rows} rows of {file} cannot be read:\n{bad}Correct the file, or go on without these rows with --skip-bad-rows (they are counted in the report)",
        bad.count
    )]
    BadRows {
        /// The file.
        file: String,
        /// All rows.
        rows: u64,
        /// Those that cannot be read.
        bad: BadRows,
    },
}

/// Stops with these words.
pub fn unclear<T>(words: impl Into<String>) -> Result<T> {
    Err(RecordingError::Unclear { words: words.into(), choices: Vec::new() })
}

/// Stops with these words, and with the options for each thing that it can be.
pub fn ask<T, C>(words: String, choices: impl IntoIterator<Item = C>) -> Result<T>
where
    C: IntoIterator<Item: Into<String>>,
{
    let choices = choices.into_iter().map(|choice| choice.into_iter().map(Into::into).collect()).collect();
    Err(RecordingError::Unclear { words, choices })
}

/// Stops because there is no row.
pub fn empty<T>(source: &Source) -> Result<T> {
    unclear(format!("{source} holds no readings; a recording has a header and a row a reading"))
}
