//! What a run comes to: the answer, its certainty, the last screen of a terminal, and the figures as one long table.

use super::*;
use crate::brief::{Paths, Room, render};
use crate::durability::Promise;
use crate::summary::{Certainty, States};
use sensormark_result::measurement::ReasonKind;
use sensormark_result::measurement::record::LedgerRecord;
use sensormark_store::Durability;

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
        list: Some("results/index.html".to_owned()),
        everything: Some("sensormark report results/x --full".to_owned()),
        firmer: Some("sensormark run machine-tool --set repetitions=5".to_owned()),
        ..Paths::default()
    }
}

#[test]
fn a_class_is_told_with_what_a_power_cut_showed_of_it_here() {
    let promise = |cuts: &[TrialRecord]| {
        let mut trials = four(1);
        trials.iter_mut().for_each(|trial| trial.implementation.durability = Durability::Durable);
        Promise::new(report(trials).field(), cuts)
    };
    let untried = promise(&[]);
    assert_eq!(untried.untried.len(), 2);
    assert!(
        untried.said.contains("durable (what is acknowledged is on disk); no power cut was tried here on"),
        "{}",
        untried.said
    );
    let mut cut = four(1).swap_remove(0);
    let name = cut.implementation.title.clone();
    cut.implementation.durability = Durability::Durable;
    cut.ledger = Some(LedgerRecord { acknowledged: 300, ..LedgerRecord::default() });
    let tried = promise(std::slice::from_ref(&cut));
    assert_eq!(tried.untried.len(), 1);
    assert!(tried.said.contains(&format!("took nothing of it from {name};")), "{}", tried.said);
    cut.ledger.as_mut().expect("set").lost = 2;
    assert!(promise(&[cut.clone()]).said.contains(&format!("took some from {name} (2 of 300)")));
    cut.implementation.durability = Durability::Default;
    assert_eq!(promise(&[cut]), untried);
    let plain = Promise::new(report(four(1)).field(), &[]);
    assert_eq!((plain.said.as_str(), plain.untried.len()), ("Durability: default.", 0));
}

#[test]
fn embedded_databases_and_servers_each_have_a_best() {
    let summary = report(four(1)).summary();
    let [embedded, servers] = summary.headline.as_slice() else {
        panic!("a sentence for each ranking: {:?}", summary.headline);
    };
    assert!(embedded.starts_with("Embedded databases: SQLite "), "{embedded}");
    assert!(servers.starts_with("Servers: MariaDB "), "{servers}");
    let screen = render(&summary, &paths(), Room { width: 100, height: None });
    let places = ["  Embedded databases:\n", "SQLite bulk ", "  Servers:\n", "MariaDB bulk "]
        .map(|it| screen.rfind(it));
    assert!(places.is_sorted() && places[0].is_some(), "{places:?} {screen}");
    assert!(screen.contains("1.0×"), "{screen}");
    assert_eq!(summary.certainty, Certainty::Single);
    assert_eq!(summary.because, ["one repetition"]);
    assert_eq!(summary.seconds, Some(600.0));
    assert_eq!(report(four(5)).summary().certainty, Certainty::Firm);
    assert_eq!(report(Vec::new()).summary().certainty, Certainty::NotDecided);
}

/// A report may be asked for while the run goes on, even before its first trial is finished.
#[test]
fn a_run_without_an_end_is_not_called_broken_off() {
    let screen = |trials: Vec<TrialRecord>| {
        let run = RunRecord { finished: None, ..run() };
        let report = Report::new(run, trials, &ReportOptions::default());
        let room = Room { width: 100, height: None };
        (render(&report.summary(), &paths(), room), report.text(80))
    };
    let (brief, full) = screen(four(1));
    assert!(brief.contains(" trials · not finished\n"), "{brief}");
    assert!(full.contains("it goes on, or was"), "{full}");
    let (brief, _) = screen(Vec::new());
    for said in ["0 trials · not finished", "No trial was finished, so", "Nothing was checked yet"] {
        assert!(brief.contains(said), "{said}: {brief}");
    }
    assert!(!brief.contains("reasons are below"), "{brief}");
}

