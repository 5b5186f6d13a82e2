//! Trials of phases in the report: costs of the work, whatever the batches; loads that somebody lacks; phases that write and ask at once.

use super::{cell, order};
use crate::number::MISSING;
use crate::{Report, ReportOptions};
use sensormark_result::cost::Weights;
use sensormark_result::measurement::disk::of_a_reading_bytes;
use sensormark_result::measurement::latency::LatencyRecorder;
use sensormark_result::measurement::lifecycle::TaskRecord;
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{Figure, LoadRecord, RunRecord, TrialRecord};
use sensormark_result::tests::fixture::{load, of_phases, run, usual};

pub fn report(trials: Vec<TrialRecord>) -> Report {
    let run = RunRecord { workload: "replay".to_owned(), ..run() };
    Report::new(run, trials, &ReportOptions::default())
}

#[test]
fn batches_of_another_size_cost_the_same() {
    let report = report(vec![usual("MariaDB", 10), usual("PostgreSQL", 1_000)]);
    for title in ["MariaDB individual", "PostgreSQL individual"] {
        assert_eq!(cell(&report, "costs", title, "load time"), "100");
        // 8 and 10 % of a core for 10 s, over 100 thousand readings.
        assert_eq!(cell(&report, "costs", title, "load CPU"), "18.0");
        assert_eq!(cell(&report, "costs", title, "question time"), "20,000");
    }
    let ratios: Vec<f64> = report.ranking().ranked.iter().map(|one| one.ratio).collect();
    assert_eq!(ratios.len(), 2);
    assert!((ratios[0] - ratios[1]).abs() < 1e-9, "{ratios:?}");
}

#[test]
fn the_faster_is_first() {
    let mut slow = usual("MariaDB", 10);
    slow.loads[0].seconds = 20.0;
    let report = report(vec![slow, usual("PostgreSQL", 10)]);
    assert_eq!(order(&report), ["PostgreSQL individual", "MariaDB individual"]);
}

/// Who lacks a question stands below the line, and removes it for nobody.
#[test]
fn who_lacks_a_question_is_not_ranked_and_what_it_lacks_is_named() {
    let mut without = usual("MariaDB", 10);
    let mut missing = load("sums", false, 0.0, 0, 0);
    missing.classes.clear();
    missing.not_supported = Some("no layout keeps sums".to_owned());
    without.loads.push(missing);
    let of_two_questions = |title: &str| {
        let mut loads = usual(title, 10).loads;
        loads.push(load("sums", false, 400.0, 200, 200));
        of_phases(title, loads)
    };
    let report = report(vec![without, of_two_questions("PostgreSQL"), of_two_questions("MongoDB")]);
    assert_eq!(order(&report).len(), 2);
    // 20 ms and 2 s a question.
    assert_eq!(cell(&report, "costs", "PostgreSQL individual", "question time"), "200,000");
    assert_eq!(cell(&report, "not_ranked", "MariaDB individual", "reason"), "lacks sums");
    assert_eq!(cell(&report, "phase_sums", "MariaDB individual", "remark"), "not supported");
    let summary = report.summary();
    assert_eq!(summary.lacking[0].label, "MariaDB individual");
}

/// DuckDB, which did a backup while nobody wrote, was said to lack a backup.
#[test]
fn who_did_a_task_without_writers_lacks_the_writers() {
    let mut without = usual("MariaDB", 10);
    without.tasks.push(TaskRecord { phase: "backup".to_owned(), ..TaskRecord::default() });
    let with_writers = |title: &str| {
        let mut loads = usual(title, 10).loads;
        loads.push(load("backup", true, 10.0, 200, 200));
        of_phases(title, loads)
    };
    let report = report(vec![without, with_writers("PostgreSQL"), with_writers("MongoDB")]);
    let reason = cell(&report, "not_ranked", "MariaDB individual", "reason");
    assert_eq!(reason, "lacks writers beside backup");
}

