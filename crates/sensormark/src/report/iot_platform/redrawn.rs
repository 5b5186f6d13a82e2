//! The study's charts, drawn again: each query's time over the span, by variant; its figures are those that its text gives.

use super::measured::Measured;
use super::published::YEAR;
use super::queries::TABLES;
use crate::published::IotPlatform;
use crate::report::redrawn::{self, Figure};
use crate::report::sections::cells::mean;
use crate::report::tables::{Cell, Section};
use crate::workload::iot_platform::PlatformQuery as Query;

/// What the study's text gives: query, database, days, ms.
fn printed(study: &IotPlatform) -> [(Query, &'static str, u64, f64); 5] {
    let (mongodb, influxdb) = (&study.mongodb, &study.influxdb);
    let (with, without) = (
        mongodb.range_1_day_with_day_filter_ms,
        mongodb.range_1_day_without_day_filter_ms,
    );
    [
        (Query::Raw, "MongoDB", 1, with),
        (Query::RawWithoutDays, "MongoDB", 1, without),
        (Query::Raw, "InfluxDB", YEAR, influxdb.range_1_year_ms),
        (
            Query::HourlyMeans,
            "InfluxDB",
            YEAR,
            influxdb.window_1_hour_over_1_year_ms,
        ),
        (
            Query::DailyMeans,
            "InfluxDB",
            YEAR,
            influxdb.window_1_day_over_1_year_ms,
        ),
    ]
}

/// The section.
pub fn section(measured: &Measured<'_>) -> Section {
    let published = printed(&crate::published::iot_platform());
    let figures = TABLES.iter().map(|(id, title, variants)| {
        let title = format!("{title}: time over span");
        let mut figure = Figure::lines(id, &title, ("span", "days"), ("mean", "ms"));
        for arm in measured.arms() {
            for (query, ending) in *variants {
                for days in measured.spans(&[*query]) {
                    let time = mean(&measured.ms(arm, *query, days), "not asked");
                    figure.here(&format!("{}{ending}", arm.label), Cell::Count(days), time);
                }
            }
        }
        for (query, ending) in *variants {
            for (_, name, days, ms) in published.iter().filter(|(own, ..)| own == query) {
                figure.published(&format!("{name}{ending}"), "", Cell::Count(*days), *ms);
            }
        }
        figure
    });
    redrawn::section(figures.collect())
}
