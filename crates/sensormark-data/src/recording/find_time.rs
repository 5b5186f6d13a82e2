//! Which columns are the time, and in which format: what the user named, or the only columns that can be it.
//!
//! A column of dates without a time of day gives way to a finer column that agrees with it row by row. Else it is put together with a column of
//! times of day. Where several columns can be the time and do not agree, reading stops and names each.

use itertools::Itertools;

use super::{
    cell::text,
    dialect::Dialect,
    error::{Result, ask, unclear},
    evidence::{ColumnEvidence, Tally},
    names::name_of,
    options::RecordingOptions,
    report::shown,
    rows,
    time::{TimeFormat, Written, meanings, plausible},
    time_source::{TimeSource, is_of_dates, is_of_tails},
};

/// Words of names of columns that hold times.
const TIME_WORDS: &str = "time date stamp epoch unix ts when yyyymmdd";
/// Words that say that numbers are Unix times.
const UNIX_WORDS: &str = "unix epoch posix";
/// Names of columns that hold parts of a time.
const PARTS: [&str; 7] = [
    "year yyyy yy yr",
    "month mm mo",
    "day dd dy",
    "hour hh hr",
    "minute mm mn",
    "second ss",
    "millisecond milliseconds millis msec ms",
];
/// Words that make up the names of columns of times of day.
const CLOCK_WORDS: &str =
    "time of day utc gmt local hour clock hh mm ss hhmm hhmmss zeit uhrzeit datum fecha hora heure ora";
/// A date agrees with a time from a day before it begins to a day after it ends: it may be of another zone.
const TWO_DAYS_NS: u64 = 172_800_000_000_000;
/// How many columns are shown with an example.
const SHOWN: usize = 20;

/// Everything that the time is found by.
pub struct Search<'s> {
    pub dialect: &'s Dialect,
    pub seen: &'s [ColumnEvidence],
    pub labels: &'s [String],
    pub options: &'s RecordingOptions,
    /// Columns that the user made something else.
    pub taken: Vec<usize>,
}

type Found = Result<TimeSource>;

