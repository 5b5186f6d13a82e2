//! What is wrong in a file is said with its line and the nearest right word.

use super::parse;
use crate::own::parameters::{ByPart, OfPart, Parameters, QueryKind, ShapePart};
use std::path::Path;

/// A small right file; each line is there to be replaced.
const RIGHT: &str = r#"name = "small"
stores = ["sqlite"]
limits = ["p99 of board < 50 ms", "lost = 0"]
[series]
count = 4
interval = "1s"
jitter = "100ms"
duration = "5m"
missing = 0.01
late = 0.02
late_by = "10s"
[[tags]]
name = "sensor"
[[tags]]
name = "hall"
values = ["north", "south"]
[[fields]]
name = "temperature"
shape = "walk"
min = 0
max = 30
period = "2m"
[[fields]]
name = "state"
type = "text"
shape = "random"
values = ["ok", "failed"]
[load]
batch = 100
[mixed]
duration = "5s"
[writers]
batch = 10
rate = 100
[[queries]]
name = "board"
kind = "window mean"
span = "1m"
window = "10s"
"#;

fn read(text: &str, settings: &[&str]) -> Result<Parameters, String> {
    let settings: Vec<String> = settings.iter().map(|one| (*one).to_owned()).collect();
    let is_store = |name: &str| match name {
        "sqlite" => Ok(()),
        other => Err(format!("there is no store {other}")),
    };
    parse(text, "own.toml", Path::new("."), &settings, &is_store).map_err(|error| error.to_string())
}

/// With one line replaced by another (or by several), the message has this line and these words.
fn wrong(line: &str, by: &str, words: &[&str]) {
    assert_eq!(RIGHT.matches(line).count(), 1, "{line}");
    let text = RIGHT.replace(line, by);
    let message = read(&text, &[]).expect_err(by);
    for word in words {
        assert!(message.contains(word), "{by}: {word:?} is not in: {message}");
    }
    assert!(message.starts_with("own.toml:"), "{message}");
}

#[test]
fn a_right_file() {
    let parameters = read(RIGHT, &[]).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!((parameters.tables[0].series.count, parameters.tables[0].series.ticks()), (4, 300));
    assert_eq!(parameters.tables[0].series.late_ticks(), 10);
    assert_eq!(parameters.tables[0].tags[1].values, ["north", "south"]);
    let mixed = &parameters.phases[1];
    assert_eq!(mixed.queries[0].kind, QueryKind::WindowMean);
    assert_eq!(mixed.queries[0].fields, ["temperature"]);
    assert_eq!(mixed.writers[0].rate, Some(100.0));
}

/// Four series, of which each lives two minutes: two more have come in the 150 seconds that are loaded and written.
#[test]
fn series_that_begin_have_tags_of_their_own() {
    let own = |settings: &[&str]| read(&RIGHT.replace("missing = 0.01", "churn = 720"), settings);
    let parameters = own(&[]).expect("it is right");
    assert_eq!(parameters.churn(0).shortest_life(), Some(120));
    let loaded = |own: &Parameters| own.churn(0).series_before(u64::MAX);
    assert!(loaded(&parameters) > 4 + 8, "{}", loaded(&parameters));
    let faster = own(&["writers.rate=4000"]).expect("it is right");
    assert!(
        loaded(&faster) > loaded(&parameters),
        "series that begin while they are written have names, too"
    );
    assert!(!serde_json::to_string(&read(RIGHT, &[]).expect("it is right")).expect("text").contains("churn"));
    let message = own(&["tags.sensor.values=4"]).expect_err("no new names");
    assert!(message.contains("leave `values` out of one tag"), "{message}");
}

#[test]
fn parameters_travel_as_they_are() {
    let parameters = read(RIGHT, &[]).expect("it is right");
    let value = serde_json::to_value(&parameters).expect("names are texts");
    assert_eq!(serde_json::from_value::<Parameters>(value).expect("the same"), parameters);
}

