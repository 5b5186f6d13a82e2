//! A sixth study, invented, is one file: `tests/greenhouse.rs`.

mod greenhouse;

use crate::measurement::record::{RunRecord, TrialRecord};
use crate::report::ReportOptions;
use crate::report::field::Field;
use crate::report::number::cell_text;
use crate::report::tables::{Document, Section, Table};
use crate::report::tests::fixture::{run, thrice};
use crate::report::tests::phased::{load, of_phases};

/// A trial that asked 1,000 questions in so many seconds.
fn asked(title: &str, seconds: f64) -> TrialRecord {
    let mut questions = load("ask", false, seconds, 1_000, 1_000);
    questions
        .labels
        .insert("operation".to_owned(), "ask".into());
    of_phases(title, vec![questions])
}

fn sections(trials: Vec<TrialRecord>) -> Vec<Section> {
    let run = RunRecord {
        workload: greenhouse::STUDY.workload.to_owned(),
        ..run()
    };
    greenhouse::STUDY.sections(&Field::new(run, trials))
}

fn table(sections: &[Section], id: &str) -> Option<Table> {
    let mut document = Document::default();
    for section in sections {
        document.section(section.clone());
    }
    document.tables().find(|table| table.id == id).cloned()
}

#[test]
fn a_sixth_study_is_one_file() {
    let both = sections(thrice(vec![asked("SQLite", 1.0), asked("MariaDB", 4.0)]));
    let cell = |id: &str, row: usize, column: usize| {
        cell_text(&table(&both, id).expect("a table").rows[row][column])
    };
    assert_eq!(cell("greenhouse_questions", 0, 1), "1,000 [1,000, 1,000]");
    assert_eq!(cell("claims", 0, 1), "held");
    assert_eq!(cell("published_greenhouse", 1, 3), "0.500");
    let drawn = table(&both, "figure_questions").expect("a figure");
    assert_eq!(drawn.rows.len(), 4, "two of ours and two printed ones");
}

#[test]
fn its_claim_is_refuted_undecided_and_open_like_any_other() {
    let outcome = |trials: Vec<TrialRecord>| {
        let claims = table(&sections(trials), "claims").expect("claims");
        cell_text(&claims.rows[0][1])
    };
    let slow = vec![asked("SQLite", 4.0), asked("MariaDB", 1.0)];
    assert_eq!(outcome(thrice(slow.clone())), "did not hold");
    assert_eq!(outcome(slow), "undecided", "one repetition");
    let alone = vec![asked("SQLite", 1.0)];
    assert_eq!(outcome(thrice(alone)), "cannot be judged");
    let others = sections(thrice(vec![asked("MongoDB", 1.0)]));
    assert!(table(&others, "claims").is_none());
    assert!(table(&others, "published_greenhouse").is_none());
}

/// A study without options or a run of its own has no sections in another workload's report.
#[test]
fn a_study_is_reported_of_its_own_workload_alone() {
    let trials = vec![asked("SQLite", 1.0)];
    let report = crate::report::Report::new(run(), trials, &ReportOptions::default());
    let report = report.expect("a report");
    assert!(
        report
            .document()
            .tables()
            .all(|table| table.id != "greenhouse_questions")
    );
}
