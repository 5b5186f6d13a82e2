//! Recordings as people report them, in the exact form, against figures that pandas computed (tests/recordings/expected.py).

use clap::Parser;

use super::cases::times;
use super::*;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings/");

#[derive(Debug, Parser)]
struct Said {
    #[command(flatten)]
    options: RecordingOptions,
}

/// Options as they are typed; quotes keep words together.
pub(super) fn typed(arguments: &str) -> RecordingOptions {
    let mut words = vec!["sensormark".to_owned()];
    for (place, part) in arguments.split('\'').enumerate() {
        match place % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    Said::parse_from(words).options
}

fn read_file(name: &str, arguments: &str) -> Result<Recording, RecordingError> {
    Recording::read(&PathBuf::from(FOLDER).join(name), &typed(arguments))
}

/// Whether two sums of the same numbers, added up in another order, are equal.
fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-12 * one.abs().max(other.abs())
}

/// What is wrong with the figures of a recording: readings, first and last time, and count, sum, smallest and largest of fields.
fn wrong_figures(recording: &Recording, expected: &[&str]) -> Vec<String> {
    let timing = &recording.report.timing;
    let found =
        [recording.readings.len().to_string(), timing.first_ns.to_string(), timing.last_ns.to_string()];
    let mut wrong = Vec::new();
    if found != expected[..3] {
        wrong.push(format!("{found:?} and not {:?}", &expected[..3]));
    }
    for cell in &expected[3..] {
        let parts: Vec<&str> = cell.split(':').collect();
        let number = |place: usize| parts[place].parse::<f64>().unwrap();
        let (count, sum, least, most) = cases::figures(recording, parts[0]);
        let figures = [count as f64, sum, least, most];
        if !figures.iter().enumerate().all(|(place, figure)| is_near(*figure, number(place + 1))) {
            wrong.push(format!("{} is {figures:?} and not {cell}", parts[0]));
        }
    }
    wrong
}

#[test]
fn every_reported_recording_has_the_figures_of_pandas() {
    let expected = std::fs::read_to_string(PathBuf::from(FOLDER).join("expected.tsv")).unwrap();
    let mut wrong = Vec::new();
    for line in expected.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let found = match read_file(cells[0], cells[1]) {
            Ok(recording) => wrong_figures(&recording, &cells[2..]),
            Err(error) => vec![error.to_string()],
        };
        wrong.extend(found.iter().map(|found| format!("{} {}: {found}", cells[0], cells[1])));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_command_that_inspect_prints_reads_what_tutorials_use() {
    let folder = PathBuf::from(FOLDER).join("tutorials");
    let expected = std::fs::read_to_string(folder.join("tutorials.tsv")).unwrap();
    for line in expected.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let found = inspect(&folder.join(cells[0]), cells[0], &RecordingOptions::default()).unwrap();
        let command = found.text.lines().last().unwrap().trim();
        let arguments = command.strip_prefix(&format!("sensormark replay {} ", cells[0])).unwrap_or_default();
        let recording = Recording::read(&folder.join(cells[0]), &typed(arguments)).unwrap();
        let wrong = wrong_figures(&recording, &cells[1..]);
        assert!(wrong.is_empty(), "{command}: {wrong:?}");
        let told = ["Read it so:", "interval:", "time: column"];
        assert!(told.iter().all(|part| found.text.contains(part)), "{}", found.text);
    }
}

#[test]
fn inspect_says_what_to_choose_and_what_is_odd() {
    for (name, parts) in [
        ("R93-two-dates.csv", &["Choose one:", "--time collected", "--time received"][..]),
        ("R07a-thousands-quoted.csv", &["Choose one:", "--thousands ,", "--decimal-comma --thousands none"]),
        ("R90-labview.csv", &["Choose one:", "--time-format labview", "--time-format ntp"]),
        (
            "R09-yyyymmddhh.csv",
            &["Asked: no column", "R09.csv --time MESS_DATUM --time-format year-month-day"],
        ),
        ("R05-missing-written-two-ways.csv", &["Odd: -999 in 4 readings of level", "--absent -999"]),
        ("tutorials/AirQualityUCI.csv", &["Odd: -200 in 7 readings of co_gt", "--decimal-comma"]),
        ("tutorials/intel_lab_data.txt", &["--tags column_4", "231 readings of 4 series", "--skip-bad-rows"]),
        ("R51-clock-not-set.csv", &["2 of 52 rows cannot be read", "--skip-bad-rows"]),
    ] {
        let shown = format!("{}.csv", &name[..3]);
        let found = inspect(&PathBuf::from(FOLDER).join(name), &shown, &RecordingOptions::default()).unwrap();
        assert_eq!(!found.is_clear, found.text.contains("Choose one:"), "{name}");
        for part in parts {
            assert!(found.text.contains(part), "{name}: {part:?} is not in: {}", found.text);
        }
    }
    let given =
        "--time 'Date Time, GMT-05:00' --absent -999 --thousands none --header true --type 'a b=text'";
    let arguments = typed(given).arguments();
    assert_eq!(RecordingOptions::typed(&arguments), Ok(typed(given)));
}

