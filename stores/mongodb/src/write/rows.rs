//! Inserts: documents of single readings, and documents of spans.

use super::command::{LARGEST_COMMAND, LARGEST_DOCUMENT, Prepared, TooLarge, Writer};
use crate::schema::PhysicalTable;
use crate::wire::Writer as Wire;
use sensormark_store::{Batch, StoreError};
use std::ops::Range;

/// Room for a command's head and for small documents.
const ROOM: usize = 256;
/// How much longer than the first a document of a batch is allowed to be before the buffer grows by itself.
const SPREAD: usize = 16;

impl Writer<'_> {
    /// An insert of documents of single readings: as many of these rows as fit into one command of so many bytes.
    pub(super) fn rows(
        &self,
        kept: &PhysicalTable,
        batch: &Batch,
        rows: impl ExactSizeIterator<Item = usize>,
        most_bytes: usize,
        concern: bool,
    ) -> Result<Result<Prepared, TooLarge>, StoreError> {
        let room = ROOM + 48 + 16 * batch.columns.len();
        let mut wire = self.head("insert", &kept.collection, concern, room);
        wire.open_array("documents");
        let (mut readings, all) = (0, rows.len());
        for row in rows {
            let mark = wire.mark();
            kept.document(&mut wire, readings, batch, row);
            let bytes = wire.len() - mark.0;
            if readings == 0 {
                // The others are about as large, with a longer number: a buffer that grew by itself would hold up to twice as much.
                wire.reserve(((bytes + SPREAD) * (all - 1)).min(most_bytes));
            }
            if bytes > LARGEST_DOCUMENT && readings == 0 {
                return Ok(Err(TooLarge { bytes }));
            }
            if readings > 0 && (bytes > LARGEST_DOCUMENT || wire.len() > most_bytes) {
                wire.rewind(mark);
                break;
            }
            readings += 1;
        }
        Ok(Ok(Prepared { command: wire.finish()?, readings, covered: Vec::new() }))
    }

    /// An insert of documents of spans, one for each series and span among these rows.
    pub(super) fn spans(
        &self,
        kept: &PhysicalTable,
        batch: &Batch,
        rows: Range<usize>,
        span_ns: i64,
        concern: bool,
    ) -> Result<Result<Prepared, TooLarge>, StoreError> {
        let span = |row: usize| {
            let time = kept.kept(batch.times_ns[row]);
            time - time.rem_euclid(span_ns)
        };
        let mut rows = rows;
        loop {
            let runs = Runs::new(rows.clone(), |row| (batch.series[row], span(row)));
            let room = ROOM + rows.len() * (48 + 12 * batch.columns.len());
            let mut wire = self.head("insert", &kept.collection, concern, room.min(LARGEST_COMMAND));
            wire.open_array("documents");
            let mut largest = 0;
            for (place, record) in runs.records().enumerate() {
                let before = wire.len();
                span_document(&mut wire, kept, batch, place, record);
                largest = largest.max(wire.len() - before);
            }
            wire.close();
            let fits =
                largest <= LARGEST_DOCUMENT && (wire.len() <= LARGEST_COMMAND || runs.records().count() == 1);
            if fits {
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

fn span_document(
    wire: &mut Wire,
    kept: &PhysicalTable,
    batch: &Batch,
    place: usize,
    record: &[Run<(u32, i64)>],
) {
    let (series, start) = record[0].key;
    wire.open(place);
    wire.time(&kept.time, start, kept.date);
    wire.elements(kept.roster.elements(series));
    wire.open_array(&kept.inner);
    for (number, row) in record.iter().flat_map(|run| run.rows.clone()).enumerate() {
        kept.inner_reading(wire, number, batch, row);
    }
    wire.close();
    wire.close();
}

/// Rows that follow each other and belong into one document.
#[derive(Debug)]
pub(super) struct Run<K> {
    pub(super) key: K,
    pub(super) rows: Range<usize>,
}

/// Runs of rows, those of one document next to each other, documents in the order of their first rows.
#[derive(Debug)]
pub(super) struct Runs<K> {
    runs: Vec<Run<K>>,
    rows: Range<usize>,
}

impl<K: Ord + Copy + std::hash::Hash> Runs<K> {
    pub(super) fn new(rows: Range<usize>, key: impl Fn(usize) -> K) -> Self {
        let all = rows.clone();
        let mut runs: Vec<Run<K>> = Vec::new();
        for row in rows {
            let key = key(row);
            match runs.last_mut() {
                Some(run) if run.key == key => run.rows.end = row + 1,
                _ => runs.push(Run { key, rows: row..row + 1 }),
            }
        }
        let mut order = std::collections::HashMap::new();
        for run in &runs {
            let next = order.len();
            order.entry(run.key).or_insert(next);
        }
        runs.sort_by_key(|run| order[&run.key]);
        Self { runs, rows: all }
    }

    /// The runs of each document.
    pub(super) fn records(&self) -> impl Iterator<Item = &[Run<K>]> {
        self.runs.chunk_by(|one, other| one.key == other.key)
    }

    /// For each document, how many rows from the first are in it or in those before it, without a gap.
    pub(super) fn covered(&self) -> Vec<usize> {
        let mut covered = Covered::new(self.rows.clone());
        for record in self.records() {
            covered.add(record.iter().flat_map(|run| run.rows.clone()));
        }
        covered.prefixes
    }
}

/// How many rows from the first are in the documents so far, without a gap.
pub(super) struct Covered {
    first: usize,
    stored: Vec<bool>,
    reached: usize,
    /// After each document, how many there were.
    pub(super) prefixes: Vec<usize>,
}

impl Covered {
    pub(super) fn new(rows: Range<usize>) -> Self {
        Self { first: rows.start, stored: vec![false; rows.len()], reached: 0, prefixes: Vec::new() }
    }

    /// How many there are now.
    pub(super) fn reached(&self) -> usize {
        self.reached
    }

    /// Takes the rows of the next document.
    pub(super) fn add(&mut self, rows: impl IntoIterator<Item = usize>) {
        for row in rows {
            self.stored[row - self.first] = true;
        }
        while self.stored.get(self.reached) == Some(&true) {
            self.reached += 1;
        }
        self.prefixes.push(self.reached);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_one_document_are_gathered() {
        let keys = [5, 5, 1, 5, 1, 2];
        let runs = Runs::new(1..6, |row| keys[row]);
        let rows: Vec<Vec<usize>> =
            runs.records().map(|record| record.iter().flat_map(|run| run.rows.clone()).collect()).collect();
        assert_eq!(rows, [vec![1, 3], vec![2, 4], vec![5]]);
        assert_eq!(runs.covered(), [1, 4, 5]);
    }
}
