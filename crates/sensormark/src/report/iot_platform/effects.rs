//! What the choices of a design are worth: the filter by day, the index, and sums kept at write time, with what these cost.

use super::measured::{Figures, Measured, ratios};
use crate::report::field::Arm;
use crate::report::sections::cells::geometric_mean;
use crate::report::tables::{Cell, Section, Table};
use crate::workload::iot_platform::PlatformQuery as Query;

const NONE: &str = "not measured on both sides";

/// The section; empty when nothing can be set against anything.
pub fn section(measured: &Measured<'_>) -> Section {
    let mut section = Section::new("effects", "What the designs are worth");
    section.table(day_filter(measured));
    section.table(index(measured));
    section.table(sums(measured));
    section.table(ways_of_asking(measured));
    section.table(cost_of_sums(measured));
    section
}

/// A row of ratios by span; none where there is no ratio at all.
fn ratio_row(keys: Vec<Cell>, by_span: &[Figures]) -> Option<Vec<Cell>> {
    by_span.iter().flatten().flatten().next()?;
    let mut row = keys;
    row.extend(by_span.iter().map(|values| geometric_mean(values, NONE)));
    Some(row)
}

fn by_span(id: &str, title: &str, keys: &[&str], spans: &[u64]) -> Table {
    let spans: Vec<String> = spans.iter().map(|days| format!("{days} d")).collect();
    let mut columns: Vec<(&str, &str)> = keys.iter().map(|key| (*key, "")).collect();
    columns.extend(spans.iter().map(|span| (span.as_str(), "times")));
    let mut table = Table::new(id, title, &columns);
    table.keys = keys.len();
    table
}

fn day_filter(measured: &Measured<'_>) -> Table {
    let spans = measured.spans(&[Query::RawWithoutDays]);
    let mut table = by_span(
        "effect_day_filter",
        "The filter by day: raw values without it took so many times as long",
        &["implementation"],
        &spans,
    );
    for arm in measured.arms() {
        let of = |query, days| measured.ms(arm, query, days);
        let ratio = |&days| ratios(&of(Query::RawWithoutDays, days), &of(Query::Raw, days));
        let all: Vec<Figures> = spans.iter().map(ratio).collect();
        if let Some(row) = ratio_row(vec![Cell::text(&arm.label)], &all) {
            table.row(row);
        }
    }
    table
}

/// Queries that an index may help.
const INDEXED: [Query; 5] = [
    Query::Raw,
    Query::HourlyMeans,
    Query::DailyMeans,
    Query::DailyMeansFromSums,
    Query::TotalFromSums,
];

fn index(measured: &Measured<'_>) -> Table {
    let spans = measured.spans(&INDEXED);
    let mut table = by_span(
        "effect_index",
        "The index: without it a question took so many times as long",
        &["implementation", "query"],
        &spans,
    );
    // The study's own index has an ending that says which.
    let named = [
        ["bucketed-as-published", "bucketed-as-published-indexed"],
        ["bucketed-no-index", "bucketed-first-tag-index"],
    ];
    let named = named.into_iter();
    let named = named.filter_map(|layouts| measured.pair("MongoDB", layouts));
    for (without, with) in measured.pairs("-no-index").into_iter().chain(named) {
        for query in INDEXED {
            let of = |arm, days| measured.ms(arm, query, days);
            let ratio = |&days| ratios(&of(without, days), &of(with, days));
            let all: Vec<Figures> = spans.iter().map(ratio).collect();
            let keys = vec![Cell::text(&with.label), Cell::text(query.name())];
            if let Some(row) = ratio_row(keys, &all) {
                table.row(row);
            }
        }
        let writing = ratios(&measured.message_ms(with), &measured.message_ms(without));
        if let Some(ratio) = crate::report::claims::mean(&writing) {
            table.note(format!(
                "{}: a message took {} times as long with the index as without.",
                with.label,
                crate::report::number::significant(ratio, 3)
            ));
        }
    }
    table
}

/// Ways of asking the same documents, by their layouts' endings.
const WAYS: [&str; 2] = ["-unwind", "-set-window-fields"];

