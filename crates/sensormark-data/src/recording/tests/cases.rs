//! Recordings as people report them: each comes out as pandas reads it, or reading stops and names what it can be.

use super::*;

/// Options in one line.
pub(super) fn said(change: impl FnOnce(&mut RecordingOptions)) -> RecordingOptions {
    let mut options = RecordingOptions::default();
    change(&mut options);
    options
}

pub(super) fn time_is(columns: &str) -> RecordingOptions {
    said(|options| options.time = Some(columns.to_owned()))
}

/// First and last time, readings, and readings that repeat a time.
pub(super) fn times(recording: &Recording) -> (String, String, u64, u64) {
    let (report, timing) = (&recording.report, &recording.report.timing);
    let written = |time_ns: i64| {
        let time = jiff::Timestamp::from_nanosecond(i128::from(time_ns)).unwrap();
        time.to_string()
    };
    let (first, last) = (written(timing.first_ns), written(timing.last_ns));
    (first, last, report.readings, timing.repeated)
}

/// Values of a field, their sum, the smallest and the largest.
pub(super) fn figures(recording: &Recording, field: &str) -> (usize, f64, f64, f64) {
    let field = recording.schema.tables[0].field(field).expect(field);
    let column = &recording.readings.columns[field];
    let number = |row| match column.value(row) {
        Value::I64(value) => Some(value as f64),
        Value::F64(value) => Some(value),
        _ => None,
    };
    let values: Vec<f64> = (0..recording.readings.len()).filter_map(number).collect();
    let sum: f64 = values.iter().sum();
    (
        values.len(),
        sum,
        values.iter().copied().fold(f64::INFINITY, f64::min),
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    )
}

pub(super) fn stops_with(text: &str, options: &RecordingOptions, parts: &[&str]) {
    let message = message(text, options);
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in: {message}");
    }
}

/// Household power: a date and a time of day in columns of their own, and two minutes without values.
fn household(order: [&str; 2], delimiter: &str) -> String {
    let mut text = format!("{},Power,Voltage\n", order.join(",")).replace(',', delimiter);
    for minute in 0..40_u32 {
        let (day, clock) = if minute < 10 {
            ("16/12/2006", format!("23:{}:00", 50 + minute))
        } else {
            ("17/12/2006", format!("00:{:02}:00", minute - 10))
        };
        let time = order.map(|name| if name == "Date" { day } else { &clock });
        let values = match minute {
            8 | 21 => "?,?".to_owned(),
            _ => format!("4.{:02}0,{}.000", 20 + minute, 234 + minute),
        };
        text += &format!("{},{values}\n", time.join(",")).replace(',', delimiter);
    }
    text
}

#[test]
fn a_date_and_a_time_of_day_in_two_columns_are_the_time() {
    let absent = said(|options| options.absent = vec!["?".into()]);
    for (order, delimiter) in
        [(["Date", "Time"], ";"), (["Time", "Date"], ";"), (["Date", "Time"], " "), (["Date", "Time"], "\t")]
    {
        let mut options = absent.clone();
        options.delimiter = delimiter.chars().next();
        let text = household(order, delimiter);
        let recording = read(text, &options).unwrap();
        let expected = ("2006-12-16T23:50:00Z", "2006-12-17T00:29:00Z");
        let (first, last, readings, repeated) = times(&recording);
        assert_eq!((first.as_str(), last.as_str()), expected);
        assert_eq!((readings, repeated), (38, 0));
        assert_eq!(recording.report.timing.interval_ns, Some(60_000_000_000));
        assert_eq!(recording.report.bad_rows.count, 2);
        assert_eq!(recording.report.time.label, "Date,Time");
        let told = recording.report.to_string();
        assert!(told.contains("Assumed: columns Date,Time together are the time"), "{told}");
        assert!(told.contains("Left out: 2 rows, no value at all"), "{told}");
    }
    let date = said(|options| {
        options.time = Some("Date".into());
        options.absent = vec!["?".into()];
    });
    let text = household(["Date", "Time"], ";");
    stops_with(&text, &date, &["--time Date,Time", "--type Time=text"]);
}

