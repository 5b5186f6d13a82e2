//! What was answered, and what follows from it alone.

use super::life::Means;
use super::measure::Measure;
use super::text::number;
use sensormark_data::number::count_text;
use sensormark_result::statistics::projection::FARTHEST;
use sensormark_store::Durability;
use serde::Serialize;

/// A question that databases' queries answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
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
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Size {
    pub(super) text: String,
    pub(super) bytes: f64,
}

/// Budgets that are worth naming, in seconds.
pub const BUDGETS: [(&str, f64); 3] = [("10m", 600.0), ("1h", 3_600.0), ("8h", 28_800.0)];
/// About so many layouts has a database, and so many have all.
const LAYOUTS: f64 = 3.0;
const LAYOUTS_OF_ALL: f64 = 25.0;
/// A slow database loads so many readings a second, in half of its time.
const LOADED_A_SECOND: f64 = 100_000.0;
/// A trial of this length asks 1,000 questions of a kind at every size, which a 99th percentile takes.
const PERCENTILE_SECONDS: f64 = 180.0;

/// All answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answers {
    pub(super) sensors: u32,
    #[serde(skip)]
    pub(super) measures: Vec<Measure>,
    pub(super) interval_ns: i64,
    pub(super) late: f64,
    /// How late at most, where it was said.
    pub(super) late_by_ns: Option<i64>,
    pub(super) repeated: f64,
    /// As the user wrote it, and in ns.
    pub(super) keep: String,
    pub(super) keep_ns: i64,
    /// What is kept when readings go; nothing where none.
    #[serde(skip)]
    pub(super) means: Option<Means>,
    /// Readings of a write; none for those of a second.
    pub(super) write_size: Option<u64>,
    /// How far back questions reach, in ns.
    pub(super) reach_ns: i64,
    pub(super) asked: Vec<Asked>,
    /// As the user wrote it.
    pub(super) within: String,
    #[serde(skip)]
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
            late_by_ns: None,
            repeated: 0.0,
            keep: String::new(),
            keep_ns: 1,
            means: None,
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

    /// How long the data is kept, as the user wrote it, and how many readings that are.
    pub fn kept(&self) -> String {
        format!("kept for {}: {} readings", self.keep, count_text(self.kept_readings()))
    }

    pub(super) fn kept_readings(&self) -> f64 {
        self.readings_per_second() * self.keep_ns as f64 / 1e9
    }

    /// Which budget decides what, before anything is measured.
    pub fn advice(&self) -> String {
        let layouts = |store: &String| match store.as_str() {
            "all" => LAYOUTS_OF_ALL,
            named if named.contains(':') => 1.0,
            _ => LAYOUTS,
        };
        let trials: f64 = self.stores.iter().map(layouts).sum();
        let reached = |seconds: f64| seconds / trials / 2.0 * LOADED_A_SECOND;
        let decides = |seconds: f64| {
            seconds / trials >= PERCENTILE_SECONDS && reached(seconds) * FARTHEST >= self.kept_readings()
        };
        let quick = "Each layout takes 30 s, which decides the disk as a rule.\n--find-limit looks for the highest rate.";
        match BUDGETS.iter().find(|(_, seconds)| decides(*seconds)) {
            Some((budget, _)) => {
                format!("{quick}\n--budget {budget} decides how fast answers are at your size, too.")
            }
            None => {
                let (budget, seconds) = BUDGETS[BUDGETS.len() - 1];
                let about = count_text(reached(seconds) * FARTHEST);
                format!(
                    "{quick}\n--budget {budget} decides how fast answers are with {about} readings, not yours."
                )
            }
        }
    }
}
