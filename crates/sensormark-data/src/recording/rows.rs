//! The rows of a CSV file, one after the other, and the lines at which they start.
//!
//! A row is known by its offset in bytes while reading; lines are counted only for the few rows that are reported. What the
//! cells mean is not decided here.

use super::*;
use regex::bytes::Regex;

/// One row as it stands in the file.
pub struct Row<'r> {
    /// Its cells.
    pub record: &'r ByteRecord,
    /// Where it starts (line ends before it included), in bytes.
    pub start: u64,
    /// Where the next one starts, in bytes.
    pub end: u64,
}

/// Calls `visit` with every row below the header.
pub fn for_each(dialect: &Dialect, mut visit: impl FnMut(Row) -> Result<()>) -> Result<()> {
    let skip = dialect.skip;
    let mut file = dialect.source.reader()?;
    file.seek(SeekFrom::Start(skip))?;
    let mut reader =
        builder(dialect.delimiter, dialect.comment).buffer_capacity(1 << 17).from_reader(file.into_inner());
    let mut record = ByteRecord::new();
    let mut others = usize::from(dialect.has_header) + dialect.units_rows;
    loop {
        let start = skip + reader.position().byte();
        if !reader.read_byte_record(&mut record).map_err(io::Error::from)? {
            return Ok(());
        }
        if others > 0 {
            others -= 1;
            continue;
        }
        record = squeezed(record, dialect.delimiter);
        visit(Row { record: &record, start, end: skip + reader.position().byte() })?;
    }
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

/// The lines, counted from 1, at which rows with these ascending offsets start.
pub fn lines_of(source: &Source, starts: &[u64]) -> Result<Vec<u64>> {
    let mut lines = Vec::new();
    let (mut line, mut before) = (1_u64, 0_u8);
    for (offset, byte) in (0_u64..).zip(source.reader()?.bytes()) {
        let byte = byte?;
        // A row starts at its first byte that ends no line.
        while !matches!(byte, b'\r' | b'\n') && starts.get(lines.len()).is_some_and(|&start| start <= offset)
        {
            lines.push(line + u64::from(before == b'\r'));
        }
        if lines.len() == starts.len() {
            break;
        }
        if byte == b'\n' || before == b'\r' {
            line += 1;
        }
        before = byte;
    }
    lines.resize(starts.len(), line);
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
            let source = Source::open(&path, &super::super::RecordingOptions::default()).unwrap();
            let after_b = 2 * (1 + end.len() as u64); // the blank line belongs to the row that follows it
            let after_c = text.len() as u64 - 1 - end.len() as u64;
            assert_eq!(lines_of(&source, &[0, after_b, after_c]).unwrap(), [1, 4, 5], "{end:?}");
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
