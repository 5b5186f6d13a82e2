//! What was asked to hold, and which layout holds it.

use serde::Serialize;

/// What was asked to hold, and who holds it.
#[derive(Debug, Clone, Serialize)]
pub struct Requirements {
    /// How many there are.
    pub count: usize,
    /// Readings that the sensors send in a second, where that is known.
    pub readings_per_second: Option<f64>,
    /// How long the data is kept, in the user's words.
    pub keep: Option<String>,
    /// Every layout, in the order in which they were measured.
    pub layouts: Vec<LayoutAnswer>,
    /// Who costs least of those that meet all, or all that could be decided; several cannot be told apart.
    pub cheapest: Vec<String>,
    /// Who costs least of the servers among them, where somebody embedded is the cheapest.
    pub cheapest_server: Option<String>,
}

/// What a layout comes to.
#[derive(Debug, Clone, Serialize)]
pub struct LayoutAnswer {
    /// Its name.
    pub label: String,
    /// Whether it meets all.
    pub outcome: Outcome,
    /// Whether it meets all that could be decided: what is open of it needs more data than was measured.
    pub meets_decided: bool,
    /// What it misses, or what is open, in words.
    pub reasons: Vec<String>,
    /// The highest rate that held, over that of the sensors; absent where nobody looked for it.
    pub headroom: Option<f64>,
    /// The most people who can watch, in words; absent where nobody looked for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<String>,
    /// The disk for the time that the data is kept, in bytes.
    pub disk_bytes: Option<f64>,
    /// Whether the machine was busy, so that it may do better.
    pub is_rough: bool,
    /// Whether it is not ranked, so that the line of who is not says why.
    #[serde(skip)]
    pub(super) is_told_below: bool,
}

/// Whether everything that has to hold does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It does.
    Meets,
    /// Something does not.
    Misses,
    /// Nobody knows.
    Undecided,
}

impl Outcome {
    /// The sign that stands before a layout.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Meets => "✓",
            Self::Misses => "✗",
            Self::Undecided => "?",
        }
    }
}

/// In which order layouts stand, whatever they cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It meets everything.
    Meets,
    /// It meets all that could be decided.
    MeetsDecided,
    /// Something else of it is open.
    Undecided,
    /// It misses something.
    Misses,
}

impl Standing {
    /// Whether the first of these is an answer.
    pub fn leads(self) -> bool {
        self <= Self::MeetsDecided
    }
}

impl LayoutAnswer {
    /// Its place among the others.
    pub fn standing(&self) -> Standing {
        match (self.outcome, self.meets_decided) {
            (Outcome::Meets, _) => Standing::Meets,
            (Outcome::Undecided, true) => Standing::MeetsDecided,
            (Outcome::Undecided, false) => Standing::Undecided,
            (Outcome::Misses, _) => Standing::Misses,
        }
    }
}

impl Requirements {
    /// The answer of the layout of this name.
    pub fn of_layout(&self, label: &str) -> Option<&LayoutAnswer> {
        self.layouts.iter().find(|one| one.label == label)
    }
}
