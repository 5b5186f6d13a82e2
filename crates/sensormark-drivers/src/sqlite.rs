//! SQLite, in this process.
