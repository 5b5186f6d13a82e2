//! What the user asked to hold: who meets it, with what headroom and disk, who costs least of those, what the others miss, and what is open.

use super::*;
use crate::brief::{Paths, Room, render};
use crate::requirements::Outcome;
use sensormark_result::measurement::record::{Figure, LimitRecord};
use sensormark_result::measurement::verdict::{Reason, ReasonKind, Verdict};
use sensormark_result::tests::fixture::usual;
use sensormark_workload::own::find_limit::{HIGHEST_RATE, HIGHEST_RATE_LIMIT, MOST_USERS_LIMIT};

/// A thousand sensors that send once a second.
fn own(trials: Vec<TrialRecord>) -> Report {
    let run = RunRecord {
        workload: "own".to_owned(),
        scale: "plant.toml".to_owned(),
        parameters: serde_json::json!({ "tables": [{ "series": { "count": 1_000, "interval_ns": 1_000_000_000 } }] }),
        ..run()
    };
    Report::new(run, trials, &ReportOptions::default())
}

fn limit(text: &str, measured: Option<f64>, unit: &str, words: &str, met: bool) -> LimitRecord {
    LimitRecord {
        text: text.to_owned(),
        measured,
        unit: unit.to_owned(),
        words: words.to_owned(),
        met,
        is_undecided: false,
        needs_readings: None,
    }
}

/// A trial whose dashboard took so long, of which 100 ms were wanted, and whose data takes so much disk, of which 10 GB were there. It has all readings of 12 s.
fn trial_of(title: &str, dashboard_ms: f64, disk_gb: f64) -> TrialRecord {
    let mut trial = usual(title, 10);
    trial.limits = vec![
        limit(
            "p99 of dashboard <= 100 ms",
            Some(dashboard_ms * 1e6),
            "ns",
            &format!("{dashboard_ms} ms"),
            dashboard_ms <= 100.0,
        ),
        limit(
            "disk for 12s <= 10 GB",
            Some(disk_gb * 1e9),
            "bytes",
            &format!("{disk_gb} GB"),
            disk_gb <= 10.0,
        ),
        limit("lost = 0", Some(0.0), "", "0", true),
    ];
    trial
}

/// The same, after a search for the highest rate.
fn found(mut trial: TrialRecord, rate: f64) -> TrialRecord {
    let figure = Figure::new(rate, "readings/s");
    trial.figures.insert(HIGHEST_RATE.to_owned(), figure);
    let words = format!("{rate} readings a second held");
    let line = limit(HIGHEST_RATE_LIMIT, Some(rate), "1/s", &words, true);
    trial.limits.push(line);
    trial
}

/// One that takes four times as long to write.
fn slow(mut trial: TrialRecord) -> TrialRecord {
    trial.loads[0].seconds *= 4.0;
    trial
}

fn headline(trials: Vec<TrialRecord>) -> Vec<String> {
    own(trials).summary().headline
}

#[test]
fn all_meet_and_the_cheapest_is_named_with_its_room() {
    let all = headline(vec![
        found(slow(trial_of("MariaDB", 40.0, 8.0)), 9_000.0),
        found(trial_of("PostgreSQL", 90.0, 4.1), 23_000.0),
    ]);
    assert_eq!(
        all,
        [
            "MariaDB individual and PostgreSQL individual meet all 3 requirements.",
            "Of them PostgreSQL individual (23 times the rate, 4.10 GB for 12s) costs least.",
        ]
    );
    let plain = headline(vec![trial_of("MariaDB", 40.0, 8.0)]);
    assert_eq!(plain, ["MariaDB individual meets all 3 requirements (8 GB for 12s)."]);
}

#[test]
fn of_embedded_and_servers_each_cheapest_is_named() {
    let all = headline(vec![
        found(slow(trial_of("MariaDB", 40.0, 8.0)), 2_000.0),
        found(trial_of("SQLite", 9.0, 1.5), 46_000.0),
    ]);
    assert_eq!(
        all[1],
        "Of them SQLite individual (46 times the rate, 1.50 GB for 12s) costs least, of servers MariaDB individual (2.0 times the rate, 8 GB for 12s)."
    );
}

