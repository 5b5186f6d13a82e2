//! Why a recording cannot be read: each message says what, where, and what to try.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::bad_rows::BadRows;

/// Why a recording cannot be read.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// The file cannot be opened or read.
    #[error("cannot read the recording {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// What the file holds is not clear, or does not fit the options; in words, with the option that helps.
    #[error("{0}")]
    Unclear(String),
    /// Rows cannot be read.
    #[error(
        "{} of {rows} rows of {} cannot be read:\n{bad}Correct the file, or go on without these rows with --skip-bad-rows (they are counted in the report)",
        bad.count,
        path.display()
    )]
    BadRows {
        /// The file.
        path: PathBuf,
        /// All rows.
        rows: u64,
        /// Those that cannot be read.
        bad: BadRows,
    },
}

/// Stops with these words.
pub(super) fn unclear<T>(words: impl Into<String>) -> Result<T, RecordingError> {
    Err(RecordingError::Unclear(words.into()))
}

/// Stops because there is no row.
pub(super) fn empty<T>(path: &Path) -> Result<T, RecordingError> {
    unclear(format!("{} holds no readings; a recording has a header and a row a reading", path.display()))
}

impl RecordingError {
    pub(super) fn open(path: &Path, source: io::Error) -> Self {
        Self::Open { path: path.to_owned(), source }
    }

    pub(super) fn read(path: &Path, error: csv::Error) -> Self {
        let text = error.to_string();
        let source = match error.into_kind() {
            csv::ErrorKind::Io(source) => source,
            _ => io::Error::new(io::ErrorKind::InvalidData, text),
        };
        Self::open(path, source)
    }
}
