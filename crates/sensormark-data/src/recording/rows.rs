//! The rows of a CSV file, one after the other, and the lines at which they start.
//!
//! A row is known by its offset in bytes while reading; lines are counted only for the few rows that are reported. What the
//! cells mean is not decided here.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use csv::ByteRecord;

use super::dialect::{Dialect, builder};
use super::error::RecordingError;

/// One row as it stands in the file.
pub(super) struct Row<'r> {
    /// Its cells.
    pub record: &'r ByteRecord,
    /// Where it starts (line ends before it included), in bytes.
    pub start: u64,
    /// Where the next one starts, in bytes.
    pub end: u64,
}

/// Calls `visit` with every row below the header.
pub(super) fn for_each(
    path: &Path,
    dialect: &Dialect,
    mut visit: impl FnMut(Row<'_>) -> Result<(), RecordingError>,
) -> Result<(), RecordingError> {
    let file = File::open(path).map_err(|source| RecordingError::open(path, source))?;
    let mut reader = builder(dialect.delimiter).buffer_capacity(1 << 17).from_reader(file);
    let mut record = ByteRecord::new();
    let mut header = dialect.has_header;
    loop {
        let start = reader.position().byte();
        let more =
            reader.read_byte_record(&mut record).map_err(|source| RecordingError::read(path, source))?;
        if !more {
            return Ok(());
        }
        if std::mem::take(&mut header) {
            continue;
        }
        visit(Row { record: &record, start, end: reader.position().byte() })?;
    }
}

impl Row<'_> {
    /// Whether the row runs over several lines though its quotes do not say so by the book: an opening quote starts
    /// its cell, and a closing one ends it. A quote that is never closed swallows the rows that follow.
    pub(super) fn is_torn(&self, path: &Path, delimiter: u8) -> Result<bool, RecordingError> {
        let breaks = self.record.as_slice().contains(&b'\n');
        if !breaks {
            return Ok(false);
        }
        let mut raw = Vec::new();
        let mut file = File::open(path).map_err(|source| RecordingError::open(path, source))?;
        file.seek(SeekFrom::Start(self.start))
            .and_then(|_| file.take(self.end - self.start).read_to_end(&mut raw))
            .map_err(|source| RecordingError::open(path, source))?;
        Ok(!is_well_quoted(&raw, delimiter))
    }
}

fn is_well_quoted(raw: &[u8], delimiter: u8) -> bool {
    let (mut inside, mut at_start) = (false, true);
    let mut bytes = raw.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' if inside && bytes.peek() == Some(&b'"') => {
                bytes.next();
            }
            b'"' if inside => {
                inside = false;
                let next = bytes.peek().copied().unwrap_or(b'\n');
                if next != delimiter && !matches!(next, b'\r' | b'\n') {
                    return false;
                }
            }
            b'"' if at_start => inside = true,
            b'"' => return false,
            _ => {}
        }
        at_start = !inside && (byte == delimiter || matches!(byte, b'\r' | b'\n'));
    }
    !inside
}

/// The lines, counted from 1, at which rows with these ascending offsets start.
pub(super) fn lines_of(path: &Path, starts: &[u64]) -> Result<Vec<u64>, RecordingError> {
    let file = File::open(path).map_err(|source| RecordingError::open(path, source))?;
    let mut reader = BufReader::with_capacity(1 << 17, file);
    let mut lines = Vec::with_capacity(starts.len());
    let (mut offset, mut line, mut before) = (0_u64, 1_u64, 0_u8);
    while lines.len() < starts.len() {
        let block = reader.fill_buf().map_err(|source| RecordingError::open(path, source))?;
        let length = block.len();
        for &byte in block {
            // A row starts at its first byte that ends no line.
            while !matches!(byte, b'\r' | b'\n')
                && starts.get(lines.len()).is_some_and(|&start| start <= offset)
            {
                lines.push(line + u64::from(before == b'\r'));
            }
            if byte == b'\n' || before == b'\r' {
                line += 1;
            }
            before = byte;
            offset += 1;
        }
        if length == 0 {
            lines.resize(starts.len(), line);
        }
        reader.consume(length);
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_for_all_line_ends() {
        let folder = tempfile::tempdir().unwrap();
        for end in ["\n", "\r\n", "\r"] {
            let path = folder.path().join("lines.csv");
            let text = format!("a{end}b{end}{end}c{end}d");
            std::fs::write(&path, &text).unwrap();
            let after_b = 2 * (1 + end.len() as u64); // the blank line belongs to the row that follows it
            let after_c = text.len() as u64 - 1 - end.len() as u64;
            assert_eq!(lines_of(&path, &[0, after_b, after_c]).unwrap(), [1, 4, 5], "{end:?}");
        }
    }

    #[test]
    fn quotes_by_the_book_are_told_from_torn_ones() {
        assert!(is_well_quoted(b"1,\"a\nb\"\"c\",2\n", b','));
        assert!(is_well_quoted(b"\n\"a\n\"", b','));
        assert!(!is_well_quoted(b"1,\"a\n2,\"def\"\n", b','));
        assert!(!is_well_quoted(b"1,\"a\n", b','));
    }
}
