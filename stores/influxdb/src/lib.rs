//! InfluxDB
