//! BSON, written straight from columns: no value is boxed, no document built twice.
//!
//! A writer appends elements to one buffer and fills in the lengths of documents when they end. It knows neither tables
//! nor layouts; reading is the driver's own raw documents.

use mongodb::bson::RawDocumentBuf;
use mongodb::bson::oid::ObjectId;
use sensormark_store::{ErrorKind, StoreError, Value, Values};

const DOUBLE: u8 = 0x01;
const STRING: u8 = 0x02;
const DOCUMENT: u8 = 0x03;
const ARRAY: u8 = 0x04;
const OBJECT_ID: u8 = 0x07;
const BOOLEAN: u8 = 0x08;
const DATE: u8 = 0x09;
const INT32: u8 = 0x10;
const INT64: u8 = 0x12;

/// An element's name: a field's, or its place in an array.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Key<'a> {
    /// A field's name, without NUL.
    Name(&'a str),
    /// A place in an array.
    At(usize),
    /// A field's path with dots: the parts of a name, without NUL.
    Path(&'a [&'a str]),
}

impl<'a> From<&'a str> for Key<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl<'a> From<&'a String> for Key<'a> {
    fn from(name: &'a String) -> Self {
        Self::Name(name)
    }
}

impl From<usize> for Key<'_> {
    fn from(place: usize) -> Self {
        Self::At(place)
    }
}

impl<'a> From<&'a [&'a str]> for Key<'a> {
    fn from(parts: &'a [&'a str]) -> Self {
        Self::Path(parts)
    }
}

/// A document that is being written.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
    open: Vec<usize>,
}

impl Writer {
    /// Begins a document for which this many bytes are set aside.
    pub(crate) fn document(capacity: usize) -> Self {
        let mut writer = Self { bytes: Vec::with_capacity(capacity), open: Vec::with_capacity(8) };
        writer.begin();
        writer
    }

    /// Begins bare elements, to be put into documents by [`Writer::elements`].
    pub(crate) const fn bare() -> Self {
        Self { bytes: Vec::new(), open: Vec::new() }
    }

