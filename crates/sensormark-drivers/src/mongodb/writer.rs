//! BSON, written straight from columns and values: nothing is boxed, no document built twice.

use super::text::Node;
use crate::{Cell, Rows, Source};
use mongodb::bson::oid::ObjectId;
use mongodb::bson::{Bson, RawDocumentBuf};
use sensormark_store::record::Record;
use sensormark_store::{ErrorKind, StoreError};

const DOUBLE: u8 = 0x01;
const STRING: u8 = 0x02;
const DOCUMENT: u8 = 0x03;
const ARRAY: u8 = 0x04;
const OBJECT_ID: u8 = 0x07;
const BOOLEAN: u8 = 0x08;
const DATE: u8 = 0x09;
const NULL: u8 = 0x0a;
const INT32: u8 = 0x10;
const INT64: u8 = 0x12;

/// What a whole number becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// 64 bits.
    Long,
    /// 32 bits.
    Int,
    /// A date of milliseconds.
    Date,
}

impl Kind {
    /// What `[types]` of `store.toml` calls it.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "int" => Self::Int,
            "date" => Self::Date,
            _ => Self::Long,
        }
    }
}

/// What a command's slots stand for.
#[derive(Clone, Copy)]
pub(super) struct Values<'v> {
    pub(super) kinds: &'v [Kind],
    pub(super) of: Of<'v>,
}

/// Where values come from.
#[derive(Clone, Copy)]
pub(super) enum Of<'v> {
    /// They are bound.
    Question(&'v [Cell<'v>]),
    /// They are those of a row, in a record of those of one of its readings. A value that is not there is left out.
    Row { rows: &'v Rows<'v>, row: usize, record: Option<&'v Record<'v>>, reading: Option<usize> },
}

impl<'v> Values<'v> {
    fn cell(&self, slot: usize) -> Cell<'v> {
        let (rows, row, record, reading) = match self.of {
            Of::Question(cells) => return cells.get(slot).copied().unwrap_or(Cell::Null),
            Of::Row { rows, row, record, reading } => (rows, row, record, reading),
        };
        match (rows.sources[slot], reading, record) {
            (Source::Time(unit), Some(reading), _) => {
                Cell::I64(rows.batch.times_ns[reading].div_euclid(unit))
            }
            (Source::Field(field) | Source::FieldArray(field), Some(reading), _) => {
                Cell::field(rows.batch, reading, field)
            }
            (Source::Time(unit), None, Some(record)) => Cell::I64(record.start_ns.div_euclid(unit)),
            _ => rows.cell(row, slot),
        }
    }
}

/// A document that is being written.
#[derive(Debug, Default)]
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
    open: Vec<usize>,
}

impl Writer {
    /// Begins a document.
    pub(super) fn document() -> Self {
        let mut writer = Self::default();
        writer.begin();
        writer
    }

    fn begin(&mut self) {
        self.open.push(self.bytes.len());
        self.bytes.extend_from_slice(&[0; 4]);
    }

    fn key(&mut self, kind: u8, name: &str) {
        self.bytes.push(kind);
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
    }

    /// How much there is, for [`Writer::rewind`].
    pub(super) fn mark(&self) -> (usize, usize) {
        (self.bytes.len(), self.open.len())
    }

    /// Cuts off what was written after this mark.
    pub(super) fn rewind(&mut self, mark: (usize, usize)) {
        self.bytes.truncate(mark.0);
        self.open.truncate(mark.1);
    }

    /// Opens a document.
    pub(super) fn open(&mut self, name: &str) {
        self.key(DOCUMENT, name);
        self.begin();
    }

    /// Opens an array.
    pub(super) fn open_array(&mut self, name: &str) {
        self.key(ARRAY, name);
        self.begin();
    }

    /// Ends the document or array that was opened last.
    pub(super) fn close(&mut self) {
        self.bytes.push(0);
        if let Some(start) = self.open.pop() {
            let length = i32::try_from(self.bytes.len() - start).unwrap_or(i32::MAX);
            self.bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
        }
    }

    /// A key of MongoDB's own kind that no document has yet.
    pub(super) fn new_key(&mut self, name: &str) {
        self.key(OBJECT_ID, name);
        self.bytes.extend_from_slice(&ObjectId::new().bytes());
    }

    fn fixed(&mut self, kind: u8, name: &str, bytes: &[u8]) {
        self.key(kind, name);
        self.bytes.extend_from_slice(bytes);
    }