impl Search<'_> {
    /// The columns that the user named.
    pub fn named(&self, columns: &[usize]) -> Found {
        let mut source = match *columns {
            [column] => {
                let clocks = self.clocks();
                if is_of_dates(&self.seen[column]) && !clocks.is_empty() {
                    return self.in_two_columns(column, &clocks);
                }
                self.one(column, self.format(column)?)
            }
            _ => match self.joined(columns)? {
                Some(source) => source,
                None => {
                    return unclear(format!(
                        "--time {}: these columns make up no time. Name a date and a time of day or an hour, or numbers from the year on, or a pattern with blanks between them: --time-format '%d/%m/%Y %H%M'",
                        self.options.time.as_deref().unwrap_or_default()
                    ));
                }
            },
        };
        source.reason = "as --time says".to_owned();
        source.is_bare_date = false;
        Ok(source)
    }

    /// The columns that can be the time, where the user named none.
    pub fn alone(&self) -> Found {
        let mut candidates: Vec<usize> =
            (0..self.seen.len()).filter(|&column| self.is_candidate(column)).collect();
        let is_short = |column: &usize| self.seen[*column].short_years > 0;
        if !candidates.iter().all(is_short) {
            candidates.retain(|column| !is_short(column));
        }
        let (dates, fine): (Vec<usize>, Vec<usize>) =
            candidates.iter().partition(|column| is_of_dates(&self.seen[**column]));
        let source = match (&fine[..], &dates[..]) {
            ([], []) => self.parts(),
            ([], &[date]) => self.date(date),
            ([], _) => self.choose(&dates),
            (&[first], []) => Ok(self.one(first, self.format(first)?)),
            (&[first, ..], _) => self.fine(first, &[&fine[1..], &dates[..]].concat()),
        }?;
        self.check_tails(&source)?;
        Ok(source)
    }

    /// Stops at a column that may belong to the time: AM or PM, a zone, milliseconds.
    fn check_tails(&self, source: &TimeSource) -> Result<()> {
        let label = source.label(self.labels);
        let is_tail = |&column: &usize| {
            let seen = &self.seen[column];
            let is_count = self.is_part(column, PARTS[6])
                && seen.is_mostly(seen.point.integers + seen.leading_zeros)
                && seen.point.extremes().is_none_or(|(_, most)| most < 1000.0);
            !self.taken.contains(&column)
                && source.columns().all(|time| time != column && self.seen[time].zoned == 0)
                && !source.format.is_count()
                && (is_of_tails(seen) || is_count)
        };
        let Some(tail) = (0..self.seen.len()).find(is_tail) else {
            return Ok(());
        };
        let (name, example) = (&self.labels[tail], &self.seen[tail].example);
        ask(format!(
            "column {name} ({example:?}) may belong to the time in {label}. Say ⟦--time‖{label},{name}⟧ if it does, or ⟦--time‖{label}⟧ if not"
        ))
    }

    fn is_part(&self, column: usize, names: &str) -> bool {
        names.split(' ').contains(&name_of(&self.labels[column]).as_str())
    }

    /// Columns that are called year, month, day and on.
    fn parts(&self) -> Found {
        let mut columns = Vec::new();
        for names in PARTS {
            let is_it = |column: &usize| !columns.contains(column) && self.is_part(*column, names);
            let Some(column) = (0..self.labels.len()).find(is_it) else { break };
            columns.push(column);
        }
        if let ([_, _, _], [clock]) = (&columns[..], &self.clocks()[..]) {
            columns.push(*clock);
        }
        if columns.len() > 2
            && let Some(source) = self.joined(&columns)?
        {
            return Ok(source);
        }
        self.no_time()
    }

    /// Several columns that are the time, if they can be.
    fn joined(&self, columns: &[usize]) -> Result<Option<TimeSource>> {
        let mut source = TimeSource::several(columns, self.seen, |date| self.format(date))?;
        if let Some(source) = &mut source {
            let label = source.label(self.labels);
            source.notes.push(format!("columns {label} together are the time, --time {label}"));
        }
        Ok(source)
    }

    fn no_time<T>(&self) -> Result<T> {
        let mut hints = String::new();
        for clock in self.clocks() {
            hints += &format!("\nColumn {} has times of day without a date.", self.labels[clock]);
        }
        for (label, seen) in self.labels.iter().zip(self.seen) {
            if let Some((time, zone)) = seen.example.rsplit_once(' ')
                && zone.starts_with(char::is_alphabetic)
                && Written::read(time).is_some()
            {
                hints += &format!(
                    "\nTimes in column {label} end with {zone:?}, which names no one offset; write one, such as +05:30."
                );
            }
        }
        for (column, label) in self.labels.iter().enumerate() {
            let meanings = self.meanings(column);
            if meanings.is_empty() {
                continue;
            }
            let is_choice = self.has_word(column, TIME_WORDS) || meanings.iter().all(is_usual);
            let mark = if is_choice { "" } else { "!" };
            hints +=
                &format!("\nNumbers in column {label} can be {}.", self.described(column, &meanings, mark));
        }
        let shown = self.labels.iter().zip(self.seen).take(SHOWN);
        ask(format!(
            "no column of {} looks like a time; name it with --time, and maybe its format with --time-format. Its columns begin with {}{hints}",
            self.dialect.source,
            shown.map(|(label, seen)| format!("{label} ({:?})", seen.example)).join(", "),
        ))
    }

    fn one(&self, column: usize, format: TimeFormat) -> TimeSource {
        let mut source = TimeSource::new(vec![(column, "", 0)], format);
        let (seen, label) = (&self.seen[column], &self.labels[column]);
        if self.options.time_format.is_none() && self.is_number(column) {
            source.plausible = source.format.is_count().then(plausible);
            source.notes.push(format!(
                "numbers in column {label} are {}, as nothing else gives years from 2000 to the next",
                source.format
            ));
        }
        if seen.short_years > 0 {
            source.notes.push(format!("years of two digits in column {label} are 1969 to 2068"));
        }
        source
    }

    /// A column of dates, alone or with the times of day beside it.
    fn date(&self, date: usize) -> Found {
        let clocks = self.clocks();
        let mut source = self.one(date, self.format(date)?);
        match clocks[..] {
            [] => source.is_bare_date = true,
            [clock] if self.is_clock_of(clock, date) => {
                if let Some(mut both) = self.joined(&[date, clock])? {
                    both.notes.extend(source.notes);
                    return Ok(both);
                }
            }
            _ => return self.in_two_columns(date, &clocks),
        }
        Ok(source)
    }

    /// A column that is finer than a date. All other columns that can be the time have to agree with it. They decide its format, where it can be
    /// several.
    fn fine(&self, first: usize, others: &[usize]) -> Found {
        let mut agreeing = self.formats(first);
        for &other in others {
            let mut still = Vec::new();
            for format in agreeing {
                if self.agrees(first, &format, other)? {
                    still.push(format);
                }
            }
            agreeing = still;
        }
        let [format] = &agreeing[..] else {
            return self.choose(&[&[first][..], others].concat());
        };
        let mut source = self.one(first, format.clone());
        let others = others.iter().map(|&column| &self.labels[column]).join(", ");
        source.reason = format!("{others} agrees with it in every row, and --time takes another");
        source.notes = vec![format!("column {} is the time; {}", self.labels[first], source.reason)];
        Ok(source)
    }

    /// Whether a column is mostly dates, or numbers whose name and size, or whose format, say that they are times.
    fn is_candidate(&self, column: usize) -> bool {
        let seen = &self.seen[column];
        if self.taken.contains(&column) || seen.present() == 0 {
            return false;
        }
        match &self.options.time_format {
            Some(format @ TimeFormat::Pattern(_)) => format.read(&seen.example).is_ok(),
            format if seen.is_mostly(seen.times) => format.as_ref().is_none_or(|format| !format.is_count()),
            _ if !self.is_number(column) || !self.has_word(column, TIME_WORDS) => false,
            Some(format) => format.is_count(),
            None => self.formats(column).iter().any(is_usual),
        }
    }

    fn is_number(&self, column: usize) -> bool {
        let numbers = self.numbers(column).values();
        numbers > 0 && self.seen[column].is_mostly(numbers)
    }

    /// The numbers of a column, with a decimal comma where that is asked for and needed.
    fn numbers(&self, column: usize) -> &Tally {
        let seen = &self.seen[column];
        let is_comma = self.options.decimal_comma && seen.comma.values() > seen.point.values();
        if is_comma { &seen.comma } else { &seen.point }
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
        if self.dialect.has_header { is_named_clock(&self.labels[clock]) } else { clock.abs_diff(date) == 1 }
    }

    /// What the numbers of a column can be. A name decides between Unix and GPS times. A clock that is not set yet starts at 0: then most of the numbers
    /// decide.
    fn meanings(&self, column: usize) -> Vec<TimeFormat> {
        let numbers = self.numbers(column);
        let mut found = numbers.extremes().map(meanings).unwrap_or_default();
        if found.is_empty() && self.has_word(column, TIME_WORDS) {
            found = numbers.usual().map(meanings).unwrap_or_default();
        }
        if self.has_word(column, "gps") {
            found.retain(|format| !format.is_unix());
        } else if self.has_word(column, UNIX_WORDS) {
            found.retain(|format| format.name() != "gps");
        }
        found
    }

    fn has_word(&self, column: usize, words: &str) -> bool {
        has_word(&self.labels[column], words)
    }

    /// Every format in which a column's times can be written: what the user said, or all that fit all of them.
    fn formats(&self, column: usize) -> Vec<TimeFormat> {
        let seen = &self.seen[column];
        if let Some(format) = &self.options.time_format {
            return vec![format.clone()];
        }
        if self.is_number(column) {
            return self.meanings(column);
        }
        if seen.orders[0] * 2 > seen.times && seen.short_years == 0 {
            return vec![TimeFormat::YearMonthDay];
        }
        let orders = TimeFormat::DATES.into_iter().zip(seen.orders);
        orders.filter(|(_, fit)| *fit == seen.times).map(|(format, _)| format).collect()
    }

    /// The format in which a column's times are written.
    fn format(&self, column: usize) -> Result<TimeFormat> {
        let (seen, label) = (&self.seen[column], &self.labels[column]);
        let (found, example, is_number) = (self.formats(column), &seen.example, self.is_number(column));
        if let [format] = &found[..]
            && (self.options.time_format.is_some() || !is_number || is_usual(format))
        {
            return Ok(format.clone());
        }
        let read = |format: &TimeFormat| {
            let time = format.read(example).map_or(i128::MAX, |time| time.time_ns.into());
            format!("{} with ⟦--time-format‖{format}⟧", shown(time))
        };
        let is_known = is_number || seen.present() > 0 && seen.is_mostly(seen.times);
        let why = match found[..] {
            [] if is_number => "give years from 2000 to the next in no known way".to_owned(),
            _ if is_number => format!("can be {}", self.described(column, &found, "")),
            _ if !is_known => "do not look like times".to_owned(),
            [] => "contradict each other: no order of day, month and year fits all".to_owned(),
            _ => format!("can be read in several ways: {}", found.iter().map(read).join(", or ")),
        };
        let which = match found[..] {
            [_, ..] if is_known => "which".to_owned(),
            _ => format!("what they are with --time-format, one of {}", TimeFormat::names()),
        };
        ask(format!("the values of column {label} (the first is {example:?}) {why}. Say {which}"))
    }

    /// What the numbers of a column can be, the smallest of them so, and the option that asks for it, with a mark before it.
    fn described(&self, column: usize, formats: &[TimeFormat], mark: &str) -> String {
        let (point, label) = (self.numbers(column), &self.labels[column]);
        let described = |format: &TimeFormat| {
            let all = point.extremes().filter(|all| meanings(*all).contains(format));
            let (least, _) = all.or_else(|| point.usual()).unwrap_or_default();
            let first = format.read(&least.to_string()).map_or(0, |instant| instant.time_ns);
            format!("{format} (first {}; ⟦{mark}--time‖{label}‖--time-format‖{format}⟧)", shown(first))
        };
        formats.iter().map(described).join(", or ")
    }

    /// Whether another column, in some format, has the times of a column in this one. Dates may be of another zone.
    fn agrees(&self, first: usize, of_first: &TimeFormat, other: usize) -> Result<bool> {
        let apart_ns = if is_of_dates(&self.seen[other]) { TWO_DAYS_NS } else { 0 };
        for format in self.formats(other) {
            let (mut compared, mut agree) = (0_u64, true);
            rows::for_each(self.dialect, |row| {
                let time = |column: usize, format: &TimeFormat| {
                    let text = text(row.record, column).ok()?;
                    format.read(text).ok().map(|instant| instant.time_ns)
                };
                if row.record.len() == self.labels.len()
                    && let Some(one) = time(first, of_first)
                    && let Some(other) = time(other, &format)
                {
                    compared += 1;
                    agree &= one.abs_diff(other) <= apart_ns;
                }
                Ok(())
            })?;
            if agree && compared > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn in_two_columns<T>(&self, date: usize, clocks: &[usize]) -> Result<T> {
        let date = &self.labels[date];
        let clocks: Vec<&String> = clocks.iter().map(|&clock| &self.labels[clock]).collect();
        let texts = clocks.iter().map(|clock| format!("‖--type‖{clock}=text")).join("");
        ask(format!(
            "column {date} has dates without a time of day, and times of day are in {}. Say ⟦--time‖{date},{}⟧ if they belong together, or ⟦--time‖{date}{texts}⟧ if not",
            clocks.iter().join(", "),
            clocks[0]
        ))
    }

    fn choose<T>(&self, columns: &[usize]) -> Result<T> {
        let shown =
            |&column: &usize| format!("⟦--time‖{}⟧ ({:?})", self.labels[column], self.seen[column].example);
        ask(format!(
            "several columns of {} can be the time, and they do not agree; say which it is: {}",
            self.dialect.source,
            columns.iter().map(shown).join(", or ")
        ))
    }
}

/// Whether one of the words of a column's name is one of these, or has a longer one of them in it.
fn has_word(label: &str, words: &str) -> bool {
    name_of(label).split('_').any(|word| {
        words.split(' ').any(|wanted| word == wanted || (wanted.len() > 3 && word.contains(wanted)))
    })
}

/// Whether the name of a column says that it is a time.
pub fn is_named_time(label: &str) -> bool {
    has_word(label, TIME_WORDS)
}

/// Whether the name of a column says no more than that it is a time of day.
pub fn is_named_clock(label: &str) -> bool {
    name_of(label).split('_').all(|word| CLOCK_WORDS.split(' ').contains(&word))
}

/// Whether numbers are often times of this format.
fn is_usual(format: &TimeFormat) -> bool {
    format.is_unix() || *format == TimeFormat::YearMonthDay
}
