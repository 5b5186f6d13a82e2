//! Scales and the numbers behind them, and how a user overrides one of those numbers.

use crate::nearest::unknown;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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

/// Overrides numbers by `NAME=VALUE`.
///
/// # Errors
/// A name that there is not, with the nearest right one; a value of another kind.
pub fn adjust<T: Serialize + DeserializeOwned>(
    parameters: &T,
    settings: &[String],
) -> Result<T, String> {
    let numbers = serde_json::to_value(parameters).expect("parameters have string keys");
    let fits = |numbers: &Value| {
        let read = serde_json::from_value::<T>(numbers.clone());
        read.map(drop).map_err(|error| error.to_string())
    };
    let numbers = adjust_values(numbers, settings, fits)?;
    serde_json::from_value(numbers).map_err(|error| error.to_string())
}

/// The same for numbers in an object, of which `fits` says what is wrong. Numbers that make sense only together are checked by the
/// caller, when all are set.
///
/// # Errors
/// A name that there is not, with the nearest right one; a value that does not fit.
pub fn adjust_values(
    numbers: Value,
    settings: &[String],
    fits: impl Fn(&Value) -> Result<(), String>,
) -> Result<Value, String> {
    let Value::Object(mut numbers) = numbers else {
        return Err("these parameters cannot be set one by one".to_owned());
    };
    for setting in settings {
        let (name, value) = setting
            .split_once('=')
            .ok_or_else(|| format!("--set {setting}: write it as NAME=VALUE"))?;
        let name = name.trim().replace('-', "_");
        if !numbers.contains_key(&name) {
            return Err(unknown("parameter", &name, numbers.keys().cloned()));
        }
        let value: Value = serde_json::from_str(value.trim())
            .unwrap_or_else(|_| Value::String(value.trim().to_owned()));
        numbers.insert(name, value);
        // One at a time, so that a message names the setting that is wrong.
        fits(&Value::Object(numbers.clone()))
            .map_err(|error| format!("--set {setting}: {error}"))?;
    }
    Ok(Value::Object(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Serialize, Deserialize)]
    struct Numbers {
        reads: u32,
        measured_seconds: f64,
    }

    #[test]
    fn numbers_are_set_by_name_and_wrong_ones_are_refused() {
        let numbers = Numbers {
            reads: 12,
            measured_seconds: 4.0,
        };
        let set = |text: &str| adjust(&numbers, &[text.to_owned()]);
        assert_eq!(set("reads=30").unwrap().reads, 30);
        assert_eq!(set("measured-seconds=2.5").unwrap().measured_seconds, 2.5);
        assert!(set("raeds=30").unwrap_err().contains("did you mean reads?"));
        assert!(
            set("reads=many")
                .unwrap_err()
                .starts_with("--set reads=many")
        );
        assert!(set("reads").unwrap_err().contains("NAME=VALUE"));
    }
}