    /// One value.
    pub(super) fn cell(&mut self, name: &str, cell: Cell<'_>, kind: Kind) {
        match cell {
            Cell::Null | Cell::Bytes(_) => self.key(NULL, name),
            Cell::Bool(value) => self.fixed(BOOLEAN, name, &[u8::from(value)]),
            Cell::F64(value) => self.fixed(DOUBLE, name, &value.to_le_bytes()),
            Cell::I64(value) => match kind {
                Kind::Long => self.fixed(INT64, name, &value.to_le_bytes()),
                Kind::Date => self.fixed(DATE, name, &value.to_le_bytes()),
                Kind::Int => {
                    self.fixed(INT32, name, &i32::try_from(value).unwrap_or(i32::MAX).to_le_bytes());
                }
            },
            Cell::Text(value) => {
                self.key(STRING, name);
                let length = i32::try_from(value.len() + 1).unwrap_or(i32::MAX);
                self.bytes.extend_from_slice(&length.to_le_bytes());
                self.bytes.extend_from_slice(value.as_bytes());
                self.bytes.push(0);
            }
            Cell::Integers(values) => self.cells(name, values.iter().map(|&value| Cell::I64(value))),
            Cell::Texts(values) => self.cells(name, values.iter().map(|&value| Cell::Text(value))),
        }
    }

    fn cells<'a>(&mut self, name: &str, cells: impl Iterator<Item = Cell<'a>>) {
        self.open_array(name);
        for (place, cell) in cells.enumerate() {
            self.cell(itoa::Buffer::new().format(place), cell, Kind::Long);
        }
        self.close();
    }

    /// A part of a command.
    pub(super) fn put(&mut self, name: &str, node: &Node, values: &Values<'_>) {
        match node {
            Node::Value(value) => self.value(name, value),
            Node::Slot(slot) => match (values.cell(*slot), values.of) {
                (Cell::Null, Of::Row { .. }) => {}
                (cell, _) => self.cell(name, cell, values.kinds[*slot]),
            },
            Node::Joined(parts) => self.cell(name, Cell::Text(&joined(parts, values)), Kind::Long),
            Node::Document(_) => {
                self.open(name);
                self.entries(node, values);
                self.close();
            }
            Node::Array(all) => {
                self.open_array(name);
                match (values.of, all.as_slice()) {
                    // What a record has of each reading.
                    (
                        Of::Row { rows, row, record: Some(record), reading: None },
                        [each @ Node::Document(_)],
                    ) => {
                        for (place, reading) in record.rows().enumerate() {
                            let of = Of::Row { rows, row, record: Some(record), reading: Some(reading) };
                            self.put(itoa::Buffer::new().format(place), each, &Values { of, ..*values });
                        }
                    }
                    _ => {
                        for (place, one) in all.iter().enumerate() {
                            self.put(itoa::Buffer::new().format(place), one, values);
                        }
                    }
                }
                self.close();
            }
        }
    }

    /// The names and values of a document.
    pub(super) fn entries(&mut self, node: &Node, values: &Values<'_>) {
        for (name, value) in node.entries() {
            match (name, value) {
                (Node::Joined(parts), _) => self.put(&joined(parts, values), value, values),
                _ if name.text() == Some("$within") => self.within(value, values),
                _ => self.put(name.text().unwrap_or_default(), value, values),
            }
        }
    }

    /// What is the same each time.
    pub(super) fn value(&mut self, name: &str, value: &Bson) {
        match value {
            Bson::Int32(value) => self.cell(name, Cell::I64((*value).into()), Kind::Int),
            Bson::Int64(value) => self.cell(name, Cell::I64(*value), Kind::Long),
            Bson::Double(value) => self.cell(name, Cell::F64(*value), Kind::Long),
            Bson::Boolean(value) => self.cell(name, Cell::Bool(*value), Kind::Long),
            Bson::String(value) => self.cell(name, Cell::Text(value), Kind::Long),
            _ => self.cell(name, Cell::Null, Kind::Long),
        }
    }

    /// `$within: [field, start, end]` of a time-series collection. Its buckets' keys have seconds of 32 bits. MongoDB 6.0 turns an upper bound behind their end into
    /// one on these keys, cut off, and finds nothing. Before 1970 it does so with a lower bound, less what a bucket holds at most
    /// (<https://www.mongodb.com/docs/manual/core/timeseries/timeseries-granularity/>). It leaves a bound alone that is said by `$nor`.
    fn within(&mut self, node: &Node, values: &Values<'_>) {
        const KEYS_END_MS: i64 = (1 << 31) * 1_000;
        const LONGEST_BUCKET_MS: i64 = 30 * 86_400 * 1_000;
        let Node::Array(all) = node else { return };
        let [name, Node::Slot(start), Node::Slot(end)] = all.as_slice() else { return };
        let (name, start, end) = (name.text().unwrap_or_default(), values.cell(*start), values.cell(*end));
        let is_early = matches!(start, Cell::I64(ms) if ms < LONGEST_BUCKET_MS);
        let is_late = matches!(end, Cell::I64(ms) if ms > KEYS_END_MS);
        let inside = [(!is_early, "$gte", start), (!is_late, "$lt", end)];
        let outside = [(is_early, "$lt", start), (is_late, "$gte", end)];
        if !(is_early && is_late) {
            self.open(name);
            for (_, operator, bound) in inside.into_iter().filter(|one| one.0) {
                self.cell(operator, bound, Kind::Date);
            }
            self.close();
        }
        if is_early || is_late {
            self.open_array("$nor");
            for (place, (_, operator, bound)) in outside.into_iter().filter(|one| one.0).enumerate() {
                self.open(itoa::Buffer::new().format(place));
                self.open(name);
                self.cell(operator, bound, Kind::Date);
                self.close();
                self.close();
            }
            self.close();
        }
    }

    /// Ends everything.
    ///
    /// # Errors
    /// What a driver would not take as a document.
    pub(super) fn finish(mut self) -> Result<RawDocumentBuf, StoreError> {
        while !self.open.is_empty() {
            self.close();
        }
        RawDocumentBuf::from_bytes(self.bytes).map_err(|error| {
            let text = format!("{error}; this is a defect, please report it");
            StoreError::new(ErrorKind::Protocol, "encode a command for MongoDB", text).with_source(error)
        })
    }
}

