//! Arrays of a record on their way to an appender: encoded once, read once, element by element.
//!
//! The form is this store's own and never leaves the process. The number of elements comes first, in four bytes. Each element then has its kind in a byte. Its
//! value follows: eight bytes, or the length in four bytes and a text. All numbers are little-endian.

use sensormark_relational::cell::Cell;
use sensormark_relational::column_type::ColumnType;
use sensormark_relational::write::arrays::EncodeArray;

const NULL: u8 = 0;
const TRUTH: u8 = 1;
const SHORT: u8 = 2;
const WHOLE: u8 = 3;
const REAL: u8 = 4;
const TEXT: u8 = 5;

/// Arrays in this form.
pub(crate) struct OwnArrays;

impl EncodeArray for OwnArrays {
    fn encode<'a>(_: ColumnType, count: usize, cells: impl Iterator<Item = Cell<'a>>) -> Vec<u8> {
        let mut out = Vec::with_capacity(4 + 9 * count);
        let length = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
        out.extend_from_slice(&length(count));
        for cell in cells {
            match cell {
                Cell::Null | Cell::Encoded(_) => out.push(NULL),
                Cell::Bool(value) => fixed(&mut out, TRUTH, i64::from(value).to_le_bytes()),
                Cell::I16(value) => fixed(&mut out, SHORT, i64::from(value).to_le_bytes()),
                Cell::I32(value) => fixed(&mut out, SHORT, i64::from(value).to_le_bytes()),
                Cell::I64(value) => fixed(&mut out, WHOLE, value.to_le_bytes()),
                Cell::F64(value) => fixed(&mut out, REAL, value.to_le_bytes()),
                Cell::Text(value) => {
                    out.push(TEXT);
                    out.extend_from_slice(&length(value.len()));
                    out.extend_from_slice(value.as_bytes());
                }
            }
        }
        out
    }
}

fn fixed(out: &mut Vec<u8>, kind: u8, bytes: [u8; 8]) {
    out.push(kind);
    out.extend_from_slice(&bytes);
}

/// The elements of an encoded array.
#[derive(Debug)]
pub(crate) struct Elements<'a> {
    rest: &'a [u8],
    left: usize,
}

impl<'a> Elements<'a> {
    /// The elements of an array that [`OwnArrays`] encoded.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let mut elements = Self { rest: bytes, left: 0 };
        elements.left = elements.length().unwrap_or_default();
        elements
    }

    fn take<const LENGTH: usize>(&mut self) -> Option<[u8; LENGTH]> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*bytes)
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(self.take()?)).ok()
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Cell<'a>;

    fn next(&mut self) -> Option<Cell<'a>> {
        self.left = self.left.checked_sub(1)?;
        let [kind] = self.take()?;
        Some(match kind {
            TRUTH => Cell::Bool(i64::from_le_bytes(self.take()?) != 0),
            SHORT => Cell::I32(i32::try_from(i64::from_le_bytes(self.take()?)).ok()?),
            WHOLE => Cell::I64(i64::from_le_bytes(self.take()?)),
            REAL => Cell::F64(f64::from_le_bytes(self.take()?)),
            TEXT => {
                let length = self.length()?;
                let (text, rest) = self.rest.split_at_checked(length)?;
                self.rest = rest;
                Cell::Text(std::str::from_utf8(text).ok()?)
            }
            _ => Cell::Null,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Elements<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_back_as_they_were() {
        let cells = [
            Cell::Null,
            Cell::Bool(true),
            Cell::I32(-5),
            Cell::I64(i64::MIN),
            Cell::F64(-0.5),
            Cell::Text("ä, b"),
            Cell::Text(""),
        ];
        let bytes = OwnArrays::encode(ColumnType::I64, cells.len(), cells.into_iter());
        let elements = Elements::new(&bytes);
        assert_eq!(elements.len(), cells.len());
        assert_eq!(elements.collect::<Vec<_>>(), cells);
    }
}
