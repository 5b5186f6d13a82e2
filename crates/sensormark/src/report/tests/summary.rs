//! What a run comes to: the answer, its certainty, the last screen of a terminal, and the figures as one long table.

use super::*;
use crate::measurement::ReasonKind;
use crate::report::brief::{Paths, Room, render};
use crate::report::summary::{Certainty, States};

/// What a run of a person would print: SQLite and MariaDB with the same layouts, nothing lost.
fn four(repetitions: u32) -> Vec<TrialRecord> {
    let mut trials = Vec::new();
    for repetition in 0..repetitions {
        for (title, used) in [("SQLite", CHEAP), ("MariaDB", COSTLY)] {
            for layout in ["individual", "bulk"] {
                trials.extend(pair(title, layout, repetition, used, used));
            }
        }
    }
    for ledger in trials.iter_mut().filter_map(|trial| trial.ledger.as_mut()) {
        ledger.lost_at_queue = 0;
    }
    trials
}

fn paths() -> Paths {
    Paths {
        page: Some("results/x/report.html".to_owned()),
        everything: Some("sensormark report results/x --full".to_owned()),
        firmer: Some("sensormark run machine-tool --set repetitions=5".to_owned()),
    }
}

#[test]
fn embedded_databases_and_servers_each_have_a_best() {
    let summary = report(four(1)).summary();
    let [sentence] = summary.headline.as_slice() else {
        panic!("one sentence: {:?}", summary.headline);
    };
    assert!(
        sentence.starts_with("Of embedded databases SQLite "),
        "{sentence}"
    );
    assert!(sentence.contains(", of servers MariaDB "), "{sentence}");
    assert_eq!(summary.certainty, Certainty::Single);
    assert_eq!(summary.because, ["one repetition"]);
    assert_eq!(summary.seconds, Some(600.0));
    assert_eq!(report(four(5)).summary().certainty, Certainty::Firm);
    assert_eq!(
        report(Vec::new()).summary().certainty,
        Certainty::NotDecided
    );
}

#[test]
fn a_busy_machine_makes_the_answer_rough_and_marks_what_it_moves() {
    let mut trials = four(1);
    trials[1].disturbances.push("measured: busy".to_owned());
    let mut phases = trials[1].phases.iter_mut();
    let totals = phases.find_map(|phase| phase.totals.as_mut());
    let totals = totals.expect("a phase that was measured");
    totals.disturbance.other_share = 1.08;
    totals.disturbance.reasons.push("busy".to_owned());
    let found = report(trials);
    let summary = found.summary();
    assert_eq!(summary.certainty, Certainty::Rough);
    assert_eq!(
        summary.states,
        States {
            valid: 7,
            disturbed: 1,
            invalid: 0
        }
    );
    let text = render(
        &summary,
        &paths(),
        Room {
            width: 80,
            height: None,
        },
    );
    assert!(
        text.contains("~ rough: other programs used up to 100 % of the CPU; one repetition"),
        "{text}"
    );
    let line = text
        .lines()
        .find(|line| line.contains("SQLite individual") && !line.contains("costs"))
        .expect("its line");
    assert_eq!(
        line.matches('~').count(),
        2,
        "what was lost and how long reading took: {line}"
    );
    let firmer = found.firmer().expect("it is not tested yet");
    assert!(
        firmer.contains("--strict --set repetitions=5   (about 50 min)"),
        "{firmer}"
    );
}

#[test]
fn wrong_data_comes_before_who_costs_least() {
    let mut trials = four(1);
    trials[0] = invalid(trials[0].clone(), ReasonKind::LostData, "1 reading");
    let summary = report(trials).summary();
    assert_eq!(summary.headline[0], "SQLite individual, write: lost data.");
    assert_eq!(summary.not_ranked[0].label, "SQLite individual");
}

#[test]
fn the_answer_and_its_paths_fit_on_a_small_terminal() {
    let mut trials = four(1);
    for number in 0..20 {
        let layout = format!("bulk-{number}");
        trials.extend(pair("MariaDB", &layout, 0, COSTLY, COSTLY));
    }
    for ledger in trials.iter_mut().filter_map(|trial| trial.ledger.as_mut()) {
        ledger.lost_at_queue = 0;
    }
    let summary = report(trials).summary();
    let small = Room {
        width: 80,
        height: Some(24),
    };
    let text = render(&summary, &paths(), small);
    assert!(text.lines().count() < 24, "{text}");
    for needed in [
        "costs least",
        "  1 SQLite",
        "more: see everything",
        "page  ",
        "everything  ",
        "firmer  ",
    ] {
        assert!(text.contains(needed), "{needed}: {text}");
    }
    let all = render(
        &summary,
        &paths(),
        Room {
            width: 80,
            height: None,
        },
    );
    assert!(
        all.contains("MariaDB bulk-19") && !all.contains("more: see everything"),
        "{all}"
    );
    for line in all.lines() {
        assert!(unicode_width::UnicodeWidthStr::width(line) <= 80, "{line}");
    }
}

#[test]
fn programs_get_the_same_answer() {
    let json: serde_json::Value = serde_json::from_str(&report(four(1)).json()).expect("JSON");
    let summary = &json["summary"];
    assert_eq!(summary["certainty"], "single");
    assert_eq!(summary["ranked"][0]["rank"], 1);
    assert_eq!(summary["ranked"].as_array().map(Vec::len), Some(4));
    assert_eq!(summary["states"]["valid"], 8);
    assert_eq!(summary["columns"][0]["id"], "lost");
}

#[test]
fn every_figure_has_a_row_with_its_unit() {
    let found = report(four(1));
    let text = crate::report::tidy::tidy(found.field()).expect("figures");
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some(
            "store,server,layout,strategy,durability,cache,side,repetition,state,phase,part,figure,value,unit"
        )
    );
    let row = "mariadb,,bulk,,default,hot,write,0,valid,measured,server,cpu_percent_of_core,8";
    let found = text
        .lines()
        .filter(|line| line.starts_with("mariadb,,bulk,"))
        .count();
    assert!(found > 20, "{found} rows of one layout");
    assert!(
        !text.contains(row),
        "the unit is no part of a figure's name"
    );
    assert!(
        text.contains(",measured,server,cpu,8.0,percent of a core"),
        "{text}"
    );
    assert!(crate::report::tidy::tidy(report(Vec::new()).field()).is_err());
}
