//! The billing study's figures beside ours, its tables, its claims, and the drawing.

use super::*;
use sensormark_data::units::round_u64;
use sensormark_result::measurement::latency::LatencyRecorder;
use sensormark_result::measurement::record::{LoadRecord, Side};
use sensormark_result::probe::PhaseTotals;
use sensormark_store::{Index, Shape};

fn labelled(operation: &str, devices: u64, operations: f64, mean_ms: f64) -> LoadRecord {
    let name = format!("{operation}-{devices}");
    let operations = round_u64(operations);
    let mut load = load(&name, operation == "ingest", SECONDS as f64, operations, operations);
    load.labels.insert("operation".to_owned(), operation.into());
    load.labels.insert("devices".to_owned(), devices.into());
    for class in load.classes.values_mut() {
        class.latency.summary.mean_ns = mean_ms * 1e6;
    }
    load
}

/// What a phase used, by side: load average, CPU in percent and memory in MB.
fn used(server: [f64; 3], client: [f64; 3]) -> PhaseTotals {
    let mut totals = totals(Side::Write, CHEAP, false);
    let writer = totals.roles.remove("writer").expect("a client");
    totals.roles.insert("trial".to_owned(), writer);
    totals.host.processors = 2;
    totals.host.mean_load = server[0];
    for (role, [_, cpu_percent, memory_mb]) in [("server", server), ("trial", client)] {
        let role = totals.roles.get_mut(role).expect("a role");
        role.cpu_ns = round_u64(cpu_percent * 2e7 * SECONDS as f64);
        role.end_resident_bytes = round_u64(memory_mb * 1e6);
    }
    totals
}

/// A database's bills: its name, the devices, and the mean time in ms.
fn extract(title: &str) -> Vec<(&str, u64, f64)> {
    let row =
        |devices: u64| (title, devices, printed("billing", "extract", &[title, &devices.to_string()])[0]);
    [1_600, 4_000, 6_400].map(row).into()
}

/// The study's own printed figures as if they had been measured here.
fn as_published() -> Vec<TrialRecord> {
    let of = |title: &str| {
        let mut loads = Vec::new();
        let [rate] = printed("billing", "ingest", &[title])[..] else { panic!("a rate") };
        for (_, devices, ms) in extract(title) {
            loads.push(labelled("ingest", devices, rate * SECONDS as f64, 1.0));
            loads.push(labelled("extract", devices, 1_000.0, ms));
        }
        let mut trial = of_phases(title, loads);
        trial.implementation.layout_name = "reading".to_owned();
        if title == "GridDB" {
            trial.implementation.layout.shape = Shape::NativeTimeSeries;
        } else {
            trial.implementation.layout.index = Index::Series;
        }
        for phase in &mut trial.phases {
            let operation = phase.name.split('-').next().expect("an operation");
            let side = |side, role| {
                let row = printed("billing", "resources", &[title, side, role, operation]);
                row.try_into().expect("load average, CPU and memory")
            };
            phase.totals = Some(used(side("server", "server"), side("client", "trial")));
        }
        trial
    };
    vec![of("GridDB"), of("MariaDB")]
}

fn billed(trials: Vec<TrialRecord>) -> Report {
    let run = RunRecord { workload: "billing".to_owned(), ..run() };
    Report::new(run, trials, &ReportOptions::default())
}

fn table<'r>(report: &'r Report, id: &str) -> &'r tables::Table {
    let mut tables = report.document().tables();
    tables.find(|table| table.id == id).expect("the table")
}

const CLAIMS: [&str; 5] = [
    "GridDB ingests 13 times as fast as MariaDB",
    "GridDB's bill takes as long with four times the devices (1,600 to 6,400; within 10 %)",
    "MariaDB's bill takes 44 % longer with four times the devices (1,600 to 6,400)",
    "load average is lower with GridDB, on both sides",
    "GridDB's client uses less memory",
];

