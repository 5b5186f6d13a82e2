//! The report of sensor-operations: the study's own figures as if they had been measured here, and runs that differ from them.

use super::*;
use crate::compare::Comparison;
use crate::studies::environments;
use sensormark_result::measurement::record::{AnswersRecord, ClassRecord, LoadRecord, Side};
use sensormark_store::{Index, Layout, WriteMethod};
use serde_json::json;
use std::collections::BTreeMap;

/// The four operations, in the order of the study's tables.
const OPERATIONS: [&str; 4] = ["single write", "single read", "multi write", "multi read"];
const PHYSICAL: &str = "physical";
const VIRTUAL: &str = "virtual";
const SIZE: u64 = 1_000_000;

/// A load of this operation at this rate.
fn load(name: &str, clients: u32, rate: f64) -> LoadRecord {
    let class = ClassRecord {
        operations: SIZE,
        readings: SIZE,
        failed: 0,
        latency: latency(false, SIZE, 1_000_000),
        service: None,
    };
    let label = |name: &str, value| (name.to_owned(), value);
    LoadRecord {
        phase: format!("{name}-{clients}"),
        name: name.to_owned(),
        labels: BTreeMap::from([
            label("operation", json!(name)),
            label("clients", json!(clients)),
            label("size", json!(SIZE)),
        ]),
        warm_up: false,
        writes: name.ends_with("write"),
        clients,
        processes: 1,
        open_loop: false,
        planned: SIZE,
        seconds: SIZE as f64 / rate,
        shared: None,
        classes: BTreeMap::from([(name.to_owned(), class)]),
        errors: BTreeMap::new(),
        first_error: None,
        late: 0,
        not_started: 0,
        statements: SIZE,
        reconnects: 0,
        datagram_bytes: 0,
        answers: AnswersRecord::default(),
        pacing_p99_ns: None,
        ceiling: None,
        cut: None,
        not_supported: None,
        client_side: None,
    }
}

/// A trial of these rates, by operation with one client and with 16.
fn of_rates(title: &str, index: Index, rates: [[f64; 2]; 4]) -> TrialRecord {
    let name = if index == Index::None { "individual-no-index" } else { "individual" };
    let mut record = trial(implementation(title, name, None), 0, COSTLY);
    record.implementation.layout = Layout::row_per_reading().with_index(index);
    record.side = Side::Mixed;
    record.latencies.clear();
    record.loads.clear();
    for (operation, rates) in OPERATIONS.into_iter().zip(rates) {
        record.loads.push(load(operation, 1, rates[0]));
        record.loads.push(load(operation, 16, rates[1]));
    }
    record
}

/// The study's figures of one environment; without an index reads are a hundredth of them (its figures 3 and 4), and writes a little more.
fn as_published(place: &str) -> Vec<TrialRecord> {
    let mut trials = Vec::new();
    for title in ["Cassandra", "MongoDB", "PostgreSQL"] {
        let rates = OPERATIONS.map(|operation| {
            let table = operation.split(' ').next().expect("single or multi");
            let rates = printed("sensor-operations", table, &[title, operation, place]);
            rates.try_into().expect("with one client and with several")
        });
        let without = [1.1, 0.01, 1.1, 0.01];
        let slower = [0, 1, 2, 3].map(|place| <[f64; 2]>::map(rates[place], |rate| rate * without[place]));
        if title == "Cassandra" {
            trials.push(of_rates(title, Index::Series, rates));
        } else {
            trials.push(of_rates(title, Index::SeriesTime, rates));
            trials.push(of_rates(title, Index::None, slower));
        }
    }
    trials
}

fn record(environment: Option<&str>) -> RunRecord {
    let mut record = RunRecord { workload: "sensor-operations".to_owned(), ..run() };
    if let Some(hypervisor) = environment {
        let folder = tempfile::tempdir().unwrap();
        let own = sensormark_result::probe::Environment::read(&[("data", folder.path())]).unwrap();
        record.environment = serde_json::to_value(own).unwrap();
        let hypervisor = Some(hypervisor).filter(|name| !name.is_empty());
        record.environment["hypervisor"] = json!(hypervisor);
    }
    record
}

