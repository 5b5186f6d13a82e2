//! Workloads that are files the program carries, small and from end to end on SQLite; and questions with their right answers as files.

use crate::support::{Place, held_against, said};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const SLOW_CONTROL: [&str; 8] = [
    "sensors=20",
    "step=400",
    "batches=50,200",
    "clients=1,3",
    "grown=20000",
    "questions=5",
    "cold=1",
    "read_to_written=1",
];
const HYDROMETRY: [&str; 7] = [
    "many=10",
    "many_minutes=4",
    "sensors=6",
    "grown_hours=3",
    "asked_minutes=20,5",
    "asked_sensors=2,6",
    "rates=600,1200",
];

/// The names of the loads of a trial that answered something, each with all answers right.
fn right(workload: &str, settings: &[&str]) -> BTreeSet<String> {
    let place = Place::new();
    let settings = [settings, &["seconds=1", "questions=5"]].concat();
    let output = place.measure(workload, &settings, &["--on", "sqlite:individual"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let trial = &place.trials()[0];
    assert!(held_against(trial).is_empty(), "{text}");
    assert_eq!((&trial["answers"]["wrong"], &trial["ledger"]["lost"]), (&0.into(), &0.into()), "{text}");
    let loads = trial["loads"].as_array().expect("loads").iter();
    let asked = loads.filter(|load| load["writes"] == false && load["answers"]["checked"].as_u64() > Some(0));
    asked.map(|load| load["labels"]["operation"].as_str().expect("a label").to_owned()).collect()
}

#[test]
fn slow_control_is_measured_and_every_answer_is_right() {
    let asked = right("slow-control", &SLOW_CONTROL);
    let wanted =
        ["Q1", "Q2", "Q3", "Q4", "Q5", "mixed", "Q1 cold", "Q2 cold", "Q3 cold", "Q4 cold", "Q5 cold"];
    assert_eq!(asked, wanted.map(str::to_owned).into());
}

#[test]
fn hydrometry_is_measured_and_every_answer_is_right() {
    let asked = right("hydrometry", &HYDROMETRY);
    let mut wanted: BTreeSet<String> = (1..=11).map(|number| format!("Q{number}")).collect();
    wanted.insert("online".to_owned());
    assert_eq!(asked, wanted);
}

/// The files that docs/reference/checked-answers.md names, each with the words of the command that makes it.
fn files() -> Vec<(PathBuf, Vec<String>)> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = std::fs::read_to_string(docs.join("reference/checked-answers.md")).expect("the page");
    let rows = page.lines().filter(|line| line.contains(".jsonl |"));
    let file = |row: &str| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let command = cells[3].trim_matches('`').split(' ').skip(1);
        (docs.join("answers").join(cells[1]), command.map(str::to_owned).collect())
    };
    rows.map(file).collect()
}

/// `SENSORMARK_WRITE_PINS=1` writes them anew.
#[test]
fn the_files_of_answers_are_what_their_commands_write() {
    let files = files();
    assert_eq!(files.len(), 3);
    for (path, command) in files {
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let output = Place::new().run(&command);
        assert!(output.status.success(), "{}", said(&output));
        if std::env::var_os("SENSORMARK_WRITE_PINS").is_some() {
            std::fs::write(&path, &output.stdout).expect("the folder is there");
        }
        let kept = std::fs::read(&path).expect("a file of answers");
        assert!(kept == output.stdout, "{}: the command writes other lines", path.display());
        let mut found: BTreeMap<String, bool> = BTreeMap::new();
        for line in String::from_utf8_lossy(&kept).lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let answer = line["answer"].as_array().expect("rows");
            *found.entry(line["kind"].to_string()).or_default() |= !answer.is_empty();
        }
        assert!(found.values().all(|found| *found), "{}: {found:?}", path.display());
        assert!(kept.len() < 1_000_000, "{}: {} bytes", path.display(), kept.len());
    }
}

/// The numbers of a row.
fn values(row: &Value) -> Vec<f64> {
    row["values"].as_array().expect("values").iter().map(|value| value.as_f64().expect("a number")).collect()
}