#[test]
fn one_meets_and_the_other_is_told_by_what_it_misses() {
    let report = own(vec![
        found(trial_of("InfluxDB", 340.0, 20.0), 5_000.0),
        found(slow(trial_of("PostgreSQL", 90.0, 4.1)), 23_000.0),
    ]);
    let summary = report.summary();
    assert_eq!(
        summary.headline,
        [
            "PostgreSQL individual alone meets all 3 requirements (23 times the rate, 4.10 GB for 12s).",
            "InfluxDB individual misses p99 of dashboard (340 ms, wanted 100 ms), and 1 more.",
        ]
    );
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    let found = &json["summary"]["requirements"];
    assert_eq!(found["count"], 3);
    assert_eq!(found["readings_per_second"], 1_000.0);
    assert_eq!(found["keep"], "12s");
    assert_eq!(found["cheapest"][0], "PostgreSQL individual");
    assert_eq!(found["layouts"][0]["outcome"], "misses");
    assert_eq!(found["layouts"][0]["reasons"][1], "misses disk for 12s (20 GB, wanted 10 GB)");
    assert_eq!(found["layouts"][1]["headroom"], 23.0);
    let disk_bytes = found["layouts"][1]["disk_bytes"].as_f64().unwrap();
    assert!((disk_bytes - 4.1e9).abs() < 1.0, "{disk_bytes}");
    let ranked = json["summary"]["ranked"].as_array().unwrap();
    assert_eq!(
        [&ranked[0]["meets"], &ranked[1]["meets"]],
        ["meets", "misses"],
        "it costs less, and stands below all the same"
    );
}

/// The same trial, of which the disk of 90 days is foretold.
fn foretold(mut trial: TrialRecord) -> TrialRecord {
    trial.limits[1].text = "disk for 90d <= 10 GB".to_owned();
    trial
}

/// 103.6 GB were foretold from half an hour of data, and printed as ✗; twenty hours of data said 78.7.
#[test]
fn a_disk_that_is_foretold_from_less_data_is_undecided_whatever_it_says() {
    let report = own(vec![
        foretold(found(trial_of("PostgreSQL", 90.0, 41.0), 23_000.0)),
        foretold(slow(trial_of("MariaDB", 40.0, 8.0))),
        foretold(trial_of("InfluxDB", 340.0, 8.0)),
    ]);
    let open = "disk for 90d is undecided: measured with 12,000 readings; yours are 7,776 million";
    let summary = report.summary();
    assert_eq!(
        summary.headline,
        [
            &format!("PostgreSQL individual and MariaDB individual meet all that could be decided; {open}."),
            "Of them PostgreSQL individual (23 times the rate) costs least.",
            "InfluxDB individual misses p99 of dashboard (340 ms, wanted 100 ms).",
        ]
    );
    assert_eq!(summary.winner.as_deref(), Some("PostgreSQL individual"));
    assert_eq!(
        summary.title(),
        "PostgreSQL individual and MariaDB individual meet all that could be decided."
    );
    let requirements = summary.requirements.as_ref().expect("requirements");
    assert_eq!(requirements.layouts[0].reasons, [open]);
    let first = render(&summary, &Paths::default(), Room { width: 100, height: None });
    for line in ["  ? 1 PostgreSQL", "  ? 2 MariaDB", "  ✗ 3 InfluxDB"] {
        assert!(first.contains(line), "{line}: {first}");
    }
    assert!(!first.contains("kept") && !first.contains("41"), "{first}");
    for text in [report.text(200), report.markdown(), report.csv(), report.json()] {
        assert!(text.contains("measured with 12,000 readings; yours are 7,776 million"));
        assert!(!text.contains("41 GB") && !text.contains("8 GB"), "{text}");
    }
    // One alone, and what is known of its disk is nothing.
    assert_eq!(
        headline(vec![foretold(trial_of("MariaDB", 40.0, 8.0))]),
        [format!("MariaDB individual meets all that could be decided; {open}.")]
    );
}

/// A row of each of these, by what it meets; who costs least stands first only among its like.
#[test]
fn who_meets_stands_first_then_what_is_open_then_who_misses_everywhere() {
    let mut open = trial_of("QuestDB", 340.0, 8.0);
    open.disturbances.push("measured: busy".to_owned());
    let report = own(vec![
        trial_of("InfluxDB", 340.0, 8.0),
        open,
        slow(foretold(trial_of("DuckDB", 40.0, 8.0))),
        slow(slow(trial_of("MariaDB", 40.0, 8.0))),
        slow(trial_of("PostgreSQL", 90.0, 4.1)),
    ]);
    let expected = ["PostgreSQL", "MariaDB", "DuckDB", "QuestDB", "InfluxDB"];
    let expected = expected.map(|title| format!("{title} individual"));
    let summary = report.summary();
    let rows = summary.ranked.iter().map(|row| (row.rank, row.label.clone()));
    let numbered: Vec<(usize, String)> = (1..).zip(expected.clone()).collect();
    assert_eq!(rows.collect::<Vec<_>>(), numbered);
    assert_eq!(order(&report), expected);
    let marks = ["✓", "✓", "?", "?", "✗"];
    for (label, mark) in expected.iter().zip(marks) {
        assert_eq!(cell(&report, "ranking_servers", label, "requirements"), mark);
    }
    let page = crate::html::front(&report);
    let of = |key: &str| -> Vec<String> {
        let rows = page["rows"].as_array().expect("rows").iter();
        rows.map(|row| row[key].as_str().unwrap_or("").to_owned()).collect()
    };
    assert_eq!((of("label"), of("mark")), (expected.to_vec(), marks.map(str::to_owned).to_vec()));
    assert!(of("reason")[4].starts_with("misses p99 of dashboard"));
    let named = [page["title"].as_str().unwrap(), &page["further"].to_string()].join(" ");
    assert!(named.contains("Of them PostgreSQL individual"), "{named}");
    assert_eq!(summary.winner.as_deref(), Some("PostgreSQL individual"));
}

