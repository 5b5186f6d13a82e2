//! The sensormark pipeline: data set, workload, engine, measurement, statistics, score, report

pub mod dataset;
pub mod engine;
pub mod workload;
pub mod probe;
