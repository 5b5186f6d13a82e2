//! Which columns are the time, and in which format: what the user named, or the only columns that can be it.
//!
//! A column of dates without a time of day gives way to a finer column that agrees with it row by row. Else it is put together with a column of
//! times of day. Where several columns can be the time and do not agree, reading stops and names each.

use std::path::Path;

use super::cell::text;
use super::dialect::Dialect;
use super::error::RecordingError;
use super::evidence::{ColumnEvidence, Evidence};
use super::names::name_of;
use super::options::RecordingOptions;
use super::rows;
use super::time::{Meaning, TimeFormat, meanings, plausible_years};
use super::time_source::{TimeSource, is_of_dates};

/// Words of names of columns that hold times.
const TIME_WORDS: [&str; 7] = ["time", "date", "stamp", "epoch", "unix", "ts", "when"];
/// Words that say that numbers are Unix times.
const UNIX_WORDS: [&str; 3] = ["unix", "epoch", "posix"];
/// Words that make up the names of columns of times of day.
const CLOCK_WORDS: [&str; 16] = [
    "time", "of", "day", "utc", "gmt", "local", "hour", "clock", "hh", "mm", "ss", "zeit", "uhrzeit", "hora",
    "heure", "ora",
];
/// A date agrees with a time from a day before it begins to a day after it ends: it may be of another zone.
const DAY_NS: i64 = 86_400_000_000_000;

/// Everything that the time is found by.
pub(super) struct Search<'s> {
    pub path: &'s Path,
    pub dialect: &'s Dialect,
    pub seen: &'s [ColumnEvidence],
    pub labels: &'s [String],
    pub options: &'s RecordingOptions,
    /// Columns that the user made something else.
    pub taken: Vec<usize>,
}

/// The time, and what was taken for granted.
pub(super) struct Found {
    pub source: TimeSource,
    pub assumptions: Vec<String>,
    /// Whether it is a column of dates that nobody named.
    pub is_bare_date: bool,
}

impl<'s> Search<'s> {
    pub(super) fn new(
        path: &'s Path,
        dialect: &'s Dialect,
        evidence: &'s Evidence,
        labels: &'s [String],
        options: &'s RecordingOptions,
    ) -> Self {
        Self { path, dialect, seen: &evidence.columns, labels, options, taken: Vec::new() }
    }

    /// The columns that the user named.
    pub(super) fn named(&self, columns: &[usize]) -> Result<Found, RecordingError> {
        let mut assumptions = Vec::new();
        let source = match *columns {
            [column] => {
                let clocks = self.clocks();
                if is_of_dates(&self.seen[column]) && !clocks.is_empty() {
                    return Err(self.in_two_columns(column, &clocks));
                }
                TimeSource::one(column, self.format(column, &mut assumptions)?)
            }
            _ => TimeSource::several(columns, self.seen, self.labels, |date| {
                self.format(date, &mut assumptions)
            })?,
        };
        Ok(Found { source, assumptions, is_bare_date: false })
    }

    /// The columns that can be the time, where the user named none.
    pub(super) fn alone(&self) -> Result<Found, RecordingError> {
        let (dates, fine): (Vec<usize>, Vec<usize>) = (0..self.seen.len())
            .filter(|&column| self.is_candidate(column))
            .partition(|&column| is_of_dates(&self.seen[column]));
        match (&fine[..], &dates[..]) {
            ([], []) => Err(RecordingError::NoTime {
                path: self.path.to_owned(),
                columns: self.shown(),
                hints: self.hints(),
            }),
            ([], &[date]) => self.date(date),
            ([], _) => Err(self.choose(&dates)),
            (&[first, ..], _) => self.fine(first, &fine[1..], &dates),
        }
    }

    /// A column of dates, alone or with the times of day beside it.
    fn date(&self, date: usize) -> Result<Found, RecordingError> {
        let clocks = self.clocks();
        let mut assumptions = Vec::new();
        let label = |column: usize| &self.labels[column];
        let source = match clocks[..] {
            [] => TimeSource::one(date, self.format(date, &mut assumptions)?),
            [clock] if self.is_clock_of(clock, date) => {
                assumptions.push(format!(
                    "columns {} and {} together are the time, --time {},{}",
                    label(date),
                    label(clock),
                    label(date),
                    label(clock)
                ));
                TimeSource::pair(date, clock, self.format(date, &mut assumptions)?)
            }
            _ => return Err(self.in_two_columns(date, &clocks)),
        };
        Ok(Found { is_bare_date: source.columns.len() == 1, source, assumptions })
    }