#[test]
fn what_cannot_be_known_stops_with_the_choices() {
    for (name, arguments, parts) in [
        ("D1-tags-and-texts.csv", "", &["--tags sensor", "--type sensor=text"][..]),
        ("R01-date-and-time-columns.csv", "", &["--absent '?'"]),
        (
            "R07a-thousands-quoted.csv",
            "",
            &["1200 with --thousands ,", "1.2 with --decimal-comma --thousands none"],
        ),
        ("R07b-thousands-semicolon.csv", "", &["--thousands ,"]),
        ("R08-home-assistant.csv", "", &["--tags entity_id"]),
        (
            "R08-home-assistant.csv",
            "--tags entity_id",
            &["--type state=mixed", "--type state=text", "--absent"],
        ),
        ("R11-units-in-cells.csv", "", &["12.51 °C", "--unit-in-cells", "--type Temperature=text"]),
        ("R23-relative-seconds.csv", "", &["Time (s)"]),
        ("R35-not-finite.csv", "", &["line 3, column v: \"Inf\" is not a finite number"]),
        ("R36-na-is-a-name.csv", "--tags country", &["is no value, and this column says which series it is"]),
        ("R37-space-delimited.txt", "", &["--delimiter ' '"]),
        ("R38-latin1.csv", "", &["Temp °C", "--encoding windows-1252"]),
        ("R42-backslash-quotes.csv", "", &["line 2", "4 cells"]),
        ("R51-clock-not-set.csv", "", &["line 2, column ts: \"5\"", "--time-format unix-s"]),
        ("R53-nul-tail.csv", "", &["line 32", "NUL bytes"]),
        ("R56-plus-one-tags.csv", "", &["--tags"]),
        ("R90-labview.csv", "", &["--time-format labview", "--time-format ntp"]),
        ("R93-two-dates.csv", "", &["--time collected", "--time received"]),
        ("R12-toa5.csv", "--encoding klingon", &["no such encoding", "windows-1252"]),
        ("R00.csv", "--only tempp", &["--only", "did you mean temp?"]),
        ("R00.csv", "--type temp=number", &["COLUMN=TYPE", "mixed"]),
    ] {
        let message =
            read_file(name, arguments).map(|_| "read".to_owned()).unwrap_or_else(|error| error.to_string());
        for part in parts {
            assert!(message.contains(part), "{name} {arguments}: {part:?} is not in: {message}");
        }
    }
}

