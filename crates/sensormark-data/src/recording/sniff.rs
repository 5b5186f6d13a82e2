//! What kind of CSV a file is: what stands around the table, delimiter, header, width; found from its first rows.
//!
//! The header's quirks are settled here. A header may have one name fewer than the rows have cells. If rows end with a delimiter, it names all columns but the
//! last. Else it names the columns after the first, which is a row number without a name.

use std::io::Read;

use csv::StringRecord;
use encoding_rs::WINDOWS_1252;

use super::cell::{CellRules, Look};
use super::dialect::{Dialect, builder};
use super::error::{RecordingError, ask, empty, unclear};
use super::options::RecordingOptions;
use super::source::Source;

/// How much of the file is looked at, in bytes.
const SAMPLE_BYTES: u64 = 1 << 18;
/// How many rows of it.
const SAMPLE_ROWS: usize = 1_000;
/// Delimiters that are looked for; of equals the first.
const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];
/// How many lines may stand before a header.
const LINES_BEFORE: usize = 50;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The rows of the sample as one delimiter splits them.
struct Sample {
    delimiter: u8,
    records: Vec<StringRecord>,
    /// The most common number of cells below the first row, and how many rows have it.
    width: usize,
    regular: usize,
}

/// What stands before the table.
#[derive(Default)]
struct Before {
    /// Bytes of the sample.
    skip: usize,
    comment: Option<u8>,
    delimiter: Option<u8>,
    notes: Vec<String>,
    group_key: Vec<String>,
}

/// Finds out what kind of CSV the file is.
pub(super) fn sniff(source: Source, options: &RecordingOptions) -> Result<Dialect, RecordingError> {
    let raw = read_sample(&source)?;
    let text = raw.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&raw);
    let mark = raw.len() - text.len();
    check_text(&source, text)?;
    let mut before = Before::said(text, options)?;
    let mut sample = before.sample(&source, text, options)?;
    let rules = CellRules::new(options);
    before.comments(&mut sample, &source, text, options)?;
    if options.header_line.or(options.skip_lines).is_none() {
        before.titles(&mut sample);
    }
    let is_line_given = options.header_line.is_some();
    let has_header = options.header.unwrap_or_else(|| is_line_given || sample.is_header(0, &rules));
    let (names, quirk) = match has_header {
        true => sample.names(&source, |byte| line_at(text, before.skip + byte), &rules)?,
        false => (vec![String::new(); sample.width], None),
    };
    before.notes.extend(quirk.map(str::to_owned));
    let units_rows = (1..=2).take_while(|&row| has_header && sample.is_units(row, &rules)).count();
    for record in &sample.records[..=units_rows][1..] {
        before.notes.push(format!(
            "{:?} below the header is no reading: left out",
            record.iter().collect::<Vec<_>>().join(" ")
        ));
    }
    Ok(Dialect {
        skip: (mark + before.skip) as u64,
        comment: before.comment,
        delimiter: sample.delimiter,
        has_header,
        units_rows,
        names,
        notes: before.notes,
        group_key: before.group_key,
        source,
    })
}

/// The first rows, without one that is cut off.
fn read_sample(source: &Source) -> Result<Vec<u8>, RecordingError> {
    let mut raw = Vec::new();
    source.reader()?.take(SAMPLE_BYTES).read_to_end(&mut raw).map_err(|error| source.failed(error))?;
    if raw.len() as u64 == SAMPLE_BYTES {
        let whole = raw.iter().rposition(|&byte| byte == b'\n');
        raw.truncate(whole.map_or(raw.len(), |end| end + 1));
    }
    Ok(raw)
}

