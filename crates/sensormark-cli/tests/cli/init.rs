//! `init`: a person is asked in a terminal, options answer without one, and the file that comes of it runs and is answered.

use crate::searched::searched;
use crate::support::{Place, numbers, others, said};
use crate::terminal::Session;
use serde_json::Value;
use std::time::{Duration, Instant};

/// How long a measurement that begins too late is repeated.
const PATIENCE: Duration = Duration::from_secs(150);

fn session(place: &Place) -> Session {
    let mut command = place.command(&["init", "plant.toml"]);
    command.env("NO_COLOR", "1").env("TERM", "xterm-256color");
    Session::start(command, 80, 24)
}

fn file(place: &Place) -> String {
    std::fs::read_to_string(place.path().join("plant.toml")).expect("a file")
}

#[test]
fn a_person_is_asked_and_wrong_answers_are_asked_again() {
    let place = Place::new();
    let mut session = session(&place);
    for (question, answers) in [
        ("How many sensors", &["twenty", "20"][..]),
        ("What does a sensor measure", &[""]),
        ("How often", &["10", "1s"]),
        ("late or twice", &["1 % late, 0.5 % twice"]),
        ("How long is the data kept", &["30d"]),
        ("Which means do you keep when readings go", &["week", ""]),
        ("How many readings does a write hold", &["0", "50"]),
        ("What is asked of it", &["live, histroy", "live, alerts"]),
        ("How far back", &[""]),
        ("How fast", &["1.5s"]),
        ("What may be lost", &["moments"]),
        ("How many times", &[""]),
        ("How much memory", &["lots", "1 GB"]),
        ("How much disk", &["20 GB"]),
        ("Which databases", &["sqlitee", "sqlite"]),
    ] {
        session.expect(question);
        for answer in answers {
            session.expect("] > ");
            session.send(&format!("{answer}\r"));
        }
    }
    session.expect("next: sensormark run plant.toml");
    let (status, screen) = session.finish();
    assert!(status.success(), "{screen}");
    for told in [
        "\"twenty\" is no number of sensors",
        "no length of time",
        "did you mean history?",
        "with its unit",
        "did you mean sqlite?",
    ] {
        assert!(screen.contains(told), "{told}: {screen}");
    }
    let sequences = screen.split("\u{1b}[").skip(1);
    let ends = sequences.map(|rest| rest.trim_start_matches(|one: char| !one.is_ascii_alphabetic()));
    assert_eq!(ends.filter(|end| end.starts_with('m')).count(), 0, "{screen:?}");
    for line in screen.lines().filter(|line| !line.contains('\u{1b}')) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let text = file(&place);
    for line in [
        "count = 20 ",
        "interval = \"1s\"",
        "late = 0.01",
        "repeated = 0.005",
        "durability = \"relaxed\"",
        "server_memory = \"500 MB\"",
        "stores = [\"sqlite\"]",
        "\"p99 of alerts <= 1.5s\",",
        "\"disk for 30d <= 20 GB\",",
        "name = \"humidity\"",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let listed = place.run(&["list", "plant.toml"]);
    assert!(listed.status.success(), "{}", said(&listed));
}

#[test]
fn a_person_who_breaks_off_leaves_no_file() {
    for key in ["\u{3}", "\u{4}"] {
        let place = Place::new();
        let mut session = session(&place);
        session.expect("[100] > ");
        session.send("20\r");
        session.expect("[temperature, humidity] > ");
        session.send(key);
        let (status, screen) = session.finish();
        assert_eq!(status.code(), Some(130), "{screen}");
        assert!(screen.contains("nothing was written"), "{screen}");
        assert_eq!(std::fs::read_dir(place.path()).expect("ours").count(), 0);
    }
}

#[test]
fn an_option_answers_its_question_in_a_terminal_too() {
    let place = Place::new();
    let command = place.command(&["init", "plant.toml", "--sensors", "7", "--every", "2s"]);
    let mut session = Session::start(command, 80, 24);
    session.expect("What does a sensor measure");
    for _ in 0..13 {
        session.expect("] > ");
        session.send("\r");
    }
    let (status, screen) = session.finish();
    assert!(status.success(), "{screen}");
    assert!(!screen.contains("How often"), "{screen}");
    assert!(file(&place).contains("count = 7 "));
}

#[test]
fn without_a_terminal_it_says_what_to_do() {
    let place = Place::new();
    let refused = |arguments: &[&str], expected: &str| {
        let output = place.run(&[&["init", "plant.toml"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(expected), "{}", said(&output));
        assert!(!place.path().join("plant.toml").exists());
    };
    refused(&[], "add --yes");
    refused(&["--sensors", "5"], "add --yes");
    refused(&["--yes", "--every", "soon"], "--every: \"soon\"");
    let rare = ["--yes", "--sensors", "10000000", "--every", "100d"];
    refused(&rare, "--keep, which is \"90d\"");
    let output = place.run(&["init", "plant.toml", "--yes"]);
    assert!(output.status.success(), "{}", said(&output));
    let again = place.run(&["init", "plant.toml", "--yes"]);
    assert!(said(&again).contains("left alone"), "{}", said(&again));
}

#[test]
fn means_that_are_kept_are_measured_over_a_life() {
    let place = Place::new();
    let mut arguments = vec!["init", "plant.toml", "--yes", "--on", "sqlite:individual"];
    arguments.extend(["--sensors", "3", "--every", "1h", "--keep", "40d", "--rollups", "day, compressed"]);
    let output = place.run(&arguments);
    assert!(output.status.success(), "{}", said(&output));
    let output = place.measure("plant.toml", &[], &[]);
    let (trial, text) = (&place.trials()[0], said(&output));
    assert_eq!(trial["ledger"]["stored"], 3 * 24 * 40, "{text}");
    let loads = trial["loads"].as_array().expect("loads");
    assert!(loads.iter().any(|load| load["phase"] == "rollups" && load["answers"]["wrong"] == 0), "{text}");
    assert!(trial["tasks"].to_string().contains("SQLite compresses nothing."), "{text}");
}

/// What `init --from` says of this recording; the file is accepted where there is one.
fn from(place: &Place, recording: &str, further: &[&str]) -> (Option<i32>, String) {
    std::fs::write(place.path().join("recording.csv"), recording).expect("a file");
    let common = ["init", "plant.toml", "--from", "recording.csv", "--yes"];
    let output = place.run(&[&common[..], further].concat());
    if output.status.success() {
        let planned = place.run(&["run", "plant.toml", "--dry-run"]);
        assert!(planned.status.success(), "{}", said(&planned));
    }
    (output.status.code(), said(&output))
}

/// Rows as a logger of these sensors sends them: 5 % late, 2 % twice.
fn sent(place: &Place) -> String {
    let series = "[series]\ncount = 5\ninterval = \"30s\"\nduration = \"10h\"\nlate = 0.05\nlate_by = \"2m\"\nrepeated = 0.02\n";
    let text = [series, "[[tags]]\nname = \"sensor\"\n", numbers!(), others!()].concat();
    std::fs::write(place.path().join("sent.toml"), text).expect("a file");
    let output = place.run(&["generate", "sent.toml", "--seed", "2", "--format", "csv"]);
    assert!(output.status.success(), "{}", said(&output));
    String::from_utf8(output.stdout).expect("CSV")
}

/// A share of the file.
fn share(text: &str, key: &str) -> f64 {
    let line = text.lines().find(|line| line.starts_with(&format!("{key} = "))).expect(key);
    let value = line.split(['=', '#']).nth(1).expect("a value");
    value.trim().parse().expect("a number")
}

#[test]
fn a_recording_answers_for_its_sensors_and_stops_where_it_can_be_read_in_two_ways() {
    let place = Place::new();
    let recording = sent(&place);
    let (code, text) = from(&place, &recording, &["--on", "sqlite"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("--tags sensor"), "{text}");
    let (code, text) = from(&place, "time;level\n2026-01-01 00:00;1,200\n2026-01-01 00:01;1,300\n", &[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("1200 with --thousands ,") && text.contains("1.2 with --decimal-comma"), "{text}");
    assert!(!place.path().join("plant.toml").exists());

    let (code, text) = from(&place, &recording, &["--tags", "sensor", "--on", "sqlite", "--keep", "30d"]);
    assert_eq!(code, Some(0), "{text}");
    let told = "From recording.csv: 5 sensors, 2 numbers and 1 truth value and 1 text, a reading every 30s, ";
    assert!(text.contains(told), "{text}");
    let file = file(&place);
    for line in [
        told,
        "count = 5 ",
        "interval = \"30s\"",
        "late_by = \"2m\"",
        "keep = \"30d\"",
        "stores = [\"sqlite\"]",
    ] {
        assert!(file.contains(line), "{line}: {file}");
    }
    let (late, repeated) = (share(&file, "late"), share(&file, "repeated"));
    assert!((0.04..0.06).contains(&late) && (0.01..0.03).contains(&repeated), "{late} {repeated}");
}

#[test]
fn a_recording_may_be_wide_and_options_overrule_it() {
    let place = Place::new();
    let columns: Vec<String> = (0..40).map(|number| format!("t{number}")).collect();
    let row = |minute: u32| format!("2026-01-01 00:{minute:02},{}\n", vec!["1.5"; 40].join(","));
    let rows: Vec<String> = (0..50).map(row).collect();
    let recording = format!("time,{}\n{}", columns.join(","), rows.concat());
    let (code, text) = from(&place, &recording, &["--sensors", "12"]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.contains("From recording.csv: 40 numbers, a reading every 1m, none late or twice."),
        "{text}"
    );
    let file = file(&place);
    assert!(file.contains("count = 12 ") && file.contains("name = \"t39\"\ntype = \"float\""), "{file}");
    // All that is here, embedded ones first.
    assert!(file.contains("stores = [\"sqlite\""), "{file}");
}

#[test]
fn the_questions_that_a_recording_answers_are_not_asked() {
    let place = Place::new();
    let rows: Vec<String> = (0..50).map(|minute| format!("2026-01-01 00:{minute:02},{minute}\n")).collect();
    std::fs::write(place.path().join("r.csv"), format!("time,co2\n{}", rows.concat())).expect("a file");
    let mut session = Session::start(place.command(&["init", "plant.toml", "--from", "r.csv"]), 80, 24);
    session.expect("From r.csv: 1 sensor, 1 number, a reading every 1m, none late or twice.");
    session.expect(" 5/15  How long is the data kept");
    for _ in 0..11 {
        session.expect("] > ");
        session.send("\r");
    }
    let (status, screen) = session.finish();
    assert!(status.success(), "{screen}");
    assert!(file(&place).contains("max = 2000.0"), "CO2 has its usual values");
    let output = place.run(&["init", "own.toml", "--yes", "--tags", "sensor"]);
    assert!(said(&output).contains("--from <RECORDING>"), "{}", said(&output));
}

/// A small plant's file on SQLite, measured for a moment; what the summary says of its requirements. Beside other tests a client may begin too late,
/// or measure for too short a time. The trial says nothing then, and the test repeats it.
fn answered(given: &[&str], settings: &[&str]) -> (Value, String) {
    let begun = Instant::now();
    loop {
        let (found, said) = measured_once(given, settings);
        if !["source late", "too short"].iter().any(|why| said.contains(why)) {
            return (found, said);
        }
        assert!(begun.elapsed() < PATIENCE, "no run in time: {said}");
    }
}

fn measured_once(given: &[&str], settings: &[&str]) -> (Value, String) {
    let place = Place::new();
    let common = ["init", "plant.toml", "--yes", "--on", "sqlite"];
    let small = ["--sensors", "10", "--every", "1s", "--asks", "live,history"];
    let written = place.run(&[&common[..], &small[..], given].concat());
    assert!(written.status.success(), "{}", said(&written));
    let mut arguments = vec!["run", "plant.toml", "--tolerate-disturbance"];
    let brief =
        ["series.duration=1h", "mixed.duration=3s", "queries.live.rate=400", "queries.history.rate=400"];
    for setting in brief.iter().chain(settings) {
        arguments.extend(["--set", setting]);
    }
    let run = place.run(&arguments);
    let folder = place.run_folder();
    let report = place.run(&["report", &folder.to_string_lossy(), "--format", "json"]);
    let json: Value = serde_json::from_slice(&report.stdout).expect("a report");
    (json["summary"]["requirements"].clone(), said(&run))
}

/// The load is an hour of data. So the disk of 20 minutes is measured, and that of 90 days is not: a straight line said ✗ where more data said ✓.
#[test]
fn requirements_that_all_meet_that_nobody_can_meet_and_that_nobody_can_decide() {
    // Nothing that tests beside this one can make slow enough is required.
    let limits = |disk: &str| {
        let others = "limits=lost = 0,wrong answers = 0,memory <= 2 GB";
        let (found, said) = answered(&[], &[&format!("{others},{disk}")]);
        assert_eq!(found["count"], 4, "{said}");
        (found, said.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let outcomes = |found: &Value, outcome: &str, said: &str| {
        for layout in found["layouts"].as_array().expect("layouts") {
            assert_eq!(layout["outcome"], outcome, "{said}");
        }
    };
    let (found, said) = limits("disk for 20m <= 100 GB");
    assert_eq!(found["keep"], "20m");
    assert_eq!(found["readings_per_second"], 10.0);
    outcomes(&found, "meets", &said);
    assert!(found["layouts"][0]["disk_bytes"].is_number(), "{found}");
    assert!(said.contains("meet all 4 requirements."), "{said}");
    assert!(said.contains("Of them SQLite "), "{said}");

    let (found, said) = limits("disk for 20m <= 1 kB");
    assert_eq!(found["cheapest"], Value::Array(Vec::new()), "{said}");
    outcomes(&found, "misses", &said);
    let reasons = found["layouts"][0]["reasons"].to_string();
    assert!(reasons.contains("misses disk for 20m ("), "{reasons}");
    assert!(reasons.contains(", wanted 1 kB)"), "{reasons}");
    assert!(said.contains("layouts meets all 4 requirements"), "{said}");

    let (found, said) = limits("disk for 90d <= 1 MB");
    outcomes(&found, "undecided", &said);
    let open = "disk for 90d is undecided: measured with 36,000 readings; yours are 77 million";
    assert!(said.contains(&format!("meet all that could be decided; {open}.")), "{said}");
    assert!(said.contains("· sqlite · measured at 36,000 readings; your 90d are 77 million ·"), "{said}");
    assert!(said.contains(" ? 1 SQLite ") && !said.contains('✗'), "{said}");
}

#[test]
fn the_search_for_the_limit_ends_with_an_answer() {
    let label = "SQLite individual";
    let found = searched("sqlite:individual", "disk for 20m <= 100 GB");
    assert_eq!(found.code, Some(0), "{}", found.text);
    found.meets(label, "meets");
    found.said("SQLite individual meets all 5 requirements (");
    found.said(" times the rate, ");
    found.said("SQLite individual: write and read, probe of 10 readings a second (about ");
    let found = searched("sqlite:individual", "disk for 20m <= 1 kB");
    assert_eq!(found.code, Some(1), "{}", found.text);
    found.misses(label, "misses disk for 20m (");
    // A busy machine has it repeated twice.
    assert!(found.probes(label) <= 3, "{}", found.text);
    found.nobody_meets_all();
    found.said("The layout does not meet all 5 requirements.");
}

/// What nobody can decide neither ends the search nor fails the run.
#[test]
fn a_disk_that_is_foretold_is_open_at_every_rate() {
    let label = "SQLite individual";
    let found = searched("sqlite:individual", "disk for 90d <= 1 MB");
    assert_eq!(found.code, Some(0), "{}", found.text);
    found.meets(label, "undecided");
    found.said("SQLite individual meets all that could be decided (");
    found.said("disk for 90d is undecided: measured with 36,000 readings; yours are 77 million.");
}
