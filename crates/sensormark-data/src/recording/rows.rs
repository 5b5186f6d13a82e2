//! The rows of a CSV file, one after the other, and the lines at which they start.
//!
//! A row is known by its offset in bytes while reading; lines are counted only for the few rows that are reported. What the
//! cells mean is not decided here.

use super::*;
use regex::bytes::Regex;

impl Dialect {
    /// Calls `visit` with every row below the header.
    pub fn each_row(&self, mut visit: impl FnMut(Row) -> Result<()>) -> Result<()> {
        let mut file = self.source.reader()?;
        file.seek(SeekFrom::Start(self.skip))?;
        let mut reader =
            builder(self.delimiter, self.comment).buffer_capacity(1 << 17).from_reader(file.into_inner());
        let mut record = ByteRecord::new();
        let mut others = usize::from(self.has_header) + self.units_rows;
        loop {
            let start = self.skip + reader.position().byte();
            if !reader.read_byte_record(&mut record).map_err(io::Error::from)? {
                return Ok(());
            }
            if others > 0 {
                others -= 1;
                continue;
            }
            record = squeezed(record, self.delimiter);
            visit(Row { record: &record, start, end: self.skip + reader.position().byte() })?;
        }
    }

    /// Whether a row is the header again, as where files were put together.
    pub fn is_header(&self, row: &ByteRecord) -> bool {
        self.has_header && row.iter().map(<[u8]>::trim_ascii).eq(self.names.iter().map(String::as_bytes))
    }
}

/// A reader that takes rows as they come, of any width, the first one too.
pub fn builder(delimiter: u8, comment: Option<u8>) -> csv::ReaderBuilder {
    let mut builder = csv::ReaderBuilder::new();
    builder.delimiter(delimiter).comment(comment).has_headers(false).flexible(true);
    builder
}

/// A record without empty cells, where blanks are between cells: they may be several in a row.
pub fn squeezed(record: ByteRecord, delimiter: u8) -> ByteRecord {
    if delimiter != b' ' {
        return record;
    }
    let mut cells: ByteRecord = record.iter().filter(|cell| !cell.is_empty()).collect();
    cells.set_position(record.position().cloned());
    cells
}

impl Row<'_> {
    /// Whether the row runs over several lines though its quotes do not say so by the book: an opening quote starts
    /// its cell, and a closing one ends it. A quote that is never closed swallows the rows that follow.
    pub fn is_torn(&self, dialect: &Dialect, quotes: &Regex) -> Result<bool> {
        if !self.record.as_slice().contains(&b'\n') {
            return Ok(false);
        }
        let mut raw = Vec::new();
        let mut file = dialect.source.reader()?;
        file.seek(SeekFrom::Start(self.start))
            .and_then(|_| file.take(self.end - self.start).read_to_end(&mut raw))?;
        Ok(!quotes.is_match(&raw))
    }
}

/// What a row is whose quotes open and close cells, and stand nowhere else but doubled.
pub fn well_quoted(delimiter: u8) -> Regex {
    let delimiter = regex::escape(&char::from(delimiter).to_string());
    let cell = format!(r#"(?:"(?:[^"]|"")*"|[^"\r\n{delimiter}]*)"#);
    Regex::new(&format!(r"^[\r\n]*{cell}(?:{delimiter}{cell})*[\r\n]*$")).expect("a pattern")
}

impl Source {
    /// Makes ascending offsets of rows the lines of the file, counted from 1, at which they start.
    pub fn count_lines<'s>(&self, starts: impl Iterator<Item = &'s mut u64>) -> Result<()> {
        let mut starts = starts.peekable();
        let (mut line, mut before) = (1 - self.lines_before, 0);
        for (offset, byte) in (0..).zip(self.reader()?.bytes()) {
            let byte = byte?;
            // A row starts at its first byte that ends no line.
            while !matches!(byte, b'\r' | b'\n')
                && let Some(start) = starts.next_if(|start| **start <= offset)
            {
                *start = line + u64::from(before == b'\r');
            }
            if starts.peek().is_none() {
                return Ok(());
            }
            if byte == b'\n' || before == b'\r' {
                line += 1;
            }
            before = byte;
        }
        starts.for_each(|start| *start = line);
        Ok(())
    }
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
            let source = Source::open(&path, &super::super::RecordingOptions::default()).unwrap();
            let after_b = 2 * (1 + end.len() as u64); // the blank line belongs to the row that follows it
            let after_c = text.len() as u64 - 1 - end.len() as u64;
            let mut starts = [0, after_b, after_c];
            source.count_lines(starts.iter_mut()).unwrap();
            assert_eq!(starts, [1, 4, 5], "{end:?}");
        }
    }

    #[test]
    fn quotes_by_the_book_are_told_from_torn_ones() {
        let is_well_quoted = |raw: &[u8], delimiter| well_quoted(delimiter).is_match(raw);
        assert!(is_well_quoted(b"1,\"a\nb\"\"c\",2\n", b','));
        assert!(is_well_quoted(b"\n\"a\n\"", b','));
        assert!(!is_well_quoted(b"1,\"a\n2,\"def\"\n", b','));
        assert!(!is_well_quoted(b"1,\"a\n", b','));
    }
}
