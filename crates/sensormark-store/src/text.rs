//! A page of bytes that grows at its end: what readings are written as text with.
//!
//! Short pieces (names of fields, digits) are copied as blocks of a fixed length. The next piece overwrites the surplus. Several values at a time go into one
//! [`Slot`], whose bounds the compiler knows. The reason is speed: a copy of known length to a known place is a few instructions, one of unknown length a call.
//! It is no place for a format's rules.

mod digits;

use self::digits::{ASCII_ZEROS, BASE, DIGITS, PADDED, eight_digits, group};
use crate::batch::Values;

/// The longest piece that is copied as a block, in bytes.
const BLOCK: usize = 32;
/// A slot's bytes: up to [`Slot::REACH`] that are written, and the surplus of the last block.
const SLOT: usize = Slot::REACH + BLOCK;

/// Bytes in the making.
#[derive(Debug, Default)]
pub struct Page {
    bytes: Vec<u8>,
    /// How many of them are written; the rest is space.
    end: usize,
}

/// A short text that is written again and again.
#[derive(Debug, Clone)]
pub struct Piece {
    block: [u8; BLOCK],
    length: usize,
    /// The text itself, where a block does not hold it.
    long: Option<Box<[u8]>>,
}

impl Piece {
    /// This text.
    pub fn new(text: &[u8]) -> Self {
        let mut block = [0; BLOCK];
        let (length, long) = if text.len() > BLOCK {
            (0, Some(text.into()))
        } else {
            block[..text.len()].copy_from_slice(text);
            (text.len(), None)
        };
        Self { block, length, long }
    }

    /// Whether it is a block, and so may be put into a [`Slot`].
    pub const fn is_short(&self) -> bool {
        self.long.is_none()
    }
}

impl Page {
    /// What is written so far.
    pub fn written(&self) -> &[u8] {
        &self.bytes[..self.end]
    }

    /// Whether nothing is written.
    pub const fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// How much is written.
    pub const fn len(&self) -> usize {
        self.end
    }

    /// Forgets what is written and keeps the space.
    pub const fn clear(&mut self) {
        self.end = 0;
    }

    /// Takes back what was written since the page had this length.
    pub const fn cut(&mut self, end: usize) {
        self.end = end;
    }

    /// Takes back the last byte.
    pub const fn cut_byte(&mut self) {
        self.end -= 1;
    }

    #[inline]
    fn make_space(&mut self, bytes: usize) {
        if self.bytes.len() - self.end < bytes {
            self.grow(bytes);
        }
    }

    #[cold]
    fn grow(&mut self, bytes: usize) {
        let needed = self.end + bytes;
        self.bytes.resize(needed + needed / 2, 0);
    }