#[test]
fn unknown_keys_have_the_nearest_right_word() {
    wrong("interval = \"1s\"", "intervall = \"1s\"", &[":6: ", "did you mean interval?"]);
    wrong("[load]", "[lode]", &[":28: ", "did you mean load?"]);
    wrong("window = \"10s\"", "windows = \"10s\"", &[":39: ", "did you mean window?"]);
    wrong("period = \"2m\"", "peroid = \"2m\"", &[":22: ", "did you mean period?"]);
}

#[test]
fn bad_values_have_their_lines() {
    wrong("count = 4", "count = 0", &[":5: ", "whole number from 1"]);
    wrong("count = 4", "count = \"four\"", &[":5: ", "whole number"]);
    wrong("interval = \"1s\"", "interval = \"1 parsec\"", &[":6: ", "no length of time"]);
    wrong("jitter = \"100ms\"", "jitter = \"1s\"", &[":7: ", "shorter than the interval"]);
    wrong("missing = 0.01", "missing = 1.5", &[":9: ", "share"]);
    for (churn, why) in [("-1", "share of the series"), ("90000", "2 are the least"), ("\"5 %\"", "churn")] {
        wrong("missing = 0.01", &format!("missing = 0.01\nchurn = {churn}"), &[":10: ", why]);
    }
    wrong("late_by = \"10s\"", "late_by = \"10ms\"", &[":11: ", "at least the interval"]);
    wrong("shape = \"walk\"", "shape = \"wlak\"", &[":19: ", "did you mean walk?"]);
    wrong("max = 30", "max = -1", &[":21: ", "over min"]);
    wrong("type = \"text\"", "type = \"string\"", &[":25: ", "there are: bool, integer, float, text"]);
    wrong("name = \"state\"", "name = \"temperature\"", &[":24: ", "there already"]);
    wrong("name = \"state\"", "name = \"Der Zustand\"", &[":24: ", "no name"]);
    wrong("kind = \"window mean\"", "kind = \"windowmean\"", &[":37: ", "did you mean window mean?"]);
    wrong(
        "span = \"1m\"",
        "span = \"1h\"",
        &[":38: ", "queries.board: span is \"1h\"", "series.duration is 5m"],
    );
    wrong("rate = 100", "rate = 0", &[":34: ", "how many a second"]);
    wrong("batch = 10\n", "batch = 1\n", &[":33: ", "often be empty"]);
    // What JSON cannot hold would reach the trial's process as nothing.
    let alarm = "kind = \"matching\"\nspan = \"1m\"\nabove = inf\n";
    wrong("kind = \"window mean\"\nspan = \"1m\"\nwindow = \"10s\"\n", alarm, &[":39: ", "finite number"]);
    let counter = "shape = \"counter\"\nstart = nan\nstep = 1";
    wrong("shape = \"walk\"\nmin = 0\nmax = 30\nperiod = \"2m\"", counter, &[":20: ", "start is beyond"]);
    wrong("name = \"small\"", "name = small", &[":1: "]);
}

#[test]
fn what_is_missing_is_named_with_an_example() {
    wrong("interval = \"1s\"\n", "", &[":4: ", "interval is missing", "\"10s\""]);
    wrong("window = \"10s\"\n", "", &[":35: ", "window is missing"]);
    wrong("shape = \"walk\"\n", "", &[":17: ", "shape is missing"]);
    wrong("[mixed]\nduration = \"5s\"\n", "", &[":30: ", "[mixed]"]);
}

#[test]
fn limits_are_read_where_they_stand() {
    wrong("\"lost = 0\"", "\"losst = 0\"", &[":3: ", "did you mean lost?"]);
    wrong("p99 of board", "p99 of bored", &[":3: ", "did you mean board?"]);
    wrong("p99 of board <", "p99 <", &[":3: ", "say of what"]);
    wrong("< 50 ms", "< 50 MB", &[":3: ", "length of time"]);
    wrong("< 50 ms", "is low", &[":3: ", "is no limit"]);
}

#[test]
fn fields_of_a_query_are_those_of_the_file() {
    let by = "window = \"10s\"\nfield = \"temprature\"\n";
    wrong("window = \"10s\"\n", by, &[":40: ", "did you mean temperature?"]);
    let by = "window = \"10s\"\nfield = \"state\"\n";
    wrong("window = \"10s\"\n", by, &[":40: ", "not a number"]);
    let by = "window = \"10s\"\nof = \"hal\"\n";
    wrong("window = \"10s\"\n", by, &[":40: ", "did you mean hall?"]);
}

