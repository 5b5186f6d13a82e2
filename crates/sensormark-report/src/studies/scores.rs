//! The machine-tool study's scores: its implementations ranked among themselves, because scores depend on who is compared.

use super::scope::Scope;
use crate::claims::Values;
use crate::field::Arm;
use crate::ranking::{Ranked, Ranking};
use serde_json::Value;
use std::collections::BTreeMap;

/// The printed table of scores.
const SCORES: &str = "scores";

/// The study's grades of difficulty, of writing and of reading, by the names in the ranking of what stands for its implementations here.
pub fn published_difficulties(scope: &Scope<'_>) -> [BTreeMap<String, f64>; 2] {
    let text =
        |row: &Scope<'_>, name: &str| row.value(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let rows = |table: &str| scope.printed_rows(table).unwrap_or_default();
    let label = |row: &Scope<'_>| row.fill("{implementation}");
    let grade = |row: &Scope<'_>| row.value("values")?.as_array()?.last()?.as_f64();
    let [mut writing, reading] = ["write", "read"].map(|table| -> BTreeMap<String, f64> {
        rows(table).iter().filter_map(|row| Some((label(row)?, grade(row)?))).collect()
    });
    let written: BTreeMap<String, f64> =
        rows("write").iter().filter_map(|row| Some((text(row, "row"), grade(row)?))).collect();
    // Tables of resources name what wrote; the ranking names what read, on both sides.
    for row in rows(SCORES) {
        writing.extend(label(&row).zip(written.get(&text(&row, "writer")).copied()));
    }
    [writing, reading]
}

/// The ranking of these alone; none where fewer than two have a score.
fn ranking(scope: &Scope<'_>) -> Option<Ranking> {
    let scope = &Scope::new(scope.file, scope.results);
    let mut own = scope.results.field.clone();
    let rows = scope.printed_rows(SCORES)?;
    let labels: Vec<String> = rows.iter().filter_map(|row| row.fill("{implementation}")).collect();
    own.reads.retain(|read| labels.contains(&read.label));
    Ranking::new(&own, scope.results.options).ok().filter(|ranking| ranking.ranked.len() > 1)
}

/// What an implementation scores beside the study's others, by repetition: in `total`, for `writing`, for `reading`, or as a `rank`.
pub fn values(scope: &Scope<'_>, arm: &Arm, of: &str) -> Values {
    let ranking = scope.ranking.get_or_init(|| ranking(scope)).as_ref();
    let find =
        |ranking: &'_ Ranking| ranking.ranked.iter().find(|one| one.standing.name == arm.label).cloned();
    let Some((one, board)) = ranking.and_then(|ranking| find(ranking).zip(ranking.board.as_ref())) else {
        return Vec::new();
    };
    let score = |costs: &Vec<Vec<f64>>| {
        let costs: Vec<&[f64]> = costs.iter().map(Vec::as_slice).collect();
        let scores = board.scores_of(&costs);
        match of {
            "writing" => scores.first().copied(),
            "reading" => scores.get(1).copied(),
            "rank" => Some(one.rank as f64),
            _ => Some(scores.iter().sum::<f64>() / scores.len() as f64),
        }
    };
    let costs = |one: &Ranked| one.costs.iter().map(|costs| score(costs.as_ref()?)).collect();
    costs(&one)
}
