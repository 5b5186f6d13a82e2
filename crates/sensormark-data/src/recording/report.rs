//! What was found in a recording, in a form that people read and results keep. Nothing is found out here.

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

/// Puts together what was found.
pub fn compile(dialect: &Dialect, rows: u64, mut plan: Plan, taken: Taken) -> Recording {
    let table = &taken.schema.tables[0];
    let fields = plan.fields.iter().zip(&table.fields).zip(&taken.readings.columns);
    // Of a column of numbers and texts, the numbers are shown.
    for ((source, field), values) in fields.rev() {
        let column = &mut plan.columns[source.column];
        column.field = Some(field.clone());
        column.absent = values.present.iter().flatten().filter(|is_present| !**is_present).count() as u64;
    }
    plan.assumptions.extend(taken.notes);
    let report = RecordingReport {
        file: dialect.source.given.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        delimiter: dialect.delimiter.into(),
        header: dialect.has_header,
        rows,
        readings: taken.readings.len() as u64,
        series: table.series.len(),
        columns: plan.columns,
        time: plan.time,
        resolution: table.time_resolution,
        timing: taken.timing,
        bad_rows: taken.bad,
        assumptions: plan.assumptions,
    };
    Recording { schema: Arc::new(taken.schema), readings: taken.readings, report }
}

/// Several plain lines of text.
impl Display for RecordingReport {
    fn fmt(&self, formatter: &mut Formatter) -> fmt::Result {
        let header = if self.header { "" } else { ", no header" };
        write!(
            formatter,
            "{}: {} rows, {} readings of {} series, {} rows left out\n  cells: delimiter {:?}{header}\n{}",
            self.file,
            self.rows,
            self.readings,
            self.series,
            self.bad_rows.count,
            self.delimiter,
            self.times()
        )?;
        for column in &self.columns {
            write!(formatter, "  {}: {}", column.label, column.role)?;
            if let Some(field) = &column.field {
                let kind = match field.kind {
                    Bool => "truth value",
                    I64 | U16 => "64-bit integer",
                    F64 => "64-bit floating point",
                    Text => "text",
                };
                write!(formatter, " {}, {kind}", field.name)?;
            }
            if column.absent > 0 {
                write!(formatter, ", absent in {} readings", column.absent)?;
            }
            writeln!(formatter)?;
        }
        for assumption in &self.assumptions {
            writeln!(formatter, "Assumed: {assumption}.")?;
        }
        for (kind, count) in &self.bad_rows.by_kind {
            writeln!(formatter, "Left out: {count} rows, {}.", kind)?;
        }
        write!(formatter, "{}", self.bad_rows)
    }
}

impl RecordingReport {
    /// What is found of times, in lines.
    fn times(&self) -> String {
        let (time, timing) = (&self.time, &self.timing);
        let seconds = |length_ns: i64| length_ns as f64 / 1e9;
        let gap = timing.longest_gap.map_or_else(String::new, |gap| {
            format!(", the longest {} s from {}", seconds(gap.length_ns), shown(gap.start_ns))
        });
        let interval = timing.interval_ns.map_or_else(String::new, |interval| {
            format!(
                "  interval: {} s (median), {} gaps over twice that{gap}\n",
                seconds(interval),
                timing.gaps
            )
        });
        format!(
            "  time: column {} ({}), {}, whole {}, {} to {}\n{interval}  {} readings repeat a time, {} are out of order\n",
            time.label,
            time.reason,
            time.format,
            format!("{:?}", self.resolution).to_lowercase(),
            shown(timing.first_ns),
            shown(timing.last_ns),
            timing.repeated,
            timing.out_of_order
        )
    }
}

/// A time as people write it.
pub fn shown(time_ns: impl Into<i128>) -> String {
    Timestamp::from_nanosecond(time_ns.into())
        .map_or_else(|_| "no date".to_owned(), |instant| instant.to_string())
}
