//! Cassandra
