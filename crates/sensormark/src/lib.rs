//! The sensormark pipeline: data set, workload, engine, measurement, statistics, score, report