/// Stops at what is no text, or mostly not UTF-8. Single rows that are not UTF-8, or hold NUL bytes, are bad rows later.
fn check_text(source: &Source, text: &[u8]) -> Result<(), RecordingError> {
    let (given, lines) = (source.given.display(), || text.split(|byte| *byte == b'\n'));
    if lines().next().is_some_and(|line| line.contains(&0)) || text.starts_with(b"PK\x03\x04") {
        return unclear(format!(
            "{given} is not UTF-8 text (it may be UTF-16 without a mark, compressed or a spreadsheet); export it as CSV in UTF-8, or name its encoding with --encoding"
        ));
    }
    let wrong: Vec<(usize, &[u8])> =
        lines().enumerate().filter(|(_, line)| std::str::from_utf8(line).is_err()).collect();
    match wrong[..] {
        [(line, bytes), ..] if line == 0 || wrong.len() * 2 > lines().count() => ask(
            format!(
                "{given} is not UTF-8. Line {} is {:?} as Windows-1252: if that is right, say --encoding windows-1252, else name another encoding",
                line + 1,
                WINDOWS_1252.decode(bytes).0.trim()
            ),
            [["--encoding", "windows-1252"]],
        ),
        _ => Ok(()),
    }
}

/// Where the line after so many begins.
fn after_lines(text: &[u8], lines: usize) -> usize {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let end = lines.checked_sub(1).and_then(|line| ends.map(|(end, _)| end + 1).nth(line));
    end.unwrap_or(if lines == 0 { 0 } else { text.len() })
}

