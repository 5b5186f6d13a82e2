//! Data sets as files and streams: line protocol, CSV and JSON lines.
//!
//! Anything that can say its schema and give its readings in batches ([`DataSet`]) is written in any format, straight from columns. Names, tags and punctuation
//! are prepared once, and no value is allocated. What is written is exact: every number reads back to the same bits.
//!
//! It writes to no database (that is a store's matter), and the formats here are for exchange: a store has its own encoder.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;

use sensormark_store::Schema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

mod request;
mod source;

mod prepared;

mod csv;
mod json;
mod line_protocol;

mod output;

#[cfg(test)]
mod tests;

pub use output::{Output, Summary, export, write_batches};
pub use request::DataRequest;
pub use source::{Batches, DataSet, MachineToolSamples, RecordedReadings, Shard};

/// How readings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// InfluxDB's line protocol: a line a reading, `table,tag=value field=1i,other=2.5 time`, time in ns.
    LineProtocol,
    /// RFC 4180, one table: a header, then a row a reading: `time_ns`, tags, fields; absent values are empty cells, lines end with CR LF.
    Csv,
    /// A JSON object a line: `{"table":…,"tags":{…},"time_ns":…,"fields":{…}}`, without what is absent.
    Json,
}

/// What is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportOptions {
    /// How.
    pub format: Format,
    /// Which part of the series.
    pub shard: Shard,
    /// One table alone, by name; all where none is given.
    pub table: Option<String>,
}

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
    #[error(
        "line protocol cannot carry the value {value:?} of tag {tag}: {reason}; write csv or json"
    )]
    TagValue {
        /// The tag.
        tag: String,
        /// Its value.
        value: String,
        /// Why.
        reason: &'static str,
    },
}

impl Format {
    /// All formats, as messages list them.
    pub const ALL: [Self; 3] = [Self::LineProtocol, Self::Csv, Self::Json];

    /// The name by which an option gives it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LineProtocol => "line-protocol",
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| {
                let names = Self::ALL.map(Self::name).join(", ");
                format!("{name:?} is no format; there are {names}")
            })
    }
}

impl ExportError {
    fn write(to: &Output, source: io::Error) -> Self {
        Self::Write {
            to: to.to_string(),
            source,
        }
    }
}

impl ExportOptions {
    /// The number of the one table that is written; none for all of several.
    fn chosen(&self, schema: &Schema) -> Result<Option<usize>, ExportError> {
        let tables = || -> Vec<String> {
            let names = schema.tables.iter().map(|table| table.name.clone());
            names.collect()
        };
        let Some(name) = &self.table else {
            let several = schema.tables.len() > 1;
            if several && self.format == Format::Csv {
                return Err(ExportError::ManyTables { tables: tables() });
            }
            return Ok((!several).then_some(0));
        };
        let found = schema.tables.iter().position(|table| table.name == *name);
        found.map(Some).ok_or_else(|| ExportError::NoTable {
            name: name.clone(),
            tables: tables(),
        })
    }
}

impl Output {
    /// A file, or standard output for none and for `-`.
    pub fn from_option(path: Option<PathBuf>) -> Self {
        match path {
            Some(path) if path.as_os_str() != "-" => Self::File(path),
            _ => Self::StandardOutput,
        }
    }
}
