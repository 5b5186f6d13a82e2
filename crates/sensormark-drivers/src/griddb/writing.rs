//! Writing. One row is a put, the rows of a container are one request, and those of several containers are one request a node. An entity's row is read before it is
//! written (the encoder `entity`).
//!
//! Rows are put by their key, so a repeated reading takes the place of the one that is there; of two in one block the later one stays. A durable block is committed by
//! hand, a container and 1,000 rows at a time: by itself GridDB commits, and flushes, each row.

use super::Session;
use super::client::{Container, Row};
use super::text::{Plan, Whose};
use crate::{Cell, Fault, Rows, Source};
use sensormark_store::{ErrorKind, StoreError, Values};
use std::ops::Range;

/// Rows in one request, as in the documentation's examples of multi-put. The client holds an object for each row of a request.
const ROWS: usize = 1_000;
/// The longest text in bytes: a STRING in blocks of 64 KB.
const LONGEST_TEXT: usize = 31 * 1024;
/// The largest record in bytes: the C client takes no larger request.
const LARGEST_RECORD: usize = 64 << 20;

fn check(what: &str, size: usize, most: usize) -> Result<(), StoreError> {
    if size <= most {
        return Ok(());
    }
    let text =
        format!("{what} of {size} bytes is larger than {most}; write less at a time, or shorter texts");
    Err(StoreError::new(ErrorKind::TooLarge, "write readings", text))
}

/// A block on its way.
struct Writing<'a> {
    plan: &'a Plan,
    rows: &'a Rows<'a>,
    /// The rows, by series.
    order: Vec<usize>,
    /// What rows hold as documents.
    documents: Vec<Vec<u8>>,
}

impl<'a> Writing<'a> {
    /// Refuses what is too large before anything is sent, so that a refused block leaves nothing behind.
    fn new(plan: &'a Plan, rows: &'a Rows<'a>) -> Result<Self, StoreError> {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        if matches!(plan.whose, Whose::Given(_)) && !order.is_sorted_by_key(|&row| rows.series(row)) {
            order.sort_by_key(|&row| rows.series(row));
        }
        let mut documents = Vec::new();
        let source = rows.sources.iter().find(|source| matches!(source, Source::Json | Source::Packed));
        for row in (0..rows.len()).filter(|_| source.is_some()) {
            let mut document = Vec::new();
            rows.document(row, source.copied().unwrap_or(Source::Json), &mut document)?;
            check("a record", document.len(), LARGEST_RECORD)?;
            documents.push(document);
        }
        for column in rows.batch.columns.iter().filter(|_| source.is_none()) {
            if let Values::Text(values) = &column.values {
                let longest = (0..values.len()).map(|row| values.get(row).len()).max();
                check("a text", longest.unwrap_or_default(), LONGEST_TEXT)?;
            }
        }
        Ok(Self { plan, rows, order, documents })
    }

    fn series(&self, place: usize) -> Option<u32> {
        matches!(self.plan.whose, Whose::Given(_)).then(|| self.rows.series(self.order[place]))
    }

    /// The rows in parts of one container and request at most.
    fn parts(&self) -> Vec<Range<usize>> {
        let mut parts: Vec<Range<usize>> = Vec::new();
        for place in 0..self.order.len() {
            match parts.last_mut() {
                Some(part) if part.len() < ROWS && self.series(part.start) == self.series(place) => {
                    part.end += 1
                }
                _ => parts.push(place..place + 1),
            }
        }
        parts
    }

    #[inline]
    fn cell(&self, row: usize, slot: usize) -> Cell<'_> {
        match self.rows.sources[slot] {
            Source::Json | Source::Packed => Cell::Bytes(&self.documents[row]),
            _ => self.rows.cell(row, slot),
        }
    }
}

/// Parts in runs of at most so many rows, each a request. A part stays whole.
fn requests(parts: &[Range<usize>]) -> Vec<&[Range<usize>]> {
    let (mut runs, mut start, mut rows) = (Vec::new(), 0, 0);
    for (place, part) in parts.iter().enumerate() {
        if place > start && rows + part.len() > ROWS {
            runs.push(&parts[start..place]);
            (start, rows) = (place, 0);
        }
        rows += part.len();
    }
    if start < parts.len() {
        runs.push(&parts[start..]);
    }
    runs
}