/// It was named as the winner of a list of runs.
#[test]
fn who_misses_a_requirement_is_no_winner() {
    let missed = own(vec![trial_of("MariaDB", 340.0, 8.0), slow(trial_of("PostgreSQL", 340.0, 8.0))]);
    assert_eq!(missed.summary().winner, None);
}

#[test]
fn nobody_meets_what_cannot_be_met() {
    let all = headline(vec![trial_of("MariaDB", 340.0, 8.0), trial_of("PostgreSQL", 90.0, 41.0)]);
    assert_eq!(
        all[..3],
        [
            "None of 2 layouts meets all 3 requirements.",
            "MariaDB individual misses p99 of dashboard (340 ms, wanted 100 ms).",
            "PostgreSQL individual misses disk for 12s (41 GB, wanted 10 GB).",
        ]
    );
}

/// A busy machine takes time and no disk.
#[test]
fn what_a_busy_machine_missed_is_open() {
    let busy = |mut trial: TrialRecord| {
        trial.disturbances.push("measured: busy".to_owned());
        trial
    };
    let all = headline(vec![
        busy(trial_of("MariaDB", 340.0, 8.0)),
        busy(trial_of("PostgreSQL", 340.0, 41.0)),
        busy(found(trial_of("MongoDB", 90.0, 8.0), 2_000.0)),
    ]);
    assert_eq!(
        all,
        [
            "MongoDB individual meets all 3 requirements (at least 2.0 times the rate, 8 GB for 12s).",
            "PostgreSQL individual misses disk for 12s (41 GB, wanted 10 GB).",
            "MariaDB individual is undecided: misses p99 of dashboard (340 ms, wanted 100 ms) while other programs used the machine.",
        ]
    );
    let refused = Verdict::Inconclusive(vec![Reason::new(ReasonKind::HostDisturbed, "steal")]);
    let mut trial = trial_of("MariaDB", 40.0, 8.0);
    trial.verdict = refused;
    let found = own(vec![trial]).summary().requirements.unwrap();
    assert_eq!(found.layouts[0].outcome, Outcome::Undecided);
    assert_eq!(found.layouts[0].reasons, ["host disturbed (steal)"]);
}

#[test]
fn too_few_answers_leave_it_open_and_a_failed_trial_does_not() {
    let mut few = trial_of("MariaDB", 40.0, 8.0);
    few.limits[0] = limit(
        "p99 of dashboard <= 100 ms",
        None,
        "ns",
        "too few operations: 30, and it takes 1000; measure longer",
        false,
    );
    few.limits[0].is_undecided = true;
    let failed = invalid(trial_of("PostgreSQL", 40.0, 8.0), ReasonKind::Errors, "2 %");
    let report = own(vec![few, failed]);
    let summary = report.summary();
    assert_eq!(
        summary.headline[..2],
        [
            "No layout is known to meet all 3 requirements.",
            "MariaDB individual is undecided: p99 of dashboard is open (too few operations: 30, and it takes 1000; measure longer, wanted 100 ms).",
        ]
    );
    let found = summary.requirements.unwrap();
    assert_eq!(found.layouts[1].outcome, Outcome::Misses);
    assert_eq!(found.layouts[1].reasons, ["fails: errors (2 %)"]);
}

/// One reason that fourteen layouts had in common filled 42 lines.
#[test]
fn what_the_same_leaves_undecided_is_told_once() {
    let few = |title: &str, also_disk: bool| {
        let mut few = trial_of(title, 40.0, 8.0);
        few.limits[0] = limit("p99 of dashboard <= 100 ms", None, "ns", "too few operations: 30", false);
        few.limits[1].words = "7 GB to 12 GB".to_owned();
        few.limits[0].is_undecided = true;
        if also_disk {
            (few.limits[1].measured, few.limits[1].is_undecided, few.limits[1].met) = (None, true, false);
        }
        few
    };
    let open = "p99 of dashboard is open (too few operations: 30, wanted 100 ms)";
    let two = vec![few("MariaDB", false), few("PostgreSQL", false)];
    assert_eq!(
        headline(two)[1],
        format!("MariaDB individual and PostgreSQL individual are undecided: {open}.")
    );
    let four = ["MariaDB", "PostgreSQL", "MongoDB", "InfluxDB"].map(|title| few(title, title == "MongoDB"));
    assert_eq!(headline(four.into())[1], format!("4 layouts are undecided: {open}, and up to 1 more."));
}