    /// Appends a piece, and what `write` puts after it: one number or truth value, and up to two bytes.
    #[inline]
    pub fn put_value(&mut self, name: &Piece, write: impl FnOnce(&mut Slot<'_>)) {
        if let Some(long) = &name.long {
            self.put(long);
        }
        self.put_values(|slot| {
            slot.put_piece(name);
            write(slot);
        });
    }

    /// Appends what `write` puts: up to [`Slot::VALUES`] times a short piece, a number or truth value, and up to two bytes.
    #[inline]
    pub fn put_values(&mut self, write: impl FnOnce(&mut Slot<'_>)) {
        self.make_space(SLOT);
        let bytes = self.bytes[self.end..].first_chunk_mut();
        let mut slot = Slot { bytes: bytes.expect("space was made"), end: 0 };
        write(&mut slot);
        debug_assert!(slot.end <= Slot::REACH, "no more than a slot holds");
        self.end += slot.end;
    }

    /// Appends a text of any length.
    #[inline]
    pub fn put(&mut self, text: &[u8]) {
        self.make_space(text.len());
        self.bytes[self.end..self.end + text.len()].copy_from_slice(text);
        self.end += text.len();
    }

    /// Appends one byte.
    #[inline]
    pub fn put_byte(&mut self, byte: u8) {
        self.put(&[byte]);
    }

    /// Appends an integer.
    #[inline]
    pub fn put_integer(&mut self, value: i64) {
        self.put_value(&NOTHING, |slot| slot.put_integer(value));
    }

    /// Appends a finite number.
    pub fn put_float(&mut self, value: f64) {
        self.put_value(&NOTHING, |slot| slot.put_float(value));
    }

    /// Appends a text with a backslash before each of some characters.
    pub fn put_escaped(&mut self, text: &str, special: &[u8]) {
        for &byte in text.as_bytes() {
            if special.contains(&byte) {
                self.put_byte(b'\\');
            }
            self.put_byte(byte);
        }
    }

    /// Appends a JSON string.
    pub fn put_json(&mut self, text: &str) {
        self.put(b"\"");
        let mut rest = text;
        while let Some(at) = rest.find(|next: char| next < ' ' || matches!(next, '"' | '\\')) {
            self.put(&rest.as_bytes()[..at]);
            let byte = rest.as_bytes()[at];
            match byte {
                b'"' | b'\\' => self.put(&[b'\\', byte]),
                b'\n' => self.put(b"\\n"),
                b'\r' => self.put(b"\\r"),
                b'\t' => self.put(b"\\t"),
                _ => {
                    let hex = |digit: u8| b"0123456789abcdef"[usize::from(digit)];
                    self.put(&[b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte & 15)]);
                }
            }
            rest = &rest[at + 1..];
        }
        self.put(rest.as_bytes());
        self.put_byte(b'"');
    }
}

/// The piece without text.
const NOTHING: Piece = Piece { block: [0; BLOCK], length: 0, long: None };

/// Where some values are written, on a page.
#[derive(Debug)]
pub struct Slot<'p> {
    bytes: &'p mut [u8; SLOT],
    end: usize,
}