/// The judge of the claims, judged: on the study's own figures all hold. All ratios are 1 but those of the clients' load average, because one machine has one.
#[test]
fn on_the_studys_own_figures_its_claims_hold() {
    kept::kept_variants("billing", &as_published(), billed);
    let decided = billed(thrice(as_published()));
    for claim in CLAIMS {
        let figures = cell(&decided, "claims", claim, "figures");
        assert_eq!(cell(&decided, "claims", claim, "here"), "held", "{claim}: {figures}");
    }
    let needed = cell(&decided, "claims", CLAIMS[0], "holds when");
    assert_eq!(needed, "6.5 times or more (half of 13)");
    let report = billed(as_published());
    assert_eq!(drawn_as(&report, "published"), (8, 18));
    for (id, rows) in [("published_ingest", 2), ("published_extract", 6), ("published_resources", 24)] {
        let table = table(&report, id);
        assert_eq!(table.rows.len(), rows);
        for row in &table.rows {
            let texts: Vec<String> = row.iter().map(number::cell_text).collect();
            let is_client_load =
                texts.contains(&"client".to_owned()) && texts.contains(&"load average".to_owned());
            // Numbers of operations are whole ones.
            let ratio = texts.last().and_then(|text| text.parse::<f64>().ok());
            let is_one = ratio.is_some_and(|ratio| (ratio - 1.0).abs() < 1e-3);
            assert!(is_one || is_client_load, "{texts:?}");
        }
    }
    assert_eq!(cell(&report, "billing_extract", "MariaDB reading", "growth"), "44.1");
    assert_eq!(cell(&report, "billing_ingest", "GridDB reading", "overall"), "31,916");
    assert_eq!(cell(&report, "billing_resources", "GridDB reading", "server CPU"), "86.7");
}

#[test]
fn claims_are_refuted_by_other_figures_and_not_judged_without_both() {
    let mut trials = as_published();
    for trial in &mut trials {
        let is_griddb = trial.implementation.title == "GridDB";
        for load in &mut trial.loads {
            // GridDB six times as fast, its last bills a fifth slower, MariaDB's all alike; MariaDB's machine idle.
            if load.writes && is_griddb {
                load.seconds *= 2.2;
            }
            for class in load.classes.values_mut().filter(|_| !load.writes) {
                let is_last = load.phase.ends_with("6400");
                class.latency.summary.mean_ns = if is_griddb && is_last { 1.2e8 } else { 1e8 };
            }
        }
        for phase in &mut trial.phases {
            let totals = phase.totals.as_mut().expect("totals");
            totals.host.mean_load = if is_griddb { 2.0 } else { 0.1 };
        }
    }
    let report = billed(thrice(trials.clone()));
    kept::kept_claims("billing-refuted", &report);
    for claim in &CLAIMS[..4] {
        assert_eq!(cell(&report, "claims", claim, "here"), "did not hold", "{claim}");
    }
    trials.retain(|trial| trial.implementation.title == "MariaDB");
    let report = billed(thrice(trials));
    for place in [0, 1, 3, 4] {
        assert_eq!(cell(&report, "claims", CLAIMS[place], "here"), "cannot be judged");
        let figures = cell(&report, "claims", CLAIMS[place], "figures");
        assert!(figures.contains("no valid trial of GridDB"), "{figures}");
    }
    assert_eq!(cell(&report, "claims", CLAIMS[2], "here"), "did not hold");
}

/// Where something was cut, its bills are of fewer readings. The report does not derive growth from them.
#[test]
fn nothing_is_said_of_growth_where_a_load_was_cut() {
    let mut trials = as_published();
    trials[1].loads[2].cut = Some("its time was over after 5 of 9 operations".to_owned());
    let report = billed(trials);
    kept::kept("billing-cut-one", &report);
    assert_eq!(cell(&report, "billing_extract", "MariaDB reading", "growth"), "–");
    assert_eq!(cell(&report, "claims", CLAIMS[2], "here"), "cannot be judged");
    let notes = table(&report, "billing_extract").notes.join("\n");
    assert!(notes.contains("MariaDB reading: ingest was cut"), "{notes}");
}

/// From half as many devices to all nothing is said of four times as many.
#[test]
fn growth_is_judged_over_four_times_the_devices_alone() {
    let mut trials = as_published();
    for trial in &mut trials {
        trial.loads.retain(|load| !load.phase.ends_with("6400"));
    }
    let report = billed(thrice(trials));
    kept::kept_claims("billing-half", &report);
    for claim in &CLAIMS[1..3] {
        assert_eq!(cell(&report, "claims", claim, "here"), "cannot be judged");
        let figures = cell(&report, "claims", claim, "figures");
        assert!(figures.contains("no valid trial of four times as many devices"), "{figures}");
        assert!(figures.contains("from 1,600 to 4,000 devices"), "{figures}");
    }
}