#[test]
fn of_several_searches_the_fewest_people_are_told() {
    let trials = [(0, 50.0), (1, 30.0), (2, 40.0)].map(|(repetition, people)| {
        let mut trial = TrialRecord { repetition, ..trial_of("MariaDB", 40.0, 8.0) };
        let words = format!("{people} people who watch held");
        trial.limits.push(limit(MOST_USERS_LIMIT, Some(people), "people", &words, true));
        trial
    });
    let all = headline(trials.into());
    assert!(all.iter().any(|one| one.ends_with(": 30 people who watch held.")), "{all:?}");
    assert!(!all.iter().any(|one| one.contains("50 people")), "{all:?}");
}

#[test]
fn repetitions_that_disagree_leave_it_open() {
    let repeated = |times_ms: [f64; 3]| {
        let trials = (0..)
            .zip(times_ms)
            .map(|(repetition, ms)| TrialRecord { repetition, ..trial_of("MariaDB", ms, 8.0) });
        let found = own(trials.collect()).summary().requirements.unwrap();
        (found.layouts[0].outcome, found.layouts[0].reasons.join(""))
    };
    assert_eq!(repeated([40.0; 3]).0, Outcome::Meets);
    assert_eq!(repeated([340.0; 3]).0, Outcome::Misses);
    let (outcome, reason) = repeated([40.0, 340.0, 40.0]);
    assert_eq!(outcome, Outcome::Undecided);
    assert!(reason.ends_with("in 1 of 3 repetitions"), "{reason}");
}

#[test]
fn a_lower_rate_that_held_is_not_enough() {
    let mut trial = found(trial_of("InfluxDB", 90.0, 8.0), 500.0);
    trial.limits.push(limit(
        "p99 of dashboard <= 100 ms at 1000 readings a second",
        Some(3.4e8),
        "ns",
        "340 ms",
        false,
    ));
    let report = own(vec![trial]);
    assert_eq!(
        report.summary().headline[1],
        "InfluxDB individual misses p99 of dashboard (340 ms, wanted 100 ms at 1000 readings a second)."
    );
    assert_eq!(report.summary().requirements.unwrap().count, 3);
}

#[test]
fn the_last_screen_marks_who_meets_all_and_has_room_for_it() {
    let mut trials = vec![
        found(trial_of("SQLite", 9.0, 1.5), 46_000.0),
        found(slow(trial_of("MariaDB", 340.0, 8.0)), 2_000.0),
    ];
    for number in 0..9 {
        let mut trial = found(trial_of("PostgreSQL", 340.0, 41.0), 1_500.0);
        trial.implementation.layout_name = format!("bulk-{number}");
        trials.push(trial);
    }
    let summary = own(trials).summary();
    let paths = Paths {
        page: Some("results/x/report.html".to_owned()),
        list: Some("results/index.html".to_owned()),
        everything: Some("sensormark report results/x --full".to_owned()),
        firmer: Some("sensormark run plant.toml --set repetitions=5".to_owned()),
        ..Paths::default()
    };
    let room = Room { width: 80, height: Some(24) };
    let text = render(&summary, &paths, room);
    assert!(text.lines().count() < 24, "{text}");
    for needed in [
        "SQLite individual alone meets all 3 requirements",
        "room",
        "kept",
        "more: see everything",
        "  ✓ 1  SQLite individual ",
        "  ✗ ",
        "firmer  ",
    ] {
        assert!(text.contains(needed), "{needed}: {text}");
    }
    for line in text.lines() {
        assert!(unicode_width::UnicodeWidthStr::width(line) <= 80, "{line}");
    }
}

/// A heading that few lines are left to explain is explained all the same.
#[test]
fn what_fits_of_the_headings_is_explained() {
    let trials = vec![
        found(trial_of("SQLite", 9.0, 1.5), 46_000.0),
        found(slow(trial_of("MariaDB", 40.0, 8.0)), 2_000.0),
    ];
    let summary = own(trials).summary();
    let of_height = |height: Option<usize>| {
        let room = Room { width: 80, height };
        render(&summary, &Paths::default(), room)
    };
    let flowing = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = of_height(None);
    let meaning = "room: highest rate over that of your sensors";
    assert!(flowing(&whole).contains("write in thousand readings") && flowing(&whole).contains("cost: all"));
    // The prompt that follows takes a line.
    let lines = whole.lines().count();
    let fewer = of_height(Some(lines));
    assert!(fewer.lines().count() < lines, "{fewer}");
    for needed in [meaning, "kept: disk for the time", "cost: all criteria together", "MariaDB"] {
        assert!(flowing(&fewer).contains(needed), "{needed}: {fewer}");
    }
}
