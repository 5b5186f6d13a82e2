//! Answers that make files, and answers that are refused.

use super::*;
use crate::own::file::parse;
use crate::own::parameters::{FieldKind, Parameters, PhasePart, QueryKind};
use sensormark_data::recording::{Recording, RecordingOptions};
use sensormark_store::Durability;
use std::path::Path;

/// The answers where these options say something and the others nothing; the first wrong one.
fn answers(given: &[(&str, &str)]) -> Result<Answers, String> {
    let mut answers = Answers::default();
    let is_store = |text: &str| match text {
        "sqlite" | "postgresql:bulk" => Ok(()),
        _ => Err(format!("there is no store {text:?}")),
    };
    for question in &QUESTIONS {
        let said = given.iter().find(|(option, _)| *option == question.option);
        let default = if question.default.is_empty() { "sqlite" } else { question.default };
        let text = said.map_or(default, |(_, text)| text);
        answers.take(question, text, &is_store).map_err(|why| format!("{}: {why}", question.option))?;
    }
    for (option, _) in given {
        let known = QUESTIONS.iter().any(|question| question.option == *option);
        assert!(known, "{option}");
    }
    Ok(answers)
}

/// The file that the answers make, as the program reads it.
fn read(given: &[(&str, &str)]) -> Parameters {
    let text = answers(given).expect("right answers").file("plant", &[]);
    let read = parse(&text, "plant.toml", Path::new(""), &[], &|_| Ok(()));
    read.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn limits(parameters: &Parameters) -> Vec<&str> {
    let limits = parameters.limits.iter();
    limits.map(|limit| limit.text.as_str()).collect()
}

#[test]
fn defaults_make_a_file_with_requirements() {
    let file = read(&[]);
    assert_eq!(file.name, "plant");
    assert_eq!((file.tables[0].series.count, file.tables[0].series.interval_ns), (100, 10_000_000_000));
    assert_eq!(file.stores, ["sqlite"]);
    assert_eq!(file.layouts, ["individual", "bulk"]);
    assert_eq!(file.durability, Some(Durability::Durable));
    assert_eq!(file.server_memory_bytes, Some(1_000_000_000));
    assert_eq!(
        limits(&file),
        [
            "not started of writers = 0",
            "lost = 0",
            "wrong answers = 0",
            "errors < 1 %",
            "p99 of live <= 250ms",
            "p99 of history <= 250ms",
            "headroom >= 2",
            "disk for 90d <= 100 GB",
            "memory <= 2 GB",
        ]
    );
    // Ten readings a second for 90 days.
    let kept = file.limits[7].kept_readings.expect("a time");
    assert!((kept - 77_760_000.0).abs() < 1e-3, "{kept}");
    let mixed = &file.phases[1];
    let writers = &mixed.writers[0];
    assert_eq!((writers.rate, writers.batch), (Some(10.0), 10));
    // Sizes up to all that is kept, each with four times the readings of the one before.
    let sizes: Vec<u64> = file.phases.iter().filter_map(|phase| phase.size).collect();
    assert_eq!(sizes.last(), Some(&77_760_000));
    assert!((40_000..160_000).contains(&sizes[0]), "{sizes:?}");
    assert!(sizes.windows(2).all(|pair| (pair[1] / 4).abs_diff(pair[0]) < 200), "{sizes:?}");
    // A question about more time than a size holds is not asked there.
    let holds = |phase: &PhasePart| phase.queries.iter().any(|query| query.name == "history");
    let far = read(&[("reach", "1d")]);
    assert!(!holds(&far.phases[3]) && holds(&far.phases[5]) && holds(&file.phases[1]), "{sizes:?}");
}

#[test]
fn what_is_answered_is_in_the_file() {
    let file = read(&[
        ("sensors", "2_500"),
        ("measures", "temperature, co2, door, oil_level:integer, hits:counter, state"),
        ("every", "500ms"),
        ("disorder", "2 % late by 1m, 0.5 % twice"),
        ("keep", "1d12h"),
        ("asks", "alerts, live, dashboards, live, history"),
        ("answer-within", "1.5s"),
        ("may-lose", "0.1 %"),
        ("headroom", "1.5"),
        ("memory", "512 MiB"),
        ("disk", "2TB"),
        ("on", "sqlite, postgresql:bulk"),
    ]);
    let names: Vec<&str> = file.tables[0].fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["temperature", "co2", "door", "oil_level", "hits", "state"]);
    assert!((file.tables[0].series.late, file.tables[0].series.repeated) == (0.02, 0.005));
    assert_eq!(file.tables[0].series.late_by_ns, 60_000_000_000);
    assert_eq!(file.stores, ["sqlite", "postgresql:bulk"]);
    assert_eq!(file.durability, Some(Durability::Relaxed));
    let limits = limits(&file);
    for expected in [
        "lost <= 0.1 %",
        "p99 of dashboards <= 1.5s",
        "p99 of alerts <= 1.5s",
        "headroom >= 1.5",
        "disk for 1d12h <= 2TB",
        "memory <= 512 MiB",
    ] {
        assert!(limits.contains(&expected), "{expected}: {limits:?}");
    }
    let mixed = file.phases.last().expect("phases");
    let kinds: Vec<QueryKind> = mixed.queries.iter().map(|query| query.kind).collect();
    assert_eq!(kinds, [QueryKind::Matching, QueryKind::LastValue, QueryKind::WindowMean, QueryKind::Range]);
    assert_eq!(mixed.writers[0].rate, Some(5_000.0));
}

