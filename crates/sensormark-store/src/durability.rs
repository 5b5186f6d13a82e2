//! What a database promises when it acknowledges a write.

use serde::{Deserialize, Serialize};

/// What an acknowledgement promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// Whatever the database does as it comes.
    #[default]
    Default,
    /// An acknowledged write is on disk.
    Durable,
    /// The last second or so of acknowledged writes may be lost.
    Relaxed,
    /// Nothing is acknowledged.
    Unacknowledged,
}

impl Durability {
    /// The class's name on the command line and in results.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Durable => "durable",
            Self::Relaxed => "relaxed",
            Self::Unacknowledged => "unacknowledged",
        }
    }
}
