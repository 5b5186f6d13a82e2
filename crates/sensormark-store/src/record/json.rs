//! Records of a span as JSON text, `{"measurements":[{"ns":…,"m":[…]},…]}`, written and read by hand in one pass.
//!
//! `ns` counts from the span's start; `m` holds a value a field, null where there is none. Any whitespace and any order of keys
//! is read; what is wanted and not understood is an error.

use super::{Record, Wanted};
use crate::batch::{Batch, Column, Values};
use crate::error::{ErrorKind, StoreError};

/// Appends a whole number.
pub fn integer(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a floating point number, which JSON tells from a whole one.
pub fn real(value: f64, out: &mut Vec<u8>) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value).as_bytes();
    out.extend_from_slice(text);
    if !text.iter().any(|byte| matches!(byte, b'.' | b'e')) {
        out.extend_from_slice(b".0");
    }
}

/// Appends a string with its quotes.
pub fn text(value: &str, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    for &byte in value.as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..0x20 => {
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// Appends the readings of a record.
pub fn encode(batch: &Batch, record: &Record<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"measurements\":[");
    let mut between: &[u8] = b"{\"ns\":";
    for row in record.rows() {
        out.extend_from_slice(between);
        between = b",{\"ns\":";
        integer(batch.times_ns[row].wrapping_sub(record.start_ns), out);
        out.extend_from_slice(b",\"m\":[");
        for (field, column) in batch.columns.iter().enumerate() {
            if field > 0 {
                out.push(b',');
            }
            value(column, row, out);
        }
        out.extend_from_slice(b"]}");
    }
    out.extend_from_slice(b"]}");
}

fn value(column: &Column, row: usize, out: &mut Vec<u8>) {
    if !column.has(row) {
        return out.extend_from_slice(b"null");
    }
    match &column.values {
        Values::Bool(values) if values[row] => out.extend_from_slice(b"true"),
        Values::Bool(_) => out.extend_from_slice(b"false"),
        Values::I64(values) => integer(values[row], out),
        Values::U16(values) => {
            out.extend_from_slice(itoa::Buffer::new().format(values[row]).as_bytes());
        }
        Values::F64(values) => real(values[row], out),
        Values::Text(values) => text(values.get(row), out),
    }
}

/// Reads the wanted readings and fields of a record into a batch.
///
/// # Errors
/// [`ErrorKind::Protocol`] when the text is not such a record.
pub fn decode(text: &str, wanted: &Wanted, batch: &mut Batch) -> Result<(), StoreError> {
    let mut parser = Parser { text, at: 0 };
    let read = parser.record(wanted, batch);
    read.map_err(|wrong| {
        StoreError::new(
            ErrorKind::Protocol,
            "read a JSON record",
            format!("{wrong} at byte {} of {}", parser.at, text.len()),
        )
    })
}

/// A JSON array that is read value by value.
#[derive(Debug)]
pub struct Array<'a>(Parser<'a>);

impl<'a> Array<'a> {
    /// The array that this text is.
    pub const fn new(text: &'a str) -> Self {
        Self(Parser { text, at: 0 })
    }
}

