//! What is printed: known numbers, widths, and hostile names in every format.

use super::*;
use sensormark_result::cost::Weights;
use unicode_width::UnicodeWidthStr;

#[test]
fn tables_hold_the_numbers_computed_by_hand() {
    let report = report(two());
    for (table, item, column, expected) in [
        ("resources_write", "MariaDB individual", "server CPU", "8.00"),
        ("resources_write", "MariaDB individual", "server memory", "200,000"),
        ("resources_write", "MariaDB bulk", "server I/O", "200"),
        ("resources_write", "MariaDB bulk", "network", "1,600"),
        ("resources_write", "MariaDB bulk", "disk", "40.0"),
        ("resources_read", "MariaDB bulk", "client memory", "2,000"),
        // 8 and 10 % of a core are 180,000 µs a second; 12,000 taken in 12.2 s are 983.6 a second.
        ("costs", "MariaDB individual", "load CPU", "183"),
        ("costs", "MariaDB individual", "disk", "6,667"),
        // 85 MB are in the folder, and 16 of them are logs.
        ("settling", "MariaDB bulk", "after writing", "69.0"),
        ("settling", "MariaDB bulk", "CPU", "0.400"),
        ("harness", "MariaDB bulk", "pacing error p99", "120"),
        ("ledger", "MariaDB bulk", "produced", "12,200"),
        ("ledger", "MariaDB bulk", "lost at the queue", "200"),
        ("answers", "MariaDB bulk", "checked", "36"),
        ("answers", "MariaDB bulk", "keeps up", "yes"),
        ("answers", "MariaDB bulk", "queries", "7.20"),
        ("latency_cycle_read", "MariaDB bulk", "mean", "5.00"),
        ("latency_cycle_read", "MariaDB bulk", "median, 95 % interval", "4.50"),
        ("latency_cycle_read", "MariaDB bulk", "max", "50.0"),
        ("latency_sensor_delay", "MariaDB bulk", "p99.9", "3.20"),
    ] {
        assert_eq!(cell(&report, table, item, column), expected, "{table}, {item}, {column}");
    }
}

#[test]
fn ledgers_of_all_repetitions_add_up() {
    let trials = (0..3).flat_map(|repetition| pair("MariaDB", "bulk", repetition, CHEAP, CHEAP)).collect();
    let report = report(trials);
    assert_eq!(cell(&report, "ledger", "MariaDB bulk", "stored"), "36,000");
    assert_eq!(cell(&report, "resources_write", "MariaDB bulk", "server CPU"), "4.00 ± 0");
    assert_eq!(cell(&report, "latency_cycle_read", "MariaDB bulk", "mean"), "5.00 [5.00, 5.00]");
}

#[test]
fn verdicts_come_first_then_the_answer_then_the_ranking() {
    let text = report(two()).text(80);
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words:?} is missing in\n{text}"));
    let order = [
        "\nVerdicts\n",
        "\nAnswer\n",
        "\nRanking\n",
        "\nWhat it costs\n",
        "\nReadings and answers\n",
        "\nLatencies\n",
        "\nEnvironment\n",
        "\nReproduce this run\n",
    ];
    let places: Vec<usize> = order.iter().map(|words| place(words)).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(
        text.contains(
            "MariaDB bulk costs least on this machine for this load; then MariaDB individual\n1.5×."
        ),
        "{text}"
    );
}

/// The costly one uses half the wire and twice as much of five others, so it draws level where the wire counts as much as they.
#[test]
fn the_change_that_is_named_changes_who_costs_least() {
    let text = report(two()).text(400);
    assert!(text.contains("if you weigh on the wire over 5.00 instead of 1"), "{text}");
    for (weight, first) in [(4.95, "MariaDB bulk"), (5.05, "MariaDB individual")] {
        let weights = Weights::from_toml(&format!("wire = {weight}")).unwrap();
        let report = Report::new(run(), two(), &ReportOptions { weights, ..ReportOptions::default() });
        assert_eq!(order(&report)[0], first, "{weight}");
    }
}

fn everything() -> Vec<TrialRecord> {
    let mut trials = Vec::new();
    for repetition in 0..4 {
        for title in ["MariaDB", "MongoDB", "PostgreSQL", "SQLite"] {
            for layout in ["individual", "bulk", "individual-row-per-channel"] {
                let used = Used { server_cpu: 3.0 + f64::from(repetition), ..COSTLY };
                trials.extend(pair(title, layout, repetition, used, CHEAP));
            }
        }
    }
    trials
}

/// A command is copied, so it is one line however long it is.
fn is_command(line: &&str) -> bool {
    line.starts_with("- command: sensormark ")
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [40, 80, 132] {
        let text = report(everything()).text(width);
        assert_eq!(text.lines().filter(is_command).count(), 1);
        for line in text.lines().filter(|line| !is_command(line)) {
            assert!(line.width() <= width, "{} > {width}: {line:?}", line.width());
        }
    }
}

