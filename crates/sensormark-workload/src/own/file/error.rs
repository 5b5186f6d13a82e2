//! What is wrong with a workload file, and where.

use std::fmt;

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// The file, as the user named it.
    pub file: String,
    /// The line, from 1; none where it is about a setting or the whole file.
    pub line: Option<usize>,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl std::error::Error for FileError {}

impl fmt::Display for FileError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "{}:{line}: {}", self.file, self.message),
            None => write!(formatter, "{}: {}", self.file, self.message),
        }
    }
}
