//! The sections on records with known numbers: the study's own figures as if they had been measured here.

use super::*;
use sensormark_engine::scale::Scale;
use sensormark_engine::trial::WorkloadFactory;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{Figure, LoadRecord, Side};
use sensormark_workload::shipped::DEVOPS;
use serde_json::Value;

/// The questions, as phases have them.
const QUESTIONS: [&str; 6] =
    ["max-1-host", "max-1-host-long", "max-several-hosts", "mean-all-hosts", "last-reading", "busy-hosts"];

fn labelled(mut load: LoadRecord, labels: &[(&str, Value)]) -> LoadRecord {
    let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    load.labels = labels.collect();
    load
}

/// What a database is said to have reached.
struct Reached {
    title: &'static str,
    /// Values a second.
    ingest: f64,
    /// The same while the data grew to 48, 72 and 96 h.
    growth: [f64; 3],
    bytes_a_value: f64,
    mean_ms: f64,
    /// Questions a second by 1 and 16 clients.
    asked: [f64; 2],
}

fn put(record: &mut TrialRecord, name: &str, value: f64) {
    record.figures.insert(name.to_owned(), Figure::new(value, ""));
}

fn disk(record: &mut TrialRecord, phase: &str, values: f64, reached: &Reached) {
    let settled = format!("settled-{phase}");
    let logs = 3e6;
    put(record, &format!("values/{settled}"), values);
    put(record, &format!("{}/{settled}", names::DISK_SETTLED), 40e6 + logs + values * reached.bytes_a_value);
    put(record, &format!("{}/{settled}", names::DISK_SETTLED_LOGS), 1e6 + logs);
}

fn of_study(reached: &Reached) -> TrialRecord {
    let mut record = trial(implementation(reached.title, "individual", None), 0, COSTLY);
    record.side = Side::Mixed;
    let mut loads = Vec::new();
    put(&mut record, names::DISK_BEFORE, 40e6);
    put(&mut record, names::DISK_BEFORE_LOGS, 1e6);
    let writing = |name: &str, operation: &str, hours: f64| {
        let labels = [
            ("operation", operation.into()),
            ("workers", 16.into()),
            ("hours", hours.into()),
            ("settled", format!("settled-{name}").into()),
        ];
        labelled(load(name, true, 1.0, 100, 1_000), &labels)
    };
    loads.push(writing("load-16", "load", 24.0));
    put(&mut record, "values_per_second/load-16", reached.ingest);
    disk(&mut record, "load-16", 87_264_000.0, reached);
    for (number, rate) in reached.growth.iter().enumerate() {
        let hours = 48.0 + 24.0 * number as f64;
        let name = format!("grow-{hours}h");
        loads.push(writing(&name, "grow", hours));
        put(&mut record, &format!("values_per_second/{name}"), *rate);
        disk(&mut record, &name, 87_264_000.0 * hours / 24.0, reached);
    }
    for kind in QUESTIONS {
        for (clients, rate) in [1, 16].into_iter().zip(reached.asked) {
            let labels = [("operation", kind.into()), ("clients", clients.into()), ("hours", 24.into())];
            let name = format!("{kind}-{clients}");
            let mut asked = load(&name, false, 1_000.0 / rate, 1_000, 60_000);
            let mut class = asked.classes.remove(&name).unwrap();
            class.latency = latency(false, 1_000, 1);
            class.latency.summary.mean_ns = reached.mean_ms * 1e6;
            asked.classes.insert(kind.to_owned(), class);
            loads.push(labelled(asked, &labels));
        }
    }
    record.loads = loads;
    record
}

fn study() -> [Reached; 2] {
    let one = |title, factor| {
        let [ingest, bytes_a_value, mean_ms, asked] = printed("devops", "devops", &[title])[..] else {
            panic!("four figures")
        };
        Reached {
            title,
            ingest,
            growth: [0.99, 0.97, 0.95].map(|part| part * ingest),
            bytes_a_value,
            mean_ms,
            asked: [asked, asked * factor],
        }
    };
    [one("InfluxDB", 9.0), one("MongoDB", 9.5)]
}

fn report(reached: &[Reached]) -> Report {
    of_trials(reached.iter().map(of_study).collect())
}

/// Each figure three times, so that claims are decided.
fn decided(reached: &[Reached]) -> Report {
    of_trials(thrice(reached.iter().map(of_study).collect()))
}

fn of_trials(trials: Vec<TrialRecord>) -> Report {
    let mut parameters = DEVOPS.preset(Scale::Study).unwrap();
    parameters["clients"] = vec![1, 16].into();
    let run = RunRecord { workload: DEVOPS.name().to_owned(), parameters, ..run() };
    Report::new(run, trials, &ReportOptions::default())
}

fn table<'r>(report: &'r Report, id: &str) -> &'r Table {
    let mut tables = report.document().tables();
    tables.find(|table| table.id == id).unwrap_or_else(|| panic!("no table {id}"))
}

