//! A table's lines: columns become text in buffers that are used again.
//!
//! A statement is the name of a table, and slots behind it. An entity's has those of its columns, and a reading's those of fields; a row that has both is two lines. An entity's line is of
//! the time 0, so that it replaces the one before. Names need no escapes.

use super::{field_name, tag_name};
use crate::{Cell, Rows, Shared, Source};
use sensormark_store::lines::{BatchLines, IN_KEYS, Lines, put_quoted, put_quoted_with_breaks};
use sensormark_store::text::Page;
use sensormark_store::{ErrorKind, SeriesKey, StoreError, Table};
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// What is escaped in values of QuestDB's symbols.
const IN_SYMBOLS: &[u8] = b",= \n\r\\";

/// Buffers that are kept; large ones are some MB each.
const MOST_SPARE: usize = 16;

/// Whose lines they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Tables are in a database, `DATABASE.TABLE`; symbols tell apart, times are a type.
    Questdb,
    /// Tags are in the order of their names, values that lines cannot carry are [`encoded`], and an empty tag is an absent one; whole numbers may be floating point ones.
    Influxdb { float_fields: bool },
}

/// A tag's value as InfluxDB keeps it: without backslashes, line breaks and other control characters, and without what marks them.
pub(crate) fn encoded(value: &str) -> Cow<'_, str> {
    let is_marked = |letter: char| letter.is_ascii_control() || matches!(letter, '%' | '\\' | '$');
    if !value.contains(is_marked) {
        return value.into();
    }
    let mut text = String::new();
    for letter in value.chars() {
        if is_marked(letter) {
            let _ = write!(text, "%{:02X}", u32::from(letter));
        } else {
            text.push(letter);
        }
    }
    text.into()
}

/// A table's lines, the same for all sessions.
struct TableLines {
    dialect: Dialect,
    /// What follows the head of a reading's.
    lines: Lines,
    /// For each series, what stands before the fields.
    heads: Vec<Box<[u8]>>,
    /// The same of the entities' lines, where the table has entities.
    entity_heads: Vec<Box<[u8]>>,
}

impl TableLines {
    fn new(dialect: Dialect, database: &str, table: &Table) -> Self {
        let all: Vec<usize> = (0..table.tags.len()).collect();
        let key = SeriesKey::of(table);
        let of_entity = if dialect == Dialect::Questdb { key.tags() } else { &all };
        let heads = |name: &str, tags: &[usize]| heads(dialect, table, &format!("{database}{name}"), tags);
        let fields = table.fields.iter().map(|field| &*field.name);
        Self {
            dialect,
            lines: match dialect {
                Dialect::Questdb => Lines::new(fields, false).with_escaped_breaks(),
                Dialect::Influxdb { float_fields } => Lines::new(fields.map(field_name), float_fields),
            },
            entity_heads: table
                .entity
                .as_ref()
                .map_or_else(Vec::new, |entity| heads(&entity.name, of_entity)),
            heads: heads(&table.name, &all),
        }
    }

    /// An entity's line, in front of its reading's.
    fn put_entity(&self, rows: &Rows<'_>, row: usize, page: &mut Page) {
        let Some(entity) = &rows.description.entity else { return };
        page.put(&self.entity_heads[rows.series(row) as usize]);
        for (slot, source) in rows.sources.iter().enumerate() {
            if let Source::Made(number) = source {
                self.put_field(&entity.columns[*number].name, rows.cell(row, slot), page);
            }
        }
        page.put(self.field_name(&entity.last_time_column).as_bytes());
        page.put_byte(b'=');
        page.put_integer(rows.batch.times_ns[rows.reading(row)]);
        page.put(if self.dialect == Dialect::Questdb { b"n 0\n" } else { b"i 0\n" });
    }

    fn field_name<'a>(&self, name: &'a str) -> Cow<'a, str> {
        if self.dialect == Dialect::Questdb { name.into() } else { field_name(name) }
    }

    /// A field of an entity, and a comma.
    fn put_field(&self, name: &str, cell: Cell<'_>, page: &mut Page) {
        if cell == Cell::Null {
            return;
        }
        page.put(self.field_name(name).as_bytes());
        page.put_byte(b'=');
        match cell {
            Cell::Bool(value) => page.put(if value { b"t" } else { b"f" }),
            Cell::I64(value) => {
                page.put_integer(value);
                page.put_byte(b'i');
            }
            Cell::F64(value) => page.put_float(value),
            Cell::Text(value) if self.dialect == Dialect::Questdb => put_quoted_with_breaks(value, page),
            Cell::Text(value) => put_quoted(value, page),
            _ => {}
        }
        page.put_byte(b',');
    }
}

