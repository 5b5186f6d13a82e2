//! Every number behind a durability trial.

use sensormark_engine::parameter::{Kind, Settable, between, check_each, words};
use sensormark_engine::parameters;
use serde::{Deserialize, Serialize};

parameters! {
    /// Every number behind a durability trial. (No study tries this: `study` is as `standard`.)
    pub struct Parameters {
        /// clients that write, each the next batch as soon as the one before is acknowledged (1 of an embedded database)
        clients: u32, Plain, between(1.0, 1_000.0) => 4;
        /// readings in a batch
        batch: u32, Plain, between(1.0, 100_000.0) => 10;
        /// series that the readings are of
        series: u32, Plain, between(1.0, 1_000_000.0) => 16;
        /// when the server is killed, in seconds after the first write
        kill_after_seconds: f64, Seconds, between(0.1, LONGEST_SECONDS) => 2.0, 10.0, 20.0, 20.0;
        /// what is killed: server, or power (the server, and then the disk loses what was not flushed; by --power-cut)
        kill: Victim, Plain, words(&["server", "power"]) => Victim::Server;
        /// how often everything is done
        repetitions: u32, Plain, between(1.0, 1_000.0) => 1, 5, 3, 3;
    }
}

/// What is killed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Victim {
    /// The server.
    #[default]
    Server,
    /// The same, and the power of the disk is cut.
    Power,
}

impl Settable for Victim {
    const KIND: Kind = Kind::Word;
}

/// The longest that a server may be written to before it is killed, in seconds.
const LONGEST_SECONDS: f64 = 86_400.0;

impl Parameters {
    /// Checks that the numbers make sense.
    ///
    /// # Errors
    /// What does not, in words.
    pub fn check(&self) -> Result<(), String> {
        check_each(Self::TABLE, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_engine::scale::Scale;

    #[test]
    fn every_number_is_checked() {
        let quick = Parameters::of(Scale::Quick);
        for scale in Scale::ALL {
            assert_eq!(Parameters::of(scale).check(), Ok(()));
        }
        let wrong = [
            Parameters { clients: 0, ..quick.clone() },
            Parameters { batch: 1_000_000, ..quick.clone() },
            Parameters { kill_after_seconds: f64::NAN, ..quick.clone() },
            Parameters { kill_after_seconds: 0.0, ..quick },
        ];
        assert!(wrong.iter().all(|one| one.check().is_err()));
    }
}
