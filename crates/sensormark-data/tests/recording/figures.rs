//! Figures of a recording, from the answers that replays are checked against, in a form that another tool can compare.
//!
//! The figures are lines of cells with tabs between:
//!
//! - `delimiter`;
//! - `rows`;
//! - `time`: column from 1, format;
//! - `column`, once for each numeric field: column from 1, name, values, sum, minimum, maximum, mean;
//! - `hour`, once for each hour in which the first numeric field has a value: seconds since 1970, mean.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use sensormark_conformance::reference::Reference;
use sensormark_data::recording::{Recording, RecordingError, RecordingOptions, RecordingReport};
use sensormark_store::{
    Aggregate, Answer, AnswerSource, Ask, FieldType, Function, Group, Grouping, Query, RepeatedWrite,
    Selection, TimeRange, TimeResolution, Value, Window,
};

const HOUR_NS: i64 = 3_600_000_000_000;

/// The figures of the recording at this path, and what was found in it.
pub fn figures(path: &Path) -> Result<(String, RecordingReport), RecordingError> {
    let recording = Recording::read(path, &RecordingOptions::default())?;
    let report = &recording.report;
    let mut reference = Reference::new(Arc::clone(&recording.schema))
        .with_repeated_write(RepeatedWrite::KeepsBoth)
        .with_resolution(0, TimeResolution::Nanoseconds);
    reference.add(&recording.readings);
    reference.prepare();
    let mut text = format!("delimiter\t{}\n", report.delimiter);
    let mut line = |cells: &[String]| writeln!(text, "{}", cells.join("\t")).expect("in memory");
    line(&["rows".into(), reference.census().readings().to_string()]);
    let time = report.columns.iter().position(|column| column.role == "time");
    let format = report.time.format.to_string();
    line(&["time".into(), (time.expect("one is the time") + 1).to_string(), format]);
    let mut hourly = None;
    for (number, column) in report.columns.iter().enumerate() {
        let Some(field) =
            column.field.as_ref().filter(|field| matches!(field.kind, FieldType::F64 | FieldType::I64))
        else {
            continue;
        };
        let mut cells = vec!["column".into(), (number + 1).to_string(), field.name.clone()];
        let field = recording.schema.tables[0].field(&field.name).expect("a field");
        cells.extend(ask(&reference, report, field, None)[0].values.iter().map(plain));
        line(&cells);
        hourly.get_or_insert(field);
    }
    for group in hourly.map(|field| ask(&reference, report, field, Some(HOUR_NS))).into_iter().flatten() {
        let start = group.window_start_ns.expect("grouped by window") / 1_000_000_000;
        line(&["hour".into(), start.to_string(), plain(&group.values[4])]);
    }
    Ok((text, recording.report))
}

/// Count, sum, minimum, maximum and mean of a field over everything, by window where one is given.
fn ask(reference: &Reference, report: &RecordingReport, field: usize, window: Option<i64>) -> Vec<Group> {
    let functions = [Function::Count, Function::Sum, Function::Min, Function::Max, Function::Mean];
    let query = Query {
        table: 0,
        series: Selection::All,
        range: TimeRange::new(report.timing.first_ns, report.timing.last_ns + 1),
        ask: Ask::Aggregate {
            aggregates: functions.map(|function| Aggregate { function, field }).to_vec(),
            grouping: Grouping {
                window: window.map(|width_ns| Window { width_ns, origin_ns: 0 }),
                ..Grouping::default()
            },
            from_sums: false,
        },
    };
    match reference.answer(&query) {
        Answer::Groups(groups) => groups,
        other => panic!("aggregates are answered by groups, not {other:?}"),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::F64(value) => format!("{value:e}"),
        value => value.to_string(),
    }
}