#[test]
fn without_names_neighbours_belong_together() {
    let mut text = String::new();
    for second in 0..40 {
        text += &format!("2004-03-31 03:38:{second:02}.757551 {second} 1 122.15{}\n", second % 10);
    }
    let blank = said(|options| options.delimiter = Some(' '));
    let recording = read(&text, &blank).unwrap();
    let (first, last, readings, repeated) = times(&recording);
    assert_eq!(first, "2004-03-31T03:38:00.757551Z");
    assert_eq!(last, "2004-03-31T03:38:39.757551Z");
    assert_eq!((readings, repeated), (40, 0));
    assert_eq!(figures(&recording, "column_3"), (40, 780.0, 0.0, 39.0));
}

#[test]
fn times_of_day_that_may_be_something_else_are_asked_about() {
    let text = "Date,Duration,v\n2020-01-13,00:10:00,1\n2020-01-13,00:20:00,2\n";
    let both = ["--time Date,Duration", "--type Duration=text"];
    stops_with(text, &RecordingOptions::default(), &both);
    let named = read(text, &time_is("Date,Duration")).unwrap();
    assert_eq!(times(&named).0, "2020-01-13T00:10:00Z");
    let two = "Start Date,Start Time,End Time,v\n2020-01-13,00:10,00:11,1\n2020-01-13,00:20,00:21,2\n";
    stops_with(two, &RecordingOptions::default(), &["Start Time, End Time"]);
    // Air quality: times of day with points, decimal commas, empty names at the end.
    let italian = "Date;Time;CO(GT);T;;\n10/03/2004;18.00.00;2,6;13,6;;\n13/03/2004;19.00.00;-200;13,3;;\n";
    let options = said(|options| {
        options.decimal_comma = true;
        options.absent = vec!["-200".into()];
    });
    let recording = read(italian, &options).unwrap();
    let (first, last, ..) = times(&recording);
    assert_eq!((first.as_str(), last.as_str()), ("2004-03-10T18:00:00Z", "2004-03-13T19:00:00Z"));
    assert_eq!(figures(&recording, "co_gt"), (1, 2.6, 2.6, 2.6));
    assert_eq!(figures(&recording, "t"), (2, 26.9, 13.3, 13.6));
}

#[test]
fn dates_that_do_not_tell_readings_apart_are_not_the_time() {
    let mut hours = "date,hour,v\n".to_owned();
    for hour in 0..24 {
        hours += &format!("2020-01-13,{hour},{hour}\n");
    }
    let parts = ["23 of 24 readings", "--time date,COLUMN", "--tags COLUMN"];
    stops_with(&hours, &RecordingOptions::default(), &parts);
    let recording = read(&hours, &time_is("date,hour")).unwrap();
    assert_eq!(times(&recording).1, "2020-01-13T23:00:00Z");
    let alone = read(&hours, &time_is("date")).unwrap();
    assert_eq!(times(&alone).3, 23);
    let sensors = "date,room,v\n2020-01-01,a,1\n2020-01-01,b,2\n2020-01-02,a,3\n2020-01-02,b,4\n";
    stops_with(sensors, &RecordingOptions::default(), &["--tags COLUMN"]);
    let tags = said(|options| options.tags = vec!["room".into()]);
    assert_eq!(times(&read(sensors, &tags).unwrap()).3, 0);
    let digits = hours.replace("2020-01-13", "20200113");
    stops_with(&digits, &RecordingOptions::default(), &parts);
}