#[test]
fn series_without_a_tag_of_their_own_must_differ() {
    let by = "name = \"sensor\"\nvalues = 1\n[[tags]]\nname = \"hall\"";
    let text = RIGHT.replace("name = \"sensor\"\n[[tags]]\nname = \"hall\"", by);
    let message = read(&text, &[]).expect_err("two combinations, four series");
    assert!(message.contains("2 combinations") && message.contains("own.toml:12"), "{message}");
}

#[test]
fn settings_stand_for_keys() {
    let settings = ["series.count=7", "fields.temperature.max=50", "queries.board.span=30s"];
    let parameters = read(RIGHT, &settings).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(parameters.tables[0].series.count, 7);
    assert!(matches!(parameters.tables[0].fields[0].shape, ShapePart::Walk { max, .. } if max == 50.0));
    let mixed = &parameters.phases[1];
    assert_eq!(mixed.queries[0].span_ns, Some(30_000_000_000));
    let unasked = RIGHT.split("[[queries]]").next().expect("what is before");
    let unasked = unasked.replace("p99 of board < 50 ms", "wrong answers = 0");
    let told = read(&unasked, &[]).expect_err("nobody asks");
    assert!(told.contains(":3: nothing is asked here"), "{told}");
    let limits = read(RIGHT, &["limits=lost = 0"]).expect("one limit").limits;
    assert_eq!(limits.len(), 1);
    let misspelt = RIGHT.replace("[\"sqlite\"]", "[\"sqlite\", \"sqllite\"]");
    let told = read(&misspelt, &[]).expect_err("no such store");
    assert!(told.starts_with("own.toml:2: "), "{told}");
    let message = read(RIGHT, &["series.cuont=7"]).expect_err("a wrong name");
    assert!(message.contains("did you mean series.count?"), "{message}");
    let message = read(RIGHT, &["series.count=many"]).expect_err("no number");
    assert!(message.contains("--set series.count=many") && message.contains("whole number"));
}

#[test]
fn what_disagrees_is_named_with_both_values() {
    let board = |by: &str, words: &str| {
        let by = format!("window = \"10s\"\n{by}\n");
        wrong("window = \"10s\"\n", &by, &["queries.board: ", words]);
    };
    board(
        "by = \"hall\"\nabove = 3",
        "above is 3 and kind is \"window mean\": thresholds are for other kinds",
    );
    board(
        "fields = [\"temperature\", \"state\"]",
        "field is \"state\" and kind is \"window mean\": this field is not a number",
    );
    board("field = \"state\"", "field is \"state\" and kind is \"window mean\"");
    let kind = "kind = \"window mean\"";
    wrong(kind, "kind = \"range\"", &["window is \"10s\" and kind is \"range\""]);
    wrong(kind, "kind = \"point\"", &["span is \"1m\" and kind is \"point\""]);
    wrong("jitter = \"100ms\"", "jitter = \"2s\"", &["series: jitter is \"2s\" and interval is 1s"]);
    wrong("late_by = \"10s\"", "late_by = \"10ms\"", &["series: late_by is \"10ms\" and interval is 1s"]);
    wrong("late = 0.02\n", "", &["late_by is \"10s\" and late is 0"]);
    wrong("max = 30", "max = -1", &["fields.temperature: max is -1 and min is 0"]);
    wrong("max = 30", "max = 30\nhold = \"5s\"", &["hold is \"5s\" and shape is \"walk\""]);
    wrong(
        "duration = \"5m\"",
        "duration = \"11s\"",
        &["series: duration is 11 intervals, and it must be more than 12"],
    );
}

#[test]
fn readings_are_of_the_years_that_every_store_has() {
    wrong(
        "duration = \"5m\"",
        "duration = \"5m\"\nstart = \"2261-12-31T23:55:01Z\"",
        &["series: duration is \"5m\"", "the years 1970 to 2261"],
    );
    for start in ["2262-01-01T00:00:00Z", "1969-12-31T23:59:59Z"] {
        let start = format!("duration = \"5m\"\nstart = \"{start}\"");
        wrong("duration = \"5m\"", &start, &["the years 1970 to 2261"]);
    }
}

