//! PostgreSQL
