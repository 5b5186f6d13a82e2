//! A recording: somebody's own readings, from a CSV file, as a data set.
//!
//! The file is read twice, so that memory holds its columns and nothing else. The first reading finds out what it is: delimiter, header, types, the time and
//! its format. The second takes the readings. A [`RecordingReport`] says what was found, and lists every row that cannot be read, by line: none is dropped in
//! silence. By default such a row ends the reading.
//!
//! It makes nothing up. No zone, order of day and month or decimal comma is guessed where the file does not decide. What is assumed instead is in the report,
//! or the error says how to state it. Operations on the recording are in `workload::replay`.

/// A regular expression by a name; # stands for a digit.
macro_rules! pattern {
    ($name:ident, $text:expr) => {
        static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(&$text.replace('#', "[0-9]")).expect("a regular expression"));
    };
}

mod options;

mod json;
#[cfg(feature = "parquet")]
mod parquet;
mod source;

mod dialect;
mod sniff;

mod rows;

mod cell;
mod number;
mod time;
mod time_source;

mod evidence;

mod find_time;
mod marks;

mod odd;
mod plan;

mod bad_rows;

mod take;

mod timing;

mod inspect;
mod names;
mod report;

mod error;

#[cfg(test)]
mod tests;

// What the parts name.
use {
    crate::{nearest::unknown, prelude::*},
    bad_rows::*,
    cell::*,
    csv::{ByteRecord, StringRecord},
    dialect::*,
    error::*,
    evidence::*,
    find_time::*,
    jiff::{Timestamp, tz::TimeZone},
    marks::*,
    names::*,
    number::*,
    plan::*,
    regex::Regex,
    report::*,
    rows::*,
    source::*,
    take::*,
    time::*,
    time_source::*,
};

pub use bad_rows::BadRows;
pub use error::RecordingError;
pub use inspect::{Inspection, inspect};
pub use names::name_of;
pub use options::{RecordingOptions, dashed};
pub use report::{ColumnReport, RecordingReport};
pub use time::{Epoch, TimeFormat};
pub use time_source::TimeSource;
pub use timing::{Gap, Timing};

/// The readings of one file, in columns, in the file's order.
#[derive(Debug)]
pub struct Recording {
    /// One table of the file's name.
    pub schema: Arc<Schema>,
    /// All readings, in the file's order.
    pub readings: Batch,
    /// What was found.
    pub report: RecordingReport,
}

impl Recording {
    /// Reads a CSV file.
    ///
    /// # Errors
    /// When the file cannot be read, or when what it means is not clear (the error names the option that says it). When a row cannot be read, unless
    /// [`RecordingOptions::skip_bad_rows`] is set.
    pub fn read(path: &Path, options: &RecordingOptions) -> Result<Self> {
        Self::try_read(path, options).or_else(|error| match error {
            RecordingError::System(error) => {
                unclear(format!("cannot read the recording {}: {error}", path.display()))
            }
            error => Err(error),
        })
    }

    fn try_read(path: &Path, options: &RecordingOptions) -> Result<Self> {
        if is_read_once(path) {
            return unclear(format!(
                "{} can be read only once; copy it to a file, or pipe it into sensormark replay -",
                path.display()
            ));
        }
        let dialect = sniff::sniff(source::Source::open(path, options)?, options)?;
        let evidence = evidence::gather(&dialect, options)?;
        let plan = plan::decide(&dialect, &evidence, options)?;
        let taken = take::take(&dialect, &plan, &evidence, options)?;
        check_dates(&plan, &evidence, &taken)?;
        check_series(&plan, &evidence, &taken, options)?;
        let mut recording = report::compile(&dialect, evidence.rows, plan, taken);
        recording.report.file = options.name.clone().unwrap_or(recording.report.file);
        Ok(recording)
    }
}

/// Whether this is a pipe, a device, or a stream of this process, which another process cannot read again.
pub fn is_read_once(path: &Path) -> bool {
    ["/dev/stdin", "/dev/fd", "/proc/self", "/proc/thread-self"].iter().any(|stream| path.starts_with(stream))
        || path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Dates without a time of day are the time only where they tell readings apart, or where the user says so.
fn check_dates(plan: &Plan, evidence: &Evidence, taken: &Taken) -> Result<()> {
    let (readings, repeated) = (taken.readings.len(), taken.timing.repeated);
    let most = if plan.tags.is_empty() { readings / 10 } else { readings / 2 };
    if plan.time.is_bare_date && repeated > most as u64 {
        let column = &plan.time.label;
        let clocks = evidence
            .columns
            .iter()
            .filter(|clock| is_named_clock(&clock.label) && !plan.time.columns.contains(&clock.number));
        let clocks = clocks.map(|clock| format!(" (⟦--time‖{column},{}⟧)", clock.label)).join("");
        return ask(format!(
            "column {column} has dates without a time of day, and {repeated} of {readings} readings share one. Say ⟦!--time‖{column},COLUMN⟧ if COLUMN has the time of day{clocks}, --time COLUMN if it has all of it, --tags COLUMN if it names the sensor, or ⟦!--time‖{column}⟧ if the date is enough"
        ));
    }
    Ok(())
}

/// Readings that repeat a time or are late, and are in order within each value of a column: that column may say which sensor they are of.
fn check_series(plan: &Plan, evidence: &Evidence, taken: &Taken, options: &RecordingOptions) -> Result<()> {
    let Taken { readings, timing, .. } = taken;
    let disorder = timing.repeated + timing.out_of_order;
    let is_typed = |label: &String| options.types.iter().any(|text| text.starts_with(&format!("{label}=")));
    if !plan.tags.is_empty() {
        return Ok(());
    }
    let half = readings.len() / 2;
    let candidates = plan.fields.iter().zip(&readings.columns).filter_map(|(field, column)| {
        let label = &evidence.columns[field.column].label;
        let is_name = matches!(field.kind, I64 | Text) && !is_typed(label);
        let is_number = odd::numbers_sensors(label);
        let most = if is_number { half } else { half.min(usize::try_from(disorder).ok()? + 1) };
        let is_name = is_name && (is_number || disorder > 1);
        let values = if is_name { ordered_values(column, &readings.times_ns, most)? } else { 0 };
        (values > 1).then_some((values, label))
    });
    candidates.min().map_or(Ok(()), |(values, label)| {
        ask(format!(
            "{disorder} readings repeat a time or come late, and none does within the {values} values of column {label}. Say ⟦--tags‖{label}⟧ if it names the sensor, or ⟦!--type‖{label}=text⟧ if not"
        ))
    })
}

/// How many values a column has, if there are no more than this, and the times of each ascend.
fn ordered_values(column: &Column, times_ns: &[i64], most: usize) -> Option<usize> {
    let mut latest = HashMap::new();
    for (row, &time_ns) in times_ns.iter().enumerate() {
        let before = latest.insert(column.value(row).to_string(), time_ns);
        if before.is_some_and(|before| before >= time_ns) || latest.len() > most {
            return None;
        }
    }
    Some(latest.len())
}
