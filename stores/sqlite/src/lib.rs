//! SQLite, embedded