#[test]
fn a_length_of_time_has_a_unit() {
    for (by, words) in [
        ("interval = 1", "interval is a length of time and has a unit, like \"10s\"; 1 has none"),
        ("interval = \"1GB\"", "interval: \"1GB\" is no length of time"),
    ] {
        wrong("interval = \"1s\"", by, &[":6: series: ", words]);
    }
    let told = read(RIGHT, &["mixed.duration=30"]).expect_err("no unit");
    assert!(told.contains("--set mixed.duration=30: duration is a length of time"), "{told}");
}

/// Two tables and three phases; the same file is measured by the program's tests.
const TABLES: &str = include_str!("../tests/greenhouse.toml");

/// With these words replaced, the message has this line and these words.
fn wrong_tables(words: &str, by: &str, told: &[&str]) {
    let text = TABLES.replacen(words, by, 1);
    assert_ne!(text, TABLES, "{words}");
    let message = read(&text, &[]).expect_err(by);
    for word in told {
        assert!(message.contains(word), "{by}: {word:?} is not in: {message}");
    }
}

#[test]
fn tables_and_phases_stand_side_by_side() {
    let parameters = read(TABLES, &[]).unwrap_or_else(|why| panic!("{why}"));
    let tables: Vec<&str> = parameters.tables.iter().map(|table| table.series.table.as_str()).collect();
    assert_eq!(tables, ["climate", "doors"]);
    assert_eq!((parameters.tables[0].tags.len(), parameters.tables[1].tags.len()), (2, 1));
    let [history, growth, day] = parameters.phases.as_slice() else {
        panic!("{:?}", parameters.phases);
    };
    let loads: Vec<_> = history.writers.iter().map(|one| (one.name.as_str(), one.load_ns)).collect();
    let minutes = |count: i64| Some(count * 60_000_000_000);
    assert_eq!(loads, [("load climate", minutes(5)), ("load doors", minutes(10))]);
    assert_eq!((growth.duration_ns, growth.writers[0].load_ns), (None, minutes(5)));
    assert_eq!((day.writers[0].name.as_str(), day.writers[1].name.as_str()), ("sensors", "writers doors"));
    assert_eq!((day.writers[1].load_ns, day.queries[1].table), (None, 1));
    let settings = ["series.doors.count=3", "phases.day.duration=1s", "writers.sensors.rate=100"];
    let set = read(TABLES, &settings).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!((set.tables[1].series.count, set.phases[2].duration_ns), (3, Some(1_000_000_000)));
    assert_eq!(set.phases[2].writers[0].rate, Some(100.0));
}

#[test]
fn what_is_wrong_with_tables_and_phases_is_said() {
    let climate = "table = \"climate\"\nname = \"sensor\"";
    wrong_tables(climate, "table = \"climat\"\nname = \"sensor\"", &[":27: ", "did you mean climate?"]);
    wrong_tables(climate, "name = \"sensor\"", &["several: say which, table = \"climate\""]);
    wrong_tables("table = \"doors\"\ncount", "table = \"climate\"\ncount", &["there already"]);
    wrong_tables("table = \"doors\"\ncount", "count", &["table is missing"]);
    wrong_tables("phase = \"growth\"", "phase = \"grwth\"", &["did you mean growth?"]);
    wrong_tables("name = \"growth\"", "name = \"history\"", &["there already"]);
    wrong_tables("load = \"5m\"", "load = \"1ms\"", &["shorter than an interval"]);
    let short = "[load]\nclients = 2\n[[phases]]\nname = \"history\"";
    wrong_tables("[[phases]]\nname = \"history\"", short, &["there are [[phases]] too"]);
    let twice = "[[writers]]\nphase = \"day\"\ntable = \"climate\"\n\n[[queries]]";
    wrong_tables("[[queries]]", twice, &["two groups write the same table in one phase"]);
    let last = "\n[[phases]]\nname = \"night\"\n[[queries]]\nname = \"n\"\ntable = \"doors\"\nkind = \"last value\"\n";
    let message = read(&format!("{TABLES}{last}"), &[]).expect_err("it never ends");
    assert!(message.contains("only asks and would never end"), "{message}");
    let again = last
        .replace("[[queries]]\nname = \"n\"", "[[writers]]\nload = \"1m\"")
        .replace("kind = \"last value\"\n", "");
    let unpaced = TABLES.replace("rate = 40\n", "");
    let message = read(&format!("{unpaced}{again}"), &[]).expect_err("nobody knows where to go on");
    assert!(message.contains("phase day wrote this table as fast as it could"), "{message}");
    let early = TABLES.replace(
        "phase = \"history\"\ntable = \"doors\"",
        "phase = \"day\"\ntable = \"doors\"\nload = \"5m\"",
    );
    let early =
        early.replace("\n[[writers]]\nphase = \"day\"\ntable = \"doors\"\nbatch = 10\nrate = 40\n", "");
    let asked = early.replace("name = \"opened\"\nphase = \"day\"", "name = \"opened\"\nphase = \"growth\"");
    let message = read(&asked, &[]).expect_err("nothing is there yet");
    assert!(message.contains("nothing is in this table yet"), "{message}");
}

