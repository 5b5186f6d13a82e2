//! The sensormark pipeline: data set, workload, engine, measurement, statistics, score, report

// In the order that data flows; the blank lines keep rustfmt from sorting by name.
pub mod dataset;

pub mod workload;

pub mod engine;

pub mod probe;