/// The ratio of two is theirs, whoever else is there.
#[test]
fn the_ratio_of_two_is_the_same_alone_and_among_nine() {
    let of = |title: &str, seconds: f64| {
        let mut trial = usual(title, 10);
        trial.loads[0].seconds = seconds;
        trial.loads[1].seconds = seconds * seconds;
        trial
    };
    let two = || vec![of("MariaDB", 3.0), of("PostgreSQL", 10.0)];
    let ratio = |trials: Vec<TrialRecord>| {
        let report = report(trials);
        let cost = |label: &str| report.ranking().ranked.iter().find(|one| one.label == label).unwrap().ratio;
        cost("PostgreSQL individual") / cost("MariaDB individual")
    };
    let alone = ratio(two());
    let others = (0..7).map(|number| of(&format!("Other {number}"), 0.5 + f64::from(number)));
    let among_nine = ratio(two().into_iter().chain(others).collect());
    assert!((alone - among_nine).abs() < 1e-12 && alone > 1.1, "{alone} {among_nine}");
}

/// The load with a latency of 1 ms, 2 ms, … in place of its own.
fn timed(mut load: LoadRecord) -> LoadRecord {
    let class = load.classes.values_mut().next().unwrap();
    let mut recorder = LatencyRecorder::new();
    for at in 1..=class.operations {
        recorder.record(at * 1_000_000, at * 100_000_000);
    }
    (_, class.latency.seconds, class.latency.summary) = recorder.finish().expect("all in memory");
    load
}

#[test]
fn a_median_with_its_interval_takes_the_place_of_percentiles_of_few_operations() {
    let asked = |operations| vec![timed(load("point", false, 4.0, operations, operations))];
    let few = report(vec![of_phases("MariaDB", asked(10)), of_phases("PostgreSQL", asked(3))]);
    let median = "median, 95 % interval";
    let maria = cell(&few, "phase_point", "MariaDB individual", median);
    assert_eq!(maria, "5.00 [2.00, 9.00]");
    let postgres = cell(&few, "phase_point", "PostgreSQL individual", median);
    assert_eq!(postgres, "2.00, range 1.00–3.00");
    // Every format has the interval, names what is left out, and has no column of it.
    let json: serde_json::Value = serde_json::from_str(&few.json()).unwrap();
    let blocks = json["sections"].as_array().unwrap().iter();
    let mut blocks = blocks.flat_map(|section| section["blocks"].as_array().unwrap());
    let table = blocks.find(|block| block["id"] == "phase_point").unwrap();
    let columns = table["columns"].as_array().unwrap().iter();
    let columns: Vec<&str> = columns.map(|one| one["name"].as_str().unwrap()).collect();
    let start = ["implementation", "operations", "readings", "mean", median, "max"];
    assert!(columns.starts_with(&start), "{columns:?}");
    let range = &table["rows"][1][4];
    assert!(range["low"].is_null() && range["smallest"].is_f64(), "{range}");
    for (text, interval, range) in [
        (few.text(200), "5.00 [2.00, 9.00]", "2.00, range 1.00–3.00"),
        (few.markdown(), r"5.00 \[2.00, 9.00\]", "2.00, range 1.00–3.00"),
        (few.csv(), "median, 95 % interval\",ms,5.", ",range 1."),
    ] {
        assert!(text.contains(interval), "{interval}: {text}");
        assert!(text.contains(range), "{range}: {text}");
        let named = "Left out: p95, p99 (fewer than 10 samples beyond it).";
        assert!(text.contains(named), "{text}");
    }
    assert!(!few.csv().contains(",p99,") && !few.markdown().contains("| p99"));
}

