//! What the page of a run is made of, as one JSON value: the document, who was measured, and the costs behind the ranking.

use super::{compact, curves, front, time_series};
use crate::{prelude::*, ranking::ABOUT_THE_SAME, studies};

/// Everything of a run.
pub fn data(report: &Report, folder: Option<&ResultsFolder>) -> Value {
    let field = report.field();
    json!({
        "name": clean(&field.run.name),
        "workload": clean(field.run.title()),
        "scale": clean(&field.run.scale),
        "started": clean(&field.run.started),
        "front": front::front(report),
        "document": compact::document(report.document(), studies::drawings(field)),
        "implementations": implementations(field),
        "ranking": ranking(report.ranking()),
        "curves": curves::curves(field),
        "prices": report.prices(),
        "time_series": folder.map_or_else(Vec::new, |folder| time_series::all(field, folder)),
    })
}

/// A document by itself under this headline, without anything to rank or to draw.
pub fn alone(document: &Document, headline: &str) -> Value {
    json!({
        "headline": headline,
        "document": compact::document(document, None),
        "implementations": [],
    })
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
            "durability": serde_json::to_value(implementation.durability).unwrap_or_default(),
        })
    };
    field.all().map(one).collect()
}

/// What rankings by other weights need: values by each criterion, over all repetitions and in each.
fn ranking(ranking: &Ranking) -> Value {
    if ranking.ranked.is_empty() {
        return Value::Null;
    }
    let criterion = |(criterion, weight): &(Criterion, f64)| json!({ "id": criterion.id, "name": criterion.name, "weight": weight });
    let contestant = |one: &Ranked| {
        json!({
            "label": one.label,
            "group": { "id": one.group.id(), "title": one.group.title() },
            "meets": one.meets,
            "values": one.values,
            "blocks": one.blocks,
        })
    };
    json!({
        "significance": SIGNIFICANCE,
        "smallest_repetitions": SMALLEST_REPETITIONS,
        "about_the_same": ABOUT_THE_SAME,
        "criteria": ranking.criteria.iter().map(criterion).collect_vec(),
        "contestants": ranking.ranked.iter().map(contestant).collect_vec(),
    })
}
