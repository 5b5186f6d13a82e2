//! Which columns are the time, and in which format: what the user named, or the only columns that can be it.
//!
//! A column of dates without a time of day gives way to a finer column that agrees with it row by row. Else it is put together with a column of
//! times of day. Where several columns can be the time and do not agree, reading stops and names each.

use super::*;

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

/// Everything that the time is found by.
pub struct Search<'s> {
    pub dialect: &'s Dialect,
    pub seen: &'s [ColumnEvidence],
    pub options: &'s RecordingOptions,
    /// Columns that the user made something else.
    pub taken: &'s [usize],
}

type Found = Result<TimeSource>;

impl<'s> Search<'s> {
    /// The columns that the user named.
    pub fn named(&self, columns: &[usize]) -> Found {
        let columns = columns.iter().map(|&number| &self.seen[number]).collect_vec();
        let source = match columns[..] {
            [column] => {
                let clocks = self.clocks();
                if is_of_dates(column) && !clocks.is_empty() {
                    return in_two_columns(column, &clocks);
                }
                self.one(column, self.format(column)?)
            }
            _ => self.joined(&columns)?,
        };
        Ok(TimeSource { reason: "as --time says".to_owned(), is_bare_date: false, ..source })
    }

    /// The columns that can be the time, where the user named none.
    pub fn alone(&self) -> Found {
        let candidates = self.seen.iter().filter(|column| self.is_candidate(column));
        // Those with whole years, where there are any; dates come last.
        let mut candidates = candidates.min_set_by_key(|column| column.short_years > 0);
        candidates.sort_by_key(|column| is_of_dates(column));
        self.without_tails(match candidates[..] {
            [] => self.parts(),
            [date] if is_of_dates(date) => self.date(date),
            [first] => Ok(self.one(first, self.format(first)?)),
            [date, ..] if is_of_dates(date) => self.choose(&candidates),
            _ => self.fine(&candidates),
        }?)
    }

    /// Stops at a column that may belong to the time: AM or PM, a zone, milliseconds.
    fn without_tails(&self, source: TimeSource) -> Found {
        let tail = self.seen.iter().find(|column| {
            let is_count = is_part(column, PARTS[6])
                && column.is_mostly(column.point.integers + column.leading_zeros)
                && column.point.extremes().is_none_or(|(_, most)| most < 1000.0);
            !self.taken.contains(&column.number)
                && source.columns.iter().all(|&time| time != column.number && self.seen[time].zoned == 0)
                && !source.format.is_count()
                && (is_of_tails(column) || is_count)
        });
        let Some(ColumnEvidence { label: tail, example, .. }) = tail else {
            return Ok(source);
        };
        let label = &source.label;
        unclear!(
            "column {tail} ({example:?}) may belong to the time in {label}. Say ⟦--time‖{label},{tail}⟧ if it does, or ⟦--time‖{label}⟧ if not"
        )
    }

    /// Columns that are called year, month, day and on.
    fn parts(&self) -> Found {
        let mut columns: Vec<&ColumnEvidence> = Vec::new();
        for names in PARTS {
            let Some(column) = self.seen.iter().find(|column| {
                is_part(column, names) && columns.iter().all(|one| one.number != column.number)
            }) else {
                break;
            };
            columns.push(column);
        }
        if let ([_, _, _], [clock]) = (&columns[..], &self.clocks()[..]) {
            columns.push(clock);
        }
        if columns.len() > 2 { self.joined(&columns) } else { self.no_time() }
    }

    fn no_time(&self) -> Found {
        let mut hints = String::new();
        for column @ ColumnEvidence { label, example, .. } in self.seen {
            if column.is_mostly(column.clocks) {
                hints += &format!("\nColumn {label} has times of day without a date.");
            }
            if let Some((time, zone)) = example.rsplit_once(' ')
                && zone.starts_with(char::is_alphabetic)
                && Written::read(time).is_some()
            {
                hints += &format!(
                    "\nTimes in column {label} end with {zone:?}, which names no one offset; write one, such as +05:30."
                );
            }
            let meanings = self.meanings(column);
            let is_choice = is_named_time(label) || meanings.iter().all(is_usual);
            let described = self.described(column, &meanings, if is_choice { "" } else { "!" });
            if !described.is_empty() {
                hints += &format!("\nNumbers in column {label} can be {described}.");
            }
        }
        let columns = self.seen.iter().take(20);
        unclear!(
            "no column of {} looks like a time; name it with --time, and maybe its format with --time-format. Its columns begin with {}{hints}",
            self.dialect.source,
            columns.map(|column| format!("{} ({:?})", column.label, column.example)).join(", ")
        )
    }

    fn one(&self, column: &ColumnEvidence, format: TimeFormat) -> TimeSource {
        let mut source = time_of(&[column], vec![("", 0)], format);
        let label = &column.label;
        if self.options.time_format.is_none() && self.is_number(column) {
            source.plausible = source.format.is_count().then(plausible);
            source.notes.push(format!(
                "numbers in column {label} are {}, as nothing else gives years from 2000 to the next",
                source.format
            ));
        }
        source
    }

