//! What is written of a data set, and how.

use super::*;
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
    /// The number of the one table that is written; none for all of several.
    pub fn chosen(&self, schema: &Schema) -> Result<Option<usize>, String> {
        let names: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
        let several = names.len() > 1;
        match &self.table {
            Some(name) => (names.iter().position(|known| known == name).map(Some))
                .ok_or_else(|| format!("there is no table {name:?}; there are {}", names.join(", "))),
            None if several && self.format == Format::Csv => Err(format!(
                "a CSV file holds one table and there are {}: {}; choose one with --table, or write line-protocol or json",
                names.len(),
                names.join(", ")
            )),
            None => Ok((!several).then_some(0)),
        }
    }

    /// Fails when some shard would be without series.
    pub fn check_shard(&self, schema: &Schema) -> Result<(), String> {
        let series = schema.tables.iter().map(|table| table.series.len()).max().unwrap_or(0);
        let Shard { number, count } = self.shard;
        if count <= series.max(1) {
            return Ok(());
        }
        Err(format!(
            "shard {number}/{count} is a part of the series: use at most {series} shards, or leave --shard out (different machines come from different seeds)"
        ))
    }
}
