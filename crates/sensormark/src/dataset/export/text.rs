//! A page of bytes that grows at its end: what all formats are written with.
//!
//! Short pieces (names of fields, digits) are copied as blocks of a fixed length, of which the surplus is overwritten by the next piece: a
//! copy of known length is a few instructions, one of unknown length a call. It is no place for a format's rules.

/// Short pieces are copied as blocks of this many bytes.
const BLOCK: usize = 32;
/// The longest that a number or truth value gets, in bytes: a floating point number takes 24, a 64-bit integer 20.
const LONGEST_NUMBER: usize = 24;
/// What one short piece and one number need on a page, in bytes, the block's surplus included.
const PER_VALUE: usize = BLOCK + LONGEST_NUMBER + BLOCK;

/// Bytes in the making.
#[derive(Debug, Default)]
pub(super) struct Page {
    bytes: Vec<u8>,
    /// How many of them are written; the rest is space.
    end: usize,
}

/// A short text that is written again and again.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    block: [u8; BLOCK],
    length: usize,
    /// The text itself, where a block does not hold it.
    long: Option<Box<[u8]>>,
}

impl Piece {
    pub(super) fn new(text: &[u8]) -> Self {
        let mut block = [0; BLOCK];
        let long = if text.len() > BLOCK {
            Some(text.into())
        } else {
            block[..text.len()].copy_from_slice(text);
            None
        };
        Self {
            block,
            length: text.len(),
            long,
        }
    }
}

impl Page {
    /// What is written so far.
    pub(super) fn written(&self) -> &[u8] {
        &self.bytes[..self.end]
    }

    /// How much is written.
    pub(super) const fn len(&self) -> usize {
        self.end
    }

    /// Forgets what is written and keeps the space.
    pub(super) const fn clear(&mut self) {
        self.end = 0;
    }

    /// Takes back what was written since the page had this length.
    pub(super) const fn cut(&mut self, end: usize) {
        self.end = end;
    }

    /// Makes room for this many values with their names, and one more number.
    #[inline]
    pub(super) fn make_room(&mut self, values: usize) {
        self.make_space((values + 1) * PER_VALUE);
    }

    #[inline]
    fn make_space(&mut self, bytes: usize) {
        if self.bytes.len() - self.end < bytes {
            self.grow(bytes);
        }
    }

    #[cold]
    fn grow(&mut self, bytes: usize) {
        self.bytes.resize((self.end + bytes) * 2, 0);
    }

    /// Appends a text of any length; afterwards there is room for a value.
    #[inline]
    pub(super) fn put(&mut self, text: &[u8]) {
        self.make_space(text.len() + PER_VALUE);
        self.bytes[self.end..self.end + text.len()].copy_from_slice(text);
        self.end += text.len();
    }

    /// Appends one byte. There must be room.
    #[inline]
    pub(super) fn put_byte(&mut self, byte: u8) {
        self.bytes[self.end] = byte;
        self.end += 1;
    }

    /// Appends a short text. There must be room.
    #[inline]
    pub(super) fn put_piece(&mut self, piece: &Piece) {
        match &piece.long {
            None => {
                self.put_block(&piece.block);
                self.end += piece.length;
            }
            Some(long) => self.put_long(long),
        }
    }

    /// Copies a block, of which the caller keeps a part; afterwards another block fits.
    #[inline]
    fn put_block<const SIZE: usize>(&mut self, block: &[u8; SIZE]) {
        self.make_space(SIZE + BLOCK);
        self.bytes[self.end..self.end + SIZE].copy_from_slice(block);
    }

    #[cold]
    fn put_long(&mut self, text: &[u8]) {
        self.put(text);
    }

    /// Appends an integer.
    #[inline]
    pub(super) fn put_integer(&mut self, value: i64) {
        if value < 0 {
            self.put_block(b"-");
            self.end += 1;
        }
        self.put_unsigned(value.unsigned_abs());
    }

    /// Appends an integer of 16 bits.
    #[inline]
    pub(super) fn put_small(&mut self, value: u16) {
        self.put_digits(u32::from(value));
    }

    #[inline]
    fn put_unsigned(&mut self, value: u64) {
        match split(value) {
            (0, low) => self.put_digits(low),
            (high, low) => {
                match split(high) {
                    (0, middle) => self.put_digits(middle),
                    (high, middle) => {
                        // At most four digits are left: 2^64 has twenty.
                        self.put_digits(split(high).1);
                        self.put_all_digits(middle);
                    }
                }
                self.put_all_digits(low);
            }
        }
    }

    /// Appends a number under 10^8.
    #[inline]
    fn put_digits(&mut self, value: u32) {
        let digits = eight_digits(value);
        let zeros = (digits.trailing_zeros() / 8).min(7);
        self.put_block(&((digits | ASCII_ZEROS) >> (zeros * 8)).to_le_bytes());
        self.end += 8 - zeros as usize;
    }

    /// Appends a number under 10^8 with its leading zeros.
    #[inline]
    fn put_all_digits(&mut self, value: u32) {
        self.put_block(&(eight_digits(value) | ASCII_ZEROS).to_le_bytes());
        self.end += 8;
    }

    /// Appends a finite number, in the fewest digits that read back to the same bits.
    #[inline]
    pub(super) fn put_float(&mut self, value: f64) {
        let mut buffer = zmij::Buffer::new();
        self.put(buffer.format_finite(value).as_bytes());
    }

    /// Appends a truth value.
    #[inline]
    pub(super) fn put_truth(&mut self, value: bool) {
        self.put(if value { b"true" } else { b"false" });
    }

    /// Appends a text with a backslash before each of some characters.
    pub(super) fn put_escaped(&mut self, text: &str, special: &[u8]) {
        self.make_space(text.len() * 2 + PER_VALUE);
        for &byte in text.as_bytes() {
            if special.contains(&byte) {
                self.put_byte(b'\\');
            }
            self.put_byte(byte);
        }
    }

    /// Appends a JSON string.
    pub(super) fn put_json(&mut self, text: &str) {
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

/// The digit 0 in each byte.
const ASCII_ZEROS: u64 = 0x3030_3030_3030_3030;

/// A number as thousands of ten thousands, and what is left under 10^8.
#[inline]
fn split(value: u64) -> (u64, u32) {
    const BASE: u64 = 100_000_000;
    let low = u32::try_from(value % BASE).expect("under 10^8");
    (value / BASE, low)
}

/// The eight decimal digits of a number under 10^8, one a byte, the first in the lowest: halves, quarters and eighths are
/// split side by side in one word, by multiplication with reciprocals that are exact in their range.
#[inline]
const fn eight_digits(value: u32) -> u64 {
    let halves = (value / 10_000) as u64 | (((value % 10_000) as u64) << 32);
    let hundreds = ((halves * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let quarters = hundreds | ((halves - 100 * hundreds) << 16);
    let tens = ((quarters * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((quarters - 10 * tens) << 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Page)) -> String {
        let mut page = Page::default();
        page.make_room(1);
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
            let mut page = Page::default();
            page.make_room(1);
            page.put_small(value);
            assert_eq!(page.written(), itoa::Buffer::new().format(value).as_bytes());
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
                page.put_piece(&piece);
                page.put_small(7);
                page.put_piece(&piece);
            });
            assert_eq!(twice, format!("{text}7{text}"));
        }
    }

    #[test]
    fn json_strings_read_back() {
        for text in ["", "a\"b\\c", "\n\r\t\u{1}\u{1f}ü€", "\\\""] {
            let json = written(|page| page.put_json(text));
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
