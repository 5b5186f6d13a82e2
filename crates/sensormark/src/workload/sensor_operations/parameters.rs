//! The numbers behind the scales of sensor-operations.

use crate::dataset::sensor_operations::SensorReadings;
use crate::engine::scale::Scale;
use serde::{Deserialize, Deserializer, Serialize};

/// Most clients that a test may have.
const MOST_CLIENTS: u32 = 4_096;
/// Most sensors: each has its stream in memory.
const MOST_SENSORS: u32 = 1_000_000;
/// Most readings that a test may write.
const LARGEST_SIZE: u64 = 1 << 36;
/// Most readings in a statement.
const LARGEST_STATEMENT: u64 = 1_000_000;

/// Every number of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Sensors.
    pub sensors: u32,
    /// From one reading of a sensor to its next, in ms.
    pub interval_ms: u32,
    /// Readings that a test of single operations writes, and reads.
    pub single: u64,
    /// Readings that a test of multi operations writes, and reads.
    pub multi: u64,
    /// Readings in a multi operation.
    pub batch: u64,
    /// Numbers of clients that the tests are repeated with.
    #[serde(deserialize_with = "numbers")]
    pub clients: Vec<u32>,
    /// Whether one client does smaller tests too: 1, 10, 100… operations.
    pub sweep: bool,
    /// Which layouts are measured, where a database lets its user choose.
    pub index: Indexes,
    /// In which ways the readings of a statement travel.
    pub statements: Statements,
    /// Whether the database is brought to rest between writing and reading.
    pub settle: bool,
    /// When a phase is cut, in seconds.
    pub limit_seconds: f64,
    /// One of so many answers is compared in full.
    pub check_one_in: u64,
    /// How often everything is measured.
    pub repetitions: u32,
}

/// With or without an index on (sensor, time).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Indexes {
    /// Both.
    Both,
    /// With one alone.
    With,
    /// Without one alone, where that is possible.
    Without,
}

/// Ways of writing many readings in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statements {
    /// The store's usual one.
    Usual,
    /// All that the store has: single INSERTs in one string, one INSERT of many rows, the fast path.
    All,
}

/// A list of numbers, one number, or a text of numbers with commas between them (as `--set` gives it).
fn numbers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Numbers {
        List(Vec<u32>),
        One(u32),
        Text(String),
    }
    let wrong = || serde::de::Error::custom("numbers of clients are written as 1,4,16");
    match Numbers::deserialize(deserializer).map_err(|_| wrong())? {
        Numbers::List(numbers) => Ok(numbers),
        Numbers::One(number) => Ok(vec![number]),
        Numbers::Text(text) => {
            let parts = text.trim_matches(['[', ']']).split(',');
            let parsed: Result<Vec<u32>, _> = parts.map(|part| part.trim().parse()).collect();
            parsed.map_err(|_| wrong())
        }
    }
}

impl Parameters {
    /// The numbers of a scale.
    pub fn of(scale: Scale) -> Self {
        let quick = Self {
            sensors: 100,
            interval_ms: 30_000,
            single: 2_000,
            multi: 20_000,
            batch: 1_000,
            clients: vec![1, 4, 16],
            sweep: true,
            index: Indexes::Both,
            statements: Statements::Usual,
            settle: false,
            limit_seconds: 60.0,
            check_one_in: 1,
            repetitions: 1,
        };
        let all_clients = vec![1, 2, 4, 8, 12, 16];
        match scale {
            Scale::Quick => quick,
            // Without an index each single read passes over all that was written, so the time grows by the square of it.
            Scale::Firm => Self {
                single: 18_000,
                multi: 200_000,
                check_one_in: 20,
                repetitions: 5,
                ..quick
            },
            Scale::Standard => Self {
                single: 100_000,
                multi: 1_000_000,
                clients: all_clients,
                check_one_in: 20,
                repetitions: 3,
                ..quick
            },
            Scale::Study => Self {
                single: 1_000_000,
                multi: 10_000_000,
                clients: all_clients,
                statements: Statements::All,
                limit_seconds: 600.0,
                check_one_in: 20,
                ..quick
            },
        }
    }

