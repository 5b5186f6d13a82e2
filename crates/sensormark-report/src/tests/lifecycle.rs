//! Which tasks stand in which section.

use super::report;
use sensormark_result::measurement::lifecycle::TaskRecord;
use sensormark_result::measurement::record::TrialRecord;
use sensormark_result::tests::fixture::usual;

fn tasks(phase: &str, names: &[&str]) -> Vec<TaskRecord> {
    let task = |name: &&str| TaskRecord {
        phase: phase.to_owned(),
        task: (*name).to_owned(),
        ..TaskRecord::default()
    };
    names.iter().map(task).collect()
}

/// Rounds without a timed part, as those have that only compress what the database compresses by itself, stood among the operations.
#[test]
fn rounds_without_a_timed_part_are_no_operations() {
    let mut trial = usual("MariaDB", 10);
    let phase = trial.loads[0].phase.clone();
    trial.tasks = tasks(&phase, &["prepare", "round", "round"]);
    let rows = |trial: &TrialRecord, id: &str| {
        let report = report(vec![trial.clone()]);
        report.document().tables().find(|table| table.id == id).map(|table| table.rows.len())
    };
    assert_eq!(rows(&trial, "operations"), None);
    assert!(rows(&trial, "life").is_some());
    trial.tasks.extend(tasks(&phase, &["backup"]));
    assert_eq!(rows(&trial, "operations"), Some(1));
}

/// Of what a database cannot do there are no means to show: "MongoDB, add column:" stood there.
#[test]
fn means_are_of_what_was_done() {
    let mut trial = usual("MariaDB", 10);
    let phase = trial.loads[0].phase.clone();
    trial.tasks = tasks(&phase, &["backup", "add column"]);
    trial.tasks[0].means = vec!["its page".to_owned(), "$ a program".to_owned()];
    let text = format!("{:?}", report(vec![trial]).document());
    assert!(text.contains("MariaDB, backup: its page; $ a program"), "{text}");
    assert!(!text.contains("MariaDB, add column:"), "{text}");
}