#[test]
fn percentiles_that_somebody_has_stay() {
    let asked = |operations| vec![timed(load("point", false, 4.0, operations, operations))];
    let mixed = report(vec![of_phases("MariaDB", asked(10)), of_phases("PostgreSQL", asked(1_000))]);
    for (item, p99) in [("MariaDB individual", "–"), ("PostgreSQL individual", "990")] {
        assert_eq!(cell(&mixed, "phase_point", item, "p99"), p99);
    }
    let many = report(vec![of_phases("PostgreSQL", asked(1_000))]);
    let median = cell(&many, "phase_point", "PostgreSQL individual", "median");
    assert_eq!(median, "500");
}

/// A load of 100,000 readings in 10 s. Then a phase in which a writer and questions run at a given rate at once, with 900 times the CPU of an operation.
fn own_file(title: &str, due: u64) -> TrialRecord {
    let mut writing = load("mixed", true, 10.0, due, due * 100);
    let mut asking = load("mixed", false, 10.0, 3_000, 3_000);
    writing.name = "writers".to_owned();
    asking.name = "questions".to_owned();
    (writing.open_loop, asking.open_loop) = (true, true);
    let usual = load("load", true, 10.0, 10, 100_000);
    let mut record = of_phases(title, vec![usual, writing, asking]);
    let roles = &mut record.phases[1].totals.as_mut().unwrap().roles;
    for role in roles.values_mut() {
        role.cpu_ns *= 900;
    }
    record
}

/// QuestDB's writes were charged with 321 µs of CPU instead of 1.67, and its load's 67,000 readings a second read 27,200.
#[test]
fn what_ran_at_once_is_not_divided_and_a_reading_costs_what_its_load_cost() {
    let report = report(vec![own_file("QuestDB", 10), own_file("DuckDB", 10)]);
    let of = |table: &str, column: &str| cell(&report, table, "QuestDB individual", column);
    // 0.8 and 1 s of CPU over 100 thousand readings.
    assert_eq!(of("costs", "load CPU"), "18.0");
    assert_eq!(of("costs", "load time"), "100");
    assert_eq!(of("costs", "question CPU"), MISSING);
    for table in ["phase_mixed_writers", "phase_mixed_questions"] {
        assert_eq!(of(table, "server CPU"), MISSING);
    }
    assert_eq!(of("costs_together", "written"), "100");
    assert_eq!(of("costs_together", "asked"), "300");
    assert_eq!(of("costs_together", "server CPU"), "8.00");
    let ranking = report.ranking();
    let weighed: Vec<&str> = ranking.criteria.iter().map(|(one, _)| one.id).collect();
    assert!(weighed.contains(&"question_time") && !weighed.contains(&"question_cpu"), "{weighed:?}");
    let notes = ranking.notes.join("\n");
    assert!(notes.contains("No phase asks without writing at once"), "{notes}");
    let summary = report.summary();
    let figure = |id: &str| {
        let place = summary.columns.iter().position(|column| column.id == id);
        summary.ranked[0].figures[place.unwrap()]
    };
    // 8 and 10 % of a core for 10 s.
    assert!((figure("cpu_per_reading").unwrap() - 18.0).abs() < 1e-9);
    assert!((figure("write_rate").unwrap() - 10.0).abs() < 1e-9);
}

/// Weights of a user's own leave out what counts 0.
#[test]
fn a_criterion_of_weight_0_ranks_nobody() {
    let weights =
        "load_time = 0\nquestion_time = 0\nquestion_cpu = 0\ndisk = 0\nmemory = 0\nwritten = 0\nwire = 0";
    let options = ReportOptions { weights: Weights::from_toml(weights).unwrap(), ..ReportOptions::default() };
    let mut costly = own_file("DuckDB", 10);
    let totals = costly.phases.iter_mut().filter_map(|phase| phase.totals.as_mut());
    totals.flat_map(|totals| totals.roles.values_mut()).for_each(|role| role.cpu_ns *= 3);
    let report = Report::new(run(), vec![own_file("QuestDB", 10), costly], &options);
    let ratios: Vec<f64> = report.ranking().ranked.iter().map(|one| one.ratio).collect();
    assert!((ratios[1] - 3.0).abs() < 1e-12, "{ratios:?}");
}

