//! An invented study: questions to SQLite and MariaDB in a greenhouse. Nothing of it was ever measured.

use crate::claims::claim;
use crate::field::Arm;
use crate::studies::figure::Figure;
use crate::studies::quantity::rate;
use crate::studies::select::{Results, loads};
use crate::studies::table::{beside, section, table, words};
use crate::studies::{Declaration, Study};

/// The study.
pub const STUDY: Study = Study {
    workload: "greenhouse",
    title: "Tomatoes by the second",
    authors: &[],
    venue: "invented",
    versions: &[("MariaDB", "2.0"), ("SQLite", "1.0")],
    system: "none",
    notes: &["It was never printed."],
    notes_title: "What the study leaves open:",
    declare,
    draw: |_| Vec::new(),
};

/// Questions a second that it printed.
const PRINTED: [(&str, f64); 2] = [("SQLite", 1_000.0), ("MariaDB", 500.0)];

fn declare(results: Results<'_>) -> Option<Declaration> {
    let questions = rate("questions", "1/s", loads("ask").operations_a_second());
    let found = PRINTED.map(|(title, _)| (title, results.nearest(title, |_| ())));
    let here = |arm: &Arm| questions.cell(results, arm);
    let id = "greenhouse_questions";
    let asked = results.table(id, "Questions", std::slice::from_ref(&questions));
    let printed = found.iter().zip(PRINTED).filter_map(|((title, arm), (_, printed))| {
        Some((words([title]), beside("1/s", printed, here((*arm)?))))
    });
    let is_empty = found.iter().all(|(_, arm)| arm.is_none());
    let faster = claim("SQLite answers twice as fast", "twice or more", |claim| {
        let [sqlite, mariadb] = claim.needs_both(found[0], found[1])?;
        let [one, other] = [sqlite, mariadb].map(|arm| results.sample(arm, &questions.metric));
        claim.over(&one, 2.0, &other, "questions a second");
        Some(())
    });
    let drawn = found.iter().zip(PRINTED).map(|((title, arm), (_, value))| (*title, *arm, value));
    Some(Declaration {
        tables: vec![section("greenhouse", "Greenhouse", [asked])],
        claims: if is_empty { Vec::new() } else { vec![faster] },
        instead_of_claims: vec!["Neither database has a valid trial here.".to_owned()],
        figures: vec![Figure::bars("questions", "Questions", ("questions", "1/s")).beside(
            results.arms(),
            here,
            drawn,
        )],
        setting: (!is_empty).then(|| format!("Study: {}.", STUDY.title)),
        published: vec![table(
            "published_greenhouse",
            "Questions: the study's and ours",
            &["database"],
            printed,
        )],
        ..Declaration::default()
    })
}