#[test]
fn other_forms_of_the_same_kinds_are_read_or_stop() {
    let read = |name: &str, arguments: &str| read_file(&format!("forms/{name}"), arguments);
    let mut forms = vec![("recording.csv.zst", ""), ("windows.csv.gz", "--encoding windows-1252")];
    if cfg!(feature = "parquet") {
        forms.extend([("pandas.parquet", ""), ("index.parquet", "")]);
    }
    for (name, arguments) in forms {
        let recording = read(name, arguments).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(
            times(&recording),
            ("2020-01-01T00:00:00Z".into(), "2020-01-01T00:00:29Z".into(), 30, 0),
            "{name}"
        );
        let (count, sum, least, most) = cases::figures(&recording, "temp");
        assert!(is_near(sum, 643.5) && (count, least, most) == (30, 20.0, 22.9), "{name}: {sum}");
        let big = recording.schema.tables[0].field("big").unwrap();
        assert_eq!(recording.readings.columns[big].value(0), Value::I64(9_007_199_254_740_993), "{name}");
    }
    let nested =
        read("nested.jsonl", "--tags tags.floor --time-format unix-s --time ts --skip-bad-rows").unwrap();
    assert_eq!((nested.readings.len(), nested.schema.tables[0].series.len()), (30, 2));
    assert_eq!(cases::figures(&nested, "values_t").0, 30);
    let broken = read("broken.jsonl", "").unwrap_err().to_string();
    assert!(broken.contains("line 2: ") && broken.contains("1 cells"), "{broken}");
    assert_eq!(read("broken.jsonl", "--skip-bad-rows").unwrap().readings.len(), 3);
    let influxdb = read("influxdb.csv", "").unwrap();
    let tags: Vec<&str> = influxdb.schema.tables[0].tags.iter().map(|tag| tag.name.as_str()).collect();
    assert_eq!(tags, ["field", "measurement", "host"]);
    assert_eq!(cases::figures(&influxdb, "value"), (20, 145.0, 0.0, 14.5));
    assert_eq!(influxdb.schema.tables[0].series.len(), 2);
    assert_eq!(influxdb.report.bad_rows.count, 1, "the header again");
    let header = read("hash-header.csv", "").unwrap();
    assert_eq!(cases::figures(&header, "temp"), (3, 7.0, 1.5, 3.0));
    let title = read("title.csv", "").unwrap();
    assert_eq!(times(&title), ("2023-07-13T00:00:00Z".into(), "2023-07-14T15:00:00Z".into(), 40, 0));
    let again = read("repeated-header.csv", "").unwrap();
    assert_eq!((cases::figures(&again, "v"), again.report.bad_rows.count), ((4, 10.0, 1.0, 4.0), 2));
    let ordered = read("ordered.csv", "--time-format day-month-year").unwrap();
    assert_eq!(times(&ordered), ("2023-01-01T00:00:00Z".into(), "2024-02-28T00:00:00Z".into(), 12, 0));
    let ambiguous = read("ambiguous.csv", "").unwrap_err().to_string();
    for choice in ["2001-02-03", "2003-02-01", "2003-01-02", "--time-format day-month-year"] {
        assert!(ambiguous.contains(choice), "{choice} is not in: {ambiguous}");
    }
    assert_eq!(times(&read("exponents.csv", "").unwrap()).1, "2020-01-01T00:02:00Z");
    let units = read("units.csv", "--unit-in-cells --decimal-comma").unwrap_err().to_string();
    assert!(units.contains("column q has several units: W, kW"), "{units}");
    let kept = read("units.csv", "--unit-in-cells --decimal-comma --type q=text").unwrap();
    assert_eq!(cases::figures(&kept, "p"), (12, 72.0, 0.5, 11.5));
}

#[test]
fn a_header_below_other_lines_is_named_by_its_line() {
    let rows = "Logger;ABC\nSerial;123\n\nDate/Time;T1;T2\n2020-01-01 10:00;1;2\n2020-01-01 10:01;2;3\n2020-01-01 10:02;2;3\n";
    let (_folder, path) = file(rows);
    let error = Recording::read(&path, &typed("")).unwrap_err().to_string();
    assert!(error.contains("say --header-line 4"), "{error}");
    let recording = Recording::read(&path, &typed("--header-line 4")).unwrap();
    assert_eq!(cases::figures(&recording, "t2"), (3, 8.0, 2.0, 3.0));
    let hours = "date,hour,v\n2023-04-24,23,1\n2023-04-24,24,2\n2023-04-25,1,3\n";
    let (_folder, path) = file(hours);
    let found = inspect(&path, "r.csv", &typed("")).unwrap().text;
    assert!(found.contains("replay r.csv --time date,hour"), "{found}");
    assert!(found.contains("2023-04-25T00:00:00Z") || found.contains("24:00"), "{found}");
}

#[test]
fn a_pattern_with_a_zone_is_not_taken_as_utc() {
    let rows = "time;v\n1 Feb 2023 at 10h00 (+0100);1\n1 Feb 2023 at 11h00 (+0100);2\n";
    let (_folder, path) = file(rows);
    let recording =
        Recording::read(&path, &typed("--time time --time-format '%d %b %Y at %Hh%M (%z)'")).unwrap();
    assert_eq!(times(&recording).0, "2023-02-01T09:00:00Z");
    assert!(!recording.report.to_string().contains("UTC"), "{}", &recording.report);
    let plain =
        Recording::read(&path, &typed("--time time --time-format '%d %b %Y at %Hh%M (+0100)'")).unwrap();
    assert!(plain.report.to_string().contains("taken as UTC"), "{}", &plain.report);
}

#[test]
fn options_are_typed_as_they_were_given() {
    for given in
        ["--header false", "--header true", "--skip-bad-rows --absent -999 --absent x", "--type 'a b=text'"]
    {
        assert_eq!(RecordingOptions::typed(&typed(given).arguments()), Ok(typed(given)), "{given}");
    }
}
