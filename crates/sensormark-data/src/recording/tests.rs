//! Reading recordings: what is found, what is assumed, what is refused.

use std::path::PathBuf;

use sensormark_store::{Census, FieldType, Series, TagColumn, TimeResolution, Value};
use tempfile::TempDir;

use super::*;

mod cases;
mod kinds;
mod reported;
mod times;

/// A file with this text, and the folder that holds it as long as it is needed.
fn file(text: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Some Sensors.csv");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn read(text: impl AsRef<[u8]>, options: &RecordingOptions) -> Result<Recording, RecordingError> {
    let (_folder, path) = file(text);
    Recording::read(&path, options)
}

fn read_plainly(text: impl AsRef<[u8]>) -> Recording {
    read(text, &RecordingOptions::default()).unwrap()
}

fn message(text: impl AsRef<[u8]>, options: &RecordingOptions) -> String {
    read(text, options).unwrap_err().to_string()
}

fn plain_message(text: impl AsRef<[u8]>) -> String {
    message(text, &RecordingOptions::default())
}

fn greenhouse() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/greenhouse.csv"))
}

/// A format by its name.
fn known(name: &str) -> TimeFormat {
    name.parse().unwrap()
}

/// The columns' values at a row, one a field.
fn values(recording: &Recording, row: usize) -> Vec<Value> {
    let columns = &recording.readings.columns;
    columns.iter().map(|column| column.value(row)).collect()
}

#[test]
fn a_header_with_one_name_fewer_names_the_columns_after_the_first() {
    let recording = read_plainly(
        "\"date\",\"Temperature\",\"HumidityRatio\",\"Occupancy\"\n\
         \"1\",2015-02-11 14:48:00,21.76,0.00502101089021385,1\n\
         \"2\",2015-02-11 14:49:00,21,0.1,0\n",
    );
    let table = &recording.schema.tables[0];
    assert_eq!(table.name, "some_sensors");
    let fields: Vec<_> =
        (table.fields.iter()).map(|field| (field.name.as_str(), field.kind, field.nullable)).collect();
    assert_eq!(
        fields,
        [
            ("temperature", FieldType::F64, false),
            ("humidity_ratio", FieldType::F64, false),
            ("occupancy", FieldType::I64, false)
        ]
    );
    assert_eq!(table.time_resolution, TimeResolution::Seconds);
    assert_eq!(
        values(&recording, 0),
        [Value::F64(21.76), Value::F64(0.005_021_010_890_213_85), Value::I64(1)]
    );
    assert_eq!(recording.readings.times_ns[1], 1_423_666_140_000_000_000);
    let report = &recording.report;
    assert_eq!((report.rows, report.readings), (2, 2));
    assert_eq!(report.columns[0].role, "row number, left out");
    assert_eq!(report.assumptions.len(), 3, "{:?}", report.assumptions);
}

