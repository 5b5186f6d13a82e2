//! Writing: columns become lines, piece by piece, while the piece before is on its way. A request is one transaction of its table.
//!
//! The lines themselves are [`sensormark_store::lines`]. QuestDB's protocol: <https://questdb.com/docs/reference/api/ilp/overview/>.

use crate::schema::{NO_COMMON_COMMIT, Tables};
use crate::sending::Link;
use crate::sent::Kept;
use crate::write_size::{BODY_BYTES, PIECE_BYTES, READINGS};
use bytes::Bytes;
use sensormark_store::lines::put_quoted_with_breaks;
use sensormark_store::text::Page;
use sensormark_store::{
    Acknowledgement, Atomicity, Batch, Column, EntityReading, ErrorKind, StoreError, TextColumn, Value,
    Values,
};
use std::sync::{Arc, Mutex, PoisonError};

const OPERATION: &str = "write a batch to QuestDB";

/// The session's buffers that are not on their way.
type Spare = Arc<Mutex<Vec<Page>>>;

/// A session's means of writing.
#[derive(Default)]
pub(crate) struct Outlet(Spare);

/// Lines on their way; their buffer comes back when they are sent.
struct Lent(Page, Spare);

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self.0.written()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut spare = self.1.lock().unwrap_or_else(PoisonError::into_inner);
        spare.push(std::mem::take(&mut self.0));
    }
}

impl Outlet {
    fn page(&self) -> Page {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut page = spare.pop().unwrap_or_default();
        page.clear();
        page
    }

    fn lend(&self, page: Page) -> Bytes {
        Bytes::from_owner(Lent(page, Arc::clone(&self.0)))
    }
}

/// What writes a session's batches.
pub(crate) struct Writer<'a> {
    pub(crate) link: &'a mut Link,
    pub(crate) outlet: &'a Outlet,
    pub(crate) tables: &'a Tables,
    pub(crate) database: &'a str,
    pub(crate) kept: &'a mut Kept,
}

impl Writer<'_> {
    /// Writes a batch.
    pub(crate) async fn write(&mut self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        check(batch)?;
        let table = &self.tables.lines[batch.table];
        let mut lines = table.lines.of(batch);
        let mut done = Acknowledgement::default();
        let (outlet, database) = (self.outlet, self.database.as_bytes());
        let mut row = 0;
        while row < batch.len() {
            let (start, mut bytes, mut told) = (row, 0, self.kept.lines());
            let is_whole = |row| row == batch.len() || row - start == READINGS;
            let pieces = std::iter::from_fn(|| {
                if is_whole(row) || bytes >= BODY_BYTES {
                    return None;
                }
                let mut page = outlet.page();
                while !is_whole(row) && page.len() < PIECE_BYTES {
                    page.put(database);
                    lines.put(row, &table.heads[batch.series[row] as usize], &mut page);
                    row += 1;
                }
                bytes += page.len();
                told.iter_mut().for_each(|told| told.add(page.written()));
                Some(outlet.lend(page))
            });
            let posted = self.link.post(OPERATION, pieces).await;
            self.kept.note_lines(told);
            posted.map_err(|error| error.after_acknowledging(done.readings))?;
            done.readings += (row - start) as u64;
            done.sent = done.readings;
            done.statements += 1;
        }
        Ok(done)
    }

    /// Writes a reading and its entity, which replaces the one that is there: two lines in one request, and a commit for each table.
    pub(crate) async fn upsert(&mut self, write: EntityReading<'_>) -> Result<Acknowledgement, StoreError> {
        let (batch, operation) = (write.reading, "update an entity");
        let description = &self.tables.physical.schema.tables[batch.table];
        let Some(entity) = &description.entity else {
            return Err(StoreError::unsupported(operation, "the table has no entity"));
        };
        if write.atomicity == Atomicity::Atomic {
            return Err(StoreError::unsupported(operation, NO_COMMON_COMMIT));
        }
        check(batch)?;
        let table = &self.tables.lines[batch.table];
        let series = batch.series[0] as usize;
        let mut page = self.outlet.page();
        page.put(self.database.as_bytes());
        page.put(&table.entity_heads[series]);
        for (column, value) in entity.columns.iter().zip(write.entity) {
            put_field(&mut page, &column.name, value);
        }
        page.put(entity.last_time_column.as_bytes());
        page.put_byte(b'=');
        page.put_integer(batch.times_ns[0]);
        page.put(b"n 0\n");
        page.put(self.database.as_bytes());
        table.lines.of(batch).put(0, &table.heads[series], &mut page);
        let mut told = self.kept.lines();
        told.iter_mut().for_each(|told| told.add(page.written()));
        self.kept.note_lines(told);
        let body = [self.outlet.lend(page)];
        self.link.post(operation, body.into_iter()).await?;
        Ok(Acknowledgement { readings: 1, sent: 1, statements: 1 })
    }
}

/// A field of an entity, and a comma.
fn put_field(page: &mut Page, name: &str, value: &Value) {
    if *value == Value::Null {
        return;
    }
    page.put(name.as_bytes());
    page.put_byte(b'=');
    match value {
        Value::Null => {}
        Value::Bool(value) => page.put(if *value { b"t" } else { b"f" }),
        Value::I64(value) => {
            page.put_integer(*value);
            page.put_byte(b'i');
        }
        Value::F64(value) => page.put_float(*value),
        Value::Text(value) => put_quoted_with_breaks(value, page),
    }
    page.put_byte(b',');
}

/// The most bytes of a reading's texts: a row must fit into a buffer of 1 MiB to be read back (pg.net.send.buffer.size).
const TEXT_BYTES: usize = 1_000_000;

/// Refuses what QuestDB takes and does not give back: the whole number that it keeps as no value, and texts that no answer holds.
fn check(batch: &Batch) -> Result<(), StoreError> {
    let texts: Vec<&TextColumn> = (batch.columns.iter())
        .filter_map(|column| match &column.values {
            Values::Text(texts) => Some(texts),
            _ => None,
        })
        .collect();
    let bytes = |row: usize| -> usize { texts.iter().map(|texts| texts.get(row).len()).sum() };
    if !texts.is_empty() && (0..batch.len()).any(|row| bytes(row) > TEXT_BYTES) {
        let text = "a reading's texts take over 1,000,000 bytes, more than a row of QuestDB's answers holds; cut them";
        return Err(StoreError::new(ErrorKind::TooLarge, OPERATION, text).with_doubt(false));
    }
    let has_least = |column: &Column| match &column.values {
        Values::I64(values) => {
            let mut rows = values.iter().enumerate();
            rows.any(|(row, value)| *value == i64::MIN && column.has(row))
        }
        _ => false,
    };
    if !batch.columns.iter().any(has_least) {
        return Ok(());
    }
    Err(StoreError::new(
        ErrorKind::TooLarge,
        OPERATION,
        "a reading holds -9223372036854775808, which QuestDB's LONG keeps as NULL; keep it as a floating point number or text",
    )
    .with_doubt(false))
}
