//! Each query's time over each span, and what writing came to.

use super::measured::{Figures, Measured, growth};
use crate::report::field::Arm;
use crate::report::sections::cells::{counted, geometric_mean, listed, mean};
use crate::report::tables::{Cell, Digits, Number, Section, Spread, Table};
use crate::workload::iot_platform::{LOAD, MESSAGES, PlatformQuery as Query};

/// What is printed where there is no figure.
const NONE: &str = "not asked, not supported or no valid trial";

/// A query, and what tells its rows apart from those of others in the same table.
pub type Rows = &'static [(Query, &'static str)];

/// Tables of queries: identifier, title, and the queries in it.
pub const TABLES: [(&str, &str, Rows); 5] = [
    (
        "platform_raw",
        "Raw values in order",
        &[
            (Query::Raw, ""),
            (Query::RawWithoutDays, ", no filter by day"),
        ],
    ),
    (
        "platform_hourly",
        "Mean of each hour",
        &[(Query::HourlyMeans, "")],
    ),
    (
        "platform_daily",
        "Mean of each day",
        &[
            (Query::DailyMeans, ""),
            (Query::DailyMeansFromSums, ", from sums"),
        ],
    ),
    (
        "platform_day_night",
        "Mean by day and by night",
        &[
            (Query::DayAndNight, ""),
            (Query::DayAndNightFromSums, ", from sums"),
        ],
    ),
    (
        "platform_total",
        "Mean of the whole span",
        &[(Query::Total, ""), (Query::TotalFromSums, ", from sums")],
    ),
];

/// The section.
pub fn section(measured: &Measured<'_>) -> Section {
    let mut section = Section::new("platform", "The platform's queries");
    section.table(writing(measured));
    for (id, title, rows) in TABLES {
        section.table(of_temperature(measured, id, title, rows));
    }
    section.table(own(measured));
    section
}

fn writing(measured: &Measured<'_>) -> Table {
    let columns = [
        ("implementation", ""),
        ("messages", "1/s"),
        ("mean", "ms"),
        ("p99", "ms"),
        ("load", "values/s"),
        ("disk", "MB"),
        ("disk a value", "bytes"),
        ("documents", ""),
        ("of documents", "MB"),
    ];
    let mut table = Table::new(
        "platform_writing",
        "Writing: message by message, then everything in batches",
        &columns,
    );
    let mut cut = Vec::new();
    for arm in measured.arms() {
        let missing = "not measured";
        let megabytes = super::measured::times(&measured.disk(arm), 1e-6);
        table.row(vec![
            Cell::text(&arm.label),
            geometric_mean(&measured.messages_a_second(arm), missing),
            mean(&measured.message_ms(arm), missing),
            geometric_mean(
                &measured.message_p99_ms(arm),
                "fewer than 10 samples beyond it",
            ),
            geometric_mean(&measured.loaded_a_second(arm), missing),
            mean(&megabytes, missing),
            mean(&measured.disk_a_value(arm), missing),
            mean(&measured.records(arm), "not counted"),
            mean(
                &super::measured::times(&measured.record_bytes(arm), 1e-6),
                "the database keeps no such count",
            ),
        ]);
        let is_cut = |operation: &&str| measured.is_cut(arm, operation);
        for operation in [MESSAGES, LOAD].iter().filter(|one| is_cut(one)) {
            cut.push(format!("{} ({operation})", arm.label));
        }
    }
    table.note("mean and p99: of a message. disk: growth of the data folder, at rest after the load, logs included. documents: documents, rows or points after the load; of documents: their bytes as MongoDB counts them (collStats), before compression, without indexes.");
    if !cut.is_empty() {
        let names: Vec<&str> = cut.iter().map(String::as_str).collect();
        table.note(format!(
            "Cut at the time limit, with the rate until then: {}. Queries are then about what was loaded.",
            listed(&names)
        ));
    }
    table
}

fn span_columns(spans: &[u64]) -> Vec<(String, &'static str)> {
    spans
        .iter()
        .map(|days| (format!("{days} d"), "ms"))
        .collect()
}