fn ways_of_asking(measured: &Measured<'_>) -> Table {
    let spans = measured.spans(&INDEXED);
    let mut table = by_span(
        "effect_way_of_asking",
        "Ways of asking the same documents: a question took so many times as long as in the usual way",
        &["implementation", "query"],
        &spans,
    );
    let all_pairs = WAYS.iter().flat_map(|ending| measured.pairs(ending));
    for (way, usual) in all_pairs {
        for query in [Query::Raw, Query::HourlyMeans, Query::DailyMeans] {
            let of = |arm, days| measured.ms(arm, query, days);
            let ratio = |&days| ratios(&of(way, days), &of(usual, days));
            let all: Vec<Figures> = spans.iter().map(ratio).collect();
            let keys = vec![Cell::text(&way.label), Cell::text(query.name())];
            if let Some(row) = ratio_row(keys, &all) {
                table.row(row);
            }
        }
    }
    table
}

/// Queries from raw values, and the same from sums.
const FROM_SUMS: [(Query, Query); 3] = [
    (Query::DailyMeans, Query::DailyMeansFromSums),
    (Query::DayAndNight, Query::DayAndNightFromSums),
    (Query::Total, Query::TotalFromSums),
];

fn sums(measured: &Measured<'_>) -> Table {
    let spans = measured.spans(&FROM_SUMS.map(|(_, sums)| sums));
    let mut table = by_span(
        "effect_sums",
        "Sums kept at write time: from raw values a question took so many times as long",
        &["implementation", "query"],
        &spans,
    );
    for arm in measured.arms() {
        for (raw, sums) in FROM_SUMS {
            let of = |query, days| measured.ms(arm, query, days);
            let ratio = |&days| ratios(&of(raw, days), &of(sums, days));
            let all: Vec<Figures> = spans.iter().map(ratio).collect();
            let keys = vec![Cell::text(&arm.label), Cell::text(raw.name())];
            if let Some(row) = ratio_row(keys, &all) {
                table.row(row);
            }
        }
    }
    table
}

/// What keeping sums costs, against the layout of the same database that keeps none.
fn cost_of_sums(measured: &Measured<'_>) -> Table {
    let columns = [
        ("implementation", ""),
        ("against", ""),
        ("a message", "times"),
        ("load", "times"),
        ("disk", "times"),
    ];
    let mut table = Table::new(
        "effect_cost_of_sums",
        "What keeping sums costs when writing: so many times the time and disk of values alone",
        &columns,
    );
    table.keys = 2;
    for (sums, plain) in pairs(measured) {
        let of = |figure: &dyn Fn(&Arm) -> Figures| {
            geometric_mean(&ratios(&figure(sums), &figure(plain)), NONE)
        };
        let seconds_a_value = |arm: &Arm| -> Figures {
            let rates = measured.loaded_a_second(arm);
            let seconds =
                |rate: Option<f64>| rate.filter(|rate| *rate > 0.0).map(|rate| 1.0 / rate);
            rates.into_iter().map(seconds).collect()
        };
        table.row(vec![
            Cell::text(&sums.label),
            Cell::text(&plain.label),
            of(&|arm| measured.message_ms(arm)),
            of(&seconds_a_value),
            of(&|arm| measured.disk_a_value(arm)),
        ]);
    }
    if !table.rows.is_empty() {
        table.note("MongoDB's documents of a day differ from documents of a value in more than their sums.");
    }
    table
}

/// Layouts with sums, each with the same database's layout of values alone.
fn pairs<'a>(measured: &Measured<'a>) -> Vec<(&'a Arm, &'a Arm)> {
    let pair = |arm: &'a Arm| {
        let own = &arm.implementation;
        let plain = ["summary", "bucketed"].iter().find_map(|family| {
            let rest = own.layout_name.strip_prefix(family)?;
            Some(format!("flat{rest}"))
        })?;
        Some((arm, measured.arm(&own.title, &plain)?))
    };
    measured.arms().filter_map(pair).collect()
}
