//! Blocks of rows as lines: columns become text, piece by piece, while the piece before is on its way.
//!
//! A statement is the name of a table, `DATABASE.TABLE`. An entity's has slots behind it, and a reading's has those of fields; a row that has both is two lines. An entity's line is
//! of the time 0, so that it replaces the one before. Names need no escapes.

use super::Session;
use crate::{Block, Cell, Connection, Fault, Rows, Shared, Source};
use bytes::Bytes;
use sensormark_store::lines::{BatchLines, Lines, put_quoted_with_breaks};
use sensormark_store::text::Page;
use sensormark_store::{Column, ErrorKind, SeriesKey, StoreError, Table, TextColumn, Values};
use std::sync::{Arc, Mutex, PoisonError};

/// Lines that go out together. A client holds a few such pieces, not its whole request.
pub(super) const PIECE_BYTES: usize = 64 << 10;
/// The most bytes of a reading's texts: a row must fit into a buffer of 1 MiB to be read back (pg.net.send.buffer.size).
const TEXT_BYTES: usize = 1_000_000;
/// Rows of a block that people are shown.
const SHOWN: usize = 2;
const OPERATION: &str = "write lines to QuestDB";
/// What is escaped in values of symbols.
const IN_SYMBOLS: &[u8] = b",= \n\r\\";

/// A table's lines, the same for all sessions.
struct TableLines {
    /// What follows the head of a reading's.
    lines: Lines,
    /// For each series, what stands before the fields.
    heads: Vec<Box<[u8]>>,
    /// The same of the entities' lines, where the table has entities.
    entity_heads: Vec<Box<[u8]>>,
}

impl TableLines {
    fn new(database: &str, table: &Table) -> Self {
        let all: Vec<usize> = (0..table.tags.len()).collect();
        let key = SeriesKey::of(table);
        let entity = table.entity.as_ref();
        let entity_heads = entity.map(|entity| heads(table, database, &entity.name, key.tags()));
        let fields = table.fields.iter().map(|field| &field.name);
        Self {
            lines: Lines::new(fields, false).with_escaped_breaks(),
            heads: heads(table, database, &table.name, &all),
            entity_heads: entity_heads.unwrap_or_default(),
        }
    }

    /// An entity's line, in front of its reading's.
    fn put_entity(&self, rows: &Rows<'_>, row: usize, page: &mut Page) {
        let Some(entity) = &rows.description.entity else { return };
        page.put(&self.entity_heads[rows.series(row) as usize]);
        for (slot, source) in rows.sources.iter().enumerate() {
            if let Source::Made(number) = source {
                put_field(&entity.columns[*number].name, rows.cell(row, slot), page);
            }
        }
        page.put(entity.last_time_column.as_bytes());
        page.put_byte(b'=');
        page.put_integer(rows.batch.times_ns[rows.reading(row)]);
        page.put(b"n 0\n");
    }
}

/// For each series, a table's name, the symbols of these tags, and a blank.
fn heads(table: &Table, database: &str, name: &str, tags: &[usize]) -> Vec<Box<[u8]>> {
    let mut page = Page::default();
    let head = |series: u32| {
        page.clear();
        for text in [database, ".", name] {
            page.put(text.as_bytes());
        }
        for &tag in tags {
            page.put_byte(b',');
            page.put(table.tags[tag].name.as_bytes());
            page.put_byte(b'=');
            match Cell::tag(table, tag, series) {
                Cell::Text(text) => page.put_escaped(text, IN_SYMBOLS),
                Cell::I64(number) => page.put_integer(number),
                _ => {}
            }
        }
        page.put_byte(b' ');
        page.written().into()
    };
    (0..table.series.len()).map(head).collect()
}

/// A field of an entity, and a comma.
fn put_field(name: &str, cell: Cell<'_>, page: &mut Page) {
    if cell == Cell::Null {
        return;
    }
    page.put(name.as_bytes());
    page.put_byte(b'=');
    match cell {
        Cell::Bool(value) => page.put(if value { b"t" } else { b"f" }),
        Cell::I64(value) => {
            page.put_integer(value);
            page.put_byte(b'i');
        }
        Cell::F64(value) => page.put_float(value),
        Cell::Text(value) => put_quoted_with_breaks(value, page),
        _ => {}
    }
    page.put_byte(b',');
}

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

/// A session's buffers that are not on their way.
#[derive(Clone, Default)]
pub(super) struct Outlet(Arc<Mutex<Vec<Page>>>);

/// Lines on their way; their buffer comes back when they are sent.
struct Lent(Page, Outlet);

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self.0.written()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut spare = self.1.0.lock().unwrap_or_else(PoisonError::into_inner);
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
}

/// A block on its way to be lines.
struct Writing<'a> {
    rows: &'a Rows<'a>,
    table: &'a TableLines,
    lines: BatchLines<'a>,
    row: usize,
    has_entity: bool,
    has_readings: bool,
}

impl<'a> Writing<'a> {
    fn new(text: &str, rows: &'a Rows<'a>, own: &'a Shared) -> Result<Self, StoreError> {
        let made = || {
            let database = text.split('.').next().unwrap_or_default();
            Box::new(TableLines::new(database, rows.description)) as Box<_>
        };
        let table = rows.shared.unwrap_or(own).get_or_init(made).downcast_ref::<TableLines>();
        let table = table
            .ok_or_else(|| StoreError::new(ErrorKind::Configuration, OPERATION, "another driver's table"))?;
        let has_entity = text.contains(' ');
        let has_readings = rows.sources.iter().any(|source| matches!(source, Source::Field(_)));
        Ok(Self { rows, table, lines: table.lines.of(rows.batch), row: 0, has_entity, has_readings })
    }

    /// The lines of the next row.
    #[inline]
    fn put_row(&mut self, page: &mut Page) {
        let (rows, row) = (self.rows, self.row);
        if self.has_entity {
            self.table.put_entity(rows, row, page);
        }
        if self.has_readings {
            self.lines.put(rows.reading(row), &self.table.heads[rows.series(row) as usize], page);
        }
        self.row += 1;
    }
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
        let mut writing = Writing::new(text, block.rows, &own)?;
        let is_done = |writing: &Writing<'_>| writing.row == block.rows.len();
        let pieces = std::iter::from_fn(|| {
            if is_done(&writing) {
                return None;
            }
            let mut page = outlet.page();
            while !is_done(&writing) && page.len() < PIECE_BYTES {
                writing.put_row(&mut page);
            }
            Some(Bytes::from_owner(Lent(page, outlet.clone())))
        });
        self.lines.post(pieces).await?;
        Ok(1)
    }

    /// The first lines of a block.
    pub(super) fn first_lines(&self, block: &Block<'_>) -> Option<String> {
        let (own, mut page, rows) = (Shared::new(), Page::default(), block.rows);
        let mut writing = Writing::new(self.asking.text(block.statement), rows, &own).ok()?;
        while writing.row < rows.len().min(SHOWN) {
            writing.put_row(&mut page);
        }
        let mut text = String::from_utf8_lossy(page.written()).trim_end().to_owned();
        if rows.len() > SHOWN {
            text.push_str(&format!("\n… ({} lines in one request)", rows.len()));
        }
        Some(text)
    }
}