#[test]
fn a_year_a_month_a_day_and_an_hour_are_the_time_when_asked_for() {
    let mut text = "No,year,month,day,hour,pm2.5,TEMP\n".to_owned();
    for row in 0..48 {
        let pm = if row < 24 { "NA".to_owned() } else { (row + 129).to_string() };
        text += &format!("{},2010,1,{},{},{pm},{}\n", row + 1, 1 + row / 24, row % 24, -11 + row % 5);
    }
    let told = read_plainly(&text).report.to_string();
    assert!(told.contains("Assumed: columns year,month,day,hour together are the time"), "{told}");
    let recording = read(&text, &time_is("year,month,day,hour")).unwrap();
    let (first, last, readings, repeated) = times(&recording);
    assert_eq!((first.as_str(), last.as_str()), ("2010-01-01T00:00:00Z", "2010-01-02T23:00:00Z"));
    assert_eq!((readings, repeated), (48, 0));
    assert_eq!(figures(&recording, "pm2_5"), (24, 3_948.0, 153.0, 176.0));
    let days = "year,month,day,v\n2010,01,05,1\n2010,01,06,2\n";
    let recording = read(days, &time_is("year,month,day")).unwrap();
    assert_eq!(times(&recording).1, "2010-01-06T00:00:00Z");
    stops_with(days, &time_is("year,month"), &["--time year,month", "make up no time"]);
    stops_with(days, &time_is("day,month,year"), &["cannot be read"]);
}

#[test]
fn a_number_that_stands_for_no_value_is_known_however_it_is_written() {
    let mut text = "time,level,flow,count,name\n".to_owned();
    for row in 0..20 {
        let level = match row {
            0 | 15 => "-999".to_owned(),
            5 => "-999.00".to_owned(),
            10 => "-999.0".to_owned(),
            _ => format!("{:.1}", 1.0 + f64::from(row) / 2.0),
        };
        let flow = if row % 4 == 0 { "-999.0".to_owned() } else { (7 + row).to_string() };
        let count = if row % 2 == 0 { "-999.0".to_owned() } else { row.to_string() };
        text += &format!("2020-01-01 {row:02}:00,{level},{flow},{count},-999.0\n");
    }
    let options = said(|options| {
        options.absent = vec!["-999".into()];
        options.types.push("name=text".into());
    });
    let recording = read(&text, &options).unwrap();
    assert_eq!(figures(&recording, "level"), (16, 96.0, 1.5, 10.5));
    assert_eq!(figures(&recording, "flow"), (15, 255.0, 8.0, 26.0));
    assert_eq!(figures(&recording, "count"), (10, 100.0, 1.0, 19.0));
    let table = &recording.schema.tables[0];
    assert_eq!(table.fields[2].kind, FieldType::I64);
    // In a column of text it is the text that counts.
    assert_eq!(values(&recording, 3)[3], Value::Text("-999.0".into()));
}

/// A recording with one column of numbers.
fn numbers(values: &[&str]) -> String {
    let row = |(hour, value): (usize, &&str)| format!("2020-01-01 {hour:02}:00;{value}\n");
    let rows: String = values.iter().enumerate().map(row).collect();
    format!("time;x\n{rows}")
}

#[test]
fn a_comma_before_three_digits_is_asked_about() {
    let text = numbers(&["1,200", "2,311", "10,088"]);
    let both = ["1200 with --thousands ,", "1.2 with --decimal-comma --thousands none", "--type x=text"];
    stops_with(&text, &RecordingOptions::default(), &both);
    let comma = said(|options| options.decimal_comma = true);
    stops_with(&text, &comma, &both);
    let thousands = |mark: char| said(|options| options.thousands = Some(mark.to_string()));
    let read_as = |text: &str, options: &RecordingOptions| figures(&read(text, options).unwrap(), "x");
    assert_eq!(read_as(&text, &thousands(',')), (3, 13_599.0, 1_200.0, 10_088.0));
    let none = said(|options| {
        options.decimal_comma = true;
        options.thousands = Some("none".to_owned());
    });
    assert_eq!(read_as(&text, &none), (3, 13.599, 1.2, 10.088));
    // One number decides for its column, and a column for the file.
    let decided = numbers(&["1,200", "2,3"]);
    stops_with(&decided, &RecordingOptions::default(), &["1.2 with --decimal-comma"]);
    assert_eq!(read_as(&decided, &comma), (2, 3.5, 1.2, 2.3));
    let neighbour = "time;x;y\n2020-01-01;1,200;0,5\n2020-01-02;2,311;1,5\n";
    assert_eq!(read_as(neighbour, &comma), (2, 3.511, 1.2, 2.311));
    // Some numbers below a thousand change nothing, nor do several commas.
    let few = numbers(&["900", "950", "1,200"]);
    stops_with(&few, &RecordingOptions::default(), &both[..1]);
    assert_eq!(read_as(&few, &thousands(',')), (3, 3_050.0, 900.0, 1_200.0));
    let many = numbers(&["1,721,992,142.283", "1,821,992,142.283"]);
    stops_with(&many, &RecordingOptions::default(), &["1721992142.283 with --thousands ,"]);
    stops_with(&many, &comma, &["--thousands ,"]);
    assert_eq!(read_as(&many, &thousands(',')).1, 3_543_984_284.566);
    let contradiction = said(|options| {
        options.decimal_comma = true;
        options.thousands = Some(','.to_string());
    });
    stops_with(&text, &contradiction, &["contradict each other"]);
}

