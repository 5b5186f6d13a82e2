//! What was found in a recording, in a form that people read and results keep. Nothing is found out here.

use std::fmt;

use jiff::Timestamp;
use sensormark_store::{FieldType, TimeResolution};

use super::bad_rows::BadRows;
use super::dialect::Dialect;
use super::evidence::Evidence;
use super::plan::{Plan, Role};
use super::take::Taken;
use super::time::TimeFormat;
use super::timing::Timing;

/// What was found in a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    pub time: TimeReport,
    /// Span, interval, gaps, repeated and late readings.
    pub timing: Timing,
    /// Rows that were left out because they cannot be read; none unless that was asked for.
    pub bad_rows: BadRows,
    /// What was taken for granted, in sentences.
    pub assumptions: Vec<String>,
}

/// One column of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnReport {
    /// Its name in the file, or the one that it was given.
    pub label: String,
    /// The field's name in the stores.
    pub name: String,
    /// What it is, in words: time, tag, field, or why it is left out.
    pub role: &'static str,
    /// The type of its values, of a field.
    pub kind: Option<FieldType>,
    /// Readings without, of a field.
    pub absent: u64,
}

/// The time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeReport {
    /// The column, or the columns with commas between.
    pub label: String,
    /// How times are written in it.
    pub format: TimeFormat,
    /// Why it is this column, and what else it could be, in words.
    pub reason: String,
    /// How finely readings are spaced.
    pub resolution: TimeResolution,
}

/// Puts together what was found.
pub(super) fn compile(
    dialect: &Dialect,
    evidence: &Evidence,
    plan: &Plan,
    taken: &Taken,
    timing: Timing,
) -> RecordingReport {
    let table = &taken.schema.tables[0];
    let column = |(number, role): (usize, &Role)| {
        let field = plan.fields.iter().position(|field| field.column == number);
        let present = field.map_or(0, |field| {
            let column = &taken.readings.columns[field];
            (0..taken.readings.len()).filter(|&row| column.has(row)).count() as u64
        });
        ColumnReport {
            label: plan.labels[number].clone(),
            name: field.map_or_else(String::new, |field| table.fields[field].name.clone()),
            role: role_text(*role),
            kind: field.map(|field| table.fields[field].kind),
            absent: field.map_or(0, |_| taken.readings.len() as u64 - present),
        }
    };
    RecordingReport {
        file: dialect.source.given.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        delimiter: char::from(dialect.delimiter),
        header: dialect.has_header,
        rows: evidence.rows,
        readings: taken.readings.len() as u64,
        series: table.series.len(),
        columns: plan.roles.iter().enumerate().map(column).collect(),
        time: TimeReport {
            label: plan.time.label(&plan.labels),
            format: plan.time.format.clone(),
            reason: plan.time.reason.clone(),
            resolution: table.time_resolution,
        },
        timing,
        bad_rows: taken.bad.clone(),
        assumptions: [&plan.assumptions[..], &told(taken.oddities)].concat(),
    }
}

/// What is said of times that are read as others.
fn told(oddities: [u64; 2]) -> Vec<String> {
    let words = [
        "times are written as 24:00, which is 00:00 of the next day",
        "times are leap seconds (23:59:60), which Unix time counts as 00:00:00 of the next day",
    ];
    let told = oddities.into_iter().zip(words).filter(|(count, _)| *count > 0);
    told.map(|(count, words)| format!("{count} {words}")).collect()
}

const fn role_text(role: Role) -> &'static str {
    match role {
        Role::Time => "time",
        Role::Tag { .. } => "tag",
        Role::Field(..) | Role::Mixed(..) => "field",
        Role::RowNumber => "row number, left out",
        Role::Empty => "empty, left out",
        Role::LeftOut => "left out as asked",
    }
}

/// Several plain lines of text.
impl fmt::Display for RecordingReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bad = self.bad_rows.count;
        writeln!(
            formatter,
            "{}: {} rows, {} readings of {} series, {bad} rows left out",
            self.file, self.rows, self.readings, self.series
        )?;
        self.write_form(formatter)?;
        self.write_timing(formatter)?;
        for column in &self.columns {
            write!(formatter, "  {}: {}", column.label, column.role)?;
            if let Some(kind) = column.kind {
                write!(formatter, " {}, {}", column.name, kind_text(kind))?;
                if column.absent > 0 {
                    write!(formatter, ", absent in {} readings", column.absent)?;
                }
            }
            writeln!(formatter)?;
        }
        for assumption in &self.assumptions {
            writeln!(formatter, "Assumed: {assumption}.")?;
        }
        for (kind, count) in &self.bad_rows.by_kind {
            writeln!(formatter, "Left out: {count} rows, {}.", kind.text())?;
        }
        write!(formatter, "{}", self.bad_rows)
    }
}

impl RecordingReport {
    fn write_form(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let delimiter = match self.delimiter {
            ',' => "comma".to_owned(),
            ';' => "semicolon".to_owned(),
            '\t' => "tab".to_owned(),
            '|' => "bar".to_owned(),
            other => format!("{other:?}"),
        };
        let header = if self.header { "" } else { ", no header" };
        writeln!(formatter, "  cells: delimiter {delimiter}{header}")
    }

    fn write_timing(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let timing = &self.timing;
        writeln!(
            formatter,
            "  time: column {} ({}), {}, whole {}, {} to {}",
            self.time.label,
            self.time.reason,
            self.time.format,
            format!("{:?}", self.time.resolution).to_lowercase(),
            shown(timing.first_ns),
            shown(timing.last_ns)
        )?;
        if let Some(interval) = timing.interval_ns {
            write!(
                formatter,
                "  interval: {} s (median), {} gaps over twice that",
                seconds(interval),
                timing.gaps
            )?;
            if let Some(gap) = timing.longest_gap {
                write!(formatter, ", the longest {} s from {}", seconds(gap.length_ns), shown(gap.start_ns))?;
            }
            writeln!(formatter)?;
        }
        writeln!(
            formatter,
            "  {} readings repeat a time, {} are out of order",
            timing.repeated, timing.out_of_order
        )
    }
}

/// A time as people write it.
pub(super) fn shown(time_ns: impl Into<i128>) -> String {
    Timestamp::from_nanosecond(time_ns.into())
        .map_or_else(|_| "no date".to_owned(), |instant| instant.to_string())
}

fn seconds(length_ns: i64) -> f64 {
    length_ns as f64 / 1e9
}

const fn kind_text(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Bool => "truth value",
        FieldType::I64 => "64-bit integer",
        FieldType::U16 => "16-bit integer",
        FieldType::F64 => "64-bit floating point",
        FieldType::Text => "text",
    }
}
