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
fn right(place: &Place, workload: &str, settings: &[&str]) -> BTreeSet<String> {
    let settings = [settings, &["seconds=1", "questions=5"]].concat();
    let output = place.measure(workload, &settings, &["--on", "sqlite:individual", "--budget", "20m"]);
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
    let asked = right(&Place::new(), "slow-control", &SLOW_CONTROL);
    let wanted =
        ["Q1", "Q2", "Q3", "Q4", "Q5", "mixed", "Q1 cold", "Q2 cold", "Q3 cold", "Q4 cold", "Q5 cold"];
    assert_eq!(asked, wanted.map(str::to_owned).into());
}

#[test]
fn hydrometry_is_measured_and_every_answer_is_right() {
    let place = Place::new();
    let asked = right(&place, "hydrometry", &HYDROMETRY);
    let mut wanted: BTreeSet<String> = (1..=11).map(|number| format!("Q{number}")).collect();
    wanted.insert("online".to_owned());
    assert_eq!(asked, wanted);
    // What was reached was empty once, because the writers of several tables have longer names.
    let report = report(&place);
    let blocks = report["sections"].as_array().expect("sections").iter();
    let mut blocks = blocks.flat_map(|section| section["blocks"].as_array().expect("blocks"));
    let online = blocks.find(|block| block["id"] == "tsm_online").expect("rates of writing");
    for row in online["rows"].as_array().expect("rows") {
        let [asked_for, reached] = [1, 2].map(|column| row[column]["value"].as_f64().expect("a number"));
        assert!(reached > 0.5 * asked_for && reached < 1.1 * asked_for, "{row}");
    }
}