#[test]
fn every_format_holds_every_number_that_the_text_prints() {
    let report = report(everything());
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    let tables =
        json["sections"].as_array().unwrap().iter().flat_map(|section| section["blocks"].as_array().unwrap());
    let tables: Vec<&serde_json::Value> = tables.filter(|block| block["kind"] == "table").collect();
    assert_eq!(tables.len(), report.document().tables().count());
    let mut reader = ::csv::Reader::from_reader(report.csv().into_bytes().as_slice())
        .into_records()
        .map(Result::unwrap)
        .collect::<Vec<_>>();
    reader.retain(|record| !record[1].is_empty());
    let markdown = report.markdown();
    let mut cells = 0;
    for (table, value) in report.document().tables().zip(tables) {
        for (row, json_row) in table.rows.iter().zip(value["rows"].as_array().unwrap()) {
            for (place, (cell, json_cell)) in row.iter().zip(json_row.as_array().unwrap()).enumerate() {
                assert_eq!(json_cell["text"], number::cell_text(cell));
                if place >= table.keys {
                    let record = &reader[cells];
                    assert_eq!(
                        (&record[1], &record[4]),
                        (table.id.as_str(), table.columns[place].name.as_str())
                    );
                    if let tables::Cell::Number(number) = cell {
                        assert_eq!(record[6].parse::<f64>().unwrap(), number.value);
                    }
                    cells += 1;
                }
            }
        }
        assert!(
            table.is_detail
                || markdown
                    .contains(&format!("**{}**", table.title.replace('_', "\\_").replace('>', "&gt;"))),
            "{}",
            table.title
        );
    }
    assert_eq!(cells, reader.len());
}

#[test]
fn the_same_records_give_the_same_bytes() {
    let (one, other) = (report(everything()), report(everything()));
    assert_eq!(one.text(80), other.text(80));
    assert_eq!((one.json(), one.csv(), one.markdown()), (other.json(), other.csv(), other.markdown()));
}

const HOSTILE: [&str; 6] = [
    "=HYPERLINK(\"http://evil\")",
    "\x1b[2J\x1b]0;owned\x07\u{9b}31m",
    "a | b\n| c | d |",
    "<script>alert(1)</script> [x](javascript:y) `z` **w**",
    "\u{202e}txt.exe\u{200b}\r\u{2028}",
    "\"quoted\", and\0more",
];

fn hostile() -> Report {
    let mut trials = Vec::new();
    let mut run = run();
    for name in HOSTILE {
        let [mut write, mut read] = pair(name, "individual", 0, COSTLY, CHEAP);
        for trial in [&mut write, &mut read] {
            trial.warnings.push(name.to_owned());
            trial.settings[0].value = name.to_owned();
            trial.server.as_mut().unwrap().version = name.to_owned();
        }
        trials.push(invalid(write, sensormark_result::measurement::verdict::ReasonKind::Errors, name));
        trials.push(read);
        trials.extend(pair(name, "bulk", 0, COSTLY, CHEAP));
        run.command_line.push(name.to_owned());
        run.not_measured.push(sensormark_result::measurement::NotMeasured {
            implementation: name.to_owned(),
            reason: name.to_owned(),
        });
    }
    run.name = HOSTILE.concat();
    Report::new(run, trials, &ReportOptions::default())
}

#[test]
fn nothing_hostile_reaches_a_terminal() {
    let report = hostile();
    for text in [report.text(80), report.markdown(), report.json(), report.csv().replace("\r\n", "\n")] {
        let bad = text.chars().find(|character| {
            (character.is_control() && *character != '\n')
                || matches!(character, '\u{202e}' | '\u{200b}' | '\u{2028}')
        });
        assert_eq!(bad, None);
    }
    let text = report.text(80);
    for line in text.lines().filter(|line| !is_command(line)) {
        assert!(line.width() <= 80, "{line:?}");
    }
    serde_json::from_str::<serde_json::Value>(&report.json()).unwrap();
}

#[test]
fn markdown_has_no_markup_but_its_own() {
    let markdown = hostile().markdown();
    // Without what is escaped, nothing is left that would mean something.
    let bare = unescaped(&markdown);
    assert!(!bare.contains("<script") && !bare.contains("](") && !bare.contains('`'), "{bare}");
    let mut columns = 0;
    for line in markdown.lines() {
        let bars = unescaped(line).matches('|').count();
        if bars == 0 {
            columns = 0;
        } else {
            assert!(columns == 0 || bars == columns, "{line}");
            columns = bars;
        }
    }
}

/// The text without escaped characters, and without the commands that the report itself sets in code.
fn unescaped(text: &str) -> String {
    let mut bare = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\\' {
            characters.next();
        } else {
            bare.push(character);
        }
    }
    bare.replace("`--format csv` or `json`", "")
}

