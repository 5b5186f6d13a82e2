//! Which columns are the time, and in which format: what the user named, or the only columns that can be it.
//!
//! A column of dates without a time of day gives way to a finer column that agrees with it row by row. Else it is put together with a column of
//! times of day. Where several columns can be the time and do not agree, reading stops and names each.

use super::cell::text;
use super::dialect::Dialect;
use super::error::{RecordingError, ask, unclear};
use super::evidence::ColumnEvidence;
use super::names::name_of;
use super::options::RecordingOptions;
use super::report::shown;
use super::rows;
use super::time::{Meaning, TimeFormat, meanings, plausible};
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

impl Search<'_> {
    /// The columns that the user named.
    pub(super) fn named(&self, columns: &[usize]) -> Result<Found, RecordingError> {
        let mut found = match *columns {
            [column] => {
                let clocks = self.clocks();
                if is_of_dates(&self.seen[column]) && !clocks.is_empty() {
                    return self.in_two_columns(column, &clocks);
                }
                self.one(column, self.format(column)?)
            }
            _ => match TimeSource::several(columns, self.seen, |date| self.format(date))? {
                Some(source) => Found { source, assumptions: Vec::new(), is_bare_date: false },
                None => {
                    return unclear(format!(
                        "--time {}: these columns make up no time. Name a column of dates and one of times of day (23:50) or hours, or columns of numbers in the order year, month, day, hour, minute, second; or say how they are written, with blanks between, with --time-format '%d/%m/%Y %H%M'",
                        columns
                            .iter()
                            .map(|&column| self.labels[column].as_str())
                            .collect::<Vec<_>>()
                            .join(",")
                    ));
                }
            },
        };
        found.source.reason = "as --time says".to_owned();
        Ok(found)
    }

    /// The columns that can be the time, where the user named none.
    pub(super) fn alone(&self) -> Result<Found, RecordingError> {
        let mut candidates: Vec<usize> =
            (0..self.seen.len()).filter(|&column| self.is_candidate(column)).collect();
        let is_short = |column: &usize| self.seen[*column].short_years > 0;
        if !candidates.iter().all(is_short) {
            candidates.retain(|column| !is_short(column));
        }
        let (dates, fine): (Vec<usize>, Vec<usize>) =
            candidates.iter().partition(|column| is_of_dates(&self.seen[**column]));
        let mut found = match (&fine[..], &dates[..]) {
            ([], []) if self.parts().len() > 2 => {
                let columns = self.parts();
                let Some(source) = TimeSource::several(&columns, self.seen, |date| self.format(date))? else {
                    return self.no_time();
                };
                let label = source.label(self.labels);
                let assumptions = vec![format!("columns {label} together are the time, --time {label}")];
                Found { source, assumptions, is_bare_date: false }
            }
            ([], []) => return self.no_time(),
            ([], &[date]) => self.date(date)?,
            ([], _) => return self.choose(&dates),
            (&[first], []) => self.one(first, self.format(first)?),
            (&[first, ..], _) => self.fine(first, &[&fine[1..], &dates[..]].concat())?,
        };
        if found.source.reason.is_empty() {
            found.source.reason = "no other column can be the time".to_owned();
        }
        Ok(found)
    }

    fn no_time<T>(&self) -> Result<T, RecordingError> {
        let (mut hints, mut choices) = (String::new(), Vec::new());
        for clock in self.clocks() {
            hints += &format!("\nColumn {} has times of day without a date.", self.labels[clock]);
        }
        for (column, label) in self.labels.iter().enumerate() {
            let meanings = self.meanings(column);
            let is_meant = self.has_word(column, &TIME_WORDS)
                || meanings.iter().all(|meaning| is_usual(&meaning.format));
            choices.extend(meanings.iter().filter(|_| is_meant).map(|meaning| self.as_time(column, meaning)));
            if !meanings.is_empty() {
                let found: Vec<String> = meanings.iter().map(described).collect();
                hints += &format!(
                    "\nNumbers in column {label} can be {}. Then say --time {label} too.",
                    found.join(", or ")
                );
            }
        }
        ask(
            format!(
                "no column of {} looks like a time; name it with --time, and its format with --time-format if that is not enough. The columns are {}{hints}",
                self.dialect.source.given.display(),
                self.shown().join(", ")
            ),
            choices,
        )
    }

    /// Columns that are called year, month, day and on.
    fn parts(&self) -> Vec<usize> {
        let named = |word: &str| self.labels.iter().position(|label| name_of(label) == word);
        ["year", "month", "day", "hour", "minute", "second"].into_iter().map_while(named).collect()
    }

    fn one(&self, column: usize, format: TimeFormat) -> Found {
        let mut found =
            Found { source: TimeSource::one(column, format), assumptions: Vec::new(), is_bare_date: false };
        let (seen, label) = (&self.seen[column], &self.labels[column]);
        if self.options.time_format.is_none() && seen.is_mostly(seen.point.values()) {
            found.source.plausible = found.source.format.is_count().then(plausible);
            found.assumptions.push(format!(
                "numbers in column {label} are {}, as nothing else gives years from 2000 to the next",
                found.source.format
            ));
        }
        if seen.short_years > 0 {
            found.assumptions.push(format!("years of two digits in column {label} are 1969 to 2068"));
        }
        found
    }

    /// A column of dates, alone or with the times of day beside it.
    fn date(&self, date: usize) -> Result<Found, RecordingError> {
        let clocks = self.clocks();
        let label = |column: usize| &self.labels[column];
        let mut found = self.one(date, self.format(date)?);
        match clocks[..] {
            [] => found.is_bare_date = true,
            [clock] if self.is_clock_of(clock, date) => {
                found.assumptions.push(format!(
                    "columns {} and {} together are the time, --time {},{}",
                    label(date),
                    label(clock),
                    label(date),
                    label(clock)
                ));
                found.source = TimeSource::pair(date, clock, found.source.format);
            }
            _ => return self.in_two_columns(date, &clocks),
        }
        Ok(found)
    }

    /// A column that is finer than a date. All other columns that can be the time have to agree with it. They decide its format, where it can be
    /// several.
    fn fine(&self, first: usize, others: &[usize]) -> Result<Found, RecordingError> {
        let mut agreeing = Vec::new();
        for format in self.formats(first) {
            let source = TimeSource::one(first, format.clone());
            let mut agree = true;
            for &other in others {
                agree &= self.agrees(&source, other)?;
            }
            if agree {
                agreeing.push(format);
            }
        }
        let [format] = &agreeing[..] else {
            return self.choose(&[&[first][..], others].concat());
        };
        let mut found = self.one(first, format.clone());
        let others: Vec<&str> = others.iter().map(|&column| self.labels[column].as_str()).collect();
        found.source.reason =
            format!("{} agrees with it in every row, and --time takes another", others.join(", "));
        found.assumptions =
            vec![format!("column {} is the time; {}", self.labels[first], found.source.reason)];
        Ok(found)
    }

    /// Whether a column is mostly dates, or numbers whose name and size, or whose format, say that they are times.
    fn is_candidate(&self, column: usize) -> bool {
        let seen = &self.seen[column];
        if self.taken.contains(&column) || seen.present() == 0 {
            return false;
        }
        let format = self.options.time_format.as_ref();
        if let Some(TimeFormat::Pattern(_)) = format {
            return format.is_some_and(|format| format.read(&seen.example).is_ok());
        }
        if seen.is_mostly(seen.times) {
            return format.is_none_or(|format| !format.is_count());
        }
        let is_number = seen.is_mostly(seen.point.values()) && self.has_word(column, &TIME_WORDS);
        is_number
            && match format {
                Some(format) => format.is_count(),
                None => self.formats(column).iter().any(is_usual),
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
        is_named_clock(&self.labels[clock])
    }

    /// What the numbers of a column can be. A name decides between Unix and GPS times.
    fn meanings(&self, column: usize) -> Vec<Meaning> {
        let Some((smallest, largest)) = self.seen[column].point.extremes else {
            return Vec::new();
        };
        let mut found = meanings(smallest, largest);
        if found.is_empty() && self.has_word(column, &TIME_WORDS) {
            let (smallest, largest) = self.usual(column);
            found = meanings(smallest, largest);
        }
        if self.has_word(column, &["gps"]) {
            found.retain(|meaning| !meaning.format.is_unix());
        } else if self.has_word(column, &UNIX_WORDS) {
            found.retain(|meaning| meaning.format.name() != "gps");
        }
        found
    }

    /// The smallest and the largest number of a column without those that are less than half or more than twice the middle one: a clock that is
    /// not set yet starts at 0.
    fn usual(&self, column: usize) -> (f64, f64) {
        let mut numbers: Vec<f64> = Vec::new();
        let read = rows::for_each(self.dialect, |row| {
            let cell = row.record.get(column).and_then(|cell| std::str::from_utf8(cell).ok());
            numbers.extend(cell.and_then(|cell| cell.trim().parse::<f64>().ok()));
            Ok(())
        });
        let middle = numbers.len() / 2;
        if read.is_err() || numbers.is_empty() {
            return (0.0, 0.0);
        }
        let middle = *numbers.select_nth_unstable_by(middle, f64::total_cmp).1;
        numbers.retain(|number| *number > middle / 2.0 && *number < middle * 2.0);
        numbers.iter().fold((middle, middle), |(least, most), number| (least.min(*number), most.max(*number)))
    }

    /// Whether one of the words of a column's name is one of these, or has a longer one of them in it.
    fn has_word(&self, column: usize, words: &[&str]) -> bool {
        let name = name_of(&self.labels[column]);
        name.split('_').any(|word| {
            words.iter().any(|wanted| word == *wanted || (wanted.len() > 3 && word.contains(wanted)))
        })
    }

    /// Every format in which a column's times can be written: what the user said, or all that fit all of them.
    fn formats(&self, column: usize) -> Vec<TimeFormat> {
        let seen = &self.seen[column];
        if let Some(format) = &self.options.time_format {
            return vec![format.clone()];
        }
        if seen.point.values() > 0 && seen.is_mostly(seen.point.values()) {
            return self.meanings(column).into_iter().map(|meaning| meaning.format).collect();
        }
        let [year_first, ..] = seen.orders;
        if year_first * 2 > seen.times && seen.short_years == 0 {
            return vec![TimeFormat::YearMonthDay];
        }
        let orders = TimeFormat::DATES.into_iter().zip(seen.orders);
        orders.filter(|(_, fit)| *fit == seen.times).map(|(format, _)| format).collect()
    }

    /// The format in which a column's times are written.
    fn format(&self, column: usize) -> Result<TimeFormat, RecordingError> {
        let (seen, label) = (&self.seen[column], &self.labels[column]);
        if let Some(format) = &self.options.time_format {
            return Ok(format.clone());
        }
        let (found, example) = (self.formats(column), &seen.example);
        let is_number = seen.point.values() > 0 && seen.is_mostly(seen.point.values());
        if let [format] = &found[..]
            && (!is_number || is_usual(format))
        {
            return Ok(format.clone());
        }
        if is_number {
            return self.ask_about_numbers(column);
        }
        if seen.present() == 0 || !seen.is_mostly(seen.times) {
            return unclear(format!(
                "column {label} does not look like a time (first value {example:?}); say its format with --time-format, one of {}",
                TimeFormat::names()
            ));
        }
        let options = |formats: &[TimeFormat]| {
            let options: Vec<String> =
                formats.iter().map(|format| format!("--time-format {format}")).collect();
            options.join(" or ")
        };
        if found.is_empty() {
            let sole: Vec<String> = (TimeFormat::DATES.iter().zip(&seen.sole))
                .filter_map(|(format, example)| Some(format!("{:?} can only be {format}", example.as_ref()?)))
                .collect();
            return unclear(format!(
                "the dates in column {label} contradict each other: {}. Say which is right with {}; the others are then bad rows",
                sole.join(", "),
                options(&TimeFormat::DATES)
            ));
        }
        let read = |format: &TimeFormat| {
            let first =
                format.read(example).map_or_else(|_| "no date".to_owned(), |time| shown(time.time_ns));
            format!("{first} with --time-format {format}")
        };
        ask(
            format!(
                "the dates in column {label} can be read in several ways, and none of them decides: the first, {example:?}, is {}. Say which",
                found.iter().map(read).collect::<Vec<_>>().join(", or ")
            ),
            found.iter().map(|format| ["--time-format", format.name()]),
        )
    }

    /// What numbers count is not clear, or not usual.
    fn ask_about_numbers<T>(&self, column: usize) -> Result<T, RecordingError> {
        let (label, example, found) =
            (&self.labels[column], &self.seen[column].example, self.meanings(column));
        let can_be = if found.is_empty() {
            "give years from 2000 to the next in no known way".to_owned()
        } else {
            format!("can be {}", found.iter().map(described).collect::<Vec<_>>().join(", or "))
        };
        ask(
            format!(
                "the numbers in column {label} (first value {example}) {can_be}. Say what they are with --time-format, one of {}",
                TimeFormat::names()
            ),
            found.iter().map(|meaning| self.as_time(column, meaning)),
        )
    }

    /// The options that make a column the time.
    fn as_time(&self, column: usize, meaning: &Meaning) -> [String; 4] {
        let [time, format] = ["--time", "--time-format"].map(str::to_owned);
        [time, self.labels[column].clone(), format, meaning.format.to_string()]
    }

    /// Whether a column, in some format, has the times of a source. Dates may be of another zone.
    fn agrees(&self, source: &TimeSource, other: usize) -> Result<bool, RecordingError> {
        let apart_ns = if is_of_dates(&self.seen[other]) { 2 * DAY_NS } else { 0 };
        for format in self.formats(other) {
            let other = TimeSource::one(other, format);
            let (mut compared, mut agree) = (0_u64, true);
            rows::for_each(self.dialect, |row| {
                if row.record.len() != self.labels.len() {
                    return Ok(());
                }
                let time = |source: &TimeSource| {
                    let text = text(row.record, source.columns[0]).ok()?;
                    source.format.read(text).ok().map(|instant| instant.time_ns)
                };
                if let (Some(one), Some(other)) = (time(source), time(&other)) {
                    compared += 1;
                    agree &= one.abs_diff(other) <= apart_ns.unsigned_abs();
                }
                Ok(())
            })?;
            if agree && compared > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn in_two_columns<T>(&self, date: usize, clocks: &[usize]) -> Result<T, RecordingError> {
        let date = &self.labels[date];
        let clocks: Vec<&str> = clocks.iter().map(|&clock| self.labels[clock].as_str()).collect();
        let time = "--time".to_owned();
        let mut alone = vec![time.clone(), date.clone()];
        alone.extend(clocks.iter().flat_map(|clock| ["--type".to_owned(), format!("{clock}=text")]));
        ask(
            format!(
                "column {date} has dates without a time of day, and times of day are in {}. Say --time {date},{} if they belong together. If the dates alone are the time, say --time {date} and --type {}=text",
                clocks.join(", "),
                clocks[0],
                clocks.join("=text --type ")
            ),
            [vec![time, format!("{date},{}", clocks[0])], alone],
        )
    }

    fn choose<T>(&self, columns: &[usize]) -> Result<T, RecordingError> {
        let shown = |&column: &usize| {
            let (label, example) = (&self.labels[column], &self.seen[column].example);
            format!("--time {label} ({example:?})")
        };
        ask(
            format!(
                "several columns of {} can be the time, and they do not agree; say which it is: {}",
                self.dialect.source.given.display(),
                columns.iter().map(shown).collect::<Vec<_>>().join(", or ")
            ),
            columns.iter().map(|&column| ["--time".to_owned(), self.labels[column].clone()]),
        )
    }

    /// All columns, each with an example.
    fn shown(&self) -> Vec<String> {
        const SHOWN: usize = 20;
        let all = self.labels.iter().zip(self.seen).take(SHOWN);
        let mut shown: Vec<String> =
            all.map(|(label, seen)| format!("{label} ({:?})", seen.example)).collect();
        if self.labels.len() > SHOWN {
            shown.push(format!("and {} more", self.labels.len() - SHOWN));
        }
        shown
    }
}

/// Whether the name of a column says no more than that it is a time of day.
pub(super) fn is_named_clock(label: &str) -> bool {
    name_of(label).split('_').all(|word| CLOCK_WORDS.contains(&word))
}

/// Whether numbers are often times of this format.
fn is_usual(format: &TimeFormat) -> bool {
    format.is_unix() || *format == TimeFormat::YearMonthDay
}

/// A meaning, what it gives, and the option that asks for it.
fn described(meaning: &Meaning) -> String {
    format!("{0} (first {1}; --time-format {0})", meaning.format, shown(meaning.first_ns))
}
