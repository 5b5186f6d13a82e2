//! What is written of a data set, and how.

use std::fmt;
use std::str::FromStr;

use sensormark_store::Schema;
use serde::{Deserialize, Serialize};

use super::error::ExportError;
use super::shard::Shard;

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
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("{name:?} is no format; there are {names}")
        })
    }
}

impl ExportOptions {
    /// The number of the one table that is written; none for all of several.
    pub(super) fn chosen(&self, schema: &Schema) -> Result<Option<usize>, ExportError> {
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
        found.map(Some).ok_or_else(|| ExportError::NoTable { name: name.clone(), tables: tables() })
    }

    /// Fails when some shard would be without series.
    pub(super) fn check_shard(&self, schema: &Schema) -> Result<(), ExportError> {
        let series = schema.tables.iter().map(|table| table.series.len()).max();
        let series = series.unwrap_or(0);
        if self.shard.count() > series.max(1) {
            return Err(ExportError::Shard { shard: self.shard, series });
        }
        Ok(())
    }
}
