//! Every number behind a durability trial.

use crate::engine::scale::Scale;
use serde::{Deserialize, Serialize};

/// Every number behind a durability trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Clients that write, each the next batch as soon as the one before is acknowledged. An embedded database has one.
    pub clients: u32,
    /// Readings in a batch.
    pub batch: u32,
    /// Series that the readings are of.
    pub series: u32,
    /// When the server is killed, in seconds after the first write.
    pub kill_after_seconds: f64,
    /// How often everything is done.
    pub repetitions: u32,
}

/// What each number means.
pub const DOCUMENTATION: [(&str, &str); 5] = [
    (
        "clients",
        "clients that write, each the next batch as soon as the one before is acknowledged (1 of an embedded database)",
    ),
    ("batch", "readings in a batch"),
    ("series", "series that the readings are of"),
    (
        "kill_after_seconds",
        "when the server is killed, in seconds after the first write",
    ),
    ("repetitions", "how often everything is done"),
];

/// The longest that a server may be written to before it is killed, in seconds.
const LONGEST_SECONDS: f64 = 86_400.0;

impl Parameters {
    /// The numbers of a scale. (No study tries this: `study` is as `standard`.)
    pub const fn of(scale: Scale) -> Self {
        let (kill_after_seconds, repetitions) = match scale {
            Scale::Quick => (2.0, 1),
            Scale::Firm => (10.0, 5),
            Scale::Standard | Scale::Study => (20.0, 3),
        };
        Self {
            clients: 4,
            batch: 10,
            series: 16,
            kill_after_seconds,
            repetitions,
        }
    }

    /// Checks that the numbers make sense.
    ///
    /// # Errors
    /// What does not, in words.
    pub fn check(&self) -> Result<(), String> {
        let counts = [
            ("clients", self.clients, 1_000),
            ("batch", self.batch, 100_000),
            ("series", self.series, 1_000_000),
            ("repetitions", self.repetitions, 1_000),
        ];
        for (name, value, most) in counts {
            if value == 0 || value > most {
                return Err(format!("{name} is {value}; it has to be 1 to {most}"));
            }
        }
        let seconds = self.kill_after_seconds;
        if !(0.1..=LONGEST_SECONDS).contains(&seconds) {
            return Err(format!(
                "kill_after_seconds is {seconds}; it has to be 0.1 to {LONGEST_SECONDS}"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_documented_and_checked() {
        let quick = Parameters::of(Scale::Quick);
        let value = serde_json::to_value(&quick).unwrap();
        let mut names: Vec<&String> = value.as_object().unwrap().keys().collect();
        let mut documented: Vec<&str> = DOCUMENTATION.iter().map(|(name, _)| *name).collect();
        names.sort();
        documented.sort_unstable();
        assert_eq!(names, documented);
        for scale in Scale::ALL {
            assert_eq!(Parameters::of(scale).check(), Ok(()));
        }
        let wrong = [
            Parameters {
                clients: 0,
                ..quick.clone()
            },
            Parameters {
                batch: 1_000_000,
                ..quick.clone()
            },
            Parameters {
                kill_after_seconds: f64::NAN,
                ..quick.clone()
            },
            Parameters {
                kill_after_seconds: 0.0,
                ..quick
            },
        ];
        assert!(wrong.iter().all(|one| one.check().is_err()));
    }
}
