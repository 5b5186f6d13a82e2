//! One document a series, to which each write appends its readings.

use super::command::{LARGEST_COMMAND, Prepared, TooLarge, Writer};
use super::rows::Runs;
use crate::schema::PhysicalTable;
use crate::schema::series::tag_value;
use crate::wire::Writer as Wire;
use mongodb::bson::Bson;
use sensormark_store::{Batch, StoreError, Table};
use std::ops::Range;

impl Writer<'_> {
    /// An update for each series among these rows.
    pub(super) fn growth(
        &self,
        table: &Table,
        kept: &PhysicalTable,
        batch: &Batch,
        rows: Range<usize>,
        concern: bool,
    ) -> Result<Result<Prepared, TooLarge>, StoreError> {
        let mut rows = rows;
        loop {
            let runs = Runs::new(rows.clone(), |row| batch.series[row]);
            let mut wire = self.head("update", &kept.collection, concern, 1024);
            wire.open_array("updates");
            let mut largest = 0;
            for (place, record) in runs.records().enumerate() {
                let before = wire.len();
                let series = record[0].key;
                wire.open(place);
                wire.open("q");
                identity(&mut wire, "_id", table, kept, series);
                wire.close();
                wire.open("u");
                wire.open("$push");
                wire.open(&kept.inner);
                wire.open_array("$each");
                for (number, row) in record.iter().flat_map(|run| run.rows.clone()).enumerate() {
                    kept.inner_reading(&mut wire, number, batch, row);
                }
                wire.close();
                wire.close();
                wire.close();
                if !table.tags.is_empty() {
                    wire.open("$setOnInsert");
                    wire.elements(kept.roster.elements(series));
                    wire.close();
                }
                wire.close();
                wire.boolean("upsert", true);
                wire.close();
                largest = largest.max(wire.len() - before);
            }
            wire.close();
            if wire.len() <= LARGEST_COMMAND {
                return Ok(Ok(Prepared {
                    command: wire.finish()?,
                    readings: rows.len(),
                    covered: runs.covered(),
                }));
            }
            if rows.len() == 1 {
                return Ok(Err(TooLarge { bytes: largest }));
            }
            rows.end = rows.start + rows.len() / 2;
        }
    }
}

/// The key of a series' own document: its identifying tag, or a document of several, or 0 where there is one series.
pub(super) fn identity(wire: &mut Wire, name: &str, table: &Table, kept: &PhysicalTable, series: u32) {
    let put = |wire: &mut Wire, name: &str, tag: usize| match tag_value(table, series, tag) {
        Bson::Int64(value) => wire.int64(name, value),
        Bson::String(value) => wire.string(name, &value),
        _ => {}
    };
    match kept.roster.identity() {
        [] => wire.int32(name, 0),
        [tag] => put(wire, name, *tag),
        tags => {
            wire.open(name);
            for &tag in tags {
                put(wire, &table.tags[tag].name, tag);
            }
            wire.close();
        }
    }
}
