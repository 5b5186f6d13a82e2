//! Why a data set cannot be written.

use std::io;

use thiserror::Error;

use super::shard::Shard;

/// Why a data set cannot be written.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The file or stream cannot be written.
    #[error("cannot write {to}: {source}")]
    Write {
        /// Where to.
        to: String,
        /// What the system says.
        source: io::Error,
    },
    /// The data set has fewer series than there are shards.
    #[error(
        "shard {shard} would be cut from {series} series, and a shard is a part of the series: use at most {series} shards{}",
        if *series == 1 { " (one: leave --shard out; different machines come from different seeds)" } else { "" }
    )]
    Shard {
        /// The shard.
        shard: Shard,
        /// The series of the table that has the most.
        series: u32,
    },
    /// There is no such table.
    #[error("there is no table {name:?}; there are {}", tables.join(", "))]
    NoTable {
        /// What was named.
        name: String,
        /// The tables.
        tables: Vec<String>,
    },
    /// CSV has one header, so it holds one table.
    #[error(
        "a CSV file holds one table and there are {}: {}; choose one with --table, or write line-protocol or json",
        tables.len(),
        tables.join(", ")
    )]
    ManyTables {
        /// The tables.
        tables: Vec<String>,
    },
    /// Line protocol cannot carry a tag's value.
    #[error("line protocol cannot carry the value {value:?} of tag {tag}: {reason}; write csv or json")]
    TagValue {
        /// The tag.
        tag: String,
        /// Its value.
        value: String,
        /// Why.
        reason: &'static str,
    },
}