/// The report of a run, as JSON.
fn report(place: &Place) -> Value {
    let output = place.run(&["report", &place.run_folder().to_string_lossy(), "--format", "json"]);
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Each figure has a point at each number of series.
#[test]
fn cardinality_is_measured_and_drawn_by_the_number_of_series_and_by_churn() {
    let place = Place::new();
    let settings = ["most=1000", "readings=3000", "seconds=0.2"];
    let output = place.measure("cardinality", &settings, &["--on", "sqlite:individual"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let trial = &place.trials()[0];
    assert_eq!((&trial["answers"]["wrong"], &trial["ledger"]["lost"]), (&0.into(), &0.into()));
    let report = report(&place);
    let sections = report["sections"].as_array().expect("sections");
    let curves = sections.iter().find(|section| section["id"] == "by_label").expect("curves");
    let tables = curves["blocks"].as_array().expect("blocks").iter().filter(|one| one["kind"] == "table");
    let mut drawn: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for table in tables {
        let at = table["rows"].as_array().expect("rows").iter().filter_map(|row| row[2]["value"].as_f64());
        drawn.insert(table["id"].as_str().expect("a name"), at.collect());
    }
    for of in ["load", "disk", "memory", "latest", "unit"] {
        for (label, at) in [("series", vec![100.0, 1000.0]), ("churn_percent", vec![10.0, 100.0, 1000.0])] {
            let points = drawn.get(&*format!("figure_{label}_{of}"));
            assert_eq!(points, Some(&at), "{of}: {drawn:?}");
        }
    }
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

/// Data as another tool has them: CSV.
struct Data {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// The tag that tells series apart.
    tag: &'static str,
}

type Timed = Vec<(i64, f64)>;

fn mean(values: &[(i64, f64)]) -> f64 {
    values.iter().map(|(_, value)| value).sum::<f64>() / values.len() as f64
}

impl Data {
    fn place(&self, name: &str) -> usize {
        self.header.iter().position(|one| one == name).expect("a column")
    }

    /// What a field of the line's series of this number says in its range.
    fn of(&self, line: &Value, series: usize, field: &Value) -> Timed {
        let [from, until] = ["from_ns", "until_ns"].map(|key| line[key].as_i64().expect("a time"));
        let (tag, field) = (self.place(self.tag), self.place(field.as_str().expect("a field")));
        let wanted = line["series"][series][self.tag].as_str().expect("a tag");
        let own = self.rows.iter().filter(|row| row[tag] == wanted);
        let timed = own.map(|row| (row[0].parse().expect("a time"), row[field].parse().expect("a number")));
        timed.filter(|(time, _)| (from..until).contains(time)).collect()
    }

    /// The same by window.
    fn windows(&self, line: &Value, series: usize, asked: &Value) -> BTreeMap<i64, Timed> {
        let width = asked["window"]["width_ns"].as_i64().expect("a width");
        let mut windows: BTreeMap<i64, Timed> = BTreeMap::new();
        for (time, value) in self.of(line, series, &asked["field"]) {
            windows.entry(time.div_euclid(width)).or_default().push((time, value));
        }
        windows
    }

    /// What a line asks, computed by hand; none of other kinds.
    fn by_hand(&self, line: &Value) -> Option<Vec<Vec<f64>>> {
        let asked = &line["asked"]["derived"];
        let pairs = |asked: &Value| -> Vec<(f64, f64)> {
            let (one, other) = (self.of(line, 0, &asked["field"]), self.of(line, 0, &asked["other"]));
            one.iter().zip(&other).map(|((_, one), (_, other))| (*one, *other)).collect()
        };
        match (self.tag, line["kind"].as_str()?) {
            ("sensor", "Q2") => {
                let asked = &asked["out_of_range"];
                let [above, below] = ["above", "below"].map(|key| asked[key].as_f64().expect("a bound"));
                let ends = |values: Timed| {
                    let values = || values.iter().map(|(_, value)| *value);
                    [values().fold(f64::MIN, f64::max), values().fold(f64::MAX, f64::min)]
                };
                let all = self.windows(line, 0, asked).into_values().map(ends);
                Some(all.filter(|[most, least]| *most > above || *least < below).map(Vec::from).collect())
            }
            ("sensor", "Q3") => {
                let own = self.of(line, 0, &line["asked"]["aggregate"]["aggregates"][0]["field"]);
                let squares: f64 = own.iter().map(|(_, value)| (value - mean(&own)).powi(2)).sum();
                Some(vec![vec![(squares / (own.len() - 1) as f64).sqrt()]])
            }
            ("sensor", "Q5") => {
                let [one, other] = [0, 1].map(|series| self.windows(line, series, &asked["difference"]));
                Some(one.iter().map(|(at, values)| vec![mean(&other[at]) - mean(values)]).collect())
            }
            ("id_station", "Q6") => {
                let pairs = pairs(&asked["cross_mean"]).into_iter();
                Some(pairs.map(|(one, other)| vec![one, other, (one + other) / 2.0]).collect())
            }
            ("id_station", "Q7") => {
                let pairs = pairs(&asked["correlation"]);
                let sum = |get: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|(a, b)| get(*a, *b)).sum::<f64>();
                let count = pairs.len() as f64;
                let (a, b) = (sum(&|a, _| a) / count, sum(&|_, b| b) / count);
                let spread = sum(&|x, _| (x - a).powi(2)) * sum(&|_, y| (y - b).powi(2));
                Some(vec![vec![sum(&|x, y| (x - a) * (y - b)) / spread.sqrt()]])
            }
            _ => None,
        }
    }
}

/// What a tool of somebody else's does: it reads the data as CSV, and computes by hand what lines ask.
#[test]
fn answers_follow_from_the_data_as_csv() {
    let mut checked: BTreeMap<String, usize> = BTreeMap::new();
    for (path, command) in files() {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let (table, tag, lasts) = match name.as_str() {
            "slow-control" => ("readings", "sensor", "2000s"),
            "hydrometry" => ("long", "id_station", "2h"),
            _ => continue,
        };
        let at = command.iter().position(|word| word == "--answers").expect("the option");
        let mut command: Vec<&str> = command.iter().map(String::as_str).collect();
        command.drain(at..at + 2);
        command.extend(["--format", "csv", "--table", table, "--for", lasts]);
        let output = Place::new().run(&command);
        assert!(output.status.success(), "{}", said(&output));
        let csv = String::from_utf8(output.stdout).expect("text");
        let mut rows: Vec<Vec<String>> =
            csv.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
        let data = Data { header: rows.remove(0), rows, tag };
        for line in std::fs::read_to_string(&path).expect("a file of answers").lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let Some(expected) = data.by_hand(&line) else { continue };
            let answer = line["answer"].as_array().expect("rows");
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
}
