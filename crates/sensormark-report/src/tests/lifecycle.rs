//! Which tasks stand in which section.

use super::report;
use sensormark_result::measurement::lifecycle::TaskRecord;
use sensormark_result::measurement::record::TrialRecord;
use sensormark_result::tests::fixture::usual;

fn tasks(names: &[&str]) -> Vec<TaskRecord> {
    let task = |name: &&str| TaskRecord { task: (*name).to_owned(), ..TaskRecord::default() };
    names.iter().map(task).collect()
}

/// Rounds without a timed part, as those have that only compress what the database compresses by itself, stood among the operations.
#[test]
fn rounds_without_a_timed_part_are_no_operations() {
    let mut trial = usual("MariaDB", 10);
    trial.tasks = tasks(&["prepare", "round", "round"]);
    let rows = |trial: &TrialRecord, id: &str| {
        let report = report(vec![trial.clone()]);
        report.document().tables().find(|table| table.id == id).map(|table| table.rows.len())
    };
    assert_eq!(rows(&trial, "operations"), None);
    assert!(rows(&trial, "life").is_some());
    trial.tasks.extend(tasks(&["backup"]));
    assert_eq!(rows(&trial, "operations"), Some(1));
}
