//! The workload of what everybody does to a database in its life.

use sensormark_engine::parameter::{between, over};
use sensormark_engine::parameters;

parameters! {
    /// Numbers of maintenance.
    pub struct Maintenance {
        /// sensors that report
        sensors: u32, Plain, between(1.0, 1e6) => 1_000;
        /// from one reading of a sensor to its next, in ms
        interval_ms: u32, Milliseconds, between(2.0, 3_600_000.0) => 600_000, 600_000, 60_000, 60_000;
        /// days of data; the first half of them is deleted
        days: u32, Plain, between(4.0, 10_000.0) => 4, 30, 10, 100;
        /// readings that are written a second while something is done
        rate: f64, Plain, over(0.0) => 2_000.0, 5_000.0, 10_000.0, 10_000.0;
        /// readings in a write
        batch: u32, Plain, between(1.0, 1e6) => 100;
        /// how long writers work before each operation, and after it, in seconds
        beside: f64, Seconds, over(0.0) => 3.0, 10.0, 30.0, 30.0;
        /// how often everything is measured
        repetitions: u32, Plain, between(1.0, 100.0) => 1, 3, 3, 1;
    }
}
