//! What was answered, and what follows from it alone.

use super::measure::Measure;
use super::text::number;
use sensormark_store::Durability;

/// A question that databases' queries answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// The latest value of each sensor of a site.
    Live,
    /// All readings of one sensor over a time.
    History,
    /// Means by window over the sensors of a site.
    Dashboards,
    /// Which sensors passed a threshold lately.
    Alerts,
}

/// What may be lost.
#[derive(Debug, Clone, PartialEq)]
pub enum Loss {
    /// Nothing, even when the power fails.
    Nothing,
    /// The last moments when the power fails.
    Moments,
    /// A share of the readings, as the user wrote it.
    Share(String),
}

impl Loss {
    /// The class of durability that promises no more than is needed.
    pub const fn durability(&self) -> Durability {
        match self {
            Self::Nothing => Durability::Durable,
            Self::Moments | Self::Share(_) => Durability::Relaxed,
        }
    }
}

/// A size as the user wrote it, and its bytes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Size {
    pub(super) text: String,
    pub(super) bytes: f64,
}

/// All answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    pub(super) sensors: u32,
    pub(super) measures: Vec<Measure>,
    pub(super) interval_ns: i64,
    pub(super) late: f64,
    pub(super) repeated: f64,
    /// As the user wrote it, and in ns.
    pub(super) keep: String,
    pub(super) keep_ns: i64,
    /// Readings of a write; none for those of a second.
    pub(super) write_size: Option<u64>,
    /// How far back questions reach, in ns.
    pub(super) reach_ns: i64,
    pub(super) asked: Vec<Asked>,
    /// As the user wrote it.
    pub(super) within: String,
    pub(super) loss: Loss,
    pub(super) headroom: f64,
    pub(super) memory: Size,
    pub(super) disk: Size,
    pub(super) stores: Vec<String>,
}

impl Default for Answers {
    /// Before anything is answered; every question is asked in order, so that later ones know the earlier answers.
    fn default() -> Self {
        Self {
            sensors: 1,
            measures: Vec::new(),
            interval_ns: 1_000_000_000,
            late: 0.0,
            repeated: 0.0,
            keep: String::new(),
            keep_ns: 1,
            write_size: None,
            reach_ns: 1,
            asked: Vec::new(),
            within: String::new(),
            loss: Loss::Nothing,
            headroom: 1.0,
            memory: Size::default(),
            disk: Size::default(),
            stores: Vec::new(),
        }
    }
}

impl Answers {
    /// Readings that the sensors send in a second.
    pub fn readings_per_second(&self) -> f64 {
        f64::from(self.sensors) * 1e9 / self.interval_ns as f64
    }

    /// The same, in words.
    pub fn rate_text(&self) -> String {
        number(self.readings_per_second())
    }

    /// How long the data is kept, as the user wrote it.
    pub fn keep(&self) -> &str {
        &self.keep
    }
}
