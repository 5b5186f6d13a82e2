//! Each study on records with known numbers: its own figures as if they had been measured here, and what differs from them.
//!
//! A sixth study, invented, is one file: `tests/greenhouse.toml`.

mod billing;
mod devops;
mod iot_platform;
mod kept;
mod machine_tool;
mod score;
mod sensor_operations;
mod shipped;

use crate::field::Field;
use crate::number::{self, cell_text};
use crate::studies::file::StudyFile;
use crate::tables::{self, Block, Cell, Document, Section, Table};
use crate::tests::{cell, report};
use crate::{Report, ReportOptions};
use sensormark_result::measurement::record::{RunRecord, TrialRecord};
use sensormark_result::tests::fixture::*;
use sensormark_result::tests::fixture::{load, of_phases};

/// A trial that asked 1,000 questions in so many seconds.
fn asked(title: &str, seconds: f64) -> TrialRecord {
    let mut questions = load("ask", false, seconds, 1_000, 1_000);
    questions.labels.insert("operation".to_owned(), "ask".into());
    of_phases(title, vec![questions])
}

const GREENHOUSE: &str = include_str!("greenhouse.toml");

fn sections(trials: Vec<TrialRecord>) -> Vec<Section> {
    let study = StudyFile::read("greenhouse.toml", GREENHOUSE).expect("a study");
    let run = RunRecord { workload: study.study.workload.clone(), ..run() };
    study.sections(&Field::new(run, trials))
}

/// What is wrong is told with file, line and the nearest right word.
#[test]
fn a_wrong_file_is_told_by_line() {
    for (right, wrong, told) in [
        ("system =", "systm =", "no key in [study] \"systm\"; did you mean system?"),
        ("operations ask", "operation ask", "no figure or database \"operation\"; did you mean operations?"),
        ("operations ask", "questions", "the figure \"questions\" names itself"),
        ("factor = 2", "factor = \"2\"", "factor must be a number"),
        ("left = \"SQLite\"", "left = \"SQLit\"", "no figure or database \"SQLit\"; did you mean SQLite?"),
        (
            "id = \"greenhouse_questions\"",
            "rows = \"implementaton\"",
            "no range \"implementaton\"; did you mean implementation?",
        ),
        ("factor = 2", "is = \"les\"", "no relation \"les\"; did you mean less?"),
        (
            "printed = \"greenhouse\"",
            "printed = \"greenhous\"",
            "no printed table \"greenhous\"; did you mean greenhouse?",
        ),
    ] {
        let line = GREENHOUSE.lines().position(|line| line.contains(right)).expect(right) + 1;
        let error = StudyFile::read("greenhouse.toml", &GREENHOUSE.replace(right, wrong))
            .err()
            .expect(wrong)
            .to_string();
        assert!(error.starts_with(&format!("greenhouse.toml:{line}: ")) && error.contains(told), "{error}");
    }
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

/// The tables of a section.
fn tables_of(section: &Section) -> impl Iterator<Item = &Table> {
    section.blocks.iter().filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    })
}

/// What the studies infer, and what does not follow from what they print, they say; each says what it ran.
#[test]
fn what_is_inferred_says_so() {
    let study = |workload| &super::study(workload).expect("a study").study;
    for workload in ["machine-tool", "sensor-operations", "billing", "devops", "iot-platform"] {
        let study = study(workload);
        assert!(
            !study.title.is_empty() && !study.notes.is_empty() && !study.versions.is_empty(),
            "{workload}"
        );
    }
    let says = |workload, words: &str| study(workload).notes.lines().any(|note| note.contains(words));
    assert!(says("machine-tool", "read = 71 is inferred"));
    assert!(says("devops", "43 bytes a value does not follow from 3.4 GB"));
}

/// The numbers of values agree with the study's own parameters only with 101 values a host.
#[test]
fn devops_total_is_hosts_times_ticks_times_values() {
    let values: u32 = 100 * (24 * 3_600 / 10) * 101;
    assert_eq!(values, 87_264_000, "as printed");
    let bytes = |unit: f64| 3.4 * unit / f64::from(values);
    assert!(bytes(1e9) < 39.0 && bytes(1_073_741_824.0) < 42.0);
    let [influxdb, mongodb] = ["InfluxDB", "MongoDB"].map(|title| printed("devops", "devops", &[title])[0]);
    assert!((influxdb / mongodb - 2.51).abs() < 0.005);
}

/// The figures that a study printed: of the row of this table that begins with these keys.
fn printed(workload: &str, table: &str, keys: &[&str]) -> Vec<f64> {
    let study = super::study(workload).expect("a study");
    let is_own = |row: &&Vec<serde_json::Value>| {
        row.iter()
            .zip(keys)
            .all(|(own, key)| own.as_str().map_or_else(|| own.to_string(), str::to_owned) == *key)
    };
    let row = study.printed(table).expect("a table").rows.iter().find(is_own).expect("a row");
    row[keys.len()..].iter().map(|figure| figure.as_f64().expect("a figure")).collect()
}

/// A study without options or a run of its own has no sections in another workload's report.
#[test]
fn a_study_is_reported_of_its_own_workload_alone() {
    let trials = vec![asked("SQLite", 1.0)];
    let report = Report::new(run(), trials, &ReportOptions::default());
    assert!(report.document().tables().all(|table| table.id != "greenhouse_questions"));
}

/// How many figures are drawn again, and how many of their bars stand beside those that the study printed, called so. These have to be alike. Exceptions are
/// scores, which are of other company, and load averages, of which one machine has one for both sides.
fn drawn_as(report: &Report, published: &str) -> (usize, usize) {
    let drawn = || report.document().tables().filter(|table| table.drawing.is_some());
    let mut pairs = 0;
    let is_held = |table: &&Table| !table.id.starts_with("figure_score") && !table.id.ends_with("_load");
    for table in drawn().filter(is_held) {
        let of = |figures: &str| {
            let rows = table.rows.iter();
            let own = rows.filter(|row| row[1] == Cell::text(figures));
            own.cloned()
                .map(|mut row| {
                    (row.pop(), {
                        row.remove(1);
                        row
                    })
                })
                .collect::<Vec<_>>()
        };
        let ours = of("here");
        assert!(!ours.is_empty(), "{}: none of it is ours", table.id);
        for (printed, keys) in of(published) {
            let same = ours.iter().find(|(_, own)| *own == keys);
            let Some((Some(Cell::Number(here)), _)) = same else {
                continue;
            };
            let Some(Cell::Number(printed)) = printed else {
                panic!("{}: {printed:?}", table.id);
            };
            let apart = (here.value - printed.value).abs();
            assert!(apart <= printed.value * 0.01, "{} {keys:?}: {here:?} {printed:?}", table.id);
            pairs += 1;
        }
    }
    (drawn().count(), pairs)
}
