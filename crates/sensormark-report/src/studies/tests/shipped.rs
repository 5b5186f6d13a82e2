//! The studies behind slow-control and hydrometry: their own figures as if they had been measured here.

use super::*;
use sensormark_data::units::round_u64;
use sensormark_engine::scale::Scale;
use sensormark_engine::trial::WorkloadFactory;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::LoadRecord;
use sensormark_workload::shipped::{HYDROMETRY, SLOW_CONTROL, Shipped};
use serde_json::Value;

/// A load with these labels: so many readings a second, or so many ms an operation.
fn labelled(labels: &[(&str, Value)], rate: Option<f64>, ms: Option<f64>) -> LoadRecord {
    let name = labels.iter().map(|(_, value)| value.to_string()).collect::<Vec<_>>().join("-");
    let readings = rate.map_or(20, |rate| round_u64(rate * 100.0));
    let mut load = load(&name.replace('"', ""), rate.is_some(), 100.0, 20, readings);
    load.labels = labels.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    for class in load.classes.values_mut() {
        class.latency.summary.mean_ns = ms.unwrap_or(1.0) * 1e6;
    }
    load
}

/// Reports trials of a workload at the study's scale.
fn report(workload: &Shipped, trials: Vec<TrialRecord>) -> Report {
    let parameters = workload.preset(Scale::Study).expect("a scale");
    let run = RunRecord { workload: workload.name().to_owned(), parameters, ..run() };
    Report::new(run, trials, &ReportOptions::default())
}

fn scits() -> Vec<TrialRecord> {
    let of = |title: &str| {
        let figure =
            |table: &str, keys: &[&str]| printed("slow-control", table, &[&[title], keys].concat())[0];
        let rate = figure("load", &[]);
        let stored = |stored: u64| (names::STORED, Value::from(stored));
        // Only PostgreSQL was faster while there was less.
        let early = if title == "PostgreSQL" { 4.0 * rate } else { rate };
        let mut loads = vec![
            labelled(&[("operation", "growth".into()), stored(180_000_000)], Some(early), None),
            labelled(&[("operation", "growth".into()), stored(2_880_000_000)], Some(rate), None),
        ];
        for clients in [1_u64, 8, 48] {
            let rate = figure("clients", &[&clients.to_string()]);
            loads.push(labelled(
                &[("operation", "concurrency".into()), ("clients", clients.into())],
                Some(rate),
                None,
            ));
        }
        for question in ["Q1", "Q2", "Q3", "Q4", "Q5"] {
            let ms = figure("questions", &[question]);
            loads.push(labelled(&[("operation", question.into()), stored(2_880_000_000)], None, Some(ms)));
        }
        of_phases(title, loads)
    };
    ["PostgreSQL", "InfluxDB", "TimescaleDB"].map(of).into()
}

fn tsm() -> Vec<TrialRecord> {
    let of = |title: &str| {
        let [load, disk] = printed("hydrometry", "load", &[title])[..] else { panic!("two figures") };
        let stored = (names::STORED, Value::from(5_184_000));
        let long = [("operation", "load long".into()), stored.clone()];
        let mut loads = vec![labelled(&long, Some(load / 100.0), None)];
        for question in ["Q1", "Q2", "Q3", "Q4", "Q5", "Q6", "Q7"] {
            let ms = printed("hydrometry", "questions", &[title, question])[0];
            let labels = [("operation", question.into()), ("table", "long".into()), stored.clone()];
            loads.push(labelled(&labels, None, Some(ms)));
        }
        let mut trial = of_phases(title, loads);
        let growth = sensormark_result::measurement::disk::growth_bytes(&trial).expect("a disk");
        trial.ledger.as_mut().expect("a ledger").stored = round_u64(growth / disk / 100.0);
        trial
    };
    vec![of("TimescaleDB")]
}

/// A published table and its rows.
type Published = (&'static str, usize);

/// All ratios are 1, and all claims hold.
#[test]
fn on_the_studies_own_figures_their_claims_hold() {
    let of_study: [(&Shipped, Vec<TrialRecord>, &[Published], usize); 2] = [
        (
            &SLOW_CONTROL,
            scits(),
            &[("published_load", 3), ("published_clients", 9), ("published_questions", 15)],
            4,
        ),
        (&HYDROMETRY, tsm(), &[("published_load", 2), ("published_questions", 7)], 2),
    ];
    for (workload, trials, tables, claims) in of_study {
        let name = workload.name();
        kept::kept_variants(name, &trials, |trials| report(workload, trials));
        let report = report(workload, thrice(trials));
        let document = report.document();
        let table = |id: &str| document.tables().find(|table| table.id == id).expect("the table");
        for (id, rows) in tables {
            let table = table(id);
            assert_eq!(table.rows.len(), *rows, "{name}: {id}");
            for row in &table.rows {
                let ratio = cell_text(row.last().expect("cells")).parse::<f64>();
                assert!(
                    ratio.as_ref().is_ok_and(|ratio| (ratio - 1.0).abs() < 2e-3),
                    "{name}: {id}: {row:?}"
                );
            }
        }
        let judged = table("claims");
        assert_eq!(judged.rows.len(), claims, "{name}");
        for row in &judged.rows {
            assert_eq!(cell_text(&row[1]), "held", "{name}: {row:?}");
        }
    }
}

/// Figures of another kind refute them.
#[test]
fn claims_do_not_hold_where_all_databases_are_alike() {
    let mut trials = scits();
    for load in trials.iter_mut().flat_map(|trial| &mut trial.loads) {
        for class in load.classes.values_mut() {
            class.latency.summary.mean_ns = 1e6;
            class.readings = 1_000;
        }
    }
    let report = report(&SLOW_CONTROL, thrice(trials));
    let claims = report.document().tables().find(|table| table.id == "claims").expect("claims").rows.clone();
    let held: Vec<String> = claims.iter().map(|row| cell_text(&row[1])).collect();
    assert_eq!(held, ["did not hold", "did not hold", "held", "did not hold"]);
}