/// A page has room for one line.
#[test]
fn the_title_is_the_answer_in_at_most_fifteen_words() {
    let words = |text: &str| text.split_whitespace().count();
    let four_of_both = report(four(1)).summary();
    let title = four_of_both.title();
    assert!(words(&title) <= 15, "{title}");
    assert!(title.contains("of embedded databases, MariaDB "), "{title}");
    assert_eq!(four_of_both.further(), four_of_both.headline);
    let mut tied = four_of_both.clone();
    tied.headline = vec!["word ".repeat(20)];
    tied.ranked.retain(|one| !one.embedded);
    tied.ranked.iter_mut().for_each(|one| one.rank = 1);
    assert!(tied.title().ends_with(" cost least."), "{}", tied.title());
    tied.ranked[1].rank = 2;
    tied.ranked[1].ratio = 1.83;
    assert!(tied.title().ends_with(" costs 1.8× as much."), "{}", tied.title());
    tied.ranked[1].rank = 1;
    let more = tied.ranked[0].clone();
    tied.ranked.extend([more.clone(), more.clone(), more]);
    assert!(tied.title().starts_with("5 layouts cost least"), "{}", tied.title());
    tied.headline.push("Another.".to_owned());
    assert_eq!(words(&tied.title()), 15, "cut: {}", tied.title());
    let one = report(pair("MariaDB", "bulk", 0, CHEAP, CHEAP).to_vec()).summary();
    assert_eq!(one.title(), one.headline[0]);
    assert!(one.further().is_empty());
    assert_eq!((one.badge(), report(Vec::new()).summary().badge()), ("rough", "not decided"));
    assert!(one.trust().starts_with("2 of 2 trials counted · "), "{}", one.trust());
}

#[test]
fn programs_get_ratios_overall_and_by_criterion() {
    let json: serde_json::Value = serde_json::from_str(&report(two()).json()).unwrap();
    let summary = &json["summary"];
    let [first, second] = [0, 1].map(|place| &summary["ranked"][place]);
    assert_eq!((first["ranking"].as_str(), first["ratio"].as_f64()), (Some("servers"), Some(1.0)));
    assert!((second["ratios"]["disk"].as_f64().unwrap() - 2.0).abs() < 1e-9, "{second}");
    assert!(first["interval"].is_null() && first["win_share"].is_f64(), "{first}");
    assert_eq!(summary["criteria"][0]["id"], "load_cpu");
    assert_eq!(summary["winner"], "MariaDB bulk");
    let five: Vec<TrialRecord> = (0..5).flat_map(four_of).collect();
    let five = report(five).summary();
    let interval = five.ranked[1].interval.expect("five repetitions");
    assert!(interval.low <= five.ranked[1].ratio && five.ranked[1].ratio <= interval.high);
    assert_eq!(report(Vec::new()).summary().winner, None);
}

/// One repetition of a cheap and a costly layout.
fn four_of(repetition: u32) -> Vec<TrialRecord> {
    let [cheap, costly] = [("bulk", CHEAP), ("individual", COSTLY)]
        .map(|(layout, used)| pair("MariaDB", layout, repetition, used, used));
    cheap.into_iter().chain(costly).collect()
}

#[test]
fn the_warning_about_single_trials_is_as_strong_as_what_was_seen() {
    let sure = |repetitions| report(four(repetitions)).summary().how_sure();
    let warned = "not tested; one repetition: under 10 % apart is about the same";
    assert_eq!(sure(1).as_deref(), Some(warned));
    assert!(sure(2).expect("words").contains("2 repetitions: under 10 %"));
    assert_eq!(sure(5).as_deref(), Some("firm: 5 repetitions, 95 %"));
    let alone = report(pair("MariaDB", "bulk", 0, CHEAP, CHEAP).to_vec()).summary();
    assert_eq!(alone.how_sure().as_deref(), Some("not tested; one repetition"));
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
    assert_eq!(summary.states, States { valid: 7, disturbed: 1, invalid: 0 });
    let text = render(&summary, &paths(), Room { width: 80, height: None });
    assert!(text.contains("~ rough: other programs used up to 100 % of the CPU; one repetition"), "{text}");
    let line =
        text.lines().find(|line| line.contains("SQLite individual") && line.contains('~')).expect("its line");
    assert_eq!(line.matches('~').count(), 2, "what was lost and how long reading took: {line}");
    let firmer = found.firmer().expect("it is not tested yet");
    assert!(firmer.contains("--strict --set repetitions=5   # about 50 min"), "{firmer}");
}