#[test]
fn a_phase_that_was_cut_did_not_keep_up() {
    let mut cut = usual("MariaDB", 10);
    cut.loads[1].cut = Some("its time was over after 200 of 900 operations".to_owned());
    let report = report(vec![cut, usual("PostgreSQL", 10)]);
    assert_eq!(cell(&report, "ranking_servers", "MariaDB individual", "keeps up"), "no: 1 phase cut");
}

/// The two seconds of warm-up in the file that `init` writes end with questions that are due, so nobody kept up.
#[test]
fn a_warm_up_need_not_keep_up() {
    let with = |warm_up| {
        let mut asked = load("before", false, 2.0, 40, 40);
        (asked.warm_up, asked.not_started) = (warm_up, 3);
        asked.cut = Some("its time was over after 40 of 43 operations".to_owned());
        let mut all = [usual("MariaDB", 10), usual("PostgreSQL", 10)];
        all[0].loads.insert(1, asked.clone());
        (asked.cut, asked.not_started) = (None, 0);
        all[1].loads.insert(1, asked);
        report(all.to_vec())
    };
    let (table, title) = ("ranking_servers", "MariaDB individual");
    assert_eq!(cell(&with(true), table, title, "keeps up"), "yes");
    assert_eq!(
        cell(&with(false), "not_ranked", title, "reason"),
        "did not keep up: 3 operations due and not started"
    );
}

/// Of MariaDB nothing could be measured: PostgreSQL and SQLite are compared in everything all the same.
#[test]
fn one_that_supports_nothing_keeps_nobody_from_being_compared() {
    let mut without = usual("MariaDB", 10);
    for load in &mut without.loads {
        load.classes.clear();
        load.seconds = 0.0;
        load.not_supported = Some("no transactions".to_owned());
    }
    let report = report(vec![without, usual("PostgreSQL", 10), usual("MongoDB", 10)]);
    let ranked = order(&report);
    assert_eq!(ranked.len(), 2, "{ranked:?}");
    assert!(!ranked.contains(&"MariaDB individual"), "{ranked:?}");
    assert_eq!(cell(&report, "costs", "MongoDB individual", "question time"), "20,000");
    let unranked = &report.ranking().unranked;
    assert_eq!(unranked.len(), 1, "{unranked:?}");
}

/// A search for the highest rate ends with ten times what was loaded, all of it written after the disk was measured.
#[test]
fn the_disk_is_that_of_what_was_stored_by_then() {
    let mut trial = of_phases(
        "SQLite",
        vec![
            load("load", true, 10.0, 100, 100_000),
            load("settled", false, 1.0, 1, 0),
            load("mixed", true, 10.0, 1_000, 1_000_000),
            load("mixed", false, 10.0, 500, 500),
        ],
    );
    trial.ledger.as_mut().unwrap().stored = 1_100_000;
    let settled = format!("{}/settled", names::DISK_SETTLED);
    for (name, bytes) in [
        (names::DISK_BEFORE, 300_000.0),
        (names::DISK_BEFORE_LOGS, 0.0),
        (names::DISK_SETTLED, 6_000_000.0),
        (names::DISK_SETTLED_LOGS, 0.0),
        (settled.as_str(), 6_000_000.0),
    ] {
        let figure = Figure::new(bytes, "bytes");
        trial.figures.insert(name.to_owned(), figure);
    }
    assert_eq!(of_a_reading_bytes(&trial), Some(57.0));
    let report = report(vec![trial]);
    let summary = report.summary();
    let columns = summary.columns.iter();
    let shown = columns.zip(&summary.ranked[0].figures);
    let (_, disk) = shown.into_iter().find(|(column, _)| column.id == "disk_per_reading").unwrap();
    assert_eq!(*disk, Some(57.0));
}