    /// A column of dates, alone or with the times of day beside it.
    fn date(&self, date: &ColumnEvidence) -> Found {
        let clocks = self.clocks();
        match clocks[..] {
            [] => Ok(TimeSource { is_bare_date: true, ..self.one(date, self.format(date)?) }),
            [clock] if self.is_clock_of(clock, date) => self.joined(&[date, clock]),
            _ => in_two_columns(date, &clocks),
        }
    }

    /// A column that is finer than a date. All other columns that can be the time have to agree with it. They decide its format, where it can be
    /// several.
    fn fine(&self, candidates: &[&ColumnEvidence]) -> Found {
        let (first, others) = (candidates[0], &candidates[1..]);
        let formats = others
            .iter()
            .try_fold(self.formats(first), |formats, other| self.agreeing(first, formats, other))?;
        let [format] = &formats[..] else {
            return self.choose(candidates);
        };
        let others = others.iter().map(|column| &column.label).join(", ");
        let reason = format!("{others} agrees with it in every row, and --time takes another");
        let notes = vec![format!("column {} is the time; {reason}", first.label)];
        Ok(TimeSource { reason, notes, ..self.one(first, format.clone()) })
    }

    /// Whether a column is mostly dates, or numbers whose name and size, or whose format, say that they are times.
    fn is_candidate(&self, column: &ColumnEvidence) -> bool {
        match &self.options.time_format {
            _ if self.taken.contains(&column.number) => false,
            Some(format @ Pattern(_)) => format.read(&column.example).is_ok(),
            format if column.is_mostly(column.times) => {
                format.as_ref().is_none_or(|format| !format.is_count())
            }
            _ if !self.is_number(column) || !is_named_time(&column.label) => false,
            Some(format) => format.is_count(),
            None => self.formats(column).iter().any(is_usual),
        }
    }

    fn is_number(&self, column: &ColumnEvidence) -> bool {
        column.is_mostly(self.numbers(column).values())
    }