#[test]
fn a_quick_run_with_nothing_set_is_advised_the_scale_that_decides() {
    let firmer = |line: &[&str]| {
        let mut run = run();
        run.scale = "quick".to_owned();
        run.command_line = line.iter().map(|&word| word.to_owned()).collect();
        let found = Report::new(run, four(1), &ReportOptions::default());
        found.firmer().expect("it is not tested yet")
    };
    let stores = ["run", "machine-tool", "--on", "sqlite,mariadb"];
    let advised = "sensormark run machine-tool --on sqlite,mariadb --scale firm   # about 10 min";
    assert_eq!(firmer(&stores), advised);
    let scale = ["--scale", "quick", "--tolerate-disturbance"];
    assert_eq!(firmer(&[&stores[..], &scale].concat()), advised);
    // What was set would not be the scale's any more.
    let set = firmer(&[&stores[..], &["--set", "reads=3"]].concat());
    assert!(set.contains("--set reads=3 --set repetitions=5"), "{set}");
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
    let small = Room { width: 80, height: Some(24) };
    let text = render(&summary, &paths(), small);
    assert!(text.lines().count() < 24, "{text}");
    for needed in ["cost least", "  1 SQLite", "more: see everything", "page  ", "everything  ", "firmer  "] {
        assert!(text.contains(needed), "{needed}: {text}");
    }
    let all = render(&summary, &paths(), Room { width: 80, height: None });
    assert!(all.contains("MariaDB bulk-19") && !all.contains("more: see everything"), "{all}");
    for line in all.lines() {
        assert!(unicode_width::UnicodeWidthStr::width(line) <= 80, "{line}");
    }
}

/// A command that wraps takes rows that the ranking needs; it has at least three.
#[test]
fn blank_lines_make_room_on_a_small_terminal() {
    let mut trials = four(1);
    trials.extend(pair("MariaDB", "bulk-1", 0, COSTLY, COSTLY));
    let summary = report(trials).summary();
    let mut paths = paths();
    for tokens in 1..60 {
        paths.firmer = Some(format!("sensormark run{}", " --set reads=3".repeat(tokens)));
        let small = Room { width: 80, height: Some(24) };
        let text = render(&summary, &paths, small);
        let rows = text.lines().map(|line| line.chars().count().div_ceil(80).max(1));
        let has_blank = text.lines().any(str::is_empty);
        let rows: usize = rows.sum();
        assert!(rows < 24 || !has_blank, "{rows} rows: {text}");
        assert!(text.contains("  1 SQLite"), "{text}");
    }
}

/// The figures of a row, by the column's name.
fn figures<'a>(report: &'a Report, label: &'a str) -> impl Fn(&str) -> Option<f64> + 'a {
    let summary = report.summary();
    move |id| {
        let row = summary.ranked.iter().find(|row| row.label == label);
        let row = row.unwrap_or_else(|| panic!("no row {label}"));
        let place = summary.columns.iter().position(|column| column.id == id);
        row.figures[place.unwrap_or_else(|| panic!("no column {id}"))]
    }
}

fn is_near(found: Option<f64>, expected: f64) {
    let found = found.expect("a figure");
    assert!((found - expected).abs() < expected.abs() * 1e-9 + 1e-9, "{found} instead of {expected}");
}

/// By hand: 1,000 readings a second. The cheap one is embedded and uses 5 % of a core, the costly one 8 and 10 %. 12,000 readings on 40 and 80 MB.
#[test]
fn a_steady_rate_has_figures_of_a_reading() {
    let mut trials = four(1);
    // What the warm-up wrote is in the ledger, and is no part of the measured phase.
    for ledger in trials.iter_mut().filter_map(|trial| trial.ledger.as_mut()) {
        (ledger.produced, ledger.attempted) = (24_000, 24_000);
    }
    let found = report(trials);
    let sqlite = figures(&found, "SQLite bulk");
    is_near(sqlite("cpu_per_reading"), 50.0);
    is_near(sqlite("disk_per_reading"), 40e6 / 12_000.0);
    is_near(sqlite("lost"), 0.0);
    let mariadb = figures(&found, "MariaDB individual");
    is_near(mariadb("cpu_per_reading"), 180.0);
    is_near(mariadb("disk_per_reading"), 80e6 / 12_000.0);
    is_near(mariadb("read_mean"), read_mean_ms());
}

