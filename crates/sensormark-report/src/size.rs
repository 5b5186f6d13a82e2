//! The size at which a run measured: how many readings a database held. Every answer begins with it, because a database with few readings is another one than
//! the same with many.

use crate::{prelude::*, sections::sizes::your_readings};
use sensormark_data::quantity::length_text;

/// How many readings were measured.
#[derive(Clone, Copy, Serialize)]
pub struct Readings {
    /// In the layout that held the fewest.
    pub least: u64,
    /// In the layout that held the most.
    pub most: u64,
    /// The largest size that two thirds of the layouts reached, of a workload that grows: the ranking is at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<u64>,
    /// Readings that the user's data will have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub yours: Option<f64>,
    /// The time for which they are kept, in ns; a year where the user does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_ns: Option<i64>,
}

/// The size that a layout reached in all of its repetitions.
pub(super) fn reached<'a>(trials: impl Iterator<Item = &'a TrialRecord>) -> Option<u64> {
    trials
        .map(|trial| {
            let counted = trial.loads.iter().filter(|load| load.is_scored() && load.operations() > 0);
            let is_whole = |size: &u64| {
                !trial.loads.iter().any(|load| load.is_cut_load() && load.stored() == Some(*size))
            };
            counted.filter_map(LoadRecord::stored).filter(is_whole).max()
        })
        .min()?
}

/// The largest size that two thirds of the layouts reached.
pub(super) fn measured(field: &Field) -> Option<u64> {
    let sizes = field.mixed.iter().filter_map(|arm| reached(field.valid_of(arm)));
    let mut sizes = sizes.collect_vec();
    sizes.sort_unstable_by(|one, other| other.cmp(one));
    sizes.get((sizes.len() * 2).div_ceil(3).checked_sub(1)?).copied()
}

impl Readings {
    /// Of the trials that count, or else of all.
    pub(super) fn of(field: &Field) -> Option<Self> {
        let held = |is_valid: bool| -> Vec<u64> {
            field
                .trials
                .iter()
                .filter(|trial| trial.verdict.is_valid() || !is_valid)
                .filter_map(TrialRecord::readings_at_rest)
                .collect()
        };
        let counts = Some(held(true)).filter(|counts| !counts.is_empty()).unwrap_or_else(|| held(false));
        let yours = your_readings(&field.run);
        let keep = field.run.parameters.get("keep_ns").and_then(serde_json::Value::as_i64);
        Some(Self {
            least: *counts.iter().min()?,
            most: *counts.iter().max()?,
            measured: measured(field),
            yours,
            kept_ns: yours.and(keep),
        })
    }

    /// "measured at 1,215,000 readings; your 90d are 777 million", or "97,200 readings measured", with the smallest and the largest where layouts differ.
    pub(super) fn text(readings: Option<Self>) -> String {
        let text = |count: u64| count_text(count as f64);
        match readings {
            None => "no readings measured".to_owned(),
            Some(Self { measured: Some(measured), yours, kept_ns, .. }) => {
                let kept =
                    kept_ns.map_or("a year is".to_owned(), |ns| format!("your {} are", length_text(ns)));
                let yours = yours.map_or_else(String::new, |yours| format!("; {kept} {}", count_text(yours)));
                format!("measured at {} readings{yours}", text(measured))
            }
            Some(Self { least, most, .. }) if text(least) == text(most) => {
                format!("{} readings measured", text(most))
            }
            Some(Self { least, most, .. }) => {
                format!("{} to {} readings measured", text(least), text(most))
            }
        }
    }
}