/// Two tests that begin empty: writes of one sensor each, and questions about what was written of one. In the second the data grow.
const TESTS: &str = r#"
index = "both"
[series]
count = 10
interval = "1s"
duration = "1m"
staggered = true
[[tags]]
name = "sensor"
first = 1
[[fields]]
name = "value"
shape = "temperature"
[[phases]]
name = "few"
duration = "5s"
[[writers]]
phase = "few"
together = 1
block = 1
readings = 60
[[phases]]
name = "load"
empty = true
grows = true
settled = "rest"
[[writers]]
phase = "load"
together = 1
block = 100
readings = 400
[[phases]]
name = "more"
grows = true
[[writers]]
phase = "more"
together = 1
block = 100
readings = 1200
[[queries]]
name = "board"
kind = "range"
of = "written"
span = "100s"
"#;

#[test]
fn tests_begin_empty_and_write_one_series_at_a_time() {
    let parameters = read(TESTS, &[]).unwrap_or_else(|why| panic!("{why}"));
    let [few, load, more] = parameters.phases.as_slice() else { panic!("{:?}", parameters.phases) };
    assert_eq!([few.size, load.size, more.size], [None, Some(400), Some(1_600)]);
    assert_eq!((few.empty, load.empty, load.settled.as_deref()), (false, true, Some("rest")));
    assert_eq!([few.writers[0].order, more.writers[0].order], [Some((1, 1)), Some((1, 100))]);
    assert_eq!(more.queries[0].of, OfPart::Written);
    for (words, by, told) in [
        ("empty = true", "empty = false", "in another order: take the same together and block"),
        ("block = 100\nreadings = 1200", "block = 50\nreadings = 1200", "in another order"),
        ("together = 1\nblock = 1\n", "together = 1\n", "block is missing in [writers]; write block = 1000"),
        ("together = 1\nblock = 1\n", "together = 3\nblock = 1\n", "together is 3; it must divide"),
        ("readings = 60", "atomic = true\nreadings = 60", "atomic is for series with an entity"),
        ("readings = 1200", "readings = 1200\nload = \"1m\"", "both say how much is written"),
        ("of = \"written\"", "of = \"writen\"", "did you mean written?"),
        ("kind = \"range\"", "kind = \"difference\"\nwindow = \"1s\"", "one may have no readings yet"),
        ("span = \"100s\"", "span = \"100s\"\nafter = 60", "after so many of the 60 readings"),
        ("staggered = true", "missing = 0.1", "readings all come, in time and once"),
        ("staggered = true", "staggered = true\njitter = \"1ms\"", "no jitter and no bursts"),
        ("first = 1", "first = 1\npattern = \"s{}\"", "is the series' number"),
        ("staggered = true", "entity = \"metres\"", "did you mean meters?"),
        ("shape = \"temperature\"", "shape = \"meter\"", "there is no field of a meter"),
        ("settled = \"rest\"", "settled = \"few\"", "there already"),
        ("index = \"both\"", "index = \"bothe\"", "did you mean both?"),
        ("index = \"both\"", "keep = \"2m\"", "with keep, the data only grow, by time"),
    ] {
        let message = read(&TESTS.replacen(words, by, 1), &[]).expect_err(by);
        assert!(message.contains(told), "{by}: {told:?} is not in: {message}");
    }
    let unpaced = TESTS.replacen("empty = true\ngrows", "grows", 1);
    let unpaced = unpaced.replacen("block = 1\nreadings = 60", "block = 100\nrate = 9", 1);
    let message = read(&unpaced, &[]).expect_err("nobody knows how much was written");
    assert!(message.contains("a load or readings"), "{message}");
    let meter = TESTS.replacen("shape = \"temperature\"", "shape = \"meter\"", 1);
    let meter = meter.replacen("name = \"value\"", "name = \"usage_since_read\"", 1);
    assert!(read(&meter, &[]).expect_err("another interval").contains("interval = \"1h\""));
    let mixed = RIGHT.replace("[mixed]", "[mixed]\nempty = true");
    assert!(read(&mixed, &[]).expect_err("no phase").contains("are for [[phases]]"));
}

