//! Blocks of rows as lines: columns become text, piece by piece, while the piece before is on its way.
//!
//! The lines themselves are [`crate::lines`]'s.

use super::Session;
use crate::lines::{Dialect, Writing};
use crate::{Block, Connection, Fault, Rows, Shared};
use bytes::Bytes;
use sensormark_store::{Column, ErrorKind, StoreError, TextColumn, Values};

/// Lines that go out together. A client holds a few such pieces, not its whole request.
pub(super) const PIECE_BYTES: usize = 64 << 10;
/// The most bytes of a reading's texts: a row must fit into a buffer of 1 MiB to be read back (pg.net.send.buffer.size).
const TEXT_BYTES: usize = 1_000_000;
const OPERATION: &str = "write lines to QuestDB";

/// Refuses what QuestDB takes and does not give back: the whole number that it keeps as no value, and texts that no answer holds.
fn check(rows: &Rows<'_>) -> Result<(), StoreError> {
    let readings = rows.reading(0)..rows.reading(0) + rows.len();
    let texts = rows.batch.columns.iter().filter_map(|column| match &column.values {
        Values::Text(texts) => Some(texts),
        _ => None,
    });
    let texts: Vec<&TextColumn> = texts.collect();
    let bytes = |row: usize| -> usize { texts.iter().map(|texts| texts.get(row).len()).sum() };
    let has_least = |column: &Column| match &column.values {
        Values::I64(values) => {
            readings.clone().any(|row| values.get(row) == Some(&i64::MIN) && column.has(row))
        }
        _ => false,
    };
    let text = if !texts.is_empty() && readings.clone().any(|row| bytes(row) > TEXT_BYTES) {
        "a reading's texts take over 1,000,000 bytes, more than a row of QuestDB's answers holds; cut them"
    } else if rows.batch.columns.iter().any(has_least) {
        "a reading holds -9223372036854775808, which QuestDB's LONG keeps as NULL; keep it as a floating point number or text"
    } else {
        return Ok(());
    };
    Err(StoreError::new(ErrorKind::TooLarge, OPERATION, text).with_doubt(false))
}

impl Session {
    /// Writes a block as one request.
    pub(super) async fn write_lines(&mut self, block: Block<'_>) -> Result<u64, Fault> {
        check(block.rows)?;
        let text = &*self.asking.statements[block.statement.0].text;
        for look in &mut self.looks {
            look.is_quiet &= !text.contains(&*look.table);
        }
        let (own, outlet) = (Shared::new(), &self.outlet);
        let mut writing = Writing::new(Dialect::Questdb, text, block.rows, &own)?;
        let pieces = std::iter::from_fn(|| {
            if writing.is_done() {
                return None;
            }
            let mut page = outlet.page();
            while !writing.is_done() && page.0.len() < PIECE_BYTES {
                writing.put_row(&mut page.0);
            }
            Some(Bytes::from_owner(page))
        });
        self.lines.post(pieces).await?;
        Ok(1)
    }

    /// The first lines of a block.
    pub(super) fn first_lines(&self, block: &Block<'_>) -> Option<String> {
        let text = self.asking.text(block.statement);
        Some(Writing::new(Dialect::Questdb, text, block.rows, &Shared::new()).ok()?.shown())
    }
}
