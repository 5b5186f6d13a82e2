//! The study's figures beside ours, with the ratio.

use super::measured::{Figures, Measured};
use crate::report::field::Arm;
use crate::report::sections::cells::mean;
use crate::report::tables::{Cell, Section, Table};
use crate::workload::iot_platform::PlatformQuery as Query;

/// What the study measured in MongoDB without an index of its own making, with documents of a day.
pub const MONGODB: [&str; 2] = ["bucketed-no-index", "bucketed"];
/// What it measured in InfluxDB, by Flux.
pub const INFLUXDB: [&str; 2] = ["flat-flux", "flat"];
/// The days that its year has.
pub const YEAR: u64 = 365;

/// One figure of the study.
struct Row<'a> {
    arm: &'a Arm,
    figure: &'static str,
    unit: &'static str,
    study: f64,
    here: Figures,
}

/// The section; empty when nothing of the study was measured here.
pub fn section(measured: &Measured<'_>) -> Section {
    let mut section = Section::new("published", "The study's figures beside ours");
    let rows = rows(measured);
    if rows.is_empty() {
        return section;
    }
    let study = crate::published::iot_platform();
    section.paragraph(format!(
        "Study: {} ({}). Its machine: {}. Means of five runs of one question each. Ratios tell of the machines and versions as much as of the databases.",
        study.source.title,
        study.source.authors.join(", "),
        study.hardware
    ));
    let columns = [
        ("implementation", ""),
        ("figure", ""),
        ("unit", ""),
        ("study", ""),
        ("here", ""),
        ("here / study", ""),
    ];
    let mut table = Table::new(
        "published_platform",
        "The figures that its text gives",
        &columns,
    );
    table.keys = 2;
    for row in rows {
        let here = mean(&row.here, "not asked at this scale");
        let ratio = match &here {
            Cell::Number(number) => Cell::number(number.value / row.study),
            _ => Cell::Missing("not asked at this scale".to_owned()),
        };
        table.row(vec![
            Cell::text(&row.arm.label),
            Cell::text(row.figure),
            Cell::text(row.unit),
            Cell::number(row.study),
            here,
            ratio,
        ]);
    }
    table.note("The study's year has about 350 days, ours 365. Its bytes are of 36,000 documents, as MongoDB counts their data; ours are disk, at rest.");
    section.table(table);
    section.paragraph("What the study leaves open:");
    section.list(study.notes);
    section
}

fn rows<'a>(measured: &Measured<'a>) -> Vec<Row<'a>> {
    let study = crate::published::iot_platform();
    let mut rows = Vec::new();
    if let Some(arm) = measured.first("MongoDB", &MONGODB) {
        let figures = &study.mongodb;
        for (figure, query, ms) in [
            (
                "raw values of a day",
                Query::Raw,
                figures.range_1_day_with_day_filter_ms,
            ),
            (
                "the same without the filter by day",
                Query::RawWithoutDays,
                figures.range_1_day_without_day_filter_ms,
            ),
        ] {
            rows.push(Row {
                arm,
                figure,
                unit: "ms",
                study: ms,
                here: measured.ms(arm, query, 1),
            });
        }
        rows.push(Row {
            arm,
            figure: "size of a value",
            unit: "bytes",
            study: study.mongodb_bytes as f64 / study.points as f64,
            here: measured.disk_a_value(arm),
        });
    }
    if let Some(arm) = measured.first("InfluxDB", &INFLUXDB) {
        rows.extend(influxdb(measured, arm, &study));
    }
    rows
}

fn influxdb<'a>(
    measured: &Measured<'a>,
    arm: &'a Arm,
    study: &crate::published::IotPlatform,
) -> Vec<Row<'a>> {
    let figures = &study.influxdb;
    let row = |figure, unit, study, here| Row {
        arm,
        figure,
        unit,
        study,
        here,
    };
    let ms = |query| measured.ms(arm, query, YEAR);
    vec![
        row(
            "raw values of a year",
            "ms",
            figures.range_1_year_ms,
            ms(Query::Raw),
        ),
        row(
            "hourly means of a year",
            "ms",
            figures.window_1_hour_over_1_year_ms,
            ms(Query::HourlyMeans),
        ),
        row(
            "daily means of a year",
            "ms",
            figures.window_1_day_over_1_year_ms,
            ms(Query::DailyMeans),
        ),
        row(
            "temperatures in 90 days",
            "values",
            figures.values_in_90_days as f64,
            measured.found(arm, Query::Raw, 90),
        ),
        row(
            "temperatures in a year",
            "values",
            figures.values_in_1_year as f64,
            measured.found(arm, Query::Raw, YEAR),
        ),
        row(
            "values in all",
            "values",
            study.points as f64,
            measured.loaded(arm),
        ),
    ]
}
