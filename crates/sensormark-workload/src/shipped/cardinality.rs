//! Many series: what load rate, disk, memory and questions come to from a hundred of them to a million.

use sensormark_engine::parameter::{at_least, between, over};
use sensormark_engine::parameters;

parameters! {
    /// Numbers of cardinality.
    pub struct Cardinality {
        /// the largest number of series: 100, 1,000 and so on up to it
        most: u32, Plain, between(100.0, 1e6) => 100_000, 1_000_000;
        /// how many of 1,000 series end in a day at most, in percent (10, 100 and 1,000 up to it); a new one takes the place of each; 0 for none
        churn: u32, Plain, between(0.0, 1_000.0) => 1_000;
        /// readings that are loaded at each number of series, and three of each series at least
        readings: u64, Plain, at_least(1_000.0) => 100_000, 1_000_000, 10_000_000, 10_000_000;
        /// from one reading of a series to its next, in ms
        interval_ms: u32, Milliseconds, between(2.0, 3_600_000.0) => 10_000;
        /// how long each kind of question is asked, in seconds
        seconds: f64, Seconds, over(0.0) => 1.0, 5.0, 20.0, 60.0;
        /// how often everything is measured
        repetitions: u32, Plain, between(1.0, 100.0) => 1, 5, 3, 3;
    }
}