fn table(id: &str, title: &str, columns: &[(String, &'static str)]) -> Table {
    let columns: Vec<(&str, &str)> = columns
        .iter()
        .map(|(name, unit)| (name.as_str(), *unit))
        .collect();
    Table::new(id, title, &columns)
}

fn of_temperature(measured: &Measured<'_>, id: &str, title: &str, rows: &[(Query, &str)]) -> Table {
    let queries: Vec<Query> = rows.iter().map(|(query, _)| *query).collect();
    let spans = measured.spans(&queries);
    let mut columns = vec![("implementation".to_owned(), "")];
    columns.extend(span_columns(&spans));
    columns.push(("grows with span^".to_owned(), ""));
    let mut table = table(id, title, &columns);
    let mut in_client = Vec::new();
    for arm in measured.arms() {
        for (query, ending) in rows {
            let times: Vec<(u64, Figures)> = spans
                .iter()
                .map(|&days| (days, measured.ms(arm, *query, days)))
                .collect();
            if times
                .iter()
                .all(|(_, times)| times.iter().all(Option::is_none))
            {
                continue;
            }
            let label = format!("{}{ending}", arm.label);
            let mut row = vec![Cell::text(label)];
            row.extend(times.iter().map(|(_, times)| mean(times, NONE)));
            row.push(
                growth(&times).map_or_else(|| Cell::Missing("one span alone".to_owned()), exponent),
            );
            table.row(row);
            if measured.client_side(arm, *query) {
                in_client.push(arm);
            }
        }
    }
    note_client(&mut table, &in_client);
    if id == TABLES[0].0 {
        table.note("grows with span^x, here and below: 1 is in proportion to the span, 0 not at all; from the shortest span to the longest.");
    }
    table
}

/// An exponent, with two decimals.
const fn exponent(value: f64) -> Cell {
    Cell::Number(Number {
        value,
        spread: Spread::None,
        digits: Digits::Decimals(2),
    })
}

fn note_client(table: &mut Table, arms: &[&Arm]) {
    let mut names: Vec<&str> = arms.iter().map(|arm| arm.label.as_str()).collect();
    names.dedup();
    if !names.is_empty() {
        table.note(format!(
            "Done in the client, for the database cannot: {}.",
            listed(&names)
        ));
    }
}

/// The chart and the statistics, which are about other properties too.
fn own(measured: &Measured<'_>) -> Table {
    let mut columns = vec![("implementation".to_owned(), "")];
    let mut asked = Vec::new();
    for (query, word) in [(Query::Chart, "chart"), (Query::Statistics, "statistics")] {
        for days in measured.spans(&[query]) {
            columns.push((format!("{word}, {days} d"), "ms"));
            asked.push((query, days));
        }
    }
    let mut table = table(
        "platform_own",
        "The platform's own: a chart of the last 24 hours, statistics of every property of a device",
        &columns,
    );
    let mut in_client = Vec::new();
    for arm in measured.arms() {
        let times: Vec<Figures> = asked
            .iter()
            .map(|(query, days)| measured.ms(arm, *query, *days))
            .collect();
        if times.iter().flatten().all(Option::is_none) {
            continue;
        }
        let mut row = vec![Cell::text(&arm.label)];
        row.extend(times.iter().map(|times| mean(times, NONE)));
        table.row(row);
        if asked
            .iter()
            .any(|(query, _)| measured.client_side(arm, *query))
        {
            in_client.push(arm);
        }
    }
    note_client(&mut table, &in_client);
    if let Some(parameters) = measured.field.run.parameters.as_object() {
        let number = |name: &str| parameters.get(name).and_then(serde_json::Value::as_u64);
        if let (Some(points), Some(questions)) = (number("points"), number("questions")) {
            let points = usize::try_from(points).unwrap_or(usize::MAX);
            let questions = usize::try_from(questions).unwrap_or(usize::MAX);
            table.note(format!(
                "All queries: mean of {}, each about another stretch, property or device. A chart has at most {}.",
                counted(questions, "question"),
                counted(points, "point")
            ));
        }
    }
    table
}
