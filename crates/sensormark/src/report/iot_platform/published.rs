//! The study's figures beside ours, with the ratio.

use super::measured::{Figures, Measured, ratios, times};
use crate::report::field::Arm;
use crate::report::sections::cells::mean;
use crate::report::tables::{Cell, Section, Table};
use crate::report::versions;
use crate::workload::iot_platform::PlatformQuery as Query;

/// What the study measured in MongoDB without an index of its own making, with documents of a day.
pub const MONGODB: [&str; 3] = ["bucketed-as-published", "bucketed-no-index", "bucketed"];
/// The same with the index on device and day.
pub const INDEXED: [&str; 3] = [
    "bucketed-as-published-indexed",
    "bucketed-first-tag-index",
    "bucketed",
];
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
    versions::put(&mut section, measured.field, &study.software);
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
    table.note("The study's year has about 350 days, ours 365. Its 300 MB are taken to be the data of its 36,000 documents as MongoDB counts it, before compression.");
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
        let points = study.points as f64;
        let a_value = |figures: Figures, factor: f64| {
            let loaded = measured.loaded(arm);
            times(&ratios(&figures, &loaded), factor)
        };
        rows.push(Row {
            arm,
            figure: "documents for a thousand values",
            unit: "",
            study: study.mongodb_documents as f64 / points * 1_000.0,
            here: a_value(measured.records(arm), 1_000.0),
        });
        rows.push(Row {
            arm,
            figure: "bytes of documents a value",
            unit: "bytes",
            study: study.mongodb_bytes as f64 / points,
            here: a_value(measured.record_bytes(arm), 1.0),
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