/// From one sensor that sends once an hour to a million that send each second.
#[test]
fn small_and_large_plants_have_files_that_are_right() {
    let all = ("asks", "live, history, dashboards, alerts");
    for (sensors, every) in [("1", "1h"), ("3", "1ms"), ("40", "7s"), ("100000", "1m"), ("1000000", "1s")] {
        for disorder in ["none", "50 % late", "1 % twice"] {
            for measures in ["temperature", "energy", "door:bool, brightness"] {
                let given = [
                    ("sensors", sensors),
                    ("every", every),
                    ("disorder", disorder),
                    ("measures", measures),
                    all,
                ];
                let file = read(&given);
                let series = &file.tables[0].series;
                let first = file.phases[0].size.expect("a size");
                // Late readings need room.
                let most = 160_000.max(u64::from(series.count) * 4 * (series.late_ticks() + 3));
                assert!(first <= most, "{first}");
            }
        }
    }
}

#[test]
fn wrong_answers_are_refused_with_what_is_wrong() {
    let wrong = [
        ("sensors", "ten", "whole number from 1 to"),
        ("sensors", "0", "whole number from 1 to"),
        ("measures", "", "one thing or more"),
        ("measures", "Temperature", "lower case"),
        ("measures", "time", "need for themselves"),
        ("measures", "site", "there already"),
        ("measures", "door:boool", "did you mean bool?"),
        ("every", "10", "no length of time"),
        ("every", "1ns", "readings a second then"),
        ("disorder", "some", "1 % late"),
        ("disorder", "90 % late", "0 to 50 %"),
        ("disorder", "1 % early", "not understood"),
        ("disorder", "1 % twice by 1m", "not understood"),
        ("disorder", "1 % late by then", "no length of time"),
        ("keep", "5s", "shorter than"),
        ("rollups", "week", "none, hour or day"),
        ("rollups", "none, compressed", "none, hour or day"),
        ("asks", "live, histroy", "did you mean history?"),
        ("asks", " , ", "one or more"),
        ("answer-within", "fast", "no length of time"),
        ("may-lose", "little", "write nothing, moments"),
        ("headroom", "0.5", "1 or more"),
        ("memory", "2", "with its unit"),
        ("memory", "10 kB", "1 MB or more"),
        ("disk", "10s", "no size"),
        ("on", "", "one or more databases"),
        ("on", "sqlite, mysqll", "no store \"mysqll\""),
    ];
    for (option, text, expected) in wrong {
        let error = answers(&[(option, text)]).expect_err(text);
        assert!(error.starts_with(option) && error.contains(expected), "{option} {text:?}: {error}");
    }
    let error = answers(&[("measures", "door"), ("rollups", "day")]).expect_err("doors have no mean");
    assert!(error.contains("means are of numbers"), "{error}");
    let doors = [("measures", "door"), ("asks", "live, dashboards")];
    let error = answers(&doors).expect_err("doors have no mean");
    assert!(error.contains("dashboards are about numbers"), "{error}");
}

