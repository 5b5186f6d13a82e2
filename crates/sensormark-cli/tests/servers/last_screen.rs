//! The last screen of each workload's run with two databases, through a pseudo-terminal of 80 columns and 24 lines.

use crate::support::Place;
use crate::terminal::Session;

const COLUMNS: u16 = 80;
const ROWS: u16 = 24;

pub fn of_machine_tool() {
    let settings = ["warmup_seconds=0", "measured_seconds=3.5", "reads=2", "history_seconds=2"];
    // All layouts and strategies would take minutes.
    shows_all("machine-tool", "sqlite:bulk,duckdb:bulk", &settings);
}

pub fn of_sensor_operations() {
    let settings = ["single=20", "multi=40", "batch=10", "clients=1,2", "grown=0"];
    shows_all("sensor-operations", "sqlite,duckdb", &settings);
}

pub fn of_devops() {
    let settings = ["hosts=2", "hours=1", "more_hours=", "workers=1", "clients=1", "queries=2"];
    shows_all("devops", "sqlite,duckdb", &settings);
}

pub fn of_iot_platform() {
    let settings = ["days=1", "messages=10", "spans=1", "statistics=1", "questions=1", "grown=0"];
    shows_all("iot-platform", "sqlite,duckdb", &settings);
}

pub fn of_billing() {
    let settings = ["devices=2", "clients=2", "records=30", "bill_rounds=1", "grown=0"];
    shows_all("billing", "sqlite,duckdb", &settings);
}

/// Runs the workload with two databases: the answer, the ranking and the three paths are on the screen when the prompt follows.
fn shows_all(workload: &str, databases: &str, settings: &[&str]) {
    let place = Place::new();
    let mut arguments = vec!["run", workload, "--on", databases, "--tolerate-disturbance"];
    for setting in settings {
        arguments.extend(["--set", setting]);
    }
    let session = Session::start(place.command(&arguments), COLUMNS, ROWS);
    let (_, text) = session.finish();
    let text = plain(&text);
    let title = format!("{workload} · quick · ");
    let from = text.rfind(&title);
    let shown = &text[from.unwrap_or_else(|| panic!("no title: {text}"))..];
    let lines: Vec<&str> = shown.trim_end_matches('\n').lines().collect();
    // A terminal wraps what is too long, and the prompt takes a row of its own.
    let rows: usize = lines.iter().map(|line| rows_of(line)).sum();
    assert!(rows < usize::from(ROWS), "{rows} rows and the prompt:\n{shown}");
    // "SQLite bulk costs least on this machine for this load."
    // It stands below the title, which may take two lines.
    let answer = lines.iter().find(|line| line.starts_with("  "));
    let answer = answer.map_or("", |line| line.trim_start());
    assert!(answer.starts_with("SQLite ") || answer.starts_with("DuckDB "), "no answer:\n{shown}");
    let is_first = |line: &str| line.starts_with("  1 SQLite ") || line.starts_with("  1 DuckDB ");
    let is_ranked = lines.iter().any(|line| is_first(line));
    assert!(is_ranked, "no ranking:\n{shown}");
    // Rows that do not fit are counted in the last one.
    let is_cut = lines.iter().any(|line| line.starts_with("  … and "));
    for database in ["SQLite", "DuckDB"] {
        let is_row = |line: &str| {
            let row = line.trim_start().split_once(' ');
            row.is_some_and(|(rank, name)| is_rank(rank) && name.starts_with(database))
        };
        let is_there = is_cut || lines.iter().any(|line| is_row(line));
        assert!(is_there, "no {database}:\n{shown}");
    }
    let firmer = format!("firmer      sensormark run {workload} ");
    for path in ["page        results/", "everything  sensormark report results/", &firmer] {
        let is_there = lines.iter().any(|line| line.trim_start().starts_with(path));
        assert!(is_there, "no {path:?}:\n{shown}");
    }
}

/// "1", "2", …, or "–" of what is below the line.
fn is_rank(text: &str) -> bool {
    text == "–" || (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Rows of the terminal that a line takes.
fn rows_of(line: &str) -> usize {
    line.chars().count().div_ceil(usize::from(COLUMNS)).max(1)
}

/// The text without what moves the cursor or colours.
fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|of: char| ('@'..='~').contains(&of));
        plain.push_str(end.map_or("", |end| &part[end + 1..]));
    }
    plain
}