#[test]
fn a_point_between_thousands_is_asked_about_where_a_comma_is_the_decimal_mark() {
    let comma = said(|options| options.decimal_comma = true);
    let point = said(|options| options.thousands = Some('.'.to_string()));
    let none = said(|options| {
        options.decimal_comma = true;
        options.thousands = Some("none".to_owned());
    });
    let read_as = |text: &str, options: &RecordingOptions| figures(&read(text, options).unwrap(), "x");
    let text = numbers(&["1.234", "2.345"]);
    assert_eq!(read_as(&text, &RecordingOptions::default()), (2, 3.579, 1.234, 2.345));
    stops_with(&text, &comma, &["1234 with --thousands .", "1.234 with --thousands none"]);
    assert_eq!(read_as(&text, &point), (2, 3_579.0, 1_234.0, 2_345.0));
    assert_eq!(read_as(&text, &none), (2, 3.579, 1.234, 2.345));
    let german = "Zeit;Zaehler;x\n01.01.2020 14:00;1234.567;1.000,5\n13.01.2020 14:00;1240.567;900,5\n";
    for options in [&comma, &point] {
        assert_eq!(read_as(german, options), (2, 1_901.0, 900.5, 1_000.5));
        let recording = read(german, options).unwrap();
        assert_eq!(figures(&recording, "zaehler"), (2, 2_475.134, 1_234.567, 1_240.567));
    }
    stops_with(german, &RecordingOptions::default(), &["1000.5 with --thousands ."]);
    let millions = numbers(&["1.234.567", "2.345.678"]);
    stops_with(&millions, &RecordingOptions::default(), &["1234567 with --thousands ."]);
    let blanks = numbers(&["1 234,5", "12 345,5"]);
    let told = ["1234.5 with --decimal-comma --thousands ' '"];
    stops_with(&blanks, &RecordingOptions::default(), &told);
    let mixed = numbers(&["12.5", "13,5"]);
    stops_with(&mixed, &RecordingOptions::default(), &["some have a decimal point and some a decimal comma"]);
}

#[test]
fn what_floating_point_cannot_keep_is_told() {
    let text = "time,id,n\n2020-01-01,9007199254740993,9007199254740993\n2020-01-02,9007199254740995,1\n2020-01-03,1.5,2\n";
    let recording = read_plainly(text);
    let told = recording.report.to_string();
    let part = "2 numbers in column id have more digits than 64-bit floating point keeps: 9007199254740993 becomes 9007199254740992; --type id=text";
    assert!(told.contains(part), "{told}");
    assert!(!told.contains("numbers in column n "), "{told}");
    assert_eq!(values(&recording, 0)[1], Value::I64(9_007_199_254_740_993));
    let written = read_plainly("time,id\n2020-01-01,9007199254740993.0\n2020-01-02,1.5\n");
    assert!(written.report.to_string().contains("becomes 9007199254740992"));
}
