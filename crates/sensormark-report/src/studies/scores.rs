//! The machine-tool study's scores, by its own formula and weights: its implementations among themselves, because scores depend on who is compared.

use super::*;
use sensormark_result::score::{Scores, block_scores};

/// The printed table of scores.
const SCORES: &str = "scores";

/// The scores of the study's implementations in a run, by the values of both trials in each repetition. A run that follows the study has its grades of
/// difficulty, the last figures of its tables: that of writing is the writer's, which the table of scores names.
fn scores(scope: &Scope<'_>) -> Scores {
    let scope = &Scope::new(scope.file, scope.field);
    let field = scope.field;
    let grade = |table: &str, name: &str| {
        let mut rows = scope.file.printed(table)?.rows.iter();
        rows.find(|row| field.run.as_study && row[0] == name)?.last()?.as_f64()
    };
    let grades = |row: &Scope<'_>| {
        let grades = [grade("write", row.text("writer")), grade("read", row.text("row"))];
        Some((row.fill("{implementation}")?, grades))
    };
    let grades: BTreeMap<_, _> = scope.printed_rows(SCORES).iter().filter_map(grades).collect();
    let of = |arm: &Arm, block: usize, grade: Known| {
        let trial = &field.trials[arm.places[block]?];
        let mut values = criteria::values(trial, &field.run);
        values.extend(grade.map(|grade| ("difficulty".to_owned(), grade)));
        trial.verdict.is_valid().then_some(values)
    };
    let all = field.reads.iter().filter_map(|read| {
        let [writing, reading] = *grades.get(&read.label)?;
        Some((
            read.label.clone(),
            (0..field.blocks.len())
                .map(|block| Some([of(field.write_of(read)?, block, writing)?, of(read, block, reading)?]))
                .collect_vec(),
        ))
    });
    block_scores(&all.collect_vec())
}

/// An implementation's scores among those of the study, by repetition: `total`, `writing`, `reading`, or its `rank`. Nothing where it is alone.
pub fn values(scope: &Scope<'_>, arm: &Arm, of: &str) -> Values {
    let all = scope.scores.get_or_init(|| scores(scope));
    let Some(one) = all.get(&arm.label).filter(|_| all.len() > 1) else { return vec![] };
    let value = |[total, writing, reading]: [f64; 3]| match of {
        "writing" => writing,
        "reading" => reading,
        "rank" => one.rank,
        _ => total,
    };
    one.blocks.iter().map(|scores| scores.map(value)).collect()
}