/// Meters that report two by two, with more of them at a second size.
const METERS: &str = r#"
[series]
count = 4
start = "2018-01-01T00:00:00Z"
interval = "1h"
duration = "10h"
resolution = "seconds"
entity = "meters"
[[fields]]
name = "usage_since_read"
shape = "meter"
[[phases]]
name = "first"
processes = 2
[[writers]]
phase = "first"
clients = 2
together = 2
block = 10
batch = 1
readings = 20
[[phases]]
name = "history"
grows = true
[[writers]]
phase = "history"
together = 2
block = 10
readings = 14
[[phases]]
name = "rest"
[[writers]]
phase = "rest"
together = 2
block = 10
batch = 1
atomic = true
readings = 6
[[queries]]
name = "bills"
kind = "sum"
of = "each"
after = 9
span = "744h"
count = 4
file = "bills.csv"
"#;

#[test]
fn meters_are_written_side_by_side_and_billed_one_after_the_other() {
    let parameters = read(METERS, &[]).unwrap_or_else(|why| panic!("{why}"));
    let [first, history, rest] = parameters.phases.as_slice() else { panic!("{:?}", parameters.phases) };
    assert_eq!((first.processes, first.size), (Some(2), None));
    // All that is written up to the next size.
    assert_eq!((history.size, rest.size), (Some(40), None));
    assert!(!first.writers[0].atomic && rest.writers[0].atomic);
    let series = &parameters.tables[0].series;
    assert!(history.writers[0].is_bulk(series) && !rest.writers[0].is_bulk(series));
    let bills = &rest.queries[0];
    assert_eq!((&bills.of, bills.after, bills.file.as_deref()), (&OfPart::Each, Some(9), Some("bills.csv")));
    for (words, by, told) in [
        ("batch = 1\natomic = true\n", "", "ask after writers of batch = 1"),
        ("clients = 2", "clients = 3", "and be a multiple of 3 clients"),
        ("start = \"2018-01-01T00:00:00Z\"\n", "", "meters count the hours from 2018 on"),
        ("usage_since_read", "usage_since_reed", "did you mean usage_since_read?"),
        ("after = 9", "after = 10", "after so many of the 10 readings"),
        ("of = \"each\"", "of = \"eech\"", "did you mean each?"),
        ("entity = \"meters\"\n", "", "atomic is for series with an entity"),
    ] {
        let message = read(&METERS.replacen(words, by, 1), &[]).expect_err(by);
        assert!(message.contains(told), "{by}: {told:?} is not in: {message}");
    }
    let loaded = METERS.split("[[phases]]").next().unwrap();
    let message = read(loaded, &[]).expect_err("no phases");
    assert!(message.contains("are written in [[phases]]"), "{message}");
}

