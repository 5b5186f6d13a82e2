//! The iot-platform workload in the report: tables by query and span, what designs are worth, the study's figures and claims.

use super::*;
use sensormark_data::units::round_u64;
use sensormark_result::measurement::record::{AnswersRecord, ClassRecord, LoadRecord, Side};
use std::collections::BTreeMap;

/// Twenty operations of so many ms each, that found or wrote so many readings in all.
fn load(operation: &str, days: Option<u64>, ms: f64, readings: u64) -> LoadRecord {
    let class = ClassRecord {
        operations: 20,
        readings,
        failed: 0,
        latency: latency(false, 20, round_u64(ms * 1e6)),
        service: None,
    };
    let phase = days.map_or_else(|| operation.to_owned(), |days| format!("{operation}-{days}d"));
    let mut labels = BTreeMap::from([("operation".to_owned(), operation.into())]);
    labels.extend(days.map(|days| ("days".to_owned(), days.into())));
    LoadRecord {
        phase,
        name: operation.to_owned(),
        labels,
        warm_up: false,
        writes: days.is_none(),
        clients: 1,
        processes: 1,
        open_loop: false,
        planned: 20,
        seconds: ms * 20.0 / 1e3,
        shared: None,
        classes: BTreeMap::from([(operation.to_owned(), class)]),
        errors: BTreeMap::new(),
        first_error: None,
        late: 0,
        not_started: 0,
        statements: 20,
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

type Asked = (&'static str, u64, f64);

/// A trial whose messages took so many ms, and that was asked so.
fn of(title: &str, layout: &str, message_ms: f64, asked: &[Asked]) -> TrialRecord {
    let used = if layout == "flat" { CHEAP } else { COSTLY };
    let mut record = trial(implementation(title, layout, None), 0, used);
    record.side = Side::Mixed;
    record.loads = vec![load("messages", None, message_ms, 36), load("load", None, 100.0, 1_000_000)];
    let questions = asked.iter();
    record.loads.extend(questions.map(|&(query, days, ms)| load(query, Some(days), ms, 660_000)));
    record
}

fn report(trials: Vec<TrialRecord>) -> Report {
    let run = sensormark_result::measurement::record::RunRecord {
        workload: "iot-platform".to_owned(),
        parameters: serde_json::json!({ "questions": 20, "points": 500 }),
        ..run()
    };
    Report::new(run, trials, &ReportOptions::default())
}

/// The study's printed figures, and figures as its prose tells of the rest.
fn as_published() -> Vec<TrialRecord> {
    let without_index = [
        ("raw", 1, 35.0),
        ("raw-without-days", 1, 71.0),
        ("raw", 365, 280.0),
        ("raw-without-days", 365, 330.0),
        ("daily", 1, 40.0),
        ("daily", 365, 400.0),
        ("daily-sums", 1, 30.0),
        ("daily-sums", 365, 75.0),
    ];
    let with_index = [
        ("raw", 1, 12.0),
        ("daily", 1, 14.0),
        ("daily", 365, 380.0),
        ("daily-sums", 1, 10.0),
        ("daily-sums", 365, 30.0),
    ];
    let influxdb = [
        ("raw", 1, 20.0),
        ("raw", 365, 188.0),
        ("hourly", 365, 54.0),
        ("daily", 1, 9.0),
        ("daily", 365, 30.0),
    ];
    vec![
        of("MongoDB", "bucketed-no-index", 0.5, &without_index),
        of("MongoDB", "bucketed", 0.4, &with_index),
        of("MongoDB", "flat", 0.2, &[("daily", 365, 500.0)]),
        of("InfluxDB", "flat-flux", 1.0, &influxdb),
    ]
}

const CLAIMS: [&str; 7] = [
    "the coarse filter by day halves the time of a day's raw values (MongoDB)",
    "the index makes MongoDB 2 to 3 times as fast, less as the span grows where nothing is pre-computed",
    "from raw values the cost of daily means grows with the values read, from sums very slowly (MongoDB)",
    "with the index, MongoDB's daily means from pre-computed sums are as fast as InfluxDB's",
    "windows make a year's chart 3.5 times (1 h) and 6 times (1 day) cheaper (InfluxDB)",
    "MongoDB still answers about a year in tenths of a second",
    "InfluxDB gives raw values about 50 % faster than MongoDB",
];

#[test]
fn on_the_studys_own_figures_its_claims_hold() {
    kept::kept_variants("iot-platform", &as_published(), report);
    let report = report(thrice(as_published()));
    for claim in CLAIMS {
        let figures = cell(&report, "claims", claim, "figures");
        assert_eq!(cell(&report, "claims", claim, "here"), "held", "{claim}: {figures}");
    }
    assert_eq!(drawn_as(&report, "published"), (3, 0));
    let printed = cell(&report, "figure_platform_hourly", "published", "mean");
    assert_eq!(printed, "54");
    let ratio = |figure| cell(&report, "published_platform", figure, "here / study");
    for figure in [
        "raw values of a day",
        "the same without the filter by day",
        "raw values of a year",
        "hourly means of a year",
        "daily means of a year",
        "temperatures in a year",
    ] {
        assert_eq!(ratio(figure), "1.00", "{figure}");
    }
    assert_eq!(ratio("temperatures in 90 days"), number::MISSING);
}

#[test]
fn a_claim_falls_with_its_figures_and_is_open_without_them() {
    for (layout, query, days, ms, claim) in [
        ("bucketed-no-index", "raw-without-days", 1, 50.0, 0),
        ("bucketed-no-index", "daily-sums", 365, 40.0, 1),
        ("bucketed", "daily", 365, 100.0, 1),
        ("bucketed-no-index", "daily-sums", 365, 330.0, 2),
        ("bucketed", "daily-sums", 365, 38.0, 3),
        ("flat-flux", "hourly", 365, 80.0, 4),
        ("flat-flux", "daily", 365, 45.0, 4),
        ("bucketed-no-index", "daily", 365, 1_001.0, 5),
        ("bucketed-no-index", "raw", 1, 22.0, 6),
    ] {
        let mut trials = as_published();
        let mut of_layout = trials.iter_mut();
        let trial = of_layout.find(|one| one.implementation.layout_name == layout);
        let trial = trial.unwrap();
        let phase = format!("{query}-{days}d");
        let own = trial.loads.iter_mut().find(|load| load.phase == phase).unwrap();
        *own = load(query, Some(days), ms, 660_000);
        let report = report(thrice(trials));
        kept::kept_claims(&format!("iot-platform-{layout}-{phase}-{ms}"), &report);
        let figures = cell(&report, "claims", CLAIMS[claim], "figures");
        assert_eq!(
            cell(&report, "claims", CLAIMS[claim], "here"),
            "did not hold",
            "{layout} {phase}: {figures}"
        );
    }
    let mut without = as_published();
    without.retain(|trial| trial.implementation.title == "MongoDB");
    let report = report(thrice(without));
    for claim in [3, 4, 6] {
        assert_eq!(cell(&report, "claims", CLAIMS[claim], "here"), "cannot be judged");
    }
    assert_eq!(cell(&report, "claims", CLAIMS[5], "here"), "held");
}

/// At a smaller scale nothing was asked about a year.
#[test]
fn what_was_not_asked_is_not_judged() {
    let mut trials = as_published();
    for trial in &mut trials {
        trial.loads.retain(|load| !load.phase.ends_with("365d"));
    }
    let report = report(thrice(trials));
    kept::kept_claims("iot-platform-no-year", &report);
    for claim in [4, 5] {
        assert_eq!(cell(&report, "claims", CLAIMS[claim], "here"), "cannot be judged", "{claim}");
    }
    assert_eq!(cell(&report, "claims", CLAIMS[0], "here"), "held");
}

#[test]
fn times_stand_by_span_with_their_growth_and_effects() {
    let report = report(as_published());
    let raw = |item, column| cell(&report, "platform_raw", item, column);
    assert_eq!(raw("InfluxDB flat-flux", "1 d"), "20.0");
    assert_eq!(raw("InfluxDB flat-flux", "365 d"), "188");
    // ln(188 / 20) / ln(365)
    assert_eq!(raw("InfluxDB flat-flux", "grows with span^"), "0.38");
    assert_eq!(raw("MongoDB bucketed-no-index, no filter by day", "1 d"), "71.0");
    let daily = |item, column| cell(&report, "platform_daily", item, column);
    assert_eq!(daily("MongoDB bucketed, from sums", "365 d"), "30.0");
    assert_eq!(daily("MongoDB flat", "1 d"), number::MISSING);
    let effect = |table, item, column| cell(&report, table, item, column);
    assert_eq!(effect("effect_day_filter", "MongoDB bucketed-no-index", "1 d"), "2.03");
    assert_eq!(effect("effect_index", "raw", "1 d"), "2.92");
    assert_eq!(effect("effect_sums", "MongoDB bucketed", "365 d"), "12.7");
    let cost = |column| cell(&report, "effect_cost_of_sums", "MongoDB bucketed", column);
    assert_eq!((cost("a message"), cost("disk")), ("2.00".to_owned(), "2.00".to_owned()));
    assert_eq!(cell(&report, "platform_writing", "MongoDB flat", "messages"), "5,000");
    for line in report.text(80).lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

/// Who lacks questions stands below the line, and nobody else loses them.
#[test]
fn phases_that_somebody_lacks_are_named_together() {
    let raw: [Asked; 2] = [("raw", 1, 1.0), ("raw", 7, 1.0)];
    let sums: [Asked; 3] = [("daily-sums", 1, 1.0), ("daily-sums", 7, 1.0), ("total-sums", 7, 1.0)];
    let all = [&raw[..], &sums].concat();
    let report = report(vec![of("PostgreSQL", "flat", 0.2, &raw), of("PostgreSQL", "summary", 0.2, &all)]);
    let reason = cell(&report, "not_ranked", "PostgreSQL flat", "reason");
    assert_eq!(reason, "lacks daily-sums-1d, daily-sums-7d and total-sums-7d");
    assert_eq!(report.ranking().ranked.len(), 1);
}

/// An invalid trial is in no table.
#[test]
fn figures_that_may_not_be_believed_are_not_shown() {
    let mut trials = as_published();
    trials[3] = sensormark_result::tests::fixture::invalid(
        trials[3].clone(),
        sensormark_result::measurement::verdict::ReasonKind::WrongAnswer,
        "one answer is wrong",
    );
    let report = report(trials);
    let table = |id: &str| {
        let mut tables = report.document().tables();
        tables.find(|table| table.id == id).cloned()
    };
    let raw = table("platform_raw").expect("MongoDB is in it");
    let names = raw.rows.iter().map(|row| number::cell_text(&row[0]));
    assert!(names.into_iter().all(|name| name.starts_with("MongoDB")));
    assert!(table("platform_hourly").is_none());
    assert_eq!(cell(&report, "claims", CLAIMS[4], "here"), "cannot be judged");
}

/// Layouts that other tests do not have: the study's own index, ways of asking, sums, and phases that were done in the client.
#[test]
fn other_layouts_are_kept() {
    let mut trials = as_published();
    let asked: [Asked; 5] = [
        ("raw", 1, 12.0),
        ("raw-without-days", 7, 30.0),
        ("hourly", 7, 20.0),
        ("total", 7, 9.0),
        ("total-sums", 7, 3.0),
    ];
    for (title, layout, message_ms) in [
        ("MongoDB", "bucketed-as-published", 0.6),
        ("MongoDB", "bucketed-as-published-indexed", 0.7),
        ("MongoDB", "bucketed-first-tag-index", 0.7),
        ("MongoDB", "bucketed-unwind", 0.3),
        ("PostgreSQL", "flat", 0.3),
        ("PostgreSQL", "summary", 0.4),
    ] {
        let mut trial = of(title, layout, message_ms, &asked);
        let own = [
            load("chart", Some(1), 5.0, 500),
            load("statistics", Some(365), 50.0, 10),
            load("day-night", Some(7), 4.0, 14),
        ];
        trial.loads.extend(own);
        trial.loads[4].client_side = Some("no such function".to_owned());
        trial.loads[2].not_supported = (title == "PostgreSQL").then(|| "no days".to_owned());
        trials.push(trial);
    }
    kept::kept("iot-platform-layouts", &report(thrice(trials)));
}