fn outcomes(report: &Report) -> Vec<String> {
    let claims = table(report, "claims");
    claims.rows.iter().map(|row| cell_text(&row[1])).collect()
}

#[test]
fn the_study_agrees_with_itself_but_for_a_twentieth() {
    let trials: Vec<TrialRecord> = study().iter().map(of_study).collect();
    kept::kept_variants("devops", &trials, of_trials);
    let report = report(&study());
    for row in &table(&report, "published_devops").rows {
        assert_eq!(cell_text(&row[5]), "1.00", "{row:?}");
    }
    assert_eq!(drawn_as(&report, "published"), (5, 4));
    let mut outcomes = outcomes(&decided(&study()));
    // Its summary has other figures than its body: 2.51 times are no 3.9, and 5.7 times are more than 16 %.
    assert_eq!(outcomes.split_off(8), ["did not hold", "held", "did not hold"]);
    // 43 bytes to 2.15 is a factor of exactly 20, which rounding decides; 6.09 ms to 1.07 is 5.69.
    assert_ne!(outcomes.remove(3), "cannot be judged");
    assert_eq!(outcomes.remove(4), "did not hold");
    assert!(outcomes.iter().all(|outcome| outcome == "held"), "{outcomes:?}");
}

#[test]
fn other_figures_refute_the_claims() {
    let [mut influxdb, mut mongodb] = study();
    std::mem::swap(&mut influxdb.ingest, &mut mongodb.ingest);
    std::mem::swap(&mut influxdb.bytes_a_value, &mut mongodb.bytes_a_value);
    std::mem::swap(&mut influxdb.mean_ms, &mut mongodb.mean_ms);
    influxdb.growth[2] = influxdb.ingest * 0.75;
    mongodb.asked[1] *= 2.0;
    let found = decided(&[influxdb, mongodb]);
    kept::kept_claims("devops-refuted", &found);
    let outcomes = outcomes(&found);
    assert!(outcomes.iter().all(|outcome| outcome == "did not hold"), "{outcomes:?}");
}

#[test]
fn what_was_not_measured_cannot_be_judged() {
    let [influxdb, _] = study();
    let text = report(&[influxdb]);
    let outcomes = outcomes(&text);
    assert!(outcomes.iter().all(|outcome| outcome == "cannot be judged"), "{outcomes:?}");
    let [other, _] = study();
    let none = report(&[Reached { title: "PostgreSQL", ..other }]);
    kept::kept("devops-others", &none);
    assert!(none.text(80).contains("Neither database of the study"));
}

#[test]
fn tables_hold_the_studys_columns() {
    let report = report(&study());
    let ingest = table(&report, "devops_ingest");
    assert_eq!(cell_text(&ingest.rows[0][5]), "2,800,990");
    assert_eq!(cell_text(&ingest.rows[0][1]), "–", "1 worker was not measured");
    let disk = table(&report, "devops_disk");
    let cells: Vec<String> = disk.rows[1].iter().map(cell_text).collect();
    assert_eq!(cells[1], "87.3", "million values");
    assert_eq!([cells[4].as_str(), &cells[5]], ["3,752", "43.0"]);
    let growth = table(&report, "devops_growth");
    assert_eq!(growth.rows.len(), 8);
    let questions = table(&report, "devops_questions");
    assert_eq!(questions.rows.len(), 12);
    assert_eq!(cell_text(&questions.rows[0][2]), "1.07");
    let text = report.text(80);
    assert!(text.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 80), "{text}");
}

/// InfluxDB was held against one layout of MongoDB's without its name, the slowest.
#[test]
fn both_layouts_are_named_and_the_best_one_has_a_line() {
    let [influxdb, mongodb] = study();
    let mut best = of_study(&Reached {
        ingest: influxdb.ingest * 1.1,
        ..study().into_iter().next_back().expect("MongoDB")
    });
    best.implementation.layout_name = "time-series".to_owned();
    let trials = vec![of_study(&influxdb), of_study(&mongodb), best];
    let report = of_trials(thrice(trials));
    kept::kept("devops-best-layout", &report);
    let claims = table(&report, "claims");
    let row = |text: &str| {
        let mut rows = claims.rows.iter();
        let row = rows.find(|row| cell_text(&row[0]) == text).expect("a claim");
        (cell_text(&row[1]), cell_text(&row[2]))
    };
    let (held, figures) = row("InfluxDB ingests faster than MongoDB");
    assert_eq!(held, "held");
    assert!(
        figures.starts_with("InfluxDB individual") && figures.contains("of MongoDB individual"),
        "{figures}"
    );
    let (held, figures) = row("InfluxDB ingests faster than MongoDB's best layout");
    assert_eq!(held, "did not hold");
    assert!(figures.contains("of MongoDB time-series"), "{figures}");
}