#[test]
fn a_recording_s_options_are_those_of_replay() {
    let folder = tempfile::tempdir().unwrap();
    let rows = "time;temp\n2020-01-01;21,5\n2020-01-02;\n2020-01-03;22,5\n";
    std::fs::write(folder.path().join("r.csv"), rows).unwrap();
    let recorded = "shape = \"recording\"\nfile = \"r.csv\"\ncolumn = \"temp\"";
    let walk = "shape = \"walk\"\nmin = 0\nmax = 30\nperiod = \"2m\"";
    let text = |options: &str| RIGHT.replace(walk, &format!("{recorded}\noptions = {{ {options} }}"));
    let read = |options: &str| {
        parse(&text(options), "own.toml", folder.path(), &[], &|_: &str| Ok(()))
            .map_err(|error| error.to_string())
    };
    let resolution = sensormark_store::TimeResolution::Nanoseconds;
    let sensors =
        |options: &str| crate::own::sensors::sensors(&read(options).unwrap(), 0, 1, resolution).map(|_| ());
    sensors("decimal-comma = true").unwrap();
    let unclear = sensors("").unwrap_err();
    assert!(unclear.contains("--decimal-comma"), "{unclear}");
    let refused = read("decimal-coma = true").unwrap_err();
    assert!(refused.contains("decimal-coma"), "{refused}");
}

/// Messages of homes, then hours of them, and questions about one property, all of a device, and a chart.
const HOMES: &str = r#"
layouts = ["flat", "bucketed"]
variants = ["flat-no-index"]
bucket = 50
day = [7, 20]
[series]
generator = "homes"
count = 2
start = "2021-09-27T00:00:00Z"
interval = "1h"
duration = "3d"
[[phases]]
name = "messages"
duration = "5s"
[[writers]]
phase = "messages"
messages = true
readings = 100
[[phases]]
name = "load"
empty = true
grows = true
[[writers]]
phase = "load"
load = "3d"
[[queries]]
name = "parts"
kind = "mean"
of = { thing_id = "meteo", property_id = "temp" }
span = "1d"
step = "1d"
by = "day and night"
sums = true
[[queries]]
name = "chart"
kind = "chart"
span = "1d"
window = "1h"
"#;

#[test]
fn homes_send_messages_or_hours() {
    let parameters = read(HOMES, &[]).unwrap_or_else(|why| panic!("{why}"));
    let [messages, load] = parameters.phases.as_slice() else { panic!("{:?}", parameters.phases) };
    let writers = [messages, load].map(|phase| &phase.writers[0]);
    assert_eq!(writers.map(|part| (part.messages, part.batch)), [(true, 1), (false, 0)]);
    // 12,771 a home and day.
    assert!(load.size.is_some_and(|size| (76_000..77_000).contains(&size)), "{:?}", load.size);
    let [parts, chart] = load.queries.as_slice() else { panic!("{:?}", load.queries) };
    assert!(matches!(&parts.of, OfPart::With(tags) if tags.len() == 2) && parts.from_sums);
    assert!(matches!(parts.by, ByPart::DayAndNight(split) if split.day_end_ns == 20 * 3_600_000_000_000));
    assert_eq!((chart.kind, &chart.of), (QueryKind::Chart, &OfPart::One));
    for (words, by, told) in [
        ("messages = true\nreadings = 100", "messages = true", "as many as readings says"),
        ("empty = true", "empty = false", "in another order"),
        ("count = 2", "count = 10001", "10000 at most"),
        ("interval = \"1h\"", "interval = \"10s\"", "start = \"2021-09-27T00:00:00Z\", interval = \"1h\""),
        ("thing_id =", "thing =", "did you mean thing_id?"),
        ("by = \"day and night\"", "by = \"day\"", "day and night"),
        ("day = [7, 20]", "day = [20, 7]", "from one hour to a later one"),
        ("\"flat\", ", "\"flatt\", ", "did you mean flat?"),
    ] {
        let message = read(&HOMES.replacen(words, by, 1), &[]).expect_err(by);
        assert!(message.contains(told), "{by}: {told:?} is not in: {message}");
    }
    let message = read(&TESTS.replacen("readings = 60", "messages = true\nreadings = 60", 1), &[]);
    assert!(message.expect_err("no homes").contains("messages are of homes"));
}