#[test]
fn the_ingest_rate_is_drawn_over_rows_stored() {
    let mut trials = as_published();
    // Ten seconds of 1,000, 900, 800… rows.
    for load in trials[1].loads.iter_mut().filter(|load| load.phase == "ingest-1600") {
        let mut recorder = LatencyRecorder::new();
        for second in 0..10_u64 {
            for _ in 0..1_000 - 100 * second {
                recorder.record(50_000, second * 1_000_000_000 + 5);
            }
        }
        let seconds = recorder.finish().expect("all in memory").1;
        for class in load.classes.values_mut() {
            class.latency.seconds.clone_from(&seconds);
        }
    }
    let report = billed(trials);
    kept::kept("billing-rate", &report);
    let row = |column| cell(&report, "billing_rate", "MariaDB reading", column);
    // A fifth is 1,100 rows: the first took 1 s and a ninth of the second, the last 4.2 s.
    assert_eq!((row("to 20 %"), row("last / first")), ("990".into(), "0.265".into()));
    assert_eq!(table(&report, "billing_rate").rows.len(), 1);
    let drawn = table(&report, "figure_ingest_rate");
    let own = |row: &&Vec<Cell>| row[0] == Cell::text("MariaDB reading");
    assert!(drawn.rows.iter().filter(own).count() > 1, "a point a second");
}

/// With devices loaded by themselves, their rate stands beside the study's; they have no bills, and no growth begins with them.
#[test]
fn a_load_by_itself_gives_the_rate_of_ingest() {
    let mut trials = as_published();
    for trial in &mut trials {
        for load in trial.loads.iter_mut().filter(|load| load.writes) {
            load.seconds *= 4.0;
        }
        let mut alone = trial.loads[0].clone();
        alone.phase = "ingest-160".to_owned();
        alone.seconds = SECONDS as f64;
        alone.labels.insert("devices".to_owned(), 160.into());
        alone.labels.insert("alone".to_owned(), true.into());
        let mut phase = trial.phases[0].clone();
        phase.name.clone_from(&alone.phase);
        trial.loads.insert(0, alone);
        trial.phases.insert(0, phase);
    }
    let report = billed(trials.clone());
    kept::kept("billing-alone", &report);
    assert_eq!(cell(&report, "billing_ingest", "GridDB reading", "overall"), "31,916");
    assert_eq!(cell(&report, "billing_ingest", "GridDB reading", "1,600 devices"), "7,979");
    let decided = billed(thrice(trials));
    assert_eq!(cell(&decided, "claims", CLAIMS[0], "here"), "held");
    assert_eq!(cell(&report, "billing_extract", "MariaDB reading", "growth"), "44.1");
}

/// The table with the study's foreign key is nearer to the study than the one with its index alone.
#[test]
fn the_foreign_key_stands_for_the_studys_mariadb_where_it_was_measured() {
    let mut trials = as_published();
    let mut bound = trials[1].clone();
    bound.implementation.layout_name = "reading-foreign-key".to_owned();
    bound.implementation.layout.foreign_key = true;
    for load in bound.loads.iter_mut().filter(|load| load.writes) {
        load.seconds *= 2.0;
    }
    trials.push(bound);
    let report = billed(trials);
    kept::kept("billing-foreign-key", &report);
    let here = |database| {
        let ratio = cell(&report, "published_ingest", database, "here / study");
        ratio.parse::<f64>().expect("a ratio")
    };
    assert!((here("MariaDB") - 0.5).abs() < 1e-3);
    assert!((here("GridDB") - 1.0).abs() < 1e-3);
}

/// The scale `study` is the size that the study printed, and paces by its figures.
#[test]
fn the_scale_is_the_studys() {
    let study = sensormark_workload::shipped::parameters::Billing::of(sensormark_engine::scale::Scale::Study);
    // A year, hourly, and a bill of July.
    assert_eq!((study.clients, study.records, study.bill_month), (160, 8_760, 7));
    let devices = study.devices.iter().map(|&devices| u64::from(devices));
    let printed_devices = extract("GridDB").into_iter().map(|(_, devices, _)| devices);
    assert!(devices.eq(printed_devices));
}
