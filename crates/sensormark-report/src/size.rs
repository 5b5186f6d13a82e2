//! The size at which a run measured: how many readings a database held. Every answer begins with it, because a database with few readings is another one than
//! the same with many.

use super::field::Field;
use sensormark_data::number::count_text;
use sensormark_result::measurement::record::TrialRecord;
use serde::Serialize;

/// How many readings were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Readings {
    /// In the layout that held the fewest.
    pub least: u64,
    /// In the layout that held the most.
    pub most: u64,
}

impl Readings {
    /// Of the trials that count, or else of all.
    pub(super) fn of(field: &Field) -> Option<Self> {
        let held = |is_valid: bool| -> Vec<u64> {
            let trials = field.trials.iter();
            let trials = trials.filter(|trial| trial.verdict.is_valid() || !is_valid);
            trials.filter_map(TrialRecord::readings_at_rest).collect()
        };
        let counts = Some(held(true)).filter(|counts| !counts.is_empty());
        let counts = counts.unwrap_or_else(|| held(false));
        Some(Self { least: *counts.iter().min()?, most: *counts.iter().max()? })
    }

    /// "97,200 readings measured", with the smallest and the largest where layouts differ.
    pub(super) fn text(readings: Option<Self>) -> String {
        let text = |count: u64| count_text(count as f64);
        match readings {
            None => "no readings measured".to_owned(),
            Some(Self { least, most }) if text(least) == text(most) => {
                format!("{} readings measured", text(most))
            }
            Some(Self { least, most }) => {
                format!("{} to {} readings measured", text(least), text(most))
            }
        }
    }
}
