//! What is written of a data set, and how.

use super::*;
use crate::nearest::unknown;
use clap::ValueEnum;

/// How readings are written.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum Format {
    /// InfluxDB's line protocol: a line a reading, `table,tag=value field=1i,other=2.5 time`, time in ns.
    LineProtocol,
    /// RFC 4180, one table: a header, then a row a reading: `time_ns`, tags, fields; absent values are empty cells, lines end with CR LF.
    Csv,
    /// A JSON object a line: `{"table":…,"tags":{…},"time_ns":…,"fields":{…}}`, without what is absent.
    Json,
}

/// What is written.
pub struct ExportOptions {
    /// How.
    pub format: Format,
    /// Which part of the series.
    pub shard: Shard,
    /// One table alone, by name; all where none is given.
    pub table: Option<String>,
}

impl ExportOptions {
    /// Fails when the options do not fit a data set: its tables, or the number of its series.
    pub fn check(&self, Schema { tables }: &Schema) -> Result<(), String> {
        let names = tables.iter().map(|table| table.name.clone()).collect_vec();
        let series = tables.iter().map(|table| table.series.len()).max().unwrap_or(0).max(1);
        let Shard { number, count } = self.shard;
        match &self.table {
            _ if count > series => Err(format!(
                "shard {number}/{count} is a part of the series: use at most {series} shards, or leave --shard out (different machines come from different seeds)"
            )),
            Some(name) if !names.contains(name) => Err(unknown("table", name, names)),
            None if names.len() > 1 && self.format == Format::Csv => Err(format!(
                "a CSV file holds one table and there are {}: {}; choose one with --table, or write line-protocol or json",
                names.len(),
                names.join(", ")
            )),
            _ => Ok(()),
        }
    }
}
