//! The contract between sensormark and the databases it measures