/// A trial of a database with three layouts has a third of a budget, and half of that loads.
#[test]
fn a_budget_is_named_that_decides_or_what_the_longest_one_decides() {
    let advice = |given: &[(&str, &str)]| answers(given).expect("right answers").advice();
    let small = advice(&[("sensors", "10"), ("every", "1m"), ("keep", "1y")]);
    assert!(small.contains("\n--budget 10m decides how fast answers are at your size, too."), "{small}");
    let plant = advice(&[("sensors", "100"), ("every", "1 Hz"), ("keep", "90d")]);
    assert!(plant.contains("\n--budget 1h decides"), "{plant}");
    // As `run` plans it: nine databases have 25 layouts, and an hour is too short for their percentiles.
    let nine = ["sqlite"; 9].join(", ");
    let many = advice(&[("sensors", "100"), ("every", "10s"), ("keep", "90d"), ("on", &nine)]);
    assert!(many.contains("\n--budget 8h decides"), "{many}");
    let large = advice(&[("sensors", "10000"), ("every", "1s"), ("keep", "2 years")]);
    assert!(
        large.contains("\n--budget 8h decides how fast answers are with 7,680 million readings, not yours."),
        "{large}"
    );
    assert!(large.lines().all(|line| line.len() <= 80), "{large}");
}

/// Means that are kept make a life of the file, with no more readings than minutes allow.
#[test]
fn means_that_are_kept_make_a_life() {
    const DAY: i64 = 86_400_000_000_000;
    let file = read(&[("keep", "40d"), ("rollups", "hour, compressed"), ("disorder", "1 % late")]);
    let life = file.life.as_ref().expect("a life");
    assert_eq!(
        (life.keep_ns, life.compress_after_ns, life.every_ns),
        (Some(40 * DAY), Some(20 * DAY), 5 * DAY)
    );
    assert_eq!((life.rollups.len(), life.rollups[0].every_ns), (1, 3_600_000_000_000));
    assert_eq!((file.tables[0].series.duration_ns, file.phases.len()), (80 * DAY, 16));
    let series = &file.tables[0].series;
    assert_eq!((series.count, series.interval_ns), (65, 900_000_000_000), "500,000 readings, four an hour");
    assert!(!limits(&file).iter().any(|limit| limit.starts_with("disk for")), "not of all sensors");
    let small = read(&[("sensors", "3"), ("every", "1h"), ("keep", "40d"), ("rollups", "day")]);
    assert_eq!(small.tables[0].series.count, 3);
    assert!(limits(&small).contains(&"disk for 40d <= 100 GB"));
    assert_eq!(small.life.expect("a life").compress_after_ns, None);
}

#[test]
fn rates_and_sizes_of_writes_are_understood() {
    let given = [("every", "2 Hz"), ("write-size", "250"), ("reach", "1d")];
    let file = read(&given);
    assert_eq!(file.tables[0].series.interval_ns, 500_000_000);
    let last = file.phases.last().expect("phases");
    assert_eq!(last.writers[0].batch, 250);
    let spans: Vec<_> = last.queries.iter().map(|query| (query.name.as_str(), query.span_ns)).collect();
    assert!(spans.contains(&("history", Some(86_400_000_000_000))), "{spans:?}");
    for (option, text, words) in
        [("every", "0 Hz", "2 Hz or 0.1 Hz"), ("write-size", "0", "whole number from 1")]
    {
        let why = answers(&[(option, text)]).expect_err("it is wrong");
        assert!(why.contains(words), "{why}");
    }
}

/// What a file of these lines answers.
fn recorded(lines: &[String], arguments: &[&str]) -> Recorded {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("plant.csv");
    std::fs::write(&path, lines.join("\n")).expect("a file");
    let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
    let options = RecordingOptions::typed(&arguments).expect("options");
    Recorded::of(&Recording::read(&path, &options).unwrap_or_else(|error| panic!("{error}")))
}

/// A row a minute of each of these sensors, with temperature, starts, door and note.
fn rows(minutes: &[u32], sensors: &[&str]) -> Vec<String> {
    let row = |minute: u32, sensor: &str| {
        let note = if minute.is_multiple_of(2) { "ok" } else { "" };
        let time = format!("2026-03-01T{:02}:{:02}:00Z", minute / 60, minute % 60);
        format!("{time},{sensor},{minute}.5,{minute},{},{note}", minute.is_multiple_of(3))
    };
    let head = "time,sensor,temperature,Starts (n),door,id".to_owned();
    let all = minutes.iter().flat_map(|&minute| sensors.iter().map(move |sensor| row(minute, sensor)));
    std::iter::once(head).chain(all).collect()
}

