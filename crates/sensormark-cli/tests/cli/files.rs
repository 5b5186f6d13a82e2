//! Files that are derived from a run's raw results for other programs.

use crate::support::{Place, errors};

const WORKLOAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/own.toml");

/// The lines of a CSV file without quoted fields: header, then rows by column.
fn read(place: &Place, name: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let text = std::fs::read_to_string(place.path().join(name)).expect("it was written");
    let split = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let mut lines = text.lines().map(split);
    let header = lines.next().expect("a header");
    (header, lines.collect())
}

/// Operations of the one trial.
fn operations(place: &Place) -> u64 {
    let record = &place.trials()[0];
    let loads = record["loads"].as_array().expect("loads").iter();
    let classes = loads.flat_map(|load| load["classes"].as_object().expect("classes").values());
    let counts = classes.map(|class| class["operations"].as_u64().expect("a count"));
    counts.sum()
}

#[test]
fn samples_and_latencies_are_one_line_each() {
    let place = Place::new();
    let set = ["--set", "layouts=bulk", "--set", "repetitions=1"];
    let common = [
        "--results",
        "results",
        "--tolerate-disturbance",
        "--progress=quiet",
    ];
    let run = place.run(&[&["run", WORKLOAD], &set[..], &common[..]].concat());
    assert!(
        run.status.code().is_some_and(|code| code < 2),
        "{}",
        errors(&run)
    );
    assert!(place.run_folder().join("report.html").is_file());
    let folder = place.run_folder().to_string_lossy().into_owned();
    let files = ["--samples", "samples.csv", "--latencies", "latencies.csv"];
    let output = place.run(&[&["report", &folder], &files[..]].concat());
    assert!(
        output.status.success() && output.stdout.is_empty(),
        "{}",
        errors(&output)
    );

    let (header, rows) = read(&place, "samples.csv");
    let at = |name: &str| {
        header
            .iter()
            .position(|column| column == name)
            .expect("a column")
    };
    assert!(rows.iter().all(|row| row.len() == header.len()));
    let trial: Vec<_> = rows
        .iter()
        .filter(|row| row[at("process")] == "trial")
        .collect();
    assert!(trial.len() > 1, "{header:?}");
    let cpu = |row: &[String]| row[at("cpu_ns")].parse::<u64>().expect("a count");
    assert!(
        cpu(trial[trial.len() - 1]) > cpu(trial[0]),
        "CPU time adds up"
    );

    let (header, rows) = read(&place, "latencies.csv");
    let at = |name: &str| {
        header
            .iter()
            .position(|column| column == name)
            .expect("a column")
    };
    let count = |row: &Vec<String>| row[at("count")].parse::<u64>().expect("a count");
    let counted: u64 = rows.iter().map(count).sum();
    assert_eq!(
        counted,
        operations(&place),
        "every operation is in one second's line"
    );
    let blocked = place.run(&["report", &folder, "--samples", "no/such/folder.csv"]);
    assert_eq!(blocked.status.code(), Some(2), "{}", errors(&blocked));
}
