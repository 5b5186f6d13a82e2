//! Why a recording cannot be read: each message says what, where, and what to try.

use super::*;
use thiserror::Error;

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
        "{} of {rows} rows of {file} cannot be read:\n{bad}Correct the file, or leave them out with --skip-bad-rows, which counts them",
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

/// Stops with words that ask: options between ⟦ and ⟧, with ‖ between their words, are shown as they are typed, and are the choices. With a ! in front
/// they are shown only.
pub fn ask<T>(text: String) -> Result<T> {
    let (mut words, mut choices) = (String::new(), Vec::new());
    for (place, part) in text.split(['⟦', '⟧']).enumerate() {
        if place % 2 == 0 {
            words += part;
            continue;
        }
        let option: Vec<String> = part.trim_start_matches('!').split('‖').map(str::to_owned).collect();
        words += &quoted(&option);
        if !part.starts_with('!') {
            choices.push(option);
        }
    }
    Err(RecordingError::Unclear { words, choices })
}

/// Words as a shell takes them.
pub fn quoted(words: &[String]) -> String {
    let plain = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./=,:%+@".contains(&byte))
    };
    words
        .iter()
        .map(|word| if plain(word) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) })
        .join(" ")
}

/// Stops because there is no row.
pub fn empty<T>(source: &Source) -> Result<T> {
    unclear(format!("{source} holds no readings; a recording has a header and a row a reading"))
}