#[test]
fn a_recording_answers_what_it_shows_and_an_option_overrules_it() {
    let minutes: Vec<u32> = (0..100).collect();
    let found = recorded(&rows(&minutes, &["a", "b", "c"]), &["--tags", "sensor"]);
    let answer = |option| found.answer(option).unwrap_or_default();
    assert_eq!(answer("sensors"), "3");
    assert_eq!(answer("measures"), "temperature, starts_n:integer, door, id_value:text");
    assert_eq!((answer("every"), answer("disorder"), found.answer("keep")), ("1m", "none", None));
    assert_eq!(
        found.lines(|_| false),
        [
            "From plant.csv: 3 sensors, 2 numbers and 1 truth value and 1 text, a reading every 1m, none late or twice.",
            "12.5 % of the values are absent. A workload file has no key for that.",
        ]
    );
    let file = read(&["sensors", "measures", "every", "disorder"].map(|option| (option, answer(option))));
    let table = &file.tables[0];
    let kinds: Vec<FieldKind> = table.fields.iter().map(|field| field.kind).collect();
    assert_eq!(kinds, [FieldKind::Float, FieldKind::Integer, FieldKind::Bool, FieldKind::Text]);
    assert_eq!((table.series.count, table.series.interval_ns), (3, 60_000_000_000));
    let lines = found.lines(|option| option == "sensors" || option == "disorder");
    assert!(
        lines[0].starts_with("From plant.csv: 2 numbers") && lines[0].ends_with(" every 1m."),
        "{lines:?}"
    );
    let text = answers(&[]).expect("right answers").file("plant", &["one\nname = 2".to_owned()]);
    assert!(text.contains("\n# one name = 2\n"), "{text}");
}

/// A reading that stands there again is not late.
#[test]
fn late_and_repeated_readings_are_told_apart() {
    let mut minutes: Vec<u32> = (0..100).collect();
    // 10 comes after 14, and 50 comes again after 60.
    minutes[10..15].rotate_left(1);
    minutes.insert(61, 50);
    let found = recorded(&rows(&minutes, &["a"]), &["--tags", "sensor"]);
    assert_eq!(found.answer("disorder"), Some("1 % late by 4m, 1 % twice"));
    // The newest first.
    minutes.reverse();
    let found = recorded(&rows(&minutes, &["a"]), &["--tags", "sensor"]);
    assert_eq!(found.answer("disorder"), Some("1 % twice"));
    let said = found.lines(|_| false).join(" ");
    assert!(
        said.contains("99 % of its readings are older than one before them. That is not taken"),
        "{said}"
    );
}

#[test]
fn what_a_recording_does_not_tell_is_asked_and_gaps_are_told() {
    let found = recorded(&rows(&[7], &["a", "b"]), &["--tags", "sensor"]);
    assert_eq!(found.answer("every"), None);
    let said = found.lines(|_| false).join(" ");
    assert!(said.contains("the interval is not known"), "{said}");
    let minutes: Vec<u32> = (0..20).chain(600..620).collect();
    let found = recorded(&rows(&minutes, &["a"]), &["--tags", "sensor"]);
    assert_eq!(found.answer("every"), Some("1m"));
    let said = found.lines(|_| false).join(" ");
    assert!(said.contains("come every 16m on average"), "{said}");
}

#[test]
fn an_interval_that_is_nearly_whole_is_told_as_whole() {
    for (seconds, every) in
        [("60.02", "1m"), ("3599.999", "1h"), ("604800", "7d"), ("0.0999", "99ms900us"), ("61", "1m1s")]
    {
        let step: f64 = seconds.parse().expect("a number");
        let row = |number: u32| format!("{:.6},1", 1_772_323_200.0 + f64::from(number) * step);
        let rows = std::iter::once("unix,level".to_owned()).chain((0..9).map(row)).collect::<Vec<_>>();
        let found = recorded(&rows, &["--time-format", "unix-s"]);
        assert_eq!(found.answer("every"), Some(every), "{seconds}");
    }
}
