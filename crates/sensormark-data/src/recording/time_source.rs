//! The columns that make up the time: one, a date and a time of day, or numbers from the year down. How a row's time is put together from them.

use std::{borrow::Cow, ops::Range};

use csv::ByteRecord;
use itertools::Itertools;

use super::{cell::text, evidence::ColumnEvidence, fault::Fault, time::TimeFormat};

/// What stands between year, month, day, hour, minute and second.
const BETWEEN: [&str; 5] = ["-", "-", " ", ":", ":"];
/// The number of the hour among these.
const HOUR: usize = 3;

/// Whether a column holds dates and no time of day: all at midnight, or eight digits each.
pub fn is_of_dates(seen: &ColumnEvidence) -> bool {
    let are_digits = (seen.point.extremes())
        .is_some_and(|(smallest, largest)| smallest >= 10_000_101.0 && largest < 100_000_000.0);
    let is_all_midnight = seen.midnights == seen.times;
    seen.is_mostly(seen.times) && is_all_midnight || seen.is_mostly(seen.point.integers) && are_digits
}

/// Where the time of a row is.
pub struct TimeSource {
    /// The columns, the date or the year first.
    pub columns: Vec<usize>,
    /// Which part of a time the first of them has.
    pub first: usize,
    /// How the time is written.
    pub format: TimeFormat,
    /// The times that are taken, in ns, where nobody said what the numbers are.
    pub plausible: Option<Range<i64>>,
    /// Why these columns and this format, in words.
    pub reason: String,
    /// What was taken for granted.
    pub notes: Vec<String>,
    /// Whether it is a column of dates that nobody named.
    pub is_bare_date: bool,
}

impl TimeSource {
    /// Columns of which the first has the part of a time with this number: 0 for the year, 2 for a whole date.
    pub fn new(columns: Vec<usize>, first: usize, format: TimeFormat) -> Self {
        let reason = "no other column can be the time".to_owned();
        Self { columns, first, format, plausible: None, reason, notes: Vec::new(), is_bare_date: false }
    }

    /// Several columns that the user named, if they make up a time. The dates' format is asked for with their column.
    pub fn several<E>(
        columns: &[usize],
        seen: &[ColumnEvidence],
        format: impl Fn(usize) -> Result<TimeFormat, E>,
    ) -> Result<Option<Self>, E> {
        let is_number = |column: &usize| {
            let seen = &seen[*column];
            seen.is_mostly(seen.point.integers + seen.leading_zeros)
        };
        if let Ok(format @ TimeFormat::Pattern(_)) = format(columns[0]) {
            return Ok(Some(Self::new(columns.to_vec(), 0, format)));
        }
        let (dates, rest): (Vec<usize>, Vec<usize>) =
            columns.iter().partition(|column| is_of_dates(&seen[**column]));
        let are_numbers = rest.iter().all(is_number);
        Ok(Some(match (&dates[..], &rest[..]) {
            (&[date], &[clock]) if seen[clock].is_mostly(seen[clock].clocks) => {
                Self::new(vec![date, clock], 2, format(date)?)
            }
            (&[date], _) if are_numbers && (1..4).contains(&rest.len()) => {
                Self::new([&[date][..], &rest[..]].concat(), 2, format(date)?)
            }
            ([], _) if are_numbers && (3..=6).contains(&rest.len()) => {
                Self::new(columns.to_vec(), 0, TimeFormat::YearMonthDay)
            }
            _ => return Ok(None),
        }))
    }

    /// The time of a row as one text.
    pub fn text<'r>(&self, record: &'r ByteRecord) -> Result<Cow<'r, str>, Fault> {
        if let [column] = self.columns[..] {
            return text(record, column).map(Cow::Borrowed);
        }
        let mut joined = String::new();
        let is_pattern = matches!(self.format, TimeFormat::Pattern(_));
        for (place, &column) in self.columns.iter().enumerate() {
            let part = text(record, column)?;
            // A date may carry a midnight of its own.
            let clock = part.find(':').and_then(|colon| part[..colon].rfind([' ', 'T']));
            match clock.filter(|_| place == 0 && !is_pattern) {
                Some(end) => joined += &part[..end],
                None => joined += part,
            }
            let number = self.first + place;
            let is_last = place + 1 == self.columns.len();
            if !is_last {
                joined += if is_pattern { " " } else { BETWEEN[number] };
            } else if !is_pattern && number == HOUR && part.bytes().all(|byte| byte.is_ascii_digit()) {
                joined += ":00";
            }
        }
        Ok(joined.into())
    }

    /// The columns' names, as `--time` takes them.
    pub fn label(&self, labels: &[String]) -> String {
        self.columns.iter().map(|&column| &labels[column]).join(",")
    }
}
