//! Why there is no report.

use sensormark_result::measurement::folder::FolderError;
use sensormark_result::score::ScoreError;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The folder cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The weights do not fit the criteria.
    #[error("the weights do not fit: {0}")]
    Score(#[from] ScoreError),
}
