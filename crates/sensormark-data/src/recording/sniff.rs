//! What kind of CSV a file is: what stands around the table, delimiter, header, width; found from its first rows.
//!
//! The header's quirks are settled here. A header may have one name fewer than the rows have cells. If rows end with a delimiter, it names all columns but the
//! last. Else it names the columns after the first, which is a row number without a name.

use super::*;
use encoding_rs::WINDOWS_1252;

/// How much of the file is looked at, in bytes.
const SAMPLE_BYTES: u64 = 1 << 18;

/// What is known of the file so far.
struct Sniffer {
    source: Source,
    options: RecordingOptions,
    rules: CellRules,
    /// The first rows.
    text: Vec<u8>,
    /// Bytes before the table.
    skip: usize,
    comment: Option<u8>,
    delimiter: Option<u8>,
    notes: Vec<String>,
}

/// The rows of the sample as one delimiter splits them.
struct Sample {
    delimiter: u8,
    records: Vec<StringRecord>,
    /// The most common number of cells below the first row, and how many rows have it.
    width: usize,
    regular: usize,
}

/// Finds out what kind of CSV the file is.
pub fn sniff(source: Source, options: &RecordingOptions) -> Result<Dialect> {
    let mut sniffer = Sniffer::new(source, options)?;
    sniffer.check_text()?;
    let mut sample = sniffer.below_comments()?;
    if options.header_line.or(options.skip_lines).is_none() {
        sniffer.titles(&mut sample);
    }
    let has_header =
        options.header.unwrap_or_else(|| options.header_line.is_some() || sniffer.is_header(&sample));
    let names = if has_header {
        sniffer.names(&sample)?
    } else {
        sniffer.notes.push(format!(
            "line 1 is a reading, not a header; columns are called column_1 to column_{}",
            sample.width
        ));
        vec![String::new(); sample.width]
    };
    let units_rows = (1..=2).take_while(|&row| has_header && sniffer.is_units(&sample, row)).count();
    for record in &sample.records[..=units_rows][1..] {
        let units = record.iter().join(" ");
        sniffer.notes.push(format!("{units:?} below the header is no reading: left out"));
    }
    let Sniffer { source, skip, comment, notes, options, .. } = sniffer;
    let (skip, delimiter) = (skip as u64, sample.delimiter);
    Ok(Dialect { source, skip, comment, delimiter, has_header, units_rows, names, notes, options })
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// Where the line after so many begins.
fn after_lines(text: &[u8], count: usize) -> usize {
    lines(text).take(count).map(<[u8]>::len).sum()
}

/// Where a record begins, in bytes.
fn offset(record: &StringRecord) -> usize {
    record.position().and_then(|position| usize::try_from(position.byte()).ok()).unwrap_or(0)
}

impl Sniffer {
    /// What the user says, and a first line that tells spreadsheets the delimiter.
    fn new(source: Source, options: &RecordingOptions) -> Result<Self> {
        let mut text = Vec::new();
        source.reader()?.take(SAMPLE_BYTES).read_to_end(&mut text)?;
        if text.len() as u64 == SAMPLE_BYTES {
            // The last row is cut off.
            let end = text.iter().rposition(|&byte| byte == b'\n');
            text.truncate(end.map_or(text.len(), |end| end + 1));
        }
        let ascii = |given: char, option| {
            u8::try_from(given).or_else(|_| unclear!("{option} {given}: give one ASCII character"))
        };
        let mut delimiter = options.delimiter.map(|given| ascii(given, "--delimiter")).transpose()?;
        let comment = options.comment.map(|given| ascii(given, "--comment")).transpose()?;
        let lines = options.header_line.map(|line| line.saturating_sub(1)).or(options.skip_lines);
        let mut skipped = lines.unwrap_or(0);
        let mut notes = source.notes.clone();
        if let (None, Some([given, b'\r' | b'\n', ..])) = (lines, text.strip_prefix(b"sep=")) {
            delimiter.get_or_insert(*given);
            skipped = 1;
            notes.push("line 1 names the delimiter for spreadsheets".to_owned());
        }
        let skip = after_lines(&text, skipped);
        Ok(Self {
            source,
            options: options.clone(),
            rules: CellRules::new(options),
            text,
            skip,
            comment,
            delimiter,
            notes,
        })
    }

    /// Stops at what is no text, or mostly not UTF-8. Single rows that are not UTF-8, or hold NUL bytes, are bad rows later.
    fn check_text(&self) -> Result<()> {
        let (given, lines) = (&self.source, || lines(&self.text));
        if lines().next().is_some_and(|line| line.contains(&0)) {
            let order = if self.text[0] == 0 { "be" } else { "le" };
            return unclear!(
                "{given} is not UTF-8 text; if it is UTF-16 without a mark, say ⟦--encoding‖utf-16{order}⟧"
            );
        }
        let wrong: Vec<_> = lines().enumerate().filter(|(_, line)| str::from_utf8(line).is_err()).collect();
        match wrong[..] {
            [(line, bytes), ..] if line == 0 || wrong.len() * 2 > lines().count() => unclear!(
                "{given} is not UTF-8. Line {} is {:?} as Windows-1252: if that is right, say ⟦--encoding‖windows-1252⟧, else name another encoding",
                line + 1,
                WINDOWS_1252.decode(bytes).0.trim()
            ),
            _ => Ok(()),
        }
    }

    fn sample(&self) -> Result<Sample> {
        let split = |delimiter| Sample::new(&self.text[self.skip..], delimiter, self.comment);
        // Of equals the last counts.
        let best = self
            .delimiter
            .map_or(b",|;\t".to_vec(), |given| vec![given])
            .into_iter()
            .map(split)
            .max_by_key(Sample::merit);
        let Some(best) = best.filter(|best| !best.records.is_empty()) else {
            return empty(&self.source);
        };
        if best.width > 1 || self.options.delimiter.is_some() {
            return Ok(best);
        }
        let blank = split(b' ');
        let is_blank = blank.width > 2 && blank.regular * 2 > blank.records.len();
        let hint = if is_blank { ": ⟦--delimiter‖ ⟧ gives equal rows" } else { "" };
        unclear!(
            "{} has one cell a line with any of comma, semicolon, tab and bar between cells; say the delimiter with --delimiter{hint}",
            self.source
        )
    }

    /// The table below lines that begin with a mark of comments. The last of them is the header, if it fits the rows and no other line is.
    fn below_comments(&mut self) -> Result<Sample> {
        let table = self.text[self.skip..].to_vec();
        let mark = "# % ! * //".split(' ').find(|mark| table.starts_with(mark.as_bytes()));
        let Some(mark) = mark.filter(|_| self.comment.is_none()) else {
            return self.sample();
        };
        let hashes = lines(&table).take_while(|line| line.starts_with(mark.as_bytes())).collect_vec();
        let last = hashes.len() - 1;
        self.comment = mark.bytes().next();
        let sample = self.sample()?;
        if Sample::new(hashes[last], sample.delimiter, None)
            .records
            .iter()
            .any(|row| row.len() == sample.width)
            && !self.is_header(&sample)
        {
            self.skip += after_lines(&table, last) + mark.len();
            self.comment = None;
            return self.sample();
        }
        self.notes.push(format!("lines that begin with {mark} are comments"));
        if let Some(group) = hashes.iter().find(|line| line.starts_with(b"#group,"))
            && self.options.time.is_none()
            && self.options.tags.is_empty()
        {
            let group = Sample::new(group, b',', None);
            for (name, group) in sample.records[0].iter().zip(&group.records[0]) {
                let name = name.to_owned();
                match name.as_str() {
                    "_time" => self.options.time = Some(name),
                    "result" | "table" | "_start" | "_stop" => self.options.leave_out.push(name),
                    _ if group == "true" => self.options.tags.push(name),
                    _ => {}
                }
            }
        }
        Ok(sample)
    }

    /// Lines before the header that are no rows: titles of one cell, and the first line of Campbell's loggers.
    fn titles(&mut self, sample: &mut Sample) {
        let names_time = |row: usize| sample.records[row].iter().any(is_named_time);
        let is_title = |&row: &usize| {
            let record = &sample.records[row];
            let cells = record.iter().filter(|cell| !cell.trim().is_empty()).count();
            (cells < 2 && sample.width > 2)
                || record[0] == *"TOA5"
                || !names_time(row)
                    && !record.iter().any(is_named_clock)
                    && (row + 1..).take_while(|&below| self.is_units(sample, below)).any(names_time)
        };
        let titles = (0..sample.records.len()).take_while(is_title).count();
        if titles > 0
            && let Some(header) = sample.records.get(titles)
        {
            self.skip += offset(header);
            let words = sample.records.drain(..titles).map(|record| record[0].to_owned()).join(", ");
            self.notes.push(format!("{words} before the header is no row: left out"));
        }
    }

    /// Whether the first row names the columns: none of its cells is a time, and a text stands where the rows below have none, or it is all text.
    fn is_header(&self, sample: &Sample) -> bool {
        let looks = self.looks(sample, 0);
        !looks.iter().any(|look| matches!(look, Moment(_)))
            && looks.iter().any(is_text)
            && (looks.iter().all(|look| is_text(look) || *look == Absent)
                || self.stands_out(sample, 0, &looks))
    }

    /// Whether a row below the header has no value, though most rows below it have: units, or kinds of values.
    fn is_units(&self, sample: &Sample, row: usize) -> bool {
        let looks = self.looks(sample, row);
        looks.len() == sample.width
            && looks.iter().all(|look| matches!(look, Words | Absent))
            && self.stands_out(sample, row, &looks)
    }

    /// What the cells of a row look like; of no row, none.
    fn looks(&self, sample: &Sample, row: usize) -> Vec<Look> {
        sample.records.get(row).into_iter().flatten().map(|cell| self.rules.look(cell.trim())).collect()
    }

    /// Whether a row has a text where most rows below it have none.
    fn stands_out(&self, sample: &Sample, row: usize, looks: &[Look]) -> bool {
        let shift = (looks.len() + 1 == sample.width) as usize;
        looks.iter().positions(is_text).any(|column| {
            sample
                .regular_records(row + 1)
                .map(|record| match self.rules.look(record.get(column + shift).unwrap_or("").trim()) {
                    Absent => 0,
                    look if is_text(&look) => -1,
                    _ => 1,
                })
                .sum::<i32>()
                > 0
        })
    }

    /// The columns' names, one a cell of the rows.
    fn names(&mut self, sample: &Sample) -> Result<Vec<String>> {
        let width = sample.width;
        let mut names: Vec<String> = sample.records[0].iter().map(|name| name.trim().to_owned()).collect();
        if names.len() > width && names[width..].iter().all(String::is_empty) {
            names.truncate(width);
            self.notes.push("empty names at the header's end are none".to_owned());
        }
        // A header below lines of a logger's own.
        let better = (1..50).find(|&row| names.len() < width && self.is_units(sample, row));
        if names.len() + 1 == width && better.is_none() {
            if sample.regular_records(1).all(|record| record[width - 1].is_empty()) {
                names.push(String::new());
                self.notes.push("rows end with a delimiter: the last, empty column is none".to_owned());
            } else if !is_named_time(&names[0])
                || !sample
                    .regular_records(1)
                    .any(|record| matches!(self.rules.look(record[0].trim()), Moment(_)))
            {
                names.insert(0, String::new());
                self.notes.push(
                    "the header has one name fewer than the rows have cells: its names belong to columns 2 and on".to_owned(),
                );
            }
        }
        if names.len() == width {
            return Ok(names);
        }
        let mut line = better.map(|row| (self.skip + offset(&sample.records[row])) as u64);
        self.source.count_lines(line.iter_mut())?;
        unclear!(
            "{}: the header has {} names and most rows have {width} cells; say {}⟦--header‖false⟧ if no line names them, or put cells with the delimiter in quotes",
            self.source,
            names.len(),
            line.map_or_else(String::new, |line| format!(
                "⟦--header-line‖{line}⟧ if line {line} names the columns, or "
            ))
        )
    }
}

impl Sample {
    fn new(text: &[u8], delimiter: u8, comment: Option<u8>) -> Self {
        let records: Vec<StringRecord> = builder(delimiter, comment)
            .from_reader(text)
            .into_byte_records()
            .take(1_000)
            .map_while(Result::ok)
            .map(|record| StringRecord::from_byte_record_lossy(squeezed(record, delimiter)))
            .collect();
        let below = &records[usize::from(records.len() > 1)..];
        let (width, regular) = below
            .iter()
            .map(StringRecord::len)
            .counts()
            .into_iter()
            .max_by_key(|&(width, count)| (count, width))
            .unwrap_or_default();
        Self { delimiter, records, width, regular }
    }

    /// What makes one delimiter more likely than another: it splits at all, the header fits, rows are of one width, rows are wide.
    fn merit(&self) -> (bool, bool, usize, usize) {
        let header = self.records.first().map_or(0, StringRecord::len);
        let fits = header == self.width || header + 1 == self.width;
        // within 5 %
        (self.width > 1, fits, self.regular * 20 / self.records.len().max(1), self.width)
    }

    /// Records of the most common width, from a row on.
    fn regular_records(&self, row: usize) -> impl Iterator<Item = &StringRecord> {
        self.records[row..].iter().filter(|record| record.len() == self.width)
    }
}

fn is_text(look: &Look) -> bool {
    matches!(look, Words | Daytime(_))
}