    /// What each number means, by its name.
    pub const DOCUMENTATION: &[(&str, &str)] = &[
        ("sensors", "sensors that report"),
        (
            "interval_ms",
            "from one reading of a sensor to its next, in ms of its timestamps",
        ),
        (
            "single",
            "readings that a test of single operations writes, then reads",
        ),
        (
            "multi",
            "readings that a test of multi operations writes, then reads",
        ),
        ("batch", "readings in a multi operation"),
        ("clients", "numbers of clients; each is a test of its own"),
        (
            "sweep",
            "whether one client does smaller tests too (1, 10, 100… operations)",
        ),
        (
            "index",
            "layouts where the user may choose: both, with, without an index on (sensor, time)",
        ),
        (
            "statements",
            "how a multi write travels: usual, or all ways that the store has",
        ),
        (
            "settle",
            "whether the database is brought to rest between writing and reading",
        ),
        ("limit_seconds", "when a phase is cut, in seconds"),
        (
            "check_one_in",
            "one of so many answers is compared in full; the length of every one is",
        ),
        ("repetitions", "how often everything is measured"),
    ];

    /// Checks that the numbers make sense together.
    ///
    /// # Errors
    /// What does not, in words.
    pub fn check(&self) -> Result<(), String> {
        self.check_sensors()?;
        let bounds = [
            ("single", self.single, LARGEST_SIZE),
            ("multi", self.multi, LARGEST_SIZE),
            ("batch", self.batch, LARGEST_STATEMENT),
            ("check_one_in", self.check_one_in, u64::MAX),
            ("repetitions", u64::from(self.repetitions), 1_000),
        ];
        for (name, value, most) in bounds {
            if value == 0 || value > most {
                return Err(format!("{name} is {value}; it must be 1 to {most}"));
            }
        }
        if !self.multi.is_multiple_of(self.batch) {
            return Err(format!(
                "multi is {}; it must be a multiple of batch, {}",
                self.multi, self.batch
            ));
        }
        if !(self.limit_seconds.is_finite() && self.limit_seconds > 0.0) {
            return Err(format!(
                "limit_seconds is {}; it must be over 0",
                self.limit_seconds
            ));
        }
        self.check_clients()?;
        let readings = SensorReadings::new(0, self.sensors, self.interval_ms)?;
        let per_sensor = self.statements(true).div_ceil(u64::from(self.sensors));
        let ticks = (per_sensor * self.batch).max(self.single.div_ceil(u64::from(self.sensors)));
        if ticks >= readings.ticks() {
            return Err(format!(
                "a sensor would report {ticks} times, past 2262; take more sensors, a shorter interval_ms, or less of single and multi"
            ));
        }
        Ok(())
    }

    /// Checks the number of sensors alone.
    ///
    /// # Errors
    /// That there are none or too many, in words.
    pub fn check_sensors(&self) -> Result<(), String> {
        if (1..=MOST_SENSORS).contains(&self.sensors) {
            return Ok(());
        }
        Err(format!(
            "sensors is {}; it must be 1 to {MOST_SENSORS}",
            self.sensors
        ))
    }

    fn check_clients(&self) -> Result<(), String> {
        if self.clients.is_empty() {
            return Err("clients is empty; give at least one number".to_owned());
        }
        for (place, &clients) in self.clients.iter().enumerate() {
            if clients == 0 || clients > MOST_CLIENTS {
                return Err(format!(
                    "clients holds {clients}; numbers of clients are 1 to {MOST_CLIENTS}"
                ));
            }
            if self.clients[..place].contains(&clients) {
                return Err(format!("clients holds {clients} twice"));
            }
        }
        Ok(())
    }

    /// Readings in an operation, multi or single.
    pub const fn readings(&self, multi: bool) -> u64 {
        if multi { self.batch } else { 1 }
    }

    /// Operations of the largest test, multi or single.
    pub const fn statements(&self, multi: bool) -> u64 {
        if multi {
            self.multi / self.batch
        } else {
            self.single
        }
    }

    /// The tests of one kind, as (operations, clients): one client's smaller ones first.
    pub fn tests(&self, multi: bool) -> Vec<(u64, u32)> {
        let largest = self.statements(multi);
        let mut tests = Vec::new();
        if self.sweep {
            let powers = std::iter::successors(Some(1_u64), |size| size.checked_mul(10));
            tests.extend(
                powers
                    .take_while(|size| *size < largest)
                    .map(|size| (size, 1)),
            );
        }
        tests.extend(self.clients.iter().map(|&clients| (largest, clients)));
        tests
    }
}
