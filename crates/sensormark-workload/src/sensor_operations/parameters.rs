//! The numbers behind the scales of sensor-operations.

use sensormark_data::sensor_operations::{LONGEST_INTERVAL_MS, SensorReadings};
use sensormark_engine::parameter::{Kind, Settable, any, at_least, between, check_each, over, words};
use sensormark_engine::parameters;
use sensormark_result::measurement::sizes::TIMES;
use serde::{Deserialize, Serialize};

/// Most clients that a test may have.
const MOST_CLIENTS: f64 = 4_096.0;
/// Most sensors: each has its stream in memory.
const MOST_SENSORS: u32 = 1_000_000;
/// Most readings that a test may write.
const LARGEST_SIZE: f64 = 68_719_476_736.0;
/// What nobody reaches in a short run.
const MOST_GROWN: u64 = 400_000_000;
/// Most readings in a statement.
const LARGEST_STATEMENT: f64 = 1_000_000.0;

parameters! {
    /// Every number of a run.
    pub struct Parameters {
        /// sensors that report
        sensors: u32, Plain, between(1.0, MOST_SENSORS as f64) => 100;
        /// from one reading of a sensor to its next, in ms of its timestamps
        interval_ms: u32, Milliseconds, between(1.0, LONGEST_INTERVAL_MS as f64) => 30_000;
        // Without an index each single read passes over all that was written, so its time grows by the square of `single`.
        /// readings that a test of single operations writes, then reads
        single: u64, Plain, between(1.0, LARGEST_SIZE) => 2_000, 18_000, 100_000, 1_000_000;
        /// readings that a test of multi operations writes, then reads
        multi: u64, Plain, between(1.0, LARGEST_SIZE) => 20_000, 200_000, 1_000_000, 10_000_000;
        /// after the tests the data grow from `multi` to so many readings, four times each, as far as the budget goes; 0: they do not
        grown: u64, Plain, between(0.0, LARGEST_SIZE) => MOST_GROWN, MOST_GROWN, 0, 0;
        /// readings in a multi operation
        batch: u64, Plain, between(1.0, LARGEST_STATEMENT) => 1_000;
        /// numbers of clients; each is a test of its own
        clients: Vec<u32>, Plain, between(1.0, MOST_CLIENTS) =>
            vec![1, 4, 16], vec![1, 4, 16], vec![1, 2, 4, 8, 12, 16], vec![1, 2, 4, 8, 12, 16];
        /// whether one client does smaller tests too (1, 10, 100… operations)
        sweep: bool, Plain, any() => true;
        /// layouts where the user may choose: both, with, without an index on (sensor, time)
        index: Indexes, Plain, words(&["both", "with", "without"]) => Indexes::Both;
        /// how a multi write travels: usual, or all ways that the store has
        statements: Statements, Plain, words(&["usual", "all"]) => Statements::Usual, Statements::Usual, Statements::Usual, Statements::All;
        /// whether the database is brought to rest between writing and reading
        settle: bool, Plain, any() => false;
        /// when a phase is cut, in seconds
        limit_seconds: f64, Seconds, over(0.0) => 60.0, 60.0, 60.0, 600.0;
        /// one of so many answers is compared in full; the length of every one is
        check_one_in: u64, Plain, at_least(1.0) => 1, 20, 20, 20;
        /// how often everything is measured
        repetitions: u32, Plain, between(1.0, 1_000.0) => 1, 5, 3, 1;
    }
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

impl Settable for Indexes {
    const KIND: Kind = Kind::Word;
}

impl Settable for Statements {
    const KIND: Kind = Kind::Word;
}

impl Parameters {
    /// Checks that the numbers make sense together.
    ///
    /// # Errors
    /// What does not, in words.
    pub fn check(&self) -> Result<(), String> {
        check_each(Self::TABLE, self)?;
        if !self.multi.is_multiple_of(self.batch) {
            return Err(format!("multi is {}; it must be a multiple of batch, {}", self.multi, self.batch));
        }
        if self.clients.is_empty() {
            return Err("clients is empty; give at least one number".to_owned());
        }
        let readings = SensorReadings::new(0, self.sensors, self.interval_ms)?;
        let statements = self.statements(true).max(self.grown / self.batch);
        let per_sensor = statements.div_ceil(u64::from(self.sensors));
        let ticks = (per_sensor * self.batch).max(self.single.div_ceil(u64::from(self.sensors)));
        if ticks >= readings.ticks() {
            return Err(self.past_the_end(ticks));
        }
        Ok(())
    }

    /// That a sensor would report too often.
    pub fn past_the_end(&self, ticks: u64) -> String {
        format!(
            "a sensor would report {ticks} times at an interval_ms of {}, past 2262; take more sensors, a shorter interval_ms, or less of single and multi",
            self.interval_ms
        )
    }

    /// Checks the number of sensors alone.
    ///
    /// # Errors
    /// That there are none or too many, in words.
    pub fn check_sensors(&self) -> Result<(), String> {
        if (1..=MOST_SENSORS).contains(&self.sensors) {
            return Ok(());
        }
        Err(format!("sensors is {}; it must be 1 to {MOST_SENSORS}", self.sensors))
    }

    /// The sizes that the data grow to, in statements.
    pub fn sizes(&self) -> Vec<u64> {
        let first = self.statements(true);
        let sizes = std::iter::successors(Some(first), |size| size.checked_mul(TIMES));
        sizes.take_while(|size| size * self.batch <= self.grown).collect()
    }

    /// Readings in an operation, multi or single.
    pub const fn readings(&self, multi: bool) -> u64 {
        if multi { self.batch } else { 1 }
    }

    /// Operations of the largest test, multi or single.
    pub const fn statements(&self, multi: bool) -> u64 {
        if multi { self.multi / self.batch } else { self.single }
    }

    /// The tests of one kind, as (operations, clients): one client's smaller ones first.
    pub fn tests(&self, multi: bool) -> Vec<(u64, u32)> {
        let largest = self.statements(multi);
        let mut tests = Vec::new();
        if self.sweep {
            let powers = std::iter::successors(Some(1_u64), |size| size.checked_mul(10));
            tests.extend(powers.take_while(|size| *size < largest).map(|size| (size, 1)));
        }
        tests.extend(self.clients.iter().map(|&clients| (largest, clients)));
        tests
    }
}
