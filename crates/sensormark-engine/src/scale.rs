//! Scales: how large a run is. The numbers behind them are in [`parameter`](super::parameter).

use serde::{Deserialize, Serialize};

/// How large a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Seconds: to try things out.
    #[default]
    Quick,
    /// About ten minutes for two databases, repeated: to decide something.
    Firm,
    /// Larger data and longer phases, repeated: 10 minutes to 2.5 hours for two databases, 1.5 to 8 hours for nine (by `--dry-run`).
    Standard,
    /// The study's own size and durations.
    Study,
}

impl Scale {
    /// All scales, the smallest first.
    pub const ALL: [Self; 4] = [Self::Quick, Self::Firm, Self::Standard, Self::Study];

    /// Whether a decision rests on it, so that trials of a busy machine do not count unless the user says so.
    pub const fn decides(self) -> bool {
        !matches!(self, Self::Quick)
    }

    /// The scale's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Firm => "firm",
            Self::Standard => "standard",
            Self::Study => "study",
        }
    }
}
