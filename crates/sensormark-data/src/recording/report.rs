//! What was found in a recording, in a form that people read and results keep: its columns, and when its readings were taken.

use super::*;

/// What was found in a recording.
#[derive(Debug)]
pub struct RecordingReport {
    /// The file's name, without its folder.
    pub file: String,
    /// The character between cells.
    pub delimiter: char,
    /// Whether the first row names the columns.
    pub header: bool,
    /// Rows below the header.
    pub rows: u64,
    /// Rows that became readings; the rest is in `bad_rows`.
    pub readings: u64,
    /// Series that were told apart by tags; 1 without tags.
    pub series: u32,
    /// All columns, in the file's order.
    pub columns: Vec<ColumnReport>,
    /// The time.
    pub time: TimeSource,
    /// How finely readings are spaced.
    pub resolution: TimeResolution,
    /// Span, interval, gaps, repeated and late readings.
    pub timing: Timing,
    /// Rows that were left out because they cannot be read; none unless that was asked for.
    pub bad_rows: BadRows,
    /// What was taken for granted, in sentences.
    pub assumptions: Vec<String>,
}

/// One column of the file.
#[derive(Debug)]
pub struct ColumnReport {
    /// Its name in the file, or the one that it was given.
    pub label: String,
    /// What it is, in words: time, tag, field, or why it is left out.
    pub role: &'static str,
    /// The field that it is in the stores.
    pub field: Option<Field>,
    /// Readings without, of a field.
    pub absent: u64,
}

/// When the readings of a recording were taken. All times in ns since the Unix epoch, all lengths in ns.
#[derive(Debug, Clone)]
pub struct Timing {
    /// The earliest reading.
    pub first_ns: i64,
    /// The latest reading.
    pub last_ns: i64,
    /// The median of the intervals between neighbouring readings of a series; none where no series has two times.
    pub interval_ns: Option<i64>,
    /// How many intervals are longer than twice the median.
    pub gaps: u64,
    /// How long the longest of them is, and when the reading before it was taken.
    pub longest_gap: Option<(i64, i64)>,
    /// Readings whose series has another reading of the same time earlier in the file. They are kept.
    pub repeated: u64,
    /// Readings that are before their predecessor in the file, of the same series. They are kept where they are.
    pub out_of_order: u64,
}

impl Timing {
    /// Looks at the times of at least one reading.
    pub fn of(readings: &Batch) -> Self {
        let keys = || readings.series.iter().zip(&readings.times_ns);
        let mut latest = HashMap::new();
        let late =
            keys().filter(|(series, time)| latest.insert(*series, *time).is_some_and(|before| before > time));
        let out_of_order = late.count() as u64;
        let gaps = keys()
            .sorted_unstable()
            .tuple_windows()
            .filter(|(one, next)| one.0 == next.0)
            .map(|((_, &start_ns), (_, end))| (end.saturating_sub(start_ns), start_ns))
            .sorted_unstable()
            .collect_vec();
        let (repeated, gaps) = gaps.split_at(gaps.partition_point(|(length_ns, _)| *length_ns == 0));
        let interval_ns = gaps.get(gaps.len() / 2).map(|(length_ns, _)| *length_ns);
        let usual_ns = interval_ns.unwrap_or_default().saturating_mul(2);
        let long = &gaps[gaps.partition_point(|(length_ns, _)| *length_ns <= usual_ns)..];
        let (first_ns, last_ns) =
            readings.times_ns.iter().copied().minmax().into_option().unwrap_or_default();
        Self {
            first_ns,
            last_ns,
            interval_ns,
            gaps: long.len() as u64,
            longest_gap: long.last().copied(),
            repeated: repeated.len() as u64,
            out_of_order,
        }
    }
}

/// Several plain lines of text.
impl Display for RecordingReport {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        let Self { file, rows, readings, series, columns, bad_rows, delimiter, assumptions, .. } = self;
        let TimeSource { label, reason, format, .. } = &self.time;
        let Timing { first_ns, last_ns, gaps, repeated, out_of_order, .. } = self.timing;
        let header = if self.header { "" } else { ", no header" };
        write!(
            formatter,
            "{file}: {rows} rows, {readings} readings of {series} series, {} rows left out\n  cells: delimiter {delimiter:?}{header}\n",
            bad_rows.count
        )?;
        writeln!(
            formatter,
            "  time: column {label} ({reason}), {format}, whole {}, {} to {}",
            format!("{:?}", self.resolution).to_lowercase(),
            shown(first_ns),
            shown(last_ns)
        )?;
        let seconds = |length_ns: i64| length_ns as f64 / 1e9;
        if let Some(interval_ns) = self.timing.interval_ns {
            let interval = seconds(interval_ns);
            write!(formatter, "  interval: {interval} s (median), {gaps} gaps over twice that")?;
            if let Some((length_ns, start_ns)) = self.timing.longest_gap {
                write!(formatter, ", the longest {} s from {}", seconds(length_ns), shown(start_ns))?;
            }
            writeln!(formatter)?;
        }
        writeln!(formatter, "  {repeated} readings repeat a time, {out_of_order} are out of order")?;
        for ColumnReport { label, role, field, absent } in columns {
            write!(formatter, "  {label}: {role}")?;
            if let Some(Field { name, kind, .. }) = field {
                let kind = match kind {
                    Bool => "truth value",
                    I64 | U16 => "64-bit integer",
                    F64 => "64-bit floating point",
                    Text => "text",
                };
                write!(formatter, " {name}, {kind}")?;
            }
            if *absent > 0 {
                write!(formatter, ", absent in {absent} readings")?;
            }
            writeln!(formatter)?;
        }
        for assumption in assumptions {
            writeln!(formatter, "Assumed: {assumption}.")?;
        }
        for (kind, count) in &bad_rows.by_kind {
            writeln!(formatter, "Left out: {count} rows, {kind}.")?;
        }
        bad_rows.fmt(formatter)
    }
}

/// A time as people write it.
pub fn shown(time_ns: impl Into<i128>) -> String {
    Timestamp::from_nanosecond(time_ns.into())
        .map_or_else(|_| "no date".to_owned(), |instant| instant.to_string())
}