impl Slot<'_> {
    /// The bytes that one value may take: a name's 32, a sign, 20 digits or the 24 of a floating point number, and two bytes.
    const VALUE: usize = 64;
    /// How many values it holds.
    pub const VALUES: usize = 32;
    /// The bytes that they may take.
    const REACH: usize = Self::VALUES * Self::VALUE;

    /// Copies a block, of which the caller keeps a part.
    #[inline]
    fn put_block<const SIZE: usize>(&mut self, block: &[u8; SIZE]) {
        // Always so; known to the compiler, the copy needs no check.
        let at = self.end % Self::REACH;
        self.bytes[at..at + SIZE].copy_from_slice(block);
    }

    /// Appends a short piece.
    #[inline]
    pub fn put_piece(&mut self, piece: &Piece) {
        self.put_block(&piece.block);
        self.end += piece.length;
    }

    /// Appends one byte.
    #[inline]
    pub fn put_byte(&mut self, byte: u8) {
        self.put_block(&[byte]);
        self.end += 1;
    }

    /// Appends two bytes.
    #[inline]
    pub fn put_two(&mut self, bytes: [u8; 2]) {
        self.put_block(&bytes);
        self.end += 2;
    }

    /// Appends an integer.
    #[inline]
    pub fn put_integer(&mut self, value: i64) {
        match u32::try_from(value) {
            Ok(small) if small < BASE => self.put_digits(small),
            _ => self.put_number(itoa::Buffer::new().format(value)),
        }
    }

    /// Appends an integer of 16 bits.
    #[inline]
    pub fn put_small(&mut self, value: u16) {
        self.put_digits(u32::from(value));
    }

    /// Appends a number under 10^8.
    #[inline]
    fn put_digits(&mut self, value: u32) {
        match value {
            0..1_000 => self.put_group(value),
            1_000..1_000_000 => {
                self.put_group(value / 1_000);
                self.put_block(&group(&PADDED, value % 1_000));
                self.end += 3;
            }
            _ => {
                let digits = eight_digits(value);
                let zeros = digits.trailing_zeros() & !7;
                self.put_block(&((digits | ASCII_ZEROS) >> zeros).to_le_bytes());
                self.end += 8 - (zeros / 8) as usize;
            }
        }
    }

    /// Appends a number under 1,000.
    #[inline]
    fn put_group(&mut self, value: u32) {
        let digits = group(&DIGITS, value);
        self.put_block(&digits);
        self.end += usize::from(digits[3]);
    }

    /// Appends a number that a library wrote: its first and last half as blocks, where it is long.
    #[inline]
    fn put_number(&mut self, text: &str) {
        let text = text.as_bytes();
        if let (Some(first), Some(last)) = (text.first_chunk::<16>(), text.last_chunk::<16>()) {
            self.put_block(first);
            self.end += text.len() - 16;
            self.put_block(last);
            self.end += 16;
        } else {
            let at = self.end % Self::REACH;
            self.bytes[at..at + text.len()].copy_from_slice(text);
            self.end += text.len();
        }
    }

    /// Appends a finite number, in the fewest digits that read back to the same bits.
    #[inline]
    pub fn put_float(&mut self, value: f64) {
        self.put_number(zmij::Buffer::new().format_finite(value));
    }

    /// Appends a value that is no text, as CSV and JSON have it; of a text nothing.
    #[inline]
    pub fn put_plain(&mut self, values: &Values, row: usize) {
        match values {
            Values::U16(values) => self.put_small(values[row]),
            Values::I64(values) => self.put_integer(values[row]),
            Values::F64(values) => self.put_float(values[row]),
            Values::Bool(values) => self.put_truth(values[row]),
            Values::Text(_) => {}
        }
    }

    /// Appends a truth value.
    #[inline]
    pub fn put_truth(&mut self, value: bool) {
        self.put_block(if value { b"true\0" } else { b"false" });
        self.end += if value { 4 } else { 5 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Page)) -> String {
        let mut page = Page::default();
        write(&mut page);
        String::from_utf8(page.written().to_vec()).unwrap()
    }

    #[test]
    fn integers_have_their_digits() {
        let mut values = vec![0, i64::MIN, i64::MAX];
        for power in 0..19 {
            let ten = 10_i64.pow(power);
            values.extend([ten - 1, ten, ten + 1, -ten, 7 * ten / 3]);
        }
        for value in values {
            assert_eq!(written(|page| page.put_integer(value)), value.to_string());
        }
        for value in 0..=u16::MAX {
            let small = written(|page| page.put_value(&NOTHING, |slot| slot.put_small(value)));
            assert_eq!(small, value.to_string());
        }
        for value in (0..100_000_000).step_by(997) {
            let digits = (eight_digits(value) | ASCII_ZEROS).to_le_bytes();
            assert_eq!(digits.as_slice(), format!("{value:08}").as_bytes());
        }
    }

    #[test]
    fn pieces_of_any_length_are_whole() {
        for length in [0, 1, 31, 32, 33, 500] {
            let text = "x".repeat(length);
            let piece = Piece::new(text.as_bytes());
            let twice = written(|page| {
                page.put_value(&piece, |slot| slot.put_small(7));
                page.put_value(&piece, |slot| slot.put_two(*b"i,"));
            });
            assert_eq!(twice, format!("{text}7{text}i,"));
        }
    }

    #[test]
    fn the_longest_values_fit_and_floats_read_back() {
        let name = Piece::new(&[b'x'; BLOCK]);
        let values = [
            f64::MIN,
            f64::MIN_POSITIVE,
            -1.234_567_890_123_456_7e-300,
            0.1,
            1.0,
            -0.0,
            12_345.678,
            1e15,
            1.5e16,
            5e-324,
        ];
        for value in values {
            let text = written(|page| {
                page.put_value(&name, |slot| {
                    slot.put_float(value);
                    slot.put_two(*b", ");
                });
            });
            let number = text[BLOCK..].trim_end_matches(", ");
            assert_eq!(number.parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
        let text = written(|page| {
            page.put_value(&name, |slot| {
                slot.put_integer(i64::MIN);
                slot.put_two(*b"i,");
            });
            page.put_value(&NOTHING, |slot| slot.put_truth(true));
            page.put_value(&NOTHING, |slot| slot.put_truth(false));
        });
        assert_eq!(text[BLOCK..], format!("{}i,truefalse", i64::MIN));
    }

    #[test]
    fn json_strings_read_back() {
        for text in ["", "a\"b\\c", "\n\r\t\u{1}\u{1f}ü€", "\\\""] {
            let json = written(|page| page.put_json(text));
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
