//! What a database holds and occupies, in its own words.

use serde::{Deserialize, Serialize};

/// What a database occupies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Size {
    /// Data and indexes, logs included, in bytes.
    pub total_bytes: u64,
    /// The logs' part of it (write-ahead log, commit log, journal), in bytes, where it is known.
    pub log_bytes: Option<u64>,
}

/// What a database counts of its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Documents {
    /// How many there are, readings and entities alike.
    pub count: u64,
    /// Their bytes before compression, without indexes.
    pub bytes: u64,
}