fn report(trials: Vec<TrialRecord>) -> Report {
    Report::new(record(None), trials, &ReportOptions::default())
}

const CLAIMS: [&str; 10] = [
    "an index changes reads by orders of magnitude (here: tenfold or more)",
    "an index hardly changes writes (here: by a quarter or less)",
    "MongoDB is the best at single writes (the study's physical column)",
    "PostgreSQL is the best at multi reads (the study's physical column)",
    "Cassandra is the best at multi writes (the study's physical column)",
    "PostgreSQL gains steadily as clients are added",
    "MongoDB's writes do not gain as clients are added",
    "Cassandra's multi writes do not gain as clients are added",
    "MongoDB's multi reads stay the same as clients are added",
    "a virtual machine costs up to 16× on reads (Cassandra, single) and sometimes gains",
];

const PEAK: &str = "Cassandra's single operations peak at 12 clients";

#[test]
fn on_the_studys_own_figures_its_claims_hold_and_ratios_are_one() {
    kept::kept_variants("sensor-operations", &as_published(PHYSICAL), report);
    let decided = report(thrice(as_published(PHYSICAL)));
    for claim in &CLAIMS[..9] {
        let figures = cell(&decided, "claims", claim, "figures");
        assert_eq!(cell(&decided, "claims", claim, "here"), "held", "{figures}");
    }
    for claim in [CLAIMS[9], PEAK] {
        assert_eq!(cell(&decided, "claims", claim, "here"), "cannot be judged");
    }
    let report = report(as_published(PHYSICAL));
    // Four over clients, four by environment, and two databases with and without an index.
    assert_eq!(drawn_as(&report, "published, physical"), (10, 24));
    for name in ["published_single", "published_multi"] {
        let mut tables = report.document().tables();
        let table = tables.find(|table| table.id == name).unwrap();
        assert_eq!(
            table.rows.len(),
            3 * 2 * 2 * 2,
            "databases, operations, machines, and one client and several"
        );
        for row in table.rows.iter().filter(|row| row[2] == Cell::text(PHYSICAL)) {
            let ratio = row.last();
            assert!(matches!(ratio, Some(Cell::Number(one)) if (one.value - 1.0).abs() < 1e-9), "{row:?}");
        }
    }
}

#[test]
fn one_part_refutes_a_claim_and_what_is_missing_is_named() {
    let mut trials = as_published(PHYSICAL);
    // MongoDB's index helps its reads sixfold only.
    for trial in &mut trials {
        let own = &trial.implementation;
        if own.title == "MongoDB" && own.layout.index == Index::None {
            for load in trial.loads.iter_mut().filter(|load| !load.writes) {
                load.seconds *= 0.01 * 6.0;
            }
        }
    }
    trials.retain(|trial| trial.implementation.title != "Cassandra");
    let found = report(thrice(trials.clone()));
    kept::kept_claims("sensor-operations-sixfold", &found);
    assert_eq!(cell(&found, "claims", CLAIMS[0], "here"), "did not hold");
    assert!(cell(&found, "claims", CLAIMS[0], "figures").contains("× 6.00"));
    // What a scan of a few readings costs refutes nothing.
    let mut few = as_published(PHYSICAL);
    for (one, other) in few.iter_mut().filter(|trial| trial.implementation.title != "Cassandra").zip(&trials)
    {
        one.loads.clone_from(&other.loads);
    }
    for load in few.iter_mut().flat_map(|trial| &mut trial.loads) {
        load.labels.insert("size".to_owned(), json!(2_000));
    }
    let few = report(thrice(few));
    kept::kept_claims("sensor-operations-few", &few);
    assert_eq!(cell(&few, "claims", CLAIMS[0], "here"), "undecided");
    assert!(cell(&few, "claims", CLAIMS[0], "figures").contains("too few to refute it"));
    let report = found;
    for claim in [CLAIMS[2], CLAIMS[3], CLAIMS[4]] {
        assert_eq!(cell(&report, "claims", claim, "here"), "cannot be judged");
        assert!(cell(&report, "claims", claim, "figures").contains("no valid trial of Cassandra"));
    }
}