/// What a tool of somebody else's does: it reads the data as CSV, and computes by hand what lines ask.
#[test]
fn answers_follow_from_the_data_as_csv() {
    let mut checked: BTreeMap<String, usize> = BTreeMap::new();
    for (path, command) in files() {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let (table, tag, hours) = match name.as_str() {
            "slow-control" => ("readings", "sensor", "1000s"),
            "hydrometry" => ("long", "id_station", "2h"),
            _ => continue,
        };
        let at = command.iter().position(|word| word == "--answers").expect("the option");
        let mut command: Vec<&str> = command.iter().map(String::as_str).collect();
        command.drain(at..at + 2);
        let output = Place::new()
            .run(&[&command, &["--format", "csv", "--table", table, "--for", hours][..]].concat());
        assert!(output.status.success(), "{}", said(&output));
        let csv = String::from_utf8(output.stdout).expect("text");
        let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let header = lines.next().expect("a header");
        let rows: Vec<Vec<&str>> = lines.collect();
        let lines = std::fs::read_to_string(&path).expect("a file of answers");
        for line in lines.lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            if line["table"] != table {
                continue;
            }
            let [from, until] = ["from_ns", "until_ns"].map(|key| line[key].as_i64().expect("a time"));
            let column = |row: &[&str], name: &str| -> f64 {
                row[header.iter().position(|one| *one == name).expect("a column")].parse().expect("a number")
            };
            // The values of a field of the series of this number in the line.
            let of = |series: usize, field: &Value| -> Vec<(i64, f64)> {
                let wanted = line["series"][series][tag].as_str().expect("a tag");
                let field = field.as_str().expect("a field");
                let place = header.iter().position(|one| *one == tag).expect("a column");
                let own = rows.iter().filter(|row| row[place] == wanted);
                let timed = own.map(|row| (row[0].parse::<i64>().expect("a time"), column(row, field)));
                timed.filter(|(time, _)| (from..until).contains(time)).collect()
            };
            let mean = |values: &[(i64, f64)]| {
                values.iter().map(|(_, value)| value).sum::<f64>() / values.len() as f64
            };
            let answer = line["answer"].as_array().expect("rows");
            let expected: Vec<Vec<f64>> = match line["kind"].as_str().expect("a kind") {
                // A sample's deviation.
                "Q3" if name == "slow-control" => {
                    let own = of(0, &line["asked"]["aggregate"]["aggregates"][0]["field"]);
                    let squares: f64 = own.iter().map(|(_, value)| (value - mean(&own)).powi(2)).sum();
                    vec![vec![(squares / (own.len() - 1) as f64).sqrt()]]
                }
                "Q2" if name == "slow-control" => {
                    let asked = &line["asked"]["derived"]["out_of_range"];
                    let width = asked["window"]["width_ns"].as_i64().expect("a width");
                    let mut windows: BTreeMap<i64, (f64, f64)> = BTreeMap::new();
                    for (time, value) in of(0, &asked["field"]) {
                        let window = windows.entry(time.div_euclid(width)).or_insert((value, value));
                        *window = (window.0.max(value), window.1.min(value));
                    }
                    let [above, below] = ["above", "below"].map(|key| asked[key].as_f64().expect("a bound"));
                    let passes = |(most, least): &(f64, f64)| *most > above || *least < below;
                    windows.into_values().filter(passes).map(|(most, least)| vec![most, least]).collect()
                }
                "Q5" if name == "slow-control" => {
                    let asked = &line["asked"]["derived"]["difference"];
                    let width = asked["window"]["width_ns"].as_i64().expect("a width");
                    let means = |series: usize| {
                        let mut windows: BTreeMap<i64, Vec<(i64, f64)>> = BTreeMap::new();
                        for (time, value) in of(series, &asked["field"]) {
                            windows.entry(time.div_euclid(width)).or_default().push((time, value));
                        }
                        windows
                    };
                    let (one, other) = (means(0), means(1));
                    one.iter().map(|(window, values)| vec![mean(&other[window]) - mean(values)]).collect()
                }
                "Q6" | "Q7" => {
                    let (is_mean, asked) = (line["kind"] == "Q6", &line["asked"]["derived"]);
                    let asked = &asked[if is_mean { "cross_mean" } else { "correlation" }];
                    let (one, other) = (of(0, &asked["field"]), of(0, &asked["other"]));
                    let pairs = || one.iter().zip(&other).map(|((_, one), (_, other))| (*one, *other));
                    let (a, b) = (mean(&one), mean(&other));
                    let sum = |get: &dyn Fn(f64, f64) -> f64| {
                        pairs().map(|(one, other)| get(one - a, other - b)).sum::<f64>()
                    };
                    if is_mean {
                        pairs().map(|(one, other)| vec![one, other, (one + other) / 2.0]).collect()
                    } else {
                        let spread = sum(&|one, _| one * one) * sum(&|_, other| other * other);
                        vec![vec![sum(&|one, other| one * other) / spread.sqrt()]]
                    }
                }
                _ => continue,
            };
            assert_eq!(answer.len(), expected.len(), "{line}");
            for (row, expected) in answer.iter().zip(&expected) {
                let is_same =
                    |(got, expected): (f64, &f64)| (got - expected).abs() <= 1e-9 * expected.abs().max(1.0);
                assert!(values(row).into_iter().zip(expected).all(is_same), "{line}: {expected:?}");
            }
            *checked.entry(format!("{name} {}", line["kind"])).or_default() += 1;
        }
    }
    assert_eq!(checked.len(), 5, "{checked:?}");
    assert!(checked.values().all(|count| *count >= 1), "{checked:?}");
}