    /// A column that is finer than a date. All other columns that can be the time have to agree with it.
    fn fine(&self, first: usize, others: &[usize], dates: &[usize]) -> Result<Found, RecordingError> {
        let all = || [&[first][..], others, dates].concat();
        let mut assumptions = Vec::new();
        // A date in the same row decides between Unix and GPS seconds.
        let compared = |column: usize, assumptions: &mut Vec<String>| match self.format(column, assumptions) {
            Err(RecordingError::NumbersOfTime { .. }) if others.len() + dates.len() > 0 => {
                Ok(TimeFormat::UnixSeconds)
            }
            format => format,
        };
        let source = TimeSource::one(first, compared(first, &mut assumptions)?);
        for &other in others {
            let format = compared(other, &mut Vec::new())?;
            if !self.agree(&source, &TimeSource::one(other, format), 0)? {
                return Err(self.choose(&all()));
            }
        }
        for &date in dates {
            if !self.agrees_with_date(&source, date)? {
                return Err(self.choose(&all()));
            }
        }
        if others.len() + dates.len() > 0 {
            let others: Vec<&str> =
                others.iter().chain(dates).map(|&column| self.labels[column].as_str()).collect();
            assumptions.push(format!(
                "column {} is the time; {} agrees with it in every row, and --time takes another",
                self.labels[first],
                others.join(", ")
            ));
        }
        Ok(Found { source, assumptions, is_bare_date: false })
    }

    /// Whether a column is mostly dates, or numbers whose name and size, or whose format, say that they are times.
    fn is_candidate(&self, column: usize) -> bool {
        let seen = &self.seen[column];
        if self.taken.contains(&column) || seen.present() == 0 {
            return false;
        }
        let format = self.options.time_format;
        if seen.is_mostly(seen.times) {
            return format.is_none_or(|format| !format.is_count());
        }
        let is_number = seen.is_mostly(seen.point.values()) && self.has_word(column, &TIME_WORDS);
        let can_be = |format: TimeFormat| is_unix(format) || format == TimeFormat::YearMonthDay;
        is_number
            && match format {
                Some(format) => format.is_count(),
                None => (self.meanings(column).iter()).any(|meaning| meaning.format.is_some_and(can_be)),
            }
    }

    /// Columns of times of day.
    fn clocks(&self) -> Vec<usize> {
        let is_clock = |column: &usize| {
            let seen = &self.seen[*column];
            !self.taken.contains(column) && seen.present() > 0 && seen.is_mostly(seen.clocks)
        };
        (0..self.seen.len()).filter(is_clock).collect()
    }

    /// Whether a column of times of day belongs to the dates: its name says no more than that, or nothing has a name and they stand side by side.
    fn is_clock_of(&self, clock: usize, date: usize) -> bool {
        if !self.dialect.has_header {
            return clock.abs_diff(date) == 1;
        }
        let name = name_of(&self.labels[clock]);
        name.split('_').all(|word| CLOCK_WORDS.contains(&word))
    }

    /// What the numbers of a column can be. A name decides between Unix and GPS times.
    fn meanings(&self, column: usize) -> Vec<Meaning> {
        let Some((smallest, largest)) = self.seen[column].point.extremes else {
            return Vec::new();
        };
        let mut found = meanings(smallest, largest);
        let is_gps = |meaning: &Meaning| meaning.format == Some(TimeFormat::Gps);
        if self.has_word(column, &["gps"]) {
            found.retain(|meaning| !meaning.format.is_some_and(is_unix));
        } else if self.has_word(column, &UNIX_WORDS) {
            found.retain(|meaning| !is_gps(meaning));
        }
        found
    }

    /// Whether one of the words of a column's name is one of these, or has a longer one of them in it.
    fn has_word(&self, column: usize, words: &[&str]) -> bool {
        let name = name_of(&self.labels[column]);
        name.split('_').any(|word| {
            words.iter().any(|wanted| word == *wanted || (wanted.len() > 3 && word.contains(wanted)))
        })
    }

    /// The format in which a column's times are written.
    fn format(&self, column: usize, assumptions: &mut Vec<String>) -> Result<TimeFormat, RecordingError> {
        let (seen, label) = (&self.seen[column], &self.labels[column]);
        if let Some(format) = self.options.time_format {
            return Ok(format);
        }
        if seen.point.values() > 0 && seen.is_mostly(seen.point.values()) {
            return self.format_of_numbers(column, assumptions);
        }
        if seen.present() == 0 || !seen.is_mostly(seen.times) {
            return Err(RecordingError::NotATime { column: label.clone(), example: seen.example.clone() });
        }
        if seen.year_first * 2 > seen.times {
            return Ok(TimeFormat::YearMonthDay);
        }
        match (&seen.day_first, &seen.month_first) {
            (Some(_), None) => Ok(TimeFormat::DayMonthYear),
            (None, Some(_)) => Ok(TimeFormat::MonthDayYear),
            (None, None) => {
                Err(RecordingError::AmbiguousTime { column: label.clone(), example: seen.example.clone() })
            }
            (Some(day_first), Some(month_first)) => Err(RecordingError::MixedTime {
                column: label.clone(),
                day_first: day_first.clone(),
                month_first: month_first.clone(),
            }),
        }
    }

