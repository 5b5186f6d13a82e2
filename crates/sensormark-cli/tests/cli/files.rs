//! Files that are derived from a run's raw results for other programs.

use crate::support::{Place, errors, read_folder};
use serde_json::Value;
use std::path::Path;

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
    place.measured("results", &["--set", "repetitions=1"]);
    assert!(place.run_folder().join("report.html").is_file());
    let folder = place.run_folder().to_string_lossy().into_owned();
    let files = ["--samples", "samples.csv", "--latencies", "latencies.csv"];
    let output = place.run(&[&["report", &folder], &files[..]].concat());
    assert!(output.status.success() && output.stdout.is_empty(), "{}", errors(&output));

    let (header, rows) = read(&place, "samples.csv");
    let at = |name: &str| header.iter().position(|column| column == name).expect("a column");
    assert!(rows.iter().all(|row| row.len() == header.len()));
    let trial: Vec<_> = rows.iter().filter(|row| row[at("process")] == "trial").collect();
    assert!(trial.len() > 1, "{header:?}");
    let cpu = |row: &[String]| row[at("cpu_ns")].parse::<u64>().expect("a count");
    assert!(cpu(trial[trial.len() - 1]) > cpu(trial[0]), "CPU time adds up");

    let (header, rows) = read(&place, "latencies.csv");
    let at = |name: &str| header.iter().position(|column| column == name).expect("a column");
    let count = |row: &Vec<String>| row[at("count")].parse::<u64>().expect("a count");
    let counted: u64 = rows.iter().map(count).sum();
    assert_eq!(counted, operations(&place), "every operation is in one second's line");
    let blocked = place.run(&["report", &folder, "--samples", "no/such/folder.csv"]);
    assert_eq!(blocked.status.code(), Some(4), "{}", errors(&blocked));
}

/// Copies what reports are made from, as somebody does who sends a run to somebody else.
fn send(run: &Path, to: &Path) {
    for part in ["", "trials", "samples"] {
        std::fs::create_dir_all(to.join(part)).expect("ours");
        let files = read_folder(&run.join(part));
        for file in files.iter().filter(|file| file.is_file()) {
            let name = file.file_name().expect("a name");
            std::fs::copy(file, to.join(part).join(name)).expect("a copy");
        }
    }
}

/// What `report` prints of a folder in a format, on a machine of other habits.
fn printed(place: &Place, run: &Path, format: &str, habits: [(&str, &str); 3]) -> Vec<u8> {
    let run = run.to_string_lossy().into_owned();
    let mut command = place.command(&["report", &run, "--full", "--format", format, "--disk", "500"]);
    let output = command.envs(habits).output().expect("the program starts");
    assert!(output.status.success(), "{}", errors(&output));
    assert!(output.stdout.len() > 1_000, "{format} has tables");
    output.stdout
}

const HERE: [(&str, &str); 3] = [("TZ", "UTC"), ("LC_ALL", "C"), ("COLUMNS", "80")];
const THERE: [(&str, &str); 3] = [("TZ", "Asia/Tokyo"), ("LC_ALL", "de_DE.UTF-8"), ("COLUMNS", "200")];
const FORMATS: [&str; 4] = ["json", "csv", "markdown", "text"];

/// Makes results of format 1 from those of this one, as the first versions wrote them.
fn age(run: &Path) {
    std::fs::remove_file(run.join("SHA256SUMS")).expect("a list of trials");
    let mut files = read_folder(&run.join("trials"));
    files.push(run.join("run.json"));
    for file in files {
        let text = std::fs::read(&file).expect("a record");
        let mut record: Value = serde_json::from_slice(&text).expect("JSON");
        record["schema_version"] = Value::from(1);
        for field in ["checksums", "trials"] {
            record.as_object_mut().expect("fields").remove(field);
        }
        if let Some(implementation) = record.get_mut("implementation") {
            let cache = implementation.as_object_mut().expect("fields").remove("cache");
            assert_eq!(cache, Some(Value::from("hot")));
        }
        let phases = record.get_mut("phases").and_then(Value::as_array_mut);
        for phase in phases.into_iter().flatten() {
            let roles = phase.pointer_mut("/totals/roles");
            let roles = roles.and_then(Value::as_object_mut);
            for role in roles.into_iter().flat_map(|roles| roles.values_mut()) {
                let role = role.as_object_mut().expect("a role");
                let charged = role.remove("storage_dirtied_bytes").expect("always kept");
                role.insert("storage_written_bytes".to_owned(), charged);
            }
        }
        let text = serde_json::to_vec(&record).expect("JSON");
        std::fs::write(&file, text).expect("ours");
    }
}

#[test]
fn the_same_tables_bit_for_bit_elsewhere_and_from_results_of_an_older_format() {
    let (place, elsewhere) = (Place::new(), Place::new());
    let run = place.measured("results", &[]);
    let (copy, old) = (elsewhere.path().join("sent"), elsewhere.path().join("old"));
    send(&run, &copy);
    send(&run, &old);
    age(&old);
    for format in FORMATS {
        let here = printed(&place, &run, format, HERE);
        assert!(here == printed(&elsewhere, &copy, format, THERE), "{format}");
        assert!(here == printed(&elsewhere, &old, format, THERE), "{format} of format 1");
    }
    let trial = read_folder(&old.join("trials")).remove(0);
    std::fs::write(&trial, "{\"schema_version\": 99}").expect("ours");
    let old = old.to_string_lossy().into_owned();
    let newer = elsewhere.run(&["report", &old]);
    assert_eq!(newer.status.code(), Some(2));
    assert!(newer.stdout.is_empty(), "no half of a report");
    assert!(errors(&newer).contains("use a newer sensormark"), "{}", errors(&newer));
}