    /// The numbers of a column, with a decimal comma where that is asked for and needed.
    fn numbers<'c>(&self, column: &'c ColumnEvidence) -> &'c Tally {
        let is_comma = self.options.decimal_comma && column.comma.values() > column.point.values();
        if is_comma { &column.comma } else { &column.point }
    }

    /// Columns of times of day.
    fn clocks(&self) -> Vec<&'s ColumnEvidence> {
        self.seen
            .iter()
            .filter(|column| column.is_mostly(column.clocks) && !self.taken.contains(&column.number))
            .collect()
    }

    /// Whether a column of times of day belongs to the dates: its name says no more than that, or nothing has a name and they stand side by side.
    fn is_clock_of(&self, clock: &ColumnEvidence, date: &ColumnEvidence) -> bool {
        if self.dialect.has_header {
            is_named_clock(&clock.label)
        } else {
            clock.number.abs_diff(date.number) == 1
        }
    }

    /// What the numbers of a column can be. A name decides between Unix and GPS times. A clock that is not set yet starts at 0: then most of the numbers
    /// decide.
    fn meanings(&self, column: &ColumnEvidence) -> Vec<TimeFormat> {
        let (numbers, label) = (self.numbers(column), &column.label);
        let usual = numbers.usual().filter(|_| is_named_time(label));
        let mut ways = numbers.extremes().into_iter().chain(usual).map(meanings);
        let mut found = ways.find(|found| !found.is_empty()).unwrap_or_default();
        if has_word(label, "gps") {
            found.retain(|format| !format.is_unix());
        } else if has_word(label, "unix epoch posix") {
            found.retain(|format| format.name() != "gps");
        }
        found
    }

    /// Every format in which a column's times can be written: what the user said, or all that fit all of them.
    fn formats(&self, column: &ColumnEvidence) -> Vec<TimeFormat> {
        if let Some(format) = &self.options.time_format {
            return vec![format.clone()];
        }
        if self.is_number(column) {
            return self.meanings(column);
        }
        if column.orders[0] * 2 > column.times && column.short_years == 0 {
            return vec![YearMonthDay];
        }
        let dates = TimeFormat::DATES.into_iter().zip(column.orders);
        dates.filter_map(|(format, order)| (order == column.times).then_some(format)).collect()
    }

    /// The format in which a column's times are written.
    pub fn format(&self, column: &ColumnEvidence) -> Result<TimeFormat> {
        let ColumnEvidence { label, example, .. } = column;
        let (found, is_number) = (self.formats(column), self.is_number(column));
        if let [format] = &found[..]
            && (self.options.time_format.is_some() || !is_number || is_usual(format))
        {
            return Ok(format.clone());
        }
        let read = |format: &TimeFormat| {
            let time = format.read(example).map_or(i128::MAX, |time| time.time_ns.into());
            format!("{} with ⟦--time-format‖{format}⟧", shown(time))
        };
        let is_known = is_number || column.is_mostly(column.times);
        let why = match found[..] {
            [] if is_number => "give years from 2000 to the next in no known way",
            _ if is_number => &format!("can be {}", self.described(column, &found, "")),
            _ if !is_known => "do not look like times",
            [] => "contradict each other: no order of day, month and year fits all",
            _ => &format!("can be read in several ways: {}", found.iter().map(read).join(", or ")),
        };
        let which = match found[..] {
            [_, ..] if is_known => "which",
            _ => &format!("what they are with --time-format, one of {}", TimeFormat::names()),
        };
        unclear!("the values of column {label} (the first is {example:?}) {why}. Say {which}")
    }

    /// What the numbers of a column can be, the smallest of them so, and the option that asks for it, with a mark before it.
    fn described(&self, column: &ColumnEvidence, formats: &[TimeFormat], mark: &str) -> String {
        let (numbers, label) = (self.numbers(column), &column.label);
        let mut described = formats.iter().map(|format| {
            let (least, _) = numbers
                .extremes()
                .filter(|all| meanings(*all).contains(format))
                .or_else(|| numbers.usual())
                .unwrap_or_default();
            let first = format.read(&least.to_string()).map_or(0, |instant| instant.time_ns);
            format!("{format} (first {}; ⟦{mark}--time‖{label}‖--time-format‖{format}⟧)", shown(first))
        });
        described.join(", or ")
    }

    /// In which of some formats a column has the times of another, however that is written. Dates may be of another zone.
    fn agreeing(
        &self,
        first: &ColumnEvidence,
        formats: Vec<TimeFormat>,
        other: &ColumnEvidence,
    ) -> Result<Vec<TimeFormat>> {
        // A date agrees with a time from a day before it begins to a day after it ends: it may be of another zone.
        let apart_ns = if is_of_dates(other) { 172_800_000_000_000 } else { 0 };
        let mut pairs = formats.into_iter().cartesian_product(self.formats(other)).collect_vec();
        let mut is_compared = false;
        self.dialect.each_row(|row| {
            let time = |column: &ColumnEvidence, format: &TimeFormat| {
                Some(format.read(text(row.record, column.number).ok()?).ok()?.time_ns)
            };
            if row.record.len() != self.seen.len() {
                return Ok(());
            }
            pairs.retain(|(of_first, of_other)| {
                let times = time(first, of_first).zip(time(other, of_other));
                is_compared |= times.is_some();
                times.is_none_or(|(one, other)| one.abs_diff(other) <= apart_ns)
            });
            Ok(())
        })?;
        let agreeing = pairs.into_iter().filter(|_| is_compared).map(|(of_first, _)| of_first);
        Ok(agreeing.dedup().collect())
    }

    fn choose(&self, columns: &[&ColumnEvidence]) -> Found {
        let mut shown =
            columns.iter().map(|column| format!("⟦--time‖{}⟧ ({:?})", column.label, column.example));
        unclear!(
            "several columns of {} can be the time, and they do not agree; say which it is: {}",
            self.dialect.source,
            shown.join(", or ")
        )
    }
}

fn in_two_columns(date: &ColumnEvidence, clocks: &[&ColumnEvidence]) -> Found {
    let date = &date.label;
    let clocks = clocks.iter().map(|clock| &clock.label).collect_vec();
    let texts = clocks.iter().map(|clock| format!("‖--type‖{clock}=text")).join("");
    unclear!(
        "column {date} has dates without a time of day, and times of day are in {}. Say ⟦--time‖{date},{}⟧ if they belong together, or ⟦--time‖{date}{texts}⟧ if not",
        clocks.iter().join(", "),
        clocks[0]
    )
}

/// Whether a column has one of these names.
fn is_part(column: &ColumnEvidence, names: &str) -> bool {
    names.split(' ').contains(&name_of(&column.label).as_str())
}

/// Whether one of the words of a column's name is one of these, or has a longer one of them in it.
fn has_word(label: &str, words: &str) -> bool {
    name_of(label).split('_').any(|word| {
        words.split(' ').any(|wanted| word == wanted || (wanted.len() > 3 && word.contains(wanted)))
    })
}

/// Whether the name of a column says that it is a time.
pub fn is_named_time(label: &str) -> bool {
    has_word(label, "time date stamp epoch unix ts when yyyymmdd")
}

/// Whether the name of a column says no more than that it is a time of day.
pub fn is_named_clock(label: &str) -> bool {
    let words =
        "time of day utc gmt local hour clock hh mm ss hhmm hhmmss zeit uhrzeit datum fecha hora heure ora";
    name_of(label).split('_').all(|word| words.split(' ').contains(&word))
}

/// Whether numbers are often times of this format.
fn is_usual(format: &TimeFormat) -> bool {
    format.is_unix() || *format == YearMonthDay
}