#[test]
fn the_greenhouse_stops_at_its_bad_rows_and_names_them_by_line() {
    let options = RecordingOptions { tags: vec!["Room".into()], ..RecordingOptions::default() };
    let error = Recording::read(&greenhouse(), &options).unwrap_err();
    let RecordingError::BadRows { rows, bad, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!((*rows, bad.count), (121, 5));
    let found = bad.first.iter().map(|(line, words)| format!("{line}{words}")).join("\n");
    assert_eq!(
        found,
        "42, column Temp. [°C]: \"sensor error\" is not a number
52, column Zeit: \"31.06.2023 11:00:30\" is no such date or time of day
64, column Room: \"NA\" is no value, and this column says which series it is
83: \"13.05.2023 14:40:30 north 18.16\" has 3 cells, the other rows have 6
93: \"13.05.2023 15:30:30 north   null \" has a time and no value, which is no reading"
    );
    let kinds = bad.by_kind.iter().map(|(kind, count)| format!("{count} {kind}")).join("; ");
    assert_eq!(
        kinds,
        "1 a value that does not fit its column; 1 another number of cells; 1 no readable time; 1 no value at all; 1 no value for a tag"
    );
    let text = error.to_string();
    assert!(text.contains("line 42, column Temp. [°C]: \"sensor error\" is not a number"), "{text}");
    assert!(text.contains("--skip-bad-rows"), "{text}");
}

#[test]
fn the_greenhouse_goes_on_without_them_when_told_to() {
    let options =
        RecordingOptions { tags: vec!["room".into()], skip_bad_rows: true, ..RecordingOptions::default() };
    let recording = Recording::read(&greenhouse(), &options).unwrap();
    let (report, table) = (&recording.report, &recording.schema.tables[0]);
    assert_eq!((report.rows, report.readings, report.bad_rows.count), (121, 116, 5));
    assert_eq!((report.delimiter, report.time.format.clone()), (';', TimeFormat::DayMonthYear));
    assert_eq!((report.timing.repeated, report.timing.out_of_order), (1, 1));
    assert_eq!((report.timing.interval_ns, report.timing.gaps), (Some(600_000_000_000), 0));
    let series = &recording.schema.tables[0].series;
    assert_eq!(series.interval_ns(), Some(600_000_000_000));
    let mut census = Census::new(&recording.schema);
    census.add(&recording.readings);
    let readings: Vec<u64> = census.tables[0].iter().map(|series| series.readings).collect();
    assert_eq!(readings, [55, 61]);
    assert_eq!(table.series.tag(1, 0), Value::Text("süd; oben".into()));
    let kinds: Vec<_> = table.fields.iter().map(|field| (field.name.as_str(), field.kind)).collect();
    assert_eq!(
        kinds,
        [
            ("temp_c", FieldType::F64),
            ("co2", FieldType::I64),
            ("valve_open", FieldType::Bool),
            ("note", FieldType::Text)
        ]
    );
    assert_eq!(values(&recording, 14)[0], Value::Null);
    let notes = &recording.readings.columns[3];
    let broken = (0..116).find(|&row| notes.value(row) == Value::Text("line one\r\nline two".into()));
    assert!(broken.is_some());
}

#[test]
fn delimiters_are_found_and_cells_may_hold_the_others() {
    for delimiter in [',', ';', '\t', '|'] {
        let text = "time,a b,c\n2020-01-01T00:00:00Z,1,2\n2020-01-01T00:00:01Z,3,4\n"
            .replace(',', &delimiter.to_string());
        let recording = read_plainly(text);
        assert_eq!(recording.report.delimiter, delimiter);
        assert_eq!(recording.readings.columns.len(), 2);
        assert!(recording.report.assumptions.is_empty());
    }
    let text = "time;x\n2020-01-01 00:00;\"a,b,c,d\"\n2020-01-01 00:01;\"e,f,g,h\"\n";
    assert_eq!(read_plainly(text).report.delimiter, ';');
    let error = plain_message("time\n2020-01-01\n");
    assert!(error.contains("--delimiter"), "{error}");
}

#[test]
fn a_decimal_comma_is_asked_for_and_not_guessed() {
    let text = "time;x\n2020-01-01 00:00;21,5\n2020-01-01 00:01;-0,25\n";
    let error = plain_message(text);
    assert!(error.contains("--decimal-comma"), "{error}");
    let options = RecordingOptions { decimal_comma: true, ..RecordingOptions::default() };
    let recording = read(text, &options).unwrap();
    assert_eq!(values(&recording, 1), [Value::F64(-0.25)]);
}

#[test]
fn day_and_month_are_asked_for_where_no_date_decides() {
    let text = "time,x\n03/04/2020 10:00,1\n05/04/2020 10:00,2\n";
    let error = plain_message(text);
    assert!(error.contains("--time-format day-month-year"), "{error}");
    let times = |format| {
        let options = RecordingOptions { time_format: Some(format), ..RecordingOptions::default() };
        read(text, &options).unwrap().report.timing.clone()
    };
    assert_eq!(times(TimeFormat::DayMonthYear).interval_ns, Some(2 * 86_400_000_000_000));
    assert_eq!(times(TimeFormat::MonthDayYear).interval_ns, Some(61 * 86_400_000_000_000));
    let mixed = plain_message("time,x\n13/04/2020,1\n04/13/2020,2\n04/14/2020,2\n");
    assert!(mixed.contains("contradict"), "{mixed}");
    let decided = read_plainly("time,x\n03/04/2020,1\n05/13/2020,2\n");
    assert_eq!(decided.report.time.format, TimeFormat::MonthDayYear);
}

#[test]
fn unix_times_are_known_by_name_and_size() {
    for (text, format) in [
        ("ts,x\n1593666080,1\n1593666081,2\n", known("unix-s")),
        ("x,Timestamp\n1,1593666080123\n2,1593666081123\n", known("unix-ms")),
        ("unix_us,x\n1593666080123456,1\n", known("unix-us")),
        ("time_ns,x\n1593666080123456789,1\n", known("unix-ns")),
    ] {
        let recording = read_plainly(text);
        assert_eq!(recording.report.time.format, format);
        let first = recording.readings.times_ns[0];
        assert_eq!(first / 1_000_000_000, 1_593_666_080);
    }
    let error = plain_message("a,b\n1423666080,1\n1423666081,2\n");
    assert!(error.contains("--time") && error.contains("1423666080"), "{error}");
}

#[test]
fn types_are_what_most_values_are_and_the_rest_is_refused() {
    let text = "time,i,f,b,t,zero_one,none\n\
        2020-01-01,1,1,true,007,0,\n\
        2020-01-02,NA,2.5,FALSE,x,1,NaN\n\
        2020-01-03,-3,,null,,1,N/A\n";
    let recording = read_plainly(text);
    let kinds: Vec<_> = recording.schema.tables[0].fields.iter().map(|field| field.kind).collect();
    assert_eq!(kinds, [FieldType::I64, FieldType::F64, FieldType::Bool, FieldType::Text, FieldType::I64]);
    assert_eq!(values(&recording, 2), [Value::I64(-3), Value::Null, Value::Null, Value::Null, Value::I64(1)]);
    assert_eq!(recording.report.columns[6].role, "empty, left out");
    let error = plain_message("time,x\n2020-01-01,1\n2020-01-02,1e999\n2020-01-03,2.5\n");
    assert!(error.contains("line 3, column x: \"1e999\" is not a finite number"), "{error}");
    let mut options = RecordingOptions::default();
    options.types.push("x=text".into());
    let text = read("time,x\n2020-01-01,1\n2020-01-02,1e999\n", &options).unwrap();
    assert_eq!(values(&text, 1), [Value::Text("1e999".into())]);
}

#[test]
fn a_file_without_a_header_is_read_from_its_first_line() {
    let recording = read_plainly("2020-01-01,1,on\n2020-01-02,2,off\n");
    let report = &recording.report;
    assert_eq!((report.rows, report.header), (2, false));
    assert_eq!(report.columns[1].label, "column_2");
    // A header of numbers is one all the same, because no number stands where the times are.
    let numbered = read_plainly("date,1,2\n2020-01-01,1,2\n2020-01-02,2,3\n");
    assert!(numbered.report.header);
    assert_eq!(numbered.schema.tables[0].fields[0].name, "column_1");
}

#[test]
fn a_quote_that_is_not_closed_swallows_no_row_unseen() {
    let text = "time,x,note\n2020-01-01,1,a\n2020-01-02,2,\"b\n2020-01-03,3,\"c\"\n2020-01-04,4,d\n";
    let error = plain_message(text);
    assert!(error.contains("line 3") && error.contains("quote"), "{error}");
    let open = plain_message("time,x,note\n2020-01-01,1,a\n2020-01-02,2,\"b\n2020-01-03,3,c\n");
    assert!(open.contains("line 3") && open.contains("quote"), "{open}");
}

#[test]
fn bytes_that_are_not_utf_8_are_named_by_line() {
    let error = plain_message(b"time,x\n2020-01-01,a\n2020-01-02,\xfcber\n".as_slice());
    assert!(error.contains("line 3, column x") && error.contains("UTF-8"), "{error}");
    let wide = plain_message(b"t\0i\0m\0e\0".as_slice());
    assert!(wide.contains("UTF-16"), "{wide}");
}

#[test]
fn no_two_series_have_the_same_tags() {
    let tagged = |tags: [&str; 2], kind: Option<&str>| {
        let text = format!("time,sensor,v\n2020-01-01,{},1\n2020-01-01,{},2\n", tags[0], tags[1]);
        let options = RecordingOptions {
            tags: vec!["sensor".into()],
            types: kind.map(|kind| format!("sensor={kind}")).into_iter().collect(),
            ..RecordingOptions::default()
        };
        read(text, &options).unwrap().schema.tables[0].series.clone()
    };
    let text = |values: [&str; 2]| Series::new(vec![TagColumn::Text(values.map(str::to_owned).to_vec())]);
    for tags in [["1", "+1"], ["-0", "0"], ["01", "1"], ["1.0", "1"], ["1e0", "1"], ["true", "TRUE"]] {
        assert_eq!(tagged(tags, None), text(tags), "{tags:?}");
    }
    let whole = |values: &[i64]| Series::new(vec![TagColumn::Integer(values.to_vec())]);
    assert_eq!(tagged(["1", "-1"], None), whole(&[1, -1]));
    for tags in [["1", "+1"], ["01", "1"], ["001", "+01"]] {
        let series = tagged(tags, Some("integer"));
        assert_eq!(series, whole(&[1]), "{tags:?}");
    }
    assert_eq!(tagged(["0", "-0"], Some("integer")), whole(&[0]));
}

#[test]
fn what_the_user_names_must_be_there() {
    let text = "time,temperature\n2020-01-01,1\n";
    let options = RecordingOptions { time: Some("tiem".into()), ..RecordingOptions::default() };
    let error = message(text, &options);
    assert!(error.contains("did you mean time?"), "{error}");
    let options = RecordingOptions {
        tags: vec!["time".into()],
        time: Some("time".into()),
        ..RecordingOptions::default()
    };
    assert!(message(text, &options).contains("both --time and --tags"));
    let header = plain_message("a,b,c,d\n2020-01-01,1\n2020-01-02,1\n");
    assert!(header.contains("4 names") && header.contains("2 cells"), "{header}");
    assert!(plain_message("time,x\n").contains("no readings"));
    assert!(plain_message("").contains("no readings"));
}

#[test]
fn batches_hold_all_readings_in_order() {
    let options =
        RecordingOptions { tags: vec!["Room".into()], skip_bad_rows: true, ..RecordingOptions::default() };
    let recording = Recording::read(&greenhouse(), &options).unwrap();
    let mut whole = Census::new(&recording.schema);
    whole.add(&recording.readings);
    let mut parts = Census::new(&recording.schema);
    let mut sizes = Vec::new();
    for start in (0..116).step_by(50) {
        let mut batch = Batch::new(0, &recording.schema.tables[0]);
        (start..(start + 50).min(116)).for_each(|row| batch.push_row(&recording.readings, row));
        batch.check(&recording.schema.tables[0], false).unwrap();
        parts.add(&batch);
        sizes.push(batch.len());
    }
    assert_eq!((parts, sizes), (whole, vec![50, 50, 16]));
}
