//! The driver of DuckDB.

fn main() {}