/// The line, counted from 1, of the first text at or after this byte.
fn line_at(text: &[u8], byte: usize) -> usize {
    let blanks = text[byte..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    1 + text[..byte + blanks].iter().filter(|byte| **byte == b'\n').count()
}

/// Where a record begins, in bytes.
fn offset(position: &csv::Position) -> usize {
    usize::try_from(position.byte()).unwrap_or(0)
}

impl Before {
    /// What the user says, and a first line that tells spreadsheets the delimiter.
    fn said(text: &[u8], options: &RecordingOptions) -> Result<Self, RecordingError> {
        let ascii = |given: char, option| {
            u8::try_from(given).or_else(|_| unclear(format!("{option} {given}: give one ASCII character")))
        };
        let mut before = Self {
            comment: options.comment.map(|given| ascii(given, "--comment")).transpose()?,
            delimiter: options.delimiter.map(|given| ascii(given, "--delimiter")).transpose()?,
            ..Self::default()
        };
        let lines = options.header_line.map(|line| line.saturating_sub(1)).or(options.skip_lines);
        let mut skipped = usize::try_from(lines.unwrap_or(0)).unwrap_or(usize::MAX);
        if let (None, [b's', b'e', b'p', b'=', delimiter, b'\r' | b'\n', ..]) = (lines, text) {
            before.delimiter.get_or_insert(*delimiter);
            skipped = 1;
            before.notes.push("line 1 names the delimiter for spreadsheets".to_owned());
        }
        before.skip = after_lines(text, skipped);
        Ok(before)
    }

    fn sample(
        &self,
        source: &Source,
        text: &[u8],
        options: &RecordingOptions,
    ) -> Result<Sample, RecordingError> {
        let candidates = self.delimiter.map_or(DELIMITERS.to_vec(), |given| vec![given]);
        let samples = candidates.into_iter().map(|one| Sample::new(&text[self.skip..], one, self.comment));
        let mut best: Option<Sample> = None;
        for sample in samples {
            if best.as_ref().is_none_or(|best| sample.merit() > best.merit()) {
                best = Some(sample);
            }
        }
        match best {
            Some(best) if best.width > 1 || (best.width == 1 && options.delimiter.is_some()) => Ok(best),
            Some(best) if !best.records.is_empty() => {
                let blank = Sample::new(&text[self.skip..], b' ', self.comment);
                let is_blank = blank.width > 2 && blank.regular * 2 > blank.records.len();
                let choices = if is_blank { vec![["--delimiter", " "]] } else { Vec::new() };
                let hint = if is_blank { ": --delimiter ' ' gives equal rows" } else { "" };
                ask(
                    format!(
                        "{} has one cell a line with any of comma, semicolon, tab and bar between cells; say the delimiter with --delimiter{hint}",
                        source.given.display()
                    ),
                    choices,
                )
            }
            _ => empty(&source.given),
        }
    }

    /// Lines before the table that begin with #. The last of them is the header, if it fits the rows and no other line is.
    fn comments(
        &mut self,
        sample: &mut Sample,
        source: &Source,
        text: &[u8],
        options: &RecordingOptions,
    ) -> Result<(), RecordingError> {
        let hash = |line: &&[u8]| line.starts_with(b"#");
        let lines: Vec<&[u8]> = text[self.skip..].split(|byte| *byte == b'\n').take_while(hash).collect();
        if lines.is_empty() || self.comment.is_some() {
            return Ok(());
        }
        let mut below =
            Self { comment: Some(b'#'), delimiter: self.delimiter, skip: self.skip, ..Self::default() };
        *sample = below.sample(source, text, options)?;
        let last = lines[lines.len() - 1];
        let cells = Sample::new(last, sample.delimiter, None).records.first().map_or(0, StringRecord::len);
        if cells == sample.width && !sample.is_header(0, &CellRules::new(options)) {
            self.skip += after_lines(&text[self.skip..], lines.len() - 1) + 1;
            below.skip = self.skip;
            below.comment = None;
            *sample = below.sample(source, text, options)?;
        } else {
            self.comment = Some(b'#');
            self.notes.push("lines that begin with # are comments".to_owned());
        }
        if let Some(group) = lines.iter().find(|line| line.starts_with(b"#group,")) {
            let group = Sample::new(group, b',', None);
            let names = sample.records[0].iter().zip(group.records[0].iter());
            let is_key =
                |(name, group): &(&str, &str)| *group == "true" && !["_start", "_stop"].contains(name);
            self.group_key = names.filter(is_key).map(|(name, _)| name.to_owned()).collect();
        }
        Ok(())
    }

    /// Lines before the header that are no rows: titles of one cell, and the first line of Campbell's loggers.
    fn titles(&mut self, sample: &mut Sample) {
        let is_title = |record: &StringRecord| {
            let cells = record.iter().filter(|cell| !cell.trim().is_empty()).count();
            (cells < 2 && sample.width > 2) || ["TOA5", "TOACI1"].contains(&&record[0])
        };
        let titles = sample.records.iter().take_while(|record| is_title(record)).count();
        let Some(position) = sample.records.get(titles).and_then(StringRecord::position) else {
            return;
        };
        if titles > 0 {
            self.skip += offset(position);
            let words: Vec<_> = sample.records.drain(..titles).map(|record| record[0].to_owned()).collect();
            self.notes.push(format!("{} before the header is no row: left out", words.join(", ")));
        }
    }
}

impl Sample {
    fn new(text: &[u8], delimiter: u8, comment: Option<u8>) -> Self {
        let records: Vec<StringRecord> = builder(delimiter, comment)
            .from_reader(text)
            .into_byte_records()
            .take(SAMPLE_ROWS)
            .map_while(Result::ok)
            .map(StringRecord::from_byte_record_lossy)
            .collect();
        let below = if records.len() > 1 { 1 } else { 0 };
        let mut counts = std::collections::BTreeMap::new();
        for record in &records[below..] {
            *counts.entry(record.len()).or_insert(0_usize) += 1;
        }
        let (width, regular) = counts.into_iter().max_by_key(|&(_, count)| count).unwrap_or((0, 0));
        Self { delimiter, records, width, regular }
    }

    /// What makes one delimiter more likely than another: it splits at all, the header fits, rows are of one width, rows are wide.
    fn merit(&self) -> (bool, bool, usize, usize) {
        let header = self.records.first().map_or(0, StringRecord::len);
        let fits = header == self.width || header + 1 == self.width;
        let whole = self.records.len().max(1);
        (
            self.width > 1,
            fits,
            self.regular * 20 / whole, // within 5 %
            self.width,
        )
    }

    /// Whether a row names the columns: none of its cells is a time, and a text stands where the rows below have none, or it is all text.
    fn is_header(&self, row: usize, rules: &CellRules<'_>) -> bool {
        let looks = self.looks(row, rules);
        if looks.iter().any(|look| matches!(look, Look::Time(_))) {
            return false;
        }
        let all_text = looks.iter().all(|look| is_text(look) || matches!(look, Look::Absent));
        looks.iter().any(is_text) && (all_text || self.stands_out(row, &looks, rules))
    }

    /// Whether a row below the header has no value, though most rows below it have: units, or kinds of values.
    fn is_units(&self, row: usize, rules: &CellRules<'_>) -> bool {
        let looks = if row + 1 < self.records.len() { self.looks(row, rules) } else { Vec::new() };
        let is_word = |look: &Look| matches!(look, Look::Text | Look::Absent);
        looks.len() == self.width && looks.iter().all(is_word) && self.stands_out(row, &looks, rules)
    }

    fn looks(&self, row: usize, rules: &CellRules<'_>) -> Vec<Look> {
        self.records[row].iter().map(|cell| rules.look(cell.trim())).collect()
    }

    /// Whether a row has a text where most rows below it have none.
    fn stands_out(&self, row: usize, looks: &[Look], rules: &CellRules<'_>) -> bool {
        let shift = usize::from(looks.len() + 1 == self.width);
        let is_other_below = |column: usize| {
            let below = self.records[row + 1..]
                .iter()
                .filter(|record| record.len() == self.width)
                .map(|record| rules.look(record.get(column + shift).unwrap_or("").trim()))
                .filter(|look| !matches!(look, Look::Absent));
            let (text, other): (Vec<Look>, Vec<Look>) = below.partition(is_text);
            other.len() > text.len()
        };
        looks.iter().enumerate().any(|(column, look)| is_text(look) && is_other_below(column))
    }

    /// The columns' names, one a cell of the rows.
    fn names(
        &self,
        source: &Source,
        line_at: impl Fn(usize) -> usize,
        rules: &CellRules<'_>,
    ) -> Result<(Vec<String>, Option<&'static str>), RecordingError> {
        let mut names: Vec<String> = self.records[0].iter().map(|name| name.trim().to_owned()).collect();
        let mut quirk = None;
        while names.len() > self.width && names.last().is_some_and(String::is_empty) {
            names.pop();
            quirk = Some("empty names at the header's end are none");
        }
        // A header below lines of a logger's own.
        let is_better = |row: &usize| names.len() < self.width && self.is_units(*row, rules);
        let better = (1..self.records.len().min(LINES_BEFORE)).find(is_better);
        if names.len() + 1 == self.width && better.is_none() {
            let mut below = self.records[1..].iter().filter(|record| record.len() == self.width);
            if below.all(|record| record[self.width - 1].is_empty()) {
                names.push(String::new());
                quirk = Some("rows end with a delimiter: the last, empty column is none");
            } else {
                names.insert(0, String::new());
                quirk = Some(
                    "the header has one name fewer than the rows have cells: its names belong to columns 2 and on",
                );
            }
        }
        if names.len() == self.width {
            return Ok((names, quirk));
        }
        let fits = better.or_else(|| self.records.iter().position(|record| record.len() == self.width));
        let fits = fits.and_then(|row| self.records[row].position());
        let line = line_at(fits.map_or(0, offset));
        ask(
            format!(
                "{}: the header has {} names and most rows have {} cells; they may differ by one (a row number without a name). Correct the header, say --header-line {line} if line {line} names the columns, or say --header false if no line does",
                source.given.display(),
                names.len(),
                self.width
            ),
            [vec!["--header-line".to_owned(), line.to_string()], vec!["--header".into(), "false".into()]],
        )
    }
}

const fn is_text(look: &Look) -> bool {
    matches!(look, Look::Text | Look::Clock { .. })
}