#[test]
fn a_spreadsheet_sees_no_formula() {
    let csv = hostile().csv();
    let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>(), csv::HEADER);
    for record in reader.records() {
        for (place, field) in record.unwrap().iter().enumerate() {
            let is_number = (6..9).contains(&place);
            assert!(is_number || !field.trim_start().starts_with(['=', '+', '-', '@']), "{field:?}");
        }
    }
}

#[test]
fn a_folder_is_read_and_its_figures_are_drawn() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = ResultsFolder::create(scratch.path(), "run").unwrap();
    folder.write_run(&run()).unwrap();
    for trial in two() {
        let mut trial = trial;
        trial.name = format!("trial-{}-{:?}", trial.implementation.layout_name, trial.side);
        folder.write_trial(&trial).unwrap();
    }
    let found = Report::from_folder(&folder, &ReportOptions::default()).unwrap();
    assert_eq!(order(&found), order(&report(two())));
    std::fs::write(scratch.path().join("run/trials/broken.json"), "{").unwrap();
    let error = Report::from_folder(&folder, &ReportOptions::default()).unwrap_err().to_string();
    assert!(error.contains("broken.json") && error.contains("is damaged"), "{error}");
}

/// A folder of a finished run with two trials, and what reading it says after this was done to it.
fn read_after(change: impl FnOnce(&std::path::Path)) -> Result<usize, String> {
    read_of(Some("2026-01-01T00:00:00Z"), change)
}

/// The same of a run that ended then, or was broken off.
fn read_of(finished: Option<&str>, change: impl FnOnce(&std::path::Path)) -> Result<usize, String> {
    let scratch = tempfile::tempdir().unwrap();
    let folder = ResultsFolder::create(scratch.path(), "run").unwrap();
    let mut run = RunRecord { finished: finished.map(str::to_owned), checksums: true, ..run() };
    for (name, mut trial) in ["a", "b"].into_iter().zip(two()) {
        trial.name = name.to_owned();
        folder.write_trial(&trial).unwrap();
    }
    if finished.is_some() {
        run.trials = folder.written().unwrap();
    }
    folder.write_run(&run).unwrap();
    change(folder.path());
    let trials = folder.trials().map_err(|error| error.to_string());
    trials.map(|trials| trials.len())
}

/// A trial is listed before its file is there. A crash in between leaves a run that did not finish, and that is read; what is not listed is refused even there.
#[test]
fn a_run_that_broke_off_between_list_and_trial_is_read() {
    use std::fs;
    let trial = |run: &std::path::Path| run.join("trials/b.json");
    let half = |run: &std::path::Path| {
        fs::rename(trial(run), trial(run).with_extension("json.part")).unwrap();
    };
    assert_eq!(read_of(None, half), Ok(1));
    let unlisted = |run: &std::path::Path| {
        let text = fs::read_to_string(trial(run)).unwrap();
        let text = text.replace("\"name\": \"b\"", "\"name\": \"c\"");
        fs::write(run.join("trials/c.json"), text).unwrap();
    };
    let refused = read_of(None, unlisted).unwrap_err();
    assert!(refused.contains("does not list it"), "{refused}");
}

#[test]
fn what_does_not_fit_the_list_of_checksums_is_refused() {
    use std::fs;
    assert_eq!(read_after(|_| ()), Ok(2));
    type Change = fn(&std::path::Path);
    let cases: [(Change, &str); 7] = [
        (
            |run| {
                fs::remove_file(run.join("trials/a.json")).unwrap();
                let sums = fs::read_to_string(run.join("SHA256SUMS")).unwrap();
                let kept = sums.lines().filter(|line| !line.ends_with("a.json"));
                let kept: Vec<&str> = kept.collect();
                fs::write(run.join("SHA256SUMS"), kept.join("\n")).unwrap();
            },
            "trials/a.json is missing",
        ),
        (|run| fs::remove_file(run.join("trials/a.json")).unwrap(), "trials/a.json is missing"),
        (|run| fs::remove_file(run.join("SHA256SUMS")).unwrap(), "SHA256SUMS is missing"),
        (
            |run| assert!(fs::copy(run.join("trials/a.json"), run.join("trials/c.json")).is_ok()),
            "a copy of the trial a under another name",
        ),
        (
            |run| {
                let file = run.join("trials/a.json");
                let text = fs::read_to_string(&file).unwrap();
                fs::write(&file, text + "\n").unwrap();
            },
            "changed after it was written",
        ),
        (
            |run| {
                let text = fs::read_to_string(run.join("trials/a.json")).unwrap();
                let text = text.replace("\"name\": \"a\"", "\"name\": \"c\"");
                fs::write(run.join("trials/c.json"), text).unwrap();
            },
            "SHA256SUMS does not list it",
        ),
        (
            |run| {
                fs::remove_file(run.join("trials/a.json")).unwrap();
                std::os::unix::fs::symlink("/dev/zero", run.join("trials/a.json")).unwrap();
            },
            "not a regular file",
        ),
    ];
    for (change, words) in cases {
        let refused = read_after(change).unwrap_err();
        assert!(refused.contains(words), "{refused}");
    }
}
