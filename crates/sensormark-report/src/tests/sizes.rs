//! Runs whose data grow: the ranking is at the size that two thirds reached, curves have every size, and projections keep to their rules.

use super::*;
use crate::brief::{Paths, Room, render};
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{Figure, LimitRecord};
use sensormark_result::tests::fixture::sized;

const DAY_NS: i64 = 86_400_000_000_000;

/// A thousand sensors that send once a second, kept for so many days.
fn kept(days: i64, trials: Vec<TrialRecord>) -> Report {
    let run = RunRecord {
        workload: "own".to_owned(),
        scale: "plant.toml".to_owned(),
        parameters: serde_json::json!({
            "keep_ns": days * DAY_NS,
            "tables": [{ "series": { "count": 1_000, "interval_ns": 1_000_000_000 } }],
        }),
        ..run()
    };
    Report::new(run, trials, &ReportOptions::default())
}

const FOUR: [u32; 4] = [1_000_000, 4_000_000, 16_000_000, 64_000_000];

/// Two reached the largest size, and one did not.
fn three() -> Vec<TrialRecord> {
    vec![sized("MariaDB", &FOUR), sized("PostgreSQL", &FOUR), sized("MongoDB", &FOUR[..3])]
}

#[test]
fn the_ranking_is_at_the_size_that_two_thirds_reached() {
    let report = kept(1, three());
    let summary = report.summary();
    assert_eq!(summary.readings.expect("readings").measured, Some(64_000_000));
    let text = render(&summary, &Paths::default(), Room { width: 100, height: None });
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("measured at 64 million readings; your 1d are 86 million"), "{text}");
    assert!(
        text.contains("MongoDB individual: lacks a size of 64 million readings (it reached 16 million)"),
        "{text}"
    );
    assert_eq!(order(&report).len(), 2);
    // Disk at that size: 6 MB and 100 bytes a reading.
    let disk = summary.columns.iter().position(|column| column.id == "disk_per_reading").expect("a column");
    for row in &summary.ranked {
        let bytes = row.figures[disk].expect("a figure");
        assert!((bytes - 100.093_75).abs() < 1e-6, "{bytes}");
    }
    // Had two of three stopped before, it would be the smaller one.
    let fewer =
        kept(1, vec![sized("MariaDB", &FOUR), sized("PostgreSQL", &FOUR[..3]), sized("MongoDB", &FOUR[..3])]);
    assert_eq!(fewer.summary().readings.expect("readings").measured, Some(16_000_000));
    assert_eq!(order(&fewer).len(), 3);
}

fn rows(report: &Report, id: &str) -> Vec<Vec<String>> {
    let mut tables = report.document().tables();
    let table = tables.find(|table| table.id == id).unwrap_or_else(|| panic!("no {id}"));
    table.rows.iter().map(|row| row.iter().map(number::cell_text).collect()).collect()
}

fn notes(report: &Report, id: &str) -> String {
    let mut tables = report.document().tables();
    tables.find(|table| table.id == id).map_or_else(String::new, |table| table.notes.join(" "))
}

#[test]
fn a_curve_has_every_size_and_is_projected_by_its_rule() {
    let report = kept(1, three());
    let disk = rows(&report, "figure_size_disk");
    let of =
        |name: &str, figures: &str| disk.iter().filter(|row| row[0] == name && row[1] == figures).count();
    assert_eq!((of("MariaDB individual", "here"), of("MongoDB individual", "here")), (4, 3));
    // The line to the user's size begins at the last one.
    assert_eq!(of("MariaDB individual", "projected"), 2);
    let last = disk.iter().find(|row| row[1] == "projected" && row[2] == "86,400,000").expect("it");
    // 8,646 MB, a tenth less and a tenth more.
    assert_eq!(last[3], "8,646 [7,781, 9,511]", "{last:?}");
    assert_eq!(
        notes(&report, "figure_size_point"),
        "MongoDB individual: ? (measured at 3 sizes, and it takes 4)"
    );
    // A year is too far for a question, and not for a disk.
    let far = kept(365, three());
    let note = notes(&far, "figure_size_point");
    assert!(
        note.contains("MariaDB individual: ? (measured with 64 million readings; yours are 31.5 billion)"),
        "{note}"
    );
    assert!(rows(&far, "figure_size_disk").iter().any(|row| row[1] == "projected"));
    // It is projected as far as the rule lets it be.
    let point = rows(&far, "figure_size_point");
    let farthest = point.iter().filter(|row| row[1] == "projected").map(|row| row[2].as_str());
    assert_eq!(farthest.collect::<Vec<_>>()[..2], ["64,000,000", "1,024,000,000"]);
    // What was measured lay in memory.
    let mut trials = three();
    for trial in &mut trials {
        trial.figures.insert(names::MEMORY_FOR_DATA.to_owned(), Figure::new(7e9, "bytes"));
    }
    let note = notes(&kept(1, trials), "figure_size_point");
    assert!(note.contains("? (measured in memory, and your data do not fit into it)"), "{note}");
}

#[test]
fn smaller_sizes_are_held_against_the_largest() {
    let sizes = [40_000, 160_000, 640_000, 2_560_000, 10_240_000, 40_960_000];
    let found = rows(&kept(1, vec![sized("MariaDB", &sizes)]), "held_out");
    let disk = found.iter().find(|row| row[1] == "disk").expect("the disk");
    assert_eq!(
        (&disk[2], &disk[3], &disk[7]),
        (&"40,960,000".to_owned(), &"2,560,000".to_owned(), &"yes".to_owned())
    );
}

/// What is open says which budget would tell: a trial of these took 64 million readings as long as its phases.
#[test]
fn what_is_open_for_its_size_names_a_budget() {
    let open = |readings: f64| {
        let mut trial = sized("MariaDB", &FOUR);
        trial.limits = vec![LimitRecord {
            text: "p99 of point <= 1 s".to_owned(),
            measured: None,
            unit: "ns".to_owned(),
            words: "measured with 64 million readings".to_owned(),
            met: false,
            is_undecided: true,
            needs_readings: Some(readings),
        }];
        kept(1, vec![trial]).summary().headline.join(" ")
    };
    assert!(open(64e6).contains("; --budget 10m would tell"), "{}", open(64e6));
    assert!(open(1e12).contains("; it takes more than --budget 8h"), "{}", open(1e12));
}