/// Texts and values as one text: a value as the name of a property.
pub(super) fn joined(parts: &[Node], values: &Values<'_>) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Node::Slot(slot) => text.push_str(&property_name(values.cell(*slot))),
            part => text.push_str(part.text().unwrap_or_default()),
        }
    }
    text
}

/// The name of a property inside a document: a tag's text, with what a path cannot hold written as `%` and two digits.
pub(super) fn property_name(tag: Cell<'_>) -> String {
    let text = match tag {
        Cell::Text(text) => text.replace('%', "%25").replace('.', "%2E").replace('$', "%24"),
        Cell::Null => String::new(),
        number => number.printed(),
    };
    if text.is_empty() { "%".to_owned() } else { text }
}

/// The tag's text again.
pub(super) fn tag_of(property: &str) -> String {
    let text = if property == "%" { "" } else { property };
    text.replace("%24", "$").replace("%2E", ".").replace("%25", "%")
}

#[cfg(test)]
mod tests {
    use super::super::text::parse;
    use super::*;
    use mongodb::bson::{DateTime, Document, doc};

    fn written(text: &str, cells: &[Cell<'_>], kinds: &[Kind]) -> Document {
        let mut writer = Writer::document();
        writer.entries(&parse(text).unwrap(), &Values { kinds, of: Of::Question(cells) });
        Document::try_from(writer.finish().unwrap().as_ref()).unwrap()
    }

    #[test]
    fn what_is_written_is_what_the_driver_would_write() {
        let text = r#"{text: "größer", list: [0, 1], inner: {real: -0.5, yes: true, date: ?1, ns: ?2}, "a." ?3 ".b": ?2, of: ?4}"#;
        let cells = [Cell::I64(1), Cell::I64(i64::MIN), Cell::Text("x.y"), Cell::Integers(&[5])];
        let kinds = [Kind::Date, Kind::Long, Kind::Long, Kind::Long];
        let expected = doc! {
            "text": "größer",
            "list": [0, 1],
            "inner": { "real": -0.5, "yes": true, "date": DateTime::from_millis(1), "ns": i64::MIN },
            "a.x%2Ey.b": i64::MIN,
            "of": [5_i64],
        };
        assert_eq!(written(text, &cells, &kinds), expected);
    }

    #[test]
    fn bounds_that_keys_of_buckets_do_not_hold_are_said_by_nor() {
        let date = DateTime::from_millis;
        let of = |start, end| {
            let cells = [Cell::I64(start), Cell::I64(end)];
            written(r#"{$within: ["t", ?1, ?2]}"#, &cells, &[Kind::Date; 2])
        };
        let (usual, late) = (1_700_000_000_000, 9_000_000_000_000);
        assert_eq!(of(usual, usual + 1), doc! { "t": { "$gte": date(usual), "$lt": date(usual + 1) } });
        assert_eq!(
            of(0, late),
            doc! { "$nor": [{ "t": { "$lt": date(0) } }, { "t": { "$gte": date(late) } }] }
        );
        assert_eq!(
            of(usual, late),
            doc! { "t": { "$gte": date(usual) }, "$nor": [{ "t": { "$gte": date(late) } }] }
        );
    }

    #[test]
    fn properties_have_names_that_paths_can_hold() {
        for (tag, name) in [("temp", "temp"), ("a.b$c%", "a%2Eb%24c%25"), ("", "%"), ("%2E", "%252E")] {
            assert_eq!(property_name(Cell::Text(tag)), name);
            assert_eq!(tag_of(name), tag);
        }
        assert_eq!(property_name(Cell::I64(-7)), "-7");
    }
}
