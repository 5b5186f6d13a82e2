//! The machine-tool study's scores, by its own formula and weights: its implementations among themselves, because scores depend on who is compared.

use crate::{claims::Values, prelude::*, studies::scope::Scope};
use sensormark_result::score::{Scores, Sides, block_scores};

/// The printed table of scores.
const SCORES: &str = "scores";

/// The study's grades of difficulty, of writing and of reading, by the names here of what stands for its implementations.
fn published_difficulties(scope: &Scope<'_>) -> [BTreeMap<String, f64>; 2] {
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
    // Tables of resources name what wrote; the scores name what read, on both sides.
    for row in rows(SCORES) {
        writing.extend(label(&row).zip(written.get(&text(&row, "writer")).copied()));
    }
    [writing, reading]
}

/// The values of both its trials in each repetition, with the study's difficulties where the run follows it.
fn sides(field: &Field, read: &Arm, difficulties: &[BTreeMap<String, f64>; 2]) -> Vec<Option<Sides>> {
    let of = |arm: &Arm, block: usize, side: usize| {
        let trial = &field.trials[arm.places[block]?];
        let mut values = criteria::values(trial, &field.run);
        let difficulty = difficulties[side].get(&read.label).filter(|_| field.run.as_study);
        values.extend(difficulty.map(|grade| ("difficulty".to_owned(), *grade)));
        trial.verdict.is_valid().then_some(values)
    };
    let in_block = |block| Some([of(field.write_of(read)?, block, 0)?, of(read, block, 1)?]);
    (0..field.blocks.len()).map(in_block).collect()
}

/// The scores of the study's implementations in a run.
fn scores(scope: &Scope<'_>) -> Option<Scores> {
    let scope = &Scope::new(scope.file, scope.results);
    let (field, difficulties) = (scope.results.field, published_difficulties(scope));
    let labels: Vec<String> =
        scope.printed_rows(SCORES)?.iter().filter_map(|row| row.fill("{implementation}")).collect();
    let reads = field.reads.iter().filter(|read| labels.contains(&read.label));
    let all: Vec<_> = reads.map(|read| (read.label.clone(), sides(field, read, &difficulties))).collect();
    Some(block_scores(&all))
}

/// What an implementation scores beside the study's others, by repetition: in `total`, for `writing`, for `reading`, or as a `rank`; nothing where it is alone.
pub fn values(scope: &Scope<'_>, arm: &Arm, of: &str) -> Values {
    let all = scope.scores.get_or_init(|| scores(scope).filter(|all| all.len() > 1));
    let Some(one) = all.as_ref().and_then(|all| all.get(&arm.label)) else {
        return vec![];
    };
    let value = |[total, writing, reading]: [f64; 3]| match of {
        "writing" => writing,
        "reading" => reading,
        "rank" => one.rank,
        _ => total,
    };
    one.blocks.iter().map(|scores| scores.map(value)).collect()
}