impl Session {
    /// Writes a block; how many requests carried it.
    pub(super) fn put(&mut self, plan: &Plan, encoder: &str, rows: &Rows<'_>) -> Result<u64, Fault> {
        if encoder == "entity" {
            return self.put_one(plan, &|slot| rows.cell(0, slot)).map(|()| 1);
        }
        let writing = Writing::new(plan, rows)?;
        if rows.len() > ROWS {
            // The client's rows take much memory.
            self.spare.retain(|name, _| *name == plan.name);
        }
        let mut sent = 0;
        for request in requests(&writing.parts()) {
            let mut ready = Vec::with_capacity(request.len());
            let done = self.fill(&writing, request, &mut ready).and_then(|()| self.send(&ready, &mut sent));
            let spare = self.spare.entry(plan.name.clone()).or_default();
            spare.extend(ready.into_iter().flat_map(|(_, rows)| rows));
            spare.truncate(ROWS);
            if let Err(fault) = done {
                // What was sent before stays there.
                return Err(Fault::Partly { fault: Box::new(fault), acknowledged: 0, goes_on: sent > 0 });
            }
        }
        Ok(sent)
    }

    /// Fills the rows of a request.
    fn fill(
        &mut self,
        writing: &Writing<'_>,
        request: &[Range<usize>],
        ready: &mut Vec<(Container, Vec<Row>)>,
    ) -> Result<(), Fault> {
        let name = &writing.plan.name;
        for part in request {
            let container = self.container(name, writing.series(part.start), self.is_durable)?;
            let mut rows = Vec::with_capacity(part.len());
            for &number in &writing.order[part.clone()] {
                let spare = self.spare.get_mut(name).and_then(Vec::pop);
                let mut row = spare.map_or_else(|| self.connection.row(&container), Ok)?;
                for (column, &slot) in (0..).zip(&writing.plan.put) {
                    row.set(column, writing.plan.kind(slot), writing.cell(number, slot))?;
                }
                rows.push(row);
            }
            ready.push((container, rows));
        }
        Ok(())
    }

    /// Sends rows, and counts the requests. Where one of several containers fails, what others took stays.
    fn send(&self, ready: &[(Container, Vec<Row>)], sent: &mut u64) -> Result<(), Fault> {
        if self.is_durable {
            for (container, rows) in ready {
                let done = self
                    .connection
                    .put_rows(container, rows)
                    .and_then(|()| self.connection.commit(container));
                done.inspect_err(|_| drop(self.connection.abort(container)))?;
                *sent += 1;
            }
            return Ok(());
        }
        let done = match ready {
            [(container, rows)] => match &rows[..] {
                [row] => self.connection.put(container, row),
                rows => self.connection.put_rows(container, rows),
            },
            several => {
                *sent += 1;
                return self.connection.put_many(several);
            }
        };
        *sent += u64::from(done.is_ok());
        done
    }

    /// Puts one row. Of one that is there, the second column alone is changed: of an entity, when it was last seen.
    pub(super) fn put_one<'a>(&mut self, plan: &Plan, cell: &dyn Fn(usize) -> Cell<'a>) -> Result<(), Fault> {
        let container = self.container(&plan.name, None, false)?;
        let (mut row, key) = (self.connection.row(&container)?, plan.put[0]);
        let is_there = match cell(key) {
            Cell::I64(number) => self.connection.row_by(&container, plan.kind(key), number, &mut row)?,
            _ => false,
        };
        for (column, &slot) in (0..).zip(&plan.put).filter(|(column, _)| !is_there || *column == 1) {
            row.set(column, plan.kind(slot), cell(slot))?;
        }
        self.connection.put(&container, &row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_holds_whole_parts_of_a_thousand_rows_at_most() {
        let parts = [400, 600, 1, 1_000, 300, 300].map(|rows: usize| 0..rows);
        let sizes: Vec<Vec<usize>> =
            requests(&parts).into_iter().map(|request| request.iter().map(Range::len).collect()).collect();
        assert_eq!(sizes, [vec![400, 600], vec![1], vec![1_000], vec![300, 300]]);
        assert!(requests(&[]).is_empty());
    }
}
