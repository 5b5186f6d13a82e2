//! The size of a write in the report: what was sent, what it flushed, and what is advised.

use super::cell;
use crate::number::MISSING;
use crate::{Report, ReportOptions};
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{Figure, RunRecord, TrialRecord};
use sensormark_result::measurement::write_size::WriteSizeRecord;
use sensormark_result::tests::fixture::{COSTLY, implementation, latency, run, trial};
use sensormark_result::tests::fixture::{load, of_phases};

/// What a store advises for a table of which a write holds so many readings.
pub fn advised(readings_per_write: u64) -> WriteSizeRecord {
    WriteSizeRecord {
        table: "readings".to_owned(),
        readings: 5_000,
        bytes: 1_000_000,
        reading_bytes: 1_000_000 / readings_per_write,
        readings_per_write,
        advice: "5,000 lines".to_owned(),
        link: "https://example.org/".to_owned(),
    }
}

fn report(trial: TrialRecord) -> Report {
    let run = RunRecord { workload: "replay".to_owned(), ..run() };
    Report::new(run, vec![trial], &ReportOptions::default())
}

/// 100,000 readings in 20 writes of two statements, beside 200 questions in another phase.
fn written() -> TrialRecord {
    let mut trial = of_phases(
        "InfluxDB",
        vec![load("load", true, 10.0, 20, 100_000), load("point", false, 4.0, 200, 200)],
    );
    trial.loads[0].statements = 40;
    trial.loads[0].datagram_bytes = 0;
    let totals = trial.phases[0].totals.as_mut().unwrap();
    totals.host.disk_flushes = Some(60);
    let client = totals.roles.get_mut("trial").unwrap();
    client.sent_wire_bytes = Some(20_000_000);
    trial.write_sizes = vec![advised(5_000), advised(1_250)];
    trial
}

#[test]
fn the_size_of_a_write_and_its_flushes_are_told() {
    let report = report(written());
    let of = |column| cell(&report, "writes", "InfluxDB individual", column);
    assert_eq!(of("phase"), "load");
    assert_eq!(of("writes"), "20.0");
    assert_eq!(of("readings a write"), "5,000");
    assert_eq!(of("statements a write"), "2.00");
    assert_eq!(of("sent a write"), "1,000");
    assert_eq!(of("flushes"), "60.0");
    assert_eq!(of("flushes a write"), "3.00");
    let tables = report.document().tables();
    let rows: Vec<usize> =
        tables.filter(|table| table.id == "writes").map(|table| table.rows.len()).collect();
    assert_eq!(rows, [1], "questions write nothing");
}

#[test]
fn what_is_advised_is_told_with_its_link() {
    let report = report(written());
    let of = |column| cell(&report, "advised_writes", "InfluxDB individual", column);
    assert_eq!(of("readings"), "5,000");
    assert_eq!(of("bytes"), "1,000");
    assert_eq!(of("readings a write"), "1,250 to 5,000");
    assert_eq!(of("advice"), "5,000 lines");
    assert_eq!(of("link"), "https://example.org/");
}

#[test]
fn what_a_phase_sent_is_not_laid_to_its_writes_where_it_asks_too() {
    let mut trial = written();
    trial.loads[1].phase = "load".to_owned();
    let report = report(trial);
    let of = |column| cell(&report, "writes", "InfluxDB individual", column);
    assert_eq!(of("readings a write"), "5,000");
    assert_eq!(of("sent a write"), MISSING);
}

/// It said 0.0166 writes of 42 MB: the phase's operations are writes already, not readings.
#[test]
fn a_writer_of_batches_has_the_writes_of_its_phase() {
    let mut record = trial(implementation("MariaDB", "bulk", None), 0, COSTLY);
    // Of 21 statements with 20,200 samples 16 were in the phase, with 15,527.
    record.phases[1].operations = 16;
    record.ledger.as_mut().unwrap().attempted = 20_200;
    let counted = latency(true, 15_527, 400_000);
    record.latencies.insert(names::SENSOR_DELAY.to_owned(), counted);
    let statements = Figure::new(21.0, "statements");
    record.figures.insert(names::STATEMENTS.to_owned(), statements);
    let totals = record.phases[1].totals.as_mut().unwrap();
    let client = totals.roles.get_mut("writer").unwrap();
    client.sent_wire_bytes = Some(320_000);
    let report = Report::new(run(), vec![record], &ReportOptions::default());
    let of = |column| cell(&report, "writes", "MariaDB bulk", column);
    assert_eq!(of("writes"), "16.0");
    assert_eq!(of("readings a write"), "970");
    assert_eq!(of("statements a write"), "1.01");
    assert_eq!(of("sent a write"), "20.0");
}
