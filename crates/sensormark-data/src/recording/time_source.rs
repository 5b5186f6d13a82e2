//! The columns that make up the time: one, a date and a time of day, or numbers from the year down. How a row's time is put together from them.

use super::*;
use std::borrow::Cow;

/// What stands before year, month, day, hour, minute, second and millisecond.
const BEFORE: [&str; 7] = ["", "-", "-", " ", ":", ":", "."];

/// Whether a column holds dates and no time of day: all at midnight, or eight digits each.
pub fn is_of_dates(seen: &ColumnEvidence) -> bool {
    let are_digits = |(smallest, largest)| smallest >= 10_000_101.0 && largest < 100_000_000.0;
    seen.is_mostly(seen.times) && seen.midnights == seen.times
        || seen.is_mostly(seen.point.integers) && seen.point.extremes().is_some_and(are_digits)
}

/// Whether every cell of a column is AM or PM, or a zone.
pub fn is_of_tails(seen: &ColumnEvidence) -> bool {
    let cells = &seen.distinct;
    (1..DISTINCT).contains(&cells.len())
        && seen.texts == seen.present()
        && cells.iter().all(|cell| read_tail(cell).is_some())
}

/// These columns as the time.
pub fn time_of(
    columns: &[&ColumnEvidence],
    layout: Vec<(&'static str, usize)>,
    format: TimeFormat,
) -> TimeSource {
    let label = columns.iter().map(|column| &column.label).join(",");
    let mut notes = Vec::new();
    if columns.len() > 1 {
        notes.push(format!("columns {label} together are the time, --time {label}"));
    }
    if columns[0].short_years > 0 {
        notes.push(format!("years of two digits in column {} are 1969 to 2068", columns[0].label));
    }
    TimeSource {
        columns: columns.iter().map(|column| column.number).collect(),
        layout,
        label,
        format,
        plausible: None,
        reason: "no other column can be the time".to_owned(),
        notes,
        is_bare_date: false,
        has_date: false,
    }
}

impl TimeSource {
    /// The time of a row as one text.
    pub fn text<'r>(&self, record: &'r ByteRecord) -> Result<Cow<'r, str>, Fault> {
        if let [column] = self.columns[..] {
            return text(record, column).map(Cow::Borrowed);
        }
        let mut joined = String::new();
        for (place, (column, (before, digits))) in self.columns.iter().zip(&self.layout).enumerate() {
            let mut part = text(record, *column)?;
            if let Some(end) = part
                .find(':')
                .and_then(|colon| part[..colon].rfind([' ', 'T']))
                .filter(|_| place == 0 && self.has_date)
            {
                part = &part[..end];
            }
            joined += if place > 0 { before } else { "" };
            joined += &format!("{part:0>digits$}");
        }
        Ok(joined.into())
    }
}

impl Search<'_> {
    /// Several columns that make up a time. The format is asked for with the column of dates or times.
    pub fn joined(&self, columns: &[&ColumnEvidence]) -> Result<TimeSource> {
        if let Ok(format @ Pattern(_)) = self.format(columns[0]) {
            let mut parts = format.name().split(' ');
            let layout = columns.iter().map(|column| {
                let is_number = column.is_mostly(column.point.integers + column.leading_zeros);
                // 930 is 0930 by %H%M.
                (" ", parts.next().filter(|_| is_number).map_or(0, |part| written(part).len()))
            });
            return Ok(time_of(columns, layout.collect(), format));
        }
        let (heads, rest): (Vec<_>, Vec<_>) =
            columns.iter().copied().partition(|column| is_of_dates(column) || column.is_mostly(column.times));
        // The number of the next part: month is 1.
        let (mut layout, mut next, format, has_date) = match heads[..] {
            [head] => {
                let has_date = is_of_dates(head);
                (vec![("", 0)], if has_date { 3 } else { 6 }, self.format(head)?, has_date)
            }
            _ => (Vec::new(), 0, YearMonthDay, false),
        };
        for column in &rest {
            let most = column.point.extremes().map_or(0.0, |(_, most)| most);
            let (before, digits, parts) = if next > 3 && is_of_tails(column) {
                (" ", 0, BEFORE.len())
            } else if next == 3 && column.is_mostly(column.clocks) {
                (" ", 0, 1 + column.example.matches([':', '.']).count().min(2))
            } else if (next < 6 || next == 6 && most < 1000.0)
                && column.is_mostly(column.point.values() + column.leading_zeros)
            {
                // 930 is 09:30, and 93000 is 09:30:00.
                let pairs = if next == 3 { 1 + (most > 24.0) as usize + (most > 2400.0) as usize } else { 1 };
                (BEFORE[next], if next == 6 { 3 } else { 2 * pairs }, pairs)
            } else {
                break;
            };
            layout.push((before, digits));
            next += parts;
        }
        if next < 3 || layout.len() < columns.len() {
            let names = columns.iter().map(|column| &column.label).join(",");
            return unclear!(
                "--time {names}: these columns make up no time. Name a date and a time of day or an hour, or numbers from the year on, or a pattern with blanks between them: --time-format '%d/%m/%Y %H%M'"
            );
        }
        let source = time_of(&[heads, rest].concat(), layout, format);
        Ok(TimeSource { has_date, is_bare_date: next == 3, ..source })
    }
}
