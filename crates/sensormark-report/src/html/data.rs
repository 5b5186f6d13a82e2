//! What the page of a run is made of, as one JSON value: the document, who was measured, and the costs behind the ranking.

use super::{compact, curves, front, time_series};
use crate::clean::clean;
use crate::field::{Arm, Field};
use crate::ranking::{Ranked, Ranking};
use crate::run_report::Report;
use crate::sections::side_text;
use crate::studies;
use crate::studies::drawing::{Drawing, Line};
use crate::tables::Document;
use sensormark_result::measurement::folder::ResultsFolder;
use sensormark_result::score::Board;
use sensormark_result::statistics::{Basis, SIGNIFICANCE, SMALLEST_REPETITIONS};
use serde_json::{Value, json};

/// Everything of a run.
pub fn data(report: &Report, folder: Option<&ResultsFolder>) -> Value {
    let field = report.field();
    json!({
        "name": clean(&field.run.name),
        "workload": clean(field.run.title()),
        "scale": clean(&field.run.scale),
        "started": clean(&field.run.started),
        "front": front::front(report),
        "document": compact::document(report.document()),
        "implementations": implementations(field),
        "ranking": ranking(field, report.ranking()),
        "curves": curves::curves(field),
        "time_series": folder.map_or_else(Vec::new, |folder| time_series::all(field, folder)),
        "drawings": drawings(field),
    })
}

/// A document by itself under this headline, without anything to rank or to draw.
pub fn alone(document: &Document, headline: &str) -> Value {
    json!({
        "headline": headline,
        "front": null,
        "document": compact::document(document),
        "implementations": [],
        "ranking": null,
        "curves": null,
        "time_series": [],
        "drawings": [],
    })
}

/// The study's pictures of its own data.
fn drawings(field: &Field) -> Vec<Value> {
    let line = |line: &Line| json!({ "name": line.name, "points": line.points, "dots": line.is_dots });
    let one = |drawing: Drawing| {
        let lines: Vec<Value> = drawing.lines.iter().map(line).collect();
        json!({
            "id": drawing.id,
            "title": drawing.title,
            "x": drawing.x,
            "y": drawing.y,
            "note": drawing.note,
            "lines": lines,
        })
    };
    studies::drawings(field).into_iter().map(one).collect()
}

/// Everybody who was measured, by what a reader may filter.
fn implementations(field: &Field) -> Vec<Value> {
    let one = |(side, arm): (&str, &Arm)| {
        let implementation = &arm.implementation;
        json!({
            "label": arm.label,
            "side": side,
            "store": clean(&implementation.title),
            "layout": clean(&implementation.layout_name),
            "strategy": implementation.strategy.as_deref().map(clean),
            "cluster": implementation.cluster.as_ref().map(|cluster| clean(&cluster.label())),
            "durability": serde_json::to_value(implementation.durability).unwrap_or_default(),
        })
    };
    field.all().map(one).collect()
}

/// What a ranking by other weights needs: costs in units of each column, means and repetitions.
fn ranking(field: &Field, ranking: &Ranking) -> Value {
    let Some(board) = &ranking.board else {
        return Value::Null;
    };
    let phases: Vec<Value> = board
        .tables()
        .iter()
        .map(|table| {
            let columns: Vec<Value> = table
                .columns
                .iter()
                .map(|column| {
                    json!({
                        "id": column.id,
                        "name": column.name,
                        "unit": column.unit,
                        "weight": column.weight,
                        "in_sum": column.in_sum,
                    })
                })
                .collect();
            json!({ "id": table.phase, "name": side_text(&table.phase), "columns": columns })
        })
        .collect();
    let contestants: Vec<Value> = ranking.ranked.iter().map(|one| contestant(field, board, one)).collect();
    json!({
        "tests_differences": ranking.basis == Basis::Significance,
        "significance": SIGNIFICANCE,
        "smallest_repetitions": SMALLEST_REPETITIONS,
        "phases": phases,
        "contestants": contestants,
    })
}

fn contestant(field: &Field, board: &Board, one: &Ranked) -> Value {
    let row = |table: &sensormark_result::score::Table| {
        let mut rows = table.rows.iter();
        let own = rows.find(|row| row.name == one.label());
        own.map(|row| row.costs.clone())
    };
    let costs: Vec<Option<Vec<f64>>> = board.tables().iter().map(row).collect();
    json!({
        "label": one.label(),
        "rank": one.rank,
        "meets": one.meets,
        "total": one.standing.total,
        "costs": costs,
        "blocks": one.costs,
        "implementation": field.contestants()[one.read].label,
    })
}