/// For each series, a table's name, these tags, and a blank.
fn heads(dialect: Dialect, table: &Table, name: &str, tags: &[usize]) -> Vec<Box<[u8]>> {
    let own_name = |&tag: &usize| match dialect {
        Dialect::Questdb => (Cow::from(&*table.tags[tag].name), tag),
        Dialect::Influxdb { .. } => (tag_name(table, &table.tags[tag].name), tag),
    };
    let mut tags: Vec<_> = tags.iter().map(own_name).collect();
    if dialect != Dialect::Questdb {
        tags.sort(); // the server need not sort them then
    }
    let mut page = Page::default();
    let head = |series: u32| {
        page.clear();
        page.put(name.as_bytes());
        for (tag_name, tag) in &tags {
            let value = Cell::tag(table, *tag, series);
            if value == Cell::Text("") && dialect != Dialect::Questdb {
                continue;
            }
            page.put_byte(b',');
            page.put(tag_name.as_bytes());
            page.put_byte(b'=');
            match value {
                Cell::Text(text) if dialect == Dialect::Questdb => page.put_escaped(text, IN_SYMBOLS),
                Cell::Text(text) => page.put_escaped(&encoded(text), IN_KEYS),
                Cell::I64(number) => page.put_integer(number),
                _ => {}
            }
        }
        page.put_byte(b' ');
        page.written().into()
    };
    (0..table.series.len()).map(head).collect()
}

/// Buffers that nobody writes into or sends now.
#[derive(Clone, Default)]
pub(crate) struct Outlet(Arc<Mutex<Vec<Page>>>);

/// Lines on their way; their buffer comes back when they are sent.
pub(crate) struct Lent(pub(crate) Page, Outlet);

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self.0.written()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut spare = self.1.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < MOST_SPARE {
            spare.push(std::mem::take(&mut self.0));
        }
    }
}

impl Outlet {
    /// An empty buffer.
    pub(crate) fn page(&self) -> Lent {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut page = spare.pop().unwrap_or_default();
        page.clear();
        Lent(page, self.clone())
    }
}

/// A block on its way to be lines.
pub(crate) struct Writing<'a> {
    rows: &'a Rows<'a>,
    table: &'a TableLines,
    lines: BatchLines<'a>,
    row: usize,
    has_entity: bool,
    has_readings: bool,
}

impl<'a> Writing<'a> {
    /// The lines of these rows, by this statement. `own` is where the table's are kept if nothing shares them.
    pub(crate) fn new(
        dialect: Dialect,
        text: &str,
        rows: &'a Rows<'a>,
        own: &'a Shared,
    ) -> Result<Self, StoreError> {
        let name = text.split(' ').next().unwrap_or_default();
        let database = name.find('.').map_or(0, |point| point + 1);
        let made = || Box::new(TableLines::new(dialect, &name[..database], rows.description)) as Box<_>;
        let table = rows.shared.unwrap_or(own).get_or_init(made).downcast_ref::<TableLines>();
        let table = table.ok_or_else(|| {
            StoreError::new(ErrorKind::Configuration, "write lines", "another driver's table")
        })?;
        let has_entity =
            rows.description.entity.as_ref().is_some_and(|entity| entity.name == name[database..]);
        let has_readings = rows.sources.iter().any(|source| matches!(source, Source::Field(_)));
        Ok(Self { rows, table, lines: table.lines.of(rows.batch), row: 0, has_entity, has_readings })
    }

    /// Whether all rows are written.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.row == self.rows.len()
    }

    /// The lines of the next row.
    #[inline]
    pub(crate) fn put_row(&mut self, page: &mut Page) {
        let (rows, row) = (self.rows, self.row);
        if self.has_entity {
            self.table.put_entity(rows, row, page);
        }
        if self.has_readings {
            self.lines.put(rows.reading(row), &self.table.heads[rows.series(row) as usize], page);
        }
        self.row += 1;
    }

    /// The first lines, as people are shown them.
    pub(crate) fn shown(mut self) -> String {
        const ROWS: usize = 2;
        let mut page = Page::default();
        while self.row < self.rows.len().min(ROWS) {
            self.put_row(&mut page);
        }
        let mut text = String::from_utf8_lossy(page.written()).trim_end().to_owned();
        if self.rows.len() > ROWS {
            text.push_str(&format!("\n… ({} lines in one request)", self.rows.len()));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::{Field, FieldType, Series, Tag, TagColumn, TimeResolution};

    #[test]
    fn lines_of_influxdb_begin_with_sorted_escaped_tags() {
        let words = |words: &[&str]| TagColumn::Text(words.iter().map(|&word| word.into()).collect());
        let field = |name: &str| Field { name: name.into(), kind: FieldType::F64, nullable: false };
        let table = Table {
            name: "m".into(),
            tags: ["zone", "name", "v"].map(|name| Tag { name: name.into() }).into(),
            fields: ["v", "time"].map(field).into(),
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::new(vec![
                words(&["a", "a", "b"]),
                words(&["x y", "", "ends\\"]),
                words(&["1", "1", "1"]),
            ]),
        };
        let lines = TableLines::new(Dialect::Influxdb { float_fields: false }, "", &table);
        let heads: Vec<_> = lines.heads.iter().map(|head| std::str::from_utf8(head).unwrap()).collect();
        assert_eq!(
            heads,
            ["m,Tag_v=1,name=x\\ y,zone=a ", "m,Tag_v=1,zone=a ", "m,Tag_v=1,name=ends%5C,zone=b "]
        );
        assert_eq!(["v", "time"].map(field_name), ["v", "Field_time"]);
    }

    #[test]
    fn encoding_keeps_values_apart() {
        assert_eq!(encoded("a%5Cb"), "a%255Cb");
        assert_eq!(encoded("a\\b\n"), "a%5Cb%0A");
        assert_eq!(encoded("ü ☀"), "ü ☀");
    }
}
