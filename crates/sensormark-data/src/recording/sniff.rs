//! What kind of CSV a file is: delimiter, header, width; found from its first rows.
//!
//! The header's quirks are settled here. A header may have one name fewer than the rows have cells. If rows end with a delimiter, it names all columns but the
//! last. Else it names the columns after the first, which is a row number without a name.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use csv::StringRecord;

use super::cell::{CellRules, Look};
use super::dialect::{Dialect, HeaderQuirk, builder};
use super::error::{RecordingError, empty, unclear};
use super::options::RecordingOptions;

/// How much of the file is looked at, in bytes.
const SAMPLE_BYTES: u64 = 1 << 18;
/// How many rows of it.
const SAMPLE_ROWS: usize = 1_000;
/// Delimiters that are looked for; of equals the first.
const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The rows of the sample as one delimiter splits them.
struct Sample {
    delimiter: u8,
    records: Vec<StringRecord>,
    /// The most common number of cells below the first row, and how many rows have it.
    width: usize,
    regular: usize,
}

/// Finds out what kind of CSV the file is.
pub(super) fn sniff(path: &Path, options: &RecordingOptions) -> Result<Dialect, RecordingError> {
    let raw = read_sample(path)?;
    let text = raw.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&raw);
    if raw.starts_with(b"\xff\xfe") || raw.starts_with(b"\xfe\xff") || text.contains(&0) {
        return unclear(format!(
            "{} is not UTF-8 text (it may be UTF-16, compressed or a spreadsheet); export it as CSV in UTF-8, or convert it with iconv",
            path.display()
        ));
    }
    let sample = best_sample(path, text, options)?;
    let rules = CellRules::new(&options.absent);
    let has_header = options.header.unwrap_or_else(|| sample.has_header(&rules));
    let (names, header_quirk) =
        if has_header { sample.names(path)? } else { (vec![String::new(); sample.width], None) };
    Ok(Dialect {
        delimiter: sample.delimiter,
        has_header,
        names,
        header_quirk,
        byte_order_mark: text.len() < raw.len(),
        carriage_returns: text.windows(2).any(|pair| pair == b"\r\n"),
        quotes: text.contains(&b'"'),
    })
}

/// The first rows, without one that is cut off.
fn read_sample(path: &Path) -> Result<Vec<u8>, RecordingError> {
    let open = |source| RecordingError::open(path, source);
    let file = File::open(path).map_err(open)?;
    let mut raw = Vec::new();
    file.take(SAMPLE_BYTES).read_to_end(&mut raw).map_err(open)?;
    if raw.len() as u64 == SAMPLE_BYTES {
        let whole = raw.iter().rposition(|&byte| byte == b'\n');
        raw.truncate(whole.map_or(raw.len(), |end| end + 1));
    }
    Ok(raw)
}

fn best_sample(path: &Path, text: &[u8], options: &RecordingOptions) -> Result<Sample, RecordingError> {
    let given = options
        .delimiter
        .map(|given| {
            u8::try_from(given).or_else(|_| {
                unclear(format!("{:?} cannot be a delimiter: give one ASCII character", given.to_string()))
            })
        })
        .transpose()?;
    let candidates = given.map_or(DELIMITERS.to_vec(), |given| vec![given]);
    let mut best: Option<Sample> = None;
    for delimiter in candidates {
        let sample = Sample::new(text, delimiter);
        if best.as_ref().is_none_or(|best| sample.merit() > best.merit()) {
            best = Some(sample);
        }
    }
    match best {
        Some(best) if best.width > 1 => Ok(best),
        Some(best) if !best.records.is_empty() => unclear(format!(
            "{} has one cell a line with any of comma, semicolon, tab and bar between cells; say the delimiter with --delimiter",
            path.display()
        )),
        _ => empty(path),
    }
}

impl Sample {
    fn new(text: &[u8], delimiter: u8) -> Self {
        let records: Vec<StringRecord> = builder(delimiter)
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

    /// Whether the first row names the columns: none of its cells is a time, and a text stands where the rows below have none, or it is all text.
    fn has_header(&self, rules: &CellRules<'_>) -> bool {
        let first = &self.records[0];
        let looks: Vec<Look> = first.iter().map(|cell| rules.look(cell.trim())).collect();
        if looks.iter().any(|look| matches!(look, Look::Time(_))) {
            return false;
        }
        let is_text = |look: &Look| matches!(look, Look::Text | Look::Clock { .. });
        let shift = usize::from(first.len() + 1 == self.width);
        let stands_out = |column: usize| {
            let below = self.records[1..]
                .iter()
                .filter(|record| record.len() == self.width)
                .map(|record| rules.look(record.get(column + shift).unwrap_or("").trim()))
                .filter(|look| !matches!(look, Look::Absent));
            let (text, other): (Vec<Look>, Vec<Look>) = below.partition(is_text);
            other.len() > text.len()
        };
        let all_text = looks.iter().all(|look| is_text(look) || matches!(look, Look::Absent));
        looks.iter().any(is_text)
            && (all_text
                || looks.iter().enumerate().any(|(column, look)| is_text(look) && stands_out(column)))
    }

    /// The columns' names, one a cell of the rows.
    fn names(&self, path: &Path) -> Result<(Vec<String>, Option<HeaderQuirk>), RecordingError> {
        let mut names: Vec<String> = self.records[0].iter().map(|name| name.trim().to_owned()).collect();
        let mut quirk = None;
        while names.len() > self.width && names.last().is_some_and(String::is_empty) {
            names.pop();
            quirk = Some(HeaderQuirk::EmptyNames);
        }
        if names.len() + 1 == self.width {
            let mut below = self.records[1..].iter().filter(|record| record.len() == self.width);
            if below.all(|record| record[self.width - 1].is_empty()) {
                names.push(String::new());
                quirk = Some(HeaderQuirk::LastEmpty);
            } else {
                names.insert(0, String::new());
                quirk = Some(HeaderQuirk::FirstUnnamed);
            }
        }
        if names.len() != self.width {
            return unclear(format!(
                "{}: the header has {} names and most rows have {} cells; they may differ by one (a row number without a name). Correct the header, or say --header false if line 1 is no header",
                path.display(),
                names.len(),
                self.width
            ));
        }
        Ok((names, quirk))
    }
}
