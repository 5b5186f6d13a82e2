//! Raw samples and latencies as CSV files that a data frame reads as they are: one line a sample, units in the columns' names. Nothing is
//! derived here, and trials of every verdict are in: the verdict is a column.

use crate::prelude::*;
use sensormark_result::probe::TreeRecord;

/// What every line says of its trial.
const TRIAL: [&str; 5] = ["trial", "implementation", "side", "repetition", "verdict"];

/// Samples of every process of every trial, one line a sample.
///
/// # Errors
/// A folder without samples.
pub fn samples(field: &Field, folder: &ResultsFolder) -> Result<String, String> {
    let mut columns: Vec<String> = match serde_json::to_value(TreeColumns::default()) {
        Ok(Value::Object(columns)) => columns.keys().cloned().collect(),
        _ => vec![],
    };
    columns.retain(|name| name != "monotonic_ns");
    let mut header: Vec<&str> = TRIAL.to_vec();
    header.extend(["process", "seconds"]);
    header.extend(columns.iter().map(String::as_str));
    let mut table = Table::new(&header);
    for (side, arm, trial) in field.each() {
        let Some(recording) = folder.samples(&trial.name) else {
            continue;
        };
        let begin = identity(side, arm, trial);
        for tree in &recording.trees {
            rows(&mut table, &begin, tree, &columns, recording.started_monotonic_ns);
        }
    }
    table.finish("no trial has samples: they are in samples/ of a run's folder")
}

fn rows(table: &mut Table, begin: &[String], tree: &TreeRecord, columns: &[String], origin_ns: u64) {
    let values = serde_json::to_value(&tree.columns).unwrap_or_default();
    for (place, at) in tree.columns.monotonic_ns.iter().enumerate() {
        let seconds = at.saturating_sub(origin_ns) as f64 / 1e9;
        let mut row = begin.to_vec();
        row.extend([tree.role.clone(), seconds.to_string()]);
        row.extend(columns.iter().map(|name| match &values[name][place] {
            Value::Null => String::new(),
            value => value.to_string(),
        }));
        table.row(&row);
    }
}

/// Latencies second by second, one line for each operation and second.
///
/// # Errors
/// A raw histogram that cannot be read, or none at all.
pub fn latencies(field: &Field) -> Result<String, String> {
    let further = ["operation", "open_loop", "second", "count", "mean_ns", "p50_ns", "p99_ns", "max_ns"];
    let mut table = Table::new(&[&TRIAL[..], &further].concat());
    for (side, arm, trial) in field.each() {
        let begin = identity(side, arm, trial);
        for one in timed(trial) {
            for second in &one.record.seconds {
                let histogram = decode(&second.v2)?;
                let mut row = begin.clone();
                row.extend([clean(&one.operation()), one.record.open_loop.to_string()]);
                let figures = [
                    second.second,
                    histogram.len(),
                    round_u64(histogram.mean()),
                    histogram.value_at_quantile(0.5),
                    histogram.value_at_quantile(0.99),
                    histogram.max(),
                ];
                row.extend(figures.map(|figure| figure.to_string()));
                table.row(&row);
            }
        }
    }
    table.finish("no trial has latencies")
}

fn identity(side: &str, arm: &Arm, trial: &TrialRecord) -> Vec<String> {
    vec![
        clean(&trial.name),
        arm.label.clone(),
        side.to_owned(),
        trial.repetition.to_string(),
        trial.state().to_owned(),
    ]
}

/// A CSV file in memory.
pub(super) struct Table {
    writer: csv::Writer<Vec<u8>>,
    rows: usize,
}

impl Table {
    /// With this header.
    pub(super) fn new(header: &[&str]) -> Self {
        let mut writer = csv::Writer::from_writer(vec![]);
        writer.write_record(header).expect("writing to memory");
        Self { writer, rows: 0 }
    }

    /// Adds a row.
    pub(super) fn row(&mut self, row: &[String]) {
        self.writer.write_record(row).expect("as long as the header");
        self.rows += 1;
    }

    /// The file, or why there is none.
    pub(super) fn finish(self, nothing: &str) -> Result<String, String> {
        if self.rows == 0 {
            return Err(nothing.to_owned());
        }
        let bytes = self.writer.into_inner().expect("writing to memory");
        Ok(String::from_utf8(bytes).expect("every field is text"))
    }
}