#[test]
fn curves_speed_up_and_index_are_tables() {
    let report = report(as_published(PHYSICAL));
    let postgresql = "PostgreSQL individual";
    let at = |table: &str, column: &str| cell(&report, table, postgresql, column);
    assert_eq!(at("clients_single_write", "1 client"), "120");
    assert_eq!(at("clients_multi_read", "16 clients"), "410,000");
    // 930 / 120, of the first operation.
    assert_eq!(at("speed_up", "16 clients"), "7.75");
    assert_eq!(at("index", "with / without"), "0.909");
    let alone = Report::new(
        record(None),
        vec![of_rates("SQLite", Index::SeriesTime, [[9.0; 2]; 4])],
        &ReportOptions::default(),
    );
    kept::kept("sensor-operations-sqlite", &alone);
    let text = alone.text(80);
    assert!(text.contains("No database of the study"), "{text}");
}

#[test]
fn a_cut_phase_is_told_with_its_rate() {
    let mut trials = as_published(PHYSICAL);
    trials[0].loads[1].cut = Some("its time was over after 9 of 10 operations".to_owned());
    let json = report(trials).json();
    assert!(
        json.contains("Cassandra individual, 16 clients: cut: its time was over after 9 of 10"),
        "{json}"
    );
}

#[test]
fn two_runs_give_the_studys_table_of_environments() {
    let field = |place, hypervisor| Field::new(record(Some(hypervisor)), as_published(place));
    let (physical, guest) = (field(PHYSICAL, ""), field(VIRTUAL, "Xen"));
    let section = environments::section([&guest, &physical]).expect("one of each");
    let table = tables_of(&section).next().expect("a table").clone();
    let row = table.rows.iter().find(|row| {
        let keys: Vec<String> = row[..3].iter().map(number::cell_text).collect();
        keys == ["Cassandra individual", "single read", "16"]
    });
    // 16,000 and 1,000.
    assert_eq!(number::cell_text(&row.unwrap()[5]), "16.0");
    kept::kept_table("sensor-operations-environments", &table);
    assert_eq!(environments::section([&physical, &physical]), None);
    let compared = Comparison::new(&physical, &guest, 0.01).expect("runs of one workload");
    let mut tables = compared.document().tables();
    assert!(tables.any(|found| *found == table));
}

/// Small tests are curves of their own and no part of the score.
#[test]
fn what_is_not_scored_moves_nobody() {
    let trials = || {
        let mut trials = as_published(PHYSICAL);
        trials.truncate(1);
        trials
    };
    let time = |trials| cell(&report(trials), "costs", "Cassandra individual", "load time");
    let without = time(trials());
    let mut with = trials();
    let mut small = load(OPERATIONS[0], 2, 0.001);
    small.phase = "small".to_owned();
    small.labels.insert(sensormark_result::measurement::names::SCORED.to_owned(), json!(false));
    with[0].loads.push(small.clone());
    assert_eq!(time(with), without);
    small.labels.clear();
    let mut scored = trials();
    scored[0].loads.push(small);
    assert_ne!(time(scored), without);
}