/// The mean of the fixture's reads, in ms.
fn read_mean_ms() -> f64 {
    let [_, read] = pair("MariaDB", "bulk", 0, CHEAP, CHEAP);
    read.latencies[sensormark_result::measurement::names::CYCLE_READ].summary.mean_ns / 1e6
}

/// Half of the readings were lost, so each of the others cost twice as much.
#[test]
fn what_was_lost_is_no_reading_that_was_paid_for() {
    let mut trials = four(1);
    for ledger in trials.iter_mut().filter_map(|trial| trial.ledger.as_mut()) {
        (ledger.produced, ledger.lost_at_queue) = (24_000, 12_000);
    }
    let found = report(trials);
    let sqlite = figures(&found, "SQLite bulk");
    is_near(sqlite("cpu_per_reading"), 100.0);
    is_near(sqlite("lost"), 50.0);
}

/// A server that was not measured leaves no figure of both sides, instead of the client's alone.
#[test]
fn the_client_alone_is_not_both_sides() {
    let mut trials = four(1);
    let servers = trials.iter_mut().filter(|trial| !trial.implementation.embedded);
    for phase in servers.flat_map(|trial| &mut trial.phases) {
        let totals = phase.totals.iter_mut();
        totals.for_each(|totals| {
            totals.roles.remove("server");
        });
    }
    let summary = report(trials).summary();
    assert!(summary.ranked.iter().all(|row| row.embedded), "{:?}", summary.ranked);
    let mut one = usual("MariaDB", 10);
    for totals in one.phases.iter_mut().filter_map(|phase| phase.totals.as_mut()) {
        totals.roles.remove("server");
    }
    let found = super::phases::report(vec![one, usual("PostgreSQL", 10)]);
    let figure = figures(&found, "PostgreSQL individual");
    // 100,000 readings in 10 s with 8 and 10 % of a core; 200 questions in 4 s.
    is_near(figure("write_rate"), 10.0);
    is_near(figure("question"), 20.0);
    is_near(figure("cpu_per_reading"), 18.0);
    assert_eq!(found.summary().ranked.len(), 1);
}

/// An implementation whose trial does not count meets no limit, whatever its figures are.
#[test]
fn a_trial_that_does_not_count_meets_nothing() {
    let limit = sensormark_result::measurement::record::LimitRecord {
        text: "p99 < 1 s".to_owned(),
        measured: Some(1.0),
        unit: "ns".to_owned(),
        words: "1 ns".to_owned(),
        met: true,
        is_undecided: false,
        needs_readings: None,
    };
    let mut trials = four(1);
    trials.iter_mut().for_each(|trial| trial.limits.push(limit.clone()));
    let all = report(trials.clone()).summary().headline[0].clone();
    assert_eq!(all, "All 4 layouts meet the requirement.");
    trials[0] = invalid(trials[0].clone(), ReasonKind::Errors, "2 %");
    trials[1] = invalid(trials[1].clone(), ReasonKind::Errors, "2 %");
    let rest = report(trials).summary().headline[0].clone();
    assert!(!rest.contains("SQLite individual") && rest.contains("SQLite bulk"), "{rest}");
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
    let text = crate::tidy::tidy(found.field()).expect("figures");
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some(
            "run,workload,scale,store,server,layout,strategy,durability,cache,side,repetition,state,phase,part,figure,value,unit"
        )
    );
    let row = "mariadb,,bulk,,default,hot,write,0,valid,measured,server,cpu_percent_of_core,8";
    let found = text.lines().filter(|line| line.contains(",mariadb,,bulk,")).count();
    assert!(found > 20, "{found} rows of one layout");
    assert!(!text.contains(row), "the unit is no part of a figure's name");
    assert!(text.contains(",measured,server,cpu,8.0,percent of a core"), "{text}");
    assert!(crate::tidy::tidy(report(Vec::new()).field()).is_err());
}