    /// Sets this many more bytes aside.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.bytes.reserve_exact(bytes);
    }

    /// How many bytes there are.
    pub(crate) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// What was written so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Cuts off what was written after there were this many bytes and this many open documents.
    pub(crate) fn rewind(&mut self, mark: (usize, usize)) {
        self.bytes.truncate(mark.0);
        self.open.truncate(mark.1);
    }

    /// How many bytes and open documents there are, for [`Writer::rewind`].
    pub(crate) const fn mark(&self) -> (usize, usize) {
        (self.bytes.len(), self.open.len())
    }

    fn begin(&mut self) {
        self.open.push(self.bytes.len());
        self.bytes.extend_from_slice(&[0; 4]);
    }

    fn key<'a>(&mut self, kind: u8, key: impl Into<Key<'a>>) {
        self.bytes.push(kind);
        match key.into() {
            Key::Name(name) => self.bytes.extend_from_slice(name.as_bytes()),
            Key::At(place) => self.digits(place),
            Key::Path(parts) => {
                for (number, part) in parts.iter().enumerate() {
                    if number > 0 {
                        self.bytes.push(b'.');
                    }
                    self.bytes.extend_from_slice(part.as_bytes());
                }
            }
        }
        self.bytes.push(0);
    }

    fn digits(&mut self, mut number: usize) {
        let mut digits = [0_u8; 20];
        let mut start = digits.len();
        loop {
            start -= 1;
            digits[start] = b'0' + u8::try_from(number % 10).unwrap_or(0);
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.bytes.extend_from_slice(&digits[start..]);
    }

    /// Opens a document.
    pub(crate) fn open<'a>(&mut self, key: impl Into<Key<'a>>) {
        self.key(DOCUMENT, key);
        self.begin();
    }

    /// Opens an array.
    pub(crate) fn open_array<'a>(&mut self, key: impl Into<Key<'a>>) {
        self.key(ARRAY, key);
        self.begin();
    }

    /// Ends the document or array that was opened last.
    pub(crate) fn close(&mut self) {
        self.bytes.push(0);
        if let Some(start) = self.open.pop() {
            let length = i32::try_from(self.bytes.len() - start).unwrap_or(i32::MAX);
            self.bytes[start..start + 4].copy_from_slice(&length.to_le_bytes());
        }
    }

    /// A 64-bit integer.
    pub(crate) fn int64<'a>(&mut self, key: impl Into<Key<'a>>, value: i64) {
        self.key(INT64, key);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A 32-bit integer.
    pub(crate) fn int32<'a>(&mut self, key: impl Into<Key<'a>>, value: i32) {
        self.key(INT32, key);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A floating point number.
    pub(crate) fn double<'a>(&mut self, key: impl Into<Key<'a>>, value: f64) {
        self.key(DOUBLE, key);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// A truth value.
    pub(crate) fn boolean<'a>(&mut self, key: impl Into<Key<'a>>, value: bool) {
        self.key(BOOLEAN, key);
        self.bytes.push(u8::from(value));
    }

    /// A key of MongoDB's own kind that no document has yet.
    pub(crate) fn new_key<'a>(&mut self, key: impl Into<Key<'a>>) {
        self.key(OBJECT_ID, key);
        self.bytes.extend_from_slice(&ObjectId::new().bytes());
    }

    /// Text.
    pub(crate) fn string<'a>(&mut self, key: impl Into<Key<'a>>, value: &str) {
        self.key(STRING, key);
        let length = i32::try_from(value.len() + 1).unwrap_or(i32::MAX);
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(value.as_bytes());
        self.bytes.push(0);
    }

    /// A time: a date of whole milliseconds, or an integer of nanoseconds.
    pub(crate) fn time<'a>(&mut self, key: impl Into<Key<'a>>, time_ns: i64, date: bool) {
        if date {
            self.key(DATE, key);
            let milliseconds = time_ns.div_euclid(1_000_000);
            self.bytes.extend_from_slice(&milliseconds.to_le_bytes());
        } else {
            self.int64(key, time_ns);
        }
    }

    /// One value of a column.
    pub(crate) fn cell<'a>(&mut self, key: impl Into<Key<'a>>, values: &Values, row: usize) {
        match values {
            Values::Bool(values) => self.boolean(key, values[row]),
            Values::I64(values) => self.int64(key, values[row]),
            Values::U16(values) => self.int32(key, i32::from(values[row])),
            Values::F64(values) => self.double(key, values[row]),
            Values::Text(values) => self.string(key, values.get(row)),
        }
    }

    /// A value of a tag or an entity; nothing where there is none.
    pub(crate) fn value<'a>(&mut self, key: impl Into<Key<'a>>, value: &Value) {
        match value {
            Value::Null => {}
            Value::Bool(value) => self.boolean(key, *value),
            Value::I64(value) => self.int64(key, *value),
            Value::F64(value) => self.double(key, *value),
            Value::Text(value) => self.string(key, value),
        }
    }

    /// Elements that were written before.
    pub(crate) fn elements(&mut self, elements: &[u8]) {
        self.bytes.extend_from_slice(elements);
    }

    /// Ends the outermost document.
    pub(crate) fn finish(mut self) -> Result<RawDocumentBuf, StoreError> {
        while !self.open.is_empty() {
            self.close();
        }
        RawDocumentBuf::from_bytes(self.bytes).map_err(|error| {
            StoreError::new(
                ErrorKind::Protocol,
                "encode a command for MongoDB",
                format!("{error}; this is a defect, please report it"),
            )
            .with_source(error)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mongodb::bson::{DateTime, Document, doc};

    #[test]
    fn what_is_written_is_what_the_driver_would_write() {
        let mut writer = Writer::document(0);
        writer.string("text", "größer");
        writer.open_array("list");
        for place in 0..12 {
            writer.int32(place, i32::try_from(place).unwrap());
        }
        writer.close();
        writer.open("inner");
        writer.double("real", -0.5);
        writer.boolean("yes", true);
        writer.time("date", 1_999_999, true);
        writer.time("ns", 1_999_999, false);
        writer.close();
        writer.int64(&["a", "b.c"][..], i64::MIN);
        let written = writer.finish().unwrap();
        let expected = doc! {
            "text": "größer",
            "list": (0..12_i32).collect::<Vec<_>>(),
            "inner": {
                "real": -0.5,
                "yes": true,
                "date": DateTime::from_millis(1),
                "ns": 1_999_999_i64,
            },
            "a.b.c": i64::MIN,
        };
        assert_eq!(Document::try_from(written.as_ref()).unwrap(), expected);
    }

    #[test]
    fn new_keys_differ() {
        let mut writer = Writer::document(0);
        writer.new_key("one");
        writer.new_key("other");
        let written = writer.finish().unwrap();
        assert_ne!(written.get_object_id("one").unwrap(), written.get_object_id("other").unwrap());
    }
}