/// The study's virtual column contradicts its best of the physical one: who is the best is read from the column of a machine like this one.
#[test]
fn the_best_is_judged_in_the_column_of_a_machine_like_this_one() {
    let trials = thrice(as_published(VIRTUAL));
    let options = ReportOptions::default();
    let guest = Report::new(record(Some("Xen")), trials.clone(), &options);
    kept::kept("sensor-operations-virtual", &guest);
    for claim in [
        "MongoDB is the best at single writes by one client, Cassandra by several (the study's virtual column)",
        "PostgreSQL is the best at multi reads by one client, Cassandra by several (the study's virtual column)",
        "Cassandra is the best at multi writes (the study's virtual column)",
    ] {
        let figures = cell(&guest, "claims", claim, "figures");
        assert_eq!(cell(&guest, "claims", claim, "here"), "held", "{figures}");
    }
    let physical = Report::new(record(Some("")), trials, &options);
    kept::kept_claims("sensor-operations-contradicted", &physical);
    for claim in &CLAIMS[2..4] {
        assert_eq!(cell(&physical, "claims", claim, "here"), "did not hold");
    }
}

#[test]
fn the_peak_takes_twelve_clients_and_more() {
    let of = |at_12: f64| {
        let mut trials = as_published(PHYSICAL);
        for trial in &mut trials {
            for operation in OPERATIONS {
                trial.loads.push(load(operation, 12, at_12));
            }
        }
        let found = report(thrice(trials));
        kept::kept_claims(&format!("sensor-operations-peak-{at_12}"), &found);
        cell(&found, "claims", PEAK, "here")
    };
    assert_eq!(of(17_000.0), "held");
    assert_eq!(of(15_500.0), "did not hold", "single reads by 16: 16,000");
}

/// What takes a run on each is judged where there are two.
#[test]
fn physical_and_virtual_are_judged_in_a_comparison() {
    let field = |place, hypervisor| Field::new(record(Some(hypervisor)), thrice(as_published(place)));
    let (physical, guest) = (field(PHYSICAL, ""), field(VIRTUAL, "Xen"));
    let compared = Comparison::new(&guest, &physical, 0.02).expect("runs of one workload");
    let mut tables = compared.document().tables();
    let claims = tables.find(|table| table.id == "environment_claims");
    let claims = claims.expect("claims");
    kept::kept_table("sensor-operations-environment-claims", claims);
    let outcomes: Vec<String> = claims.rows.iter().map(|row| number::cell_text(&row[1])).collect();
    // In the fixture the index has the same effect on both, which rounding decides.
    assert_eq!(outcomes[..4], ["held"; 4]);
    assert_eq!(outcomes.len(), 6);
}

/// Several sizes, a statement that stands for the study's, and pairs that the study did not have.
#[test]
fn other_layouts_are_kept() {
    let mut trials = as_published(PHYSICAL);
    for trial in &mut trials {
        let small = OPERATIONS.map(|operation| {
            let mut small = load(operation, 1, 700.0);
            small.labels.insert("size".to_owned(), json!(1_000));
            small
        });
        trial.loads.extend(small);
    }
    let mut concatenated = trials[3].clone();
    concatenated.implementation.layout_name = "individual-concatenated".to_owned();
    concatenated.implementation.layout.write = WriteMethod::ConcatenatedStatements;
    trials.push(concatenated);
    for index in [Index::SeriesTime, Index::None] {
        let rates = [if index == Index::None { 3.0 } else { 9.0 }, 9.0];
        trials.push(of_rates("MariaDB", index, [rates; 4]));
    }
    kept::kept("sensor-operations-layouts", &report(thrice(trials)));
    let few = |place, hypervisor| {
        let mut trials = as_published(place);
        trials.retain(|trial| trial.implementation.title != "MongoDB");
        Field::new(record(Some(hypervisor)), trials)
    };
    let (physical, guest) = (few(PHYSICAL, ""), few(VIRTUAL, "Xen"));
    let compared = Comparison::new(&guest, &physical, 0.02).expect("runs of one workload");
    let mut tables = compared.document().tables();
    let claims = tables.find(|table| table.id == "environment_claims");
    kept::kept_table("sensor-operations-environments-once", claims.expect("claims"));
}