/// Reads the wanted readings of a record whose offsets and wanted fields came as arrays of their own, the fields in the order of their
/// numbers. Readings without any of the fields are left out.
///
/// # Errors
/// [`ErrorKind::Protocol`] when the texts are not such arrays.
pub fn decode_arrays(
    mut offsets: Array<'_>,
    fields: &mut [Array<'_>],
    wanted: &Wanted,
    batch: &mut Batch,
) -> Result<(), StoreError> {
    let read = arrays(&mut offsets.0, fields, wanted, batch);
    read.map_err(|wrong| {
        StoreError::new(
            ErrorKind::Protocol,
            "read the JSON arrays of a record",
            format!("{wrong}, near byte {} of the offsets", offsets.0.at),
        )
    })
}

fn arrays(
    offsets: &mut Parser<'_>,
    fields: &mut [Array<'_>],
    wanted: &Wanted,
    batch: &mut Batch,
) -> Parsed<()> {
    offsets.expect(b'[', "no array")?;
    for Array(values) in &mut *fields {
        values.expect(b'[', "no array")?;
    }
    let mut is_first = true;
    while !offsets.takes(b']') {
        if !is_first {
            offsets.expect(b',', "no comma where one is due")?;
            for Array(values) in &mut *fields {
                values.expect(b',', "the arrays of a record differ in length")?;
            }
        }
        is_first = false;
        let time = wanted.time(offsets.whole()?);
        let has_any = fields.iter_mut().any(|Array(values)| values.peek() != Some(b'n'));
        let time = time.filter(|_| has_any);
        for (Array(values), field) in fields.iter_mut().zip(wanted.fields.iter()) {
            match time {
                Some(_) => values.value(&mut batch.columns[field])?,
                None => values.skip()?,
            }
        }
        if let Some(time) = time {
            batch.times_ns.push(time);
            batch.series.push(wanted.series);
        }
    }
    for Array(values) in fields {
        values.expect(b']', "the arrays of a record differ in length")?;
    }
    Ok(())
}

#[derive(Debug)]
struct Parser<'a> {
    text: &'a str,
    at: usize,
}

type Parsed<T> = Result<T, &'static str>;

impl<'a> Parser<'a> {
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    fn takes(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, wrong: &'static str) -> Parsed<()> {
        if self.takes(byte) { Ok(()) } else { Err(wrong) }
    }

    /// A comma, or the end that the caller looks for next.
    fn between(&mut self, end: u8) -> Parsed<()> {
        if self.takes(b',') || self.peek() == Some(end) {
            return Ok(());
        }
        Err("no comma where one is due")
    }

    fn record(&mut self, wanted: &Wanted, batch: &mut Batch) -> Parsed<()> {
        self.expect(b'{', "no object")?;
        let mut found = false;
        while !self.takes(b'}') {
            if self.key()? == "measurements" {
                found = true;
                self.readings(wanted, batch)?;
            } else {
                self.skip()?;
            }
            self.between(b'}')?;
        }
        match (found, self.peek()) {
            (true, None) => Ok(()),
            (false, _) => Err("no measurements"),
            (true, Some(_)) => Err("something follows the record"),
        }
    }

    fn readings(&mut self, wanted: &Wanted, batch: &mut Batch) -> Parsed<()> {
        self.expect(b'[', "measurements are no array")?;
        while !self.takes(b']') {
            self.reading(wanted, batch)?;
            self.between(b']')?;
        }
        Ok(())
    }

    fn reading(&mut self, wanted: &Wanted, batch: &mut Batch) -> Parsed<()> {
        self.expect(b'{', "a measurement is no object")?;
        let (mut offset, mut values) = (None, None);
        while !self.takes(b'}') {
            match self.key()? {
                "ns" => offset = Some(self.whole()?),
                "m" => {
                    self.peek();
                    values = Some(self.at);
                    match offset.map(|offset| wanted.time(offset)) {
                        Some(Some(time)) => self.values(time, wanted, batch)?,
                        _ => self.skip()?,
                    }
                    if offset.is_some() {
                        values = None;
                    }
                }
                _ => self.skip()?,
            }
            self.between(b'}')?;
        }
        let offset = offset.ok_or("a measurement without ns")?;
        if let (Some(at), Some(time)) = (values, wanted.time(offset)) {
            let end = std::mem::replace(&mut self.at, at);
            self.values(time, wanted, batch)?;
            self.at = end;
        }
        Ok(())
    }

    fn values(&mut self, time_ns: i64, wanted: &Wanted, batch: &mut Batch) -> Parsed<()> {
        self.expect(b'[', "m is no array")?;
        batch.times_ns.push(time_ns);
        batch.series.push(wanted.series);
        let fields = batch.columns.len();
        for (field, column) in batch.columns.iter_mut().enumerate() {
            if wanted.fields.contains(field) {
                self.value(column)?;
            } else {
                self.skip()?;
            }
            if field + 1 < fields {
                self.expect(b',', "too few values")?;
            }
        }
        self.expect(b']', "too many values")
    }

    fn value(&mut self, column: &mut Column) -> Parsed<()> {
        if self.peek() == Some(b'n') {
            self.word("null")?;
            column.push_null();
            return Ok(());
        }
        match &mut column.values {
            Values::Bool(values) => {
                let value = self.peek() == Some(b't');
                self.word(if value { "true" } else { "false" })?;
                values.push(value);
            }
            Values::I64(values) => values.push(self.whole()?),
            Values::U16(values) => {
                values.push(u16::try_from(self.whole()?).map_err(|_| "a number over 16 bits")?);
            }
            Values::F64(values) => {
                values.push(self.number().parse().map_err(|_| "no number")?);
            }
            Values::Text(values) => {
                let raw = self.string()?;
                if raw.contains('\\') {
                    values.push(&unescape(raw)?);
                } else {
                    values.push(raw);
                }
            }
        }
        if let Some(present) = &mut column.present {
            present.push(true);
        }
        Ok(())
    }

    fn word(&mut self, word: &str) -> Parsed<()> {
        if self.text[self.at..].starts_with(word) {
            self.at += word.len();
            return Ok(());
        }
        Err("no value of the field's type")
    }

    fn number(&mut self) -> &'a str {
        self.peek();
        let start = self.at;
        let bytes = self.text.as_bytes();
        while let Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E') = bytes.get(self.at) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// A whole number; digits are added up on the negative side, which reaches one further.
    fn whole(&mut self) -> Parsed<i64> {
        let negative = self.takes(b'-');
        let (start, bytes) = (self.at, self.text.as_bytes());
        let mut value = 0_i64;
        while let Some(byte @ b'0'..=b'9') = bytes.get(self.at) {
            let next = value.checked_mul(10).and_then(|value| value.checked_sub(i64::from(byte - b'0')));
            value = next.ok_or("a number over 64 bits")?;
            self.at += 1;
        }
        if self.at == start || matches!(bytes.get(self.at), Some(b'.' | b'e' | b'E')) {
            return Err("no whole number");
        }
        if negative {
            return Ok(value);
        }
        value.checked_neg().ok_or("a number over 64 bits")
    }

    fn key(&mut self) -> Parsed<&'a str> {
        let key = self.string()?;
        self.expect(b':', "no colon after a key")?;
        Ok(key)
    }

    /// The text between quotes, with its escapes.
    fn string(&mut self) -> Parsed<&'a str> {
        self.expect(b'"', "no string")?;
        let start = self.at;
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(&self.text[start..self.at - 1]);
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        Err("a string without end")
    }

    /// Passes over one value of any kind; of arrays and objects, to the bracket that closes them.
    fn skip(&mut self) -> Parsed<()> {
        match self.peek().ok_or("the end in place of a value")? {
            b'"' => self.string().map(|_| ()),
            b'[' | b'{' => self.skip_nested(),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ if self.number().is_empty() => Err("no value"),
            _ => Ok(()),
        }
    }

    fn skip_nested(&mut self) -> Parsed<()> {
        let mut depth = 0_usize;
        while let Some(byte) = self.text.as_bytes().get(self.at) {
            match byte {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        Err("an array or object without end")
    }
}

fn unescape(raw: &str) -> Parsed<String> {
    let mut text = String::with_capacity(raw.len());
    let mut units = Vec::new();
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        flush(&mut units, &mut text, at > 0)?;
        text.push_str(&rest[..at]);
        let escape = *rest.as_bytes().get(at + 1).ok_or("an escape without end")?;
        rest = &rest[at + 2..];
        if escape == b'u' {
            let digits = rest.get(..4).ok_or("an escape without end")?;
            units.push(u16::from_str_radix(digits, 16).map_err(|_| "no hexadecimal escape")?);
            rest = &rest[4..];
            continue;
        }
        flush(&mut units, &mut text, true)?;
        text.push(match escape {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' | b'\\' | b'/' => char::from(escape),
            _ => return Err("an unknown escape"),
        });
    }
    flush(&mut units, &mut text, true)?;
    text.push_str(rest);
    Ok(text)
}

/// Appends pending UTF-16 units, when something else follows them.
fn flush(units: &mut Vec<u16>, text: &mut String, follows: bool) -> Parsed<()> {
    if follows && !units.is_empty() {
        text.push_str(&String::from_utf16(units).map_err(|_| "half a surrogate pair")?);
        units.clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests;