    /// What numbers count. They are taken for times where they can be one thing alone, and that is usual.
    fn format_of_numbers(
        &self,
        column: usize,
        assumptions: &mut Vec<String>,
    ) -> Result<TimeFormat, RecordingError> {
        let (label, found) = (&self.labels[column], self.meanings(column));
        if let [meaning] = found[..]
            && let Some(format) = meaning.format
            && (is_unix(format) || format == TimeFormat::YearMonthDay)
        {
            let (from, to) = plausible_years();
            assumptions.push(format!(
                "numbers in column {label} are {format}, as nothing else gives years from {from} to {to}"
            ));
            return Ok(format);
        }
        Err(RecordingError::NumbersOfTime {
            column: label.clone(),
            example: self.seen[column].example.clone(),
            meanings: found.iter().map(described).collect(),
            years: plausible_years(),
        })
    }

    /// Whether two sources give times in every row that are no further apart than this.
    fn agree(&self, one: &TimeSource, other: &TimeSource, apart_ns: i64) -> Result<bool, RecordingError> {
        let (mut compared, mut agree) = (0_u64, true);
        rows::for_each(self.path, self.dialect, |row| {
            if row.record.len() != self.labels.len() {
                return Ok(());
            }
            let time = |source: &TimeSource| {
                let text = text(row.record, source.columns[0]).ok()?;
                source.format.read(text).ok().map(|instant| instant.time_ns)
            };
            if let (Some(one), Some(other)) = (time(one), time(other)) {
                compared += 1;
                agree &= one.abs_diff(other) <= apart_ns.unsigned_abs();
            }
            Ok(())
        })?;
        Ok(agree && compared > 0)
    }

    /// Whether every time lies within its row's date, give or take a day.
    fn agrees_with_date(&self, source: &TimeSource, date: usize) -> Result<bool, RecordingError> {
        let formats = match self.format(date, &mut Vec::new()) {
            Ok(format) => vec![format],
            Err(RecordingError::AmbiguousTime { .. }) => {
                vec![TimeFormat::DayMonthYear, TimeFormat::MonthDayYear]
            }
            Err(error) => return Err(error),
        };
        for format in formats {
            if self.agree(source, &TimeSource::one(date, format), 2 * DAY_NS)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn in_two_columns(&self, date: usize, clocks: &[usize]) -> RecordingError {
        RecordingError::DateAndClock {
            date: self.labels[date].clone(),
            clocks: clocks.iter().map(|&clock| self.labels[clock].clone()).collect(),
        }
    }

    fn choose(&self, columns: &[usize]) -> RecordingError {
        let shown = |&column: &usize| {
            let (label, example) = (&self.labels[column], &self.seen[column].example);
            format!("--time {label} ({example:?})")
        };
        RecordingError::SeveralTimes {
            path: self.path.to_owned(),
            columns: columns.iter().map(shown).collect(),
        }
    }

    /// All columns, each with an example.
    fn shown(&self) -> Vec<String> {
        (self.labels.iter().zip(self.seen))
            .map(|(label, seen)| format!("{label} ({:?})", seen.example))
            .collect()
    }

    /// What could be the time all the same, with the option that makes it so.
    fn hints(&self) -> Vec<String> {
        let mut hints = Vec::new();
        let named = |word: &str| self.labels.iter().position(|label| name_of(label) == word);
        let parts: Vec<&str> = ["year", "month", "day", "hour", "minute", "second"]
            .into_iter()
            .map_while(|word| named(word).map(|column| self.labels[column].as_str()))
            .collect();
        if parts.len() > 2 {
            hints.push(format!("The time seems to be in several columns: say --time {}.", parts.join(",")));
        }
        for clock in self.clocks() {
            hints.push(format!("Column {} has times of day without a date.", self.labels[clock]));
        }
        for (column, label) in self.labels.iter().enumerate() {
            let found = self.meanings(column);
            if !found.is_empty() {
                let found: Vec<String> = found.iter().map(described).collect();
                hints.push(format!(
                    "Numbers in column {label} can be {}. Then say --time {label} too.",
                    found.join(", or ")
                ));
            }
        }
        hints
    }
}

const fn is_unix(format: TimeFormat) -> bool {
    matches!(
        format,
        TimeFormat::UnixSeconds
            | TimeFormat::UnixMilliseconds
            | TimeFormat::UnixMicroseconds
            | TimeFormat::UnixNanoseconds
    )
}

/// A meaning, what it gives, and the option that asks for it.
fn described(meaning: &Meaning) -> String {
    let first = meaning.first();
    match meaning.format {
        Some(format) => format!("{format} (first {first}; --time-format {format})"),
        None => format!("{} (first {first}; write them as dates first)", meaning.name),
    }
}
