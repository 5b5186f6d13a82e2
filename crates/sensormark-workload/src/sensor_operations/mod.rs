//! The sensor-operations workload: single and multi writes and reads, by more and more clients.
//!
//! Source: study 001. There are four operations on readings of nothing but sensor, time and value:
//!
//! - a single write;
//! - a single read, by sensor and time;
//! - a multi write: 1,000 readings of one sensor in one statement;
//! - a multi read: 1,000 readings of one sensor between two times.
//!
//! A test begins with an empty database, writes N readings, then reads N: operations of one kind, shared out among the clients. Tests differ in the number of
//! clients and in N. Layouts differ in whether there is an index on (sensor, time), and in how the readings of a statement travel.
//!
//! | operation | number i |
//! | --- | --- |
//! | write | statement i: sensor i mod S, its ticks from ⌊i / S⌋ · n on, n of them (1, or those of a multi statement) |
//! | single read | a reading of a statement that was written, drawn uniformly |
//! | multi read | the sensor of a statement that was written, drawn uniformly; as many successive readings as a statement has, from anywhere in what is stored of the sensor |
//!
//! After the tests the data grow from size to size: multi writes go on, and both reads follow.
//!
//! Questions are drawn from what is stored, so that every one must find its readings. Expected answers come from the generator (`dataset::sensor_operations`).
//!
//! It is not where operations are issued or timed (`engine`), nor where rates are compared with the study's (`report`).

mod factory;
mod operations;
mod parameters;
#[cfg(test)]
mod tests;

pub use factory::SensorOperationsWorkload;
pub use operations::{Reads, Writes};
pub use parameters::{Indexes, Parameters, Statements};

use sensormark_store::{Field, FieldType, Schema, Series, Table, Tag, TagColumn, TimeResolution};

/// The workload's name.
pub const NAME: &str = "sensor-operations";

/// Names of labels of this workload's phases.
pub mod labels {
    /// What is done: [`super::Operation::name`].
    pub const OPERATION: &str = "operation";
    /// By how many clients.
    pub const CLIENTS: &str = "clients";
    /// How many readings the test writes, and then reads.
    pub const SIZE: &str = "size";
    /// What is done at one of the sizes that the data grow to.
    pub const GROWN: &str = "grown";
}

/// One of the four operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// One reading written.
    SingleWrite,
    /// One reading read.
    SingleRead,
    /// Many readings of one sensor written.
    MultiWrite,
    /// Many readings of one sensor read.
    MultiRead,
}

impl Operation {
    /// All four, in the order of the study's tables.
    pub const ALL: [Self; 4] = [Self::SingleWrite, Self::SingleRead, Self::MultiWrite, Self::MultiRead];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SingleWrite => "single write",
            Self::SingleRead => "single read",
            Self::MultiWrite => "multi write",
            Self::MultiRead => "multi read",
        }
    }

    /// Whether it writes.
    pub const fn writes(self) -> bool {
        matches!(self, Self::SingleWrite | Self::MultiWrite)
    }
}

/// What readings of so many sensors look like, each of which reports so often.
pub fn schema(sensors: u32, interval_ms: u32) -> Schema {
    Schema {
        tables: vec![Table {
            name: "readings".to_owned(),
            tags: vec![Tag { name: "sensor".to_owned() }],
            fields: vec![Field { name: "value".to_owned(), kind: FieldType::F64, nullable: false }],
            entity: None,
            time_resolution: TimeResolution::Milliseconds,
            series: Series::new(vec![TagColumn::Integer((0..i64::from(sensors)).collect())])
                .every(i64::from(interval_ms) * 1_000_000),
        }],
    }
}
