//! Further recordings of the kinds that people report: what was once read wrong without a word, or stopped with words that did not help.

use super::cases::{figures, stops_with, times};
use super::reported::typed;
use super::*;

/// Rows below a header; `#` in the row is its number.
fn rows(header: &str, row: &str, count: usize) -> String {
    let rows = (0..count).map(|number| format!("{}\n", row.replace('#', &number.to_string())));
    format!("{header}\n{}", rows.collect::<String>())
}

fn first_and_last(text: &str, options: &str) -> [String; 2] {
    let recording = read(text, &typed(options)).unwrap_or_else(|error| panic!("{text}{options}: {error}"));
    let (first, last, ..) = times(&recording);
    [first, last]
}

#[test]
fn a_time_has_as_many_columns_as_it_takes() {
    for (header, row, options, first, last) in [
        ("date,time,ampm,v", "3/25/2023,1#:00,PM,#", "--time date,time,ampm", "22:00:00", "23:00:00"),
        ("date,time,tz,v", "2023-03-25,2#:00:00,+0200,#", "--time date,time,tz", "18:00:00", "19:00:00"),
        ("time,zone,v", "2023-03-25 2#:00,CET,#", "--time time,zone", "19:00:00", "20:00:00"),
        ("date,time,ms,v", "2023-03-25,20:00:00,#5,#", "--time date,time,ms", "20:00:00.005", "20:00:00.015"),
        ("date,time,v", "2023-03-25,93#,#", "--time date,time", "09:30:00", "09:31:00"),
        ("date,time,v", "2023-03-25,93#00,#", "--time date,time", "09:30:00", "09:31:00"),
        ("Year,Month,Day,Hour,Minute,Second,v", "2023,3,25,20,#,30.25,#", "", "20:00:30.25", "20:01:30.25"),
        ("YYYY,MM,DD,hh,mm,v", "2023,3,25,20,#,#", "", "20:00:00", "20:01:00"),
        ("#YY  MM DD hh mm WDIR", " 2023 03 25 20 0#  12#", "--delimiter ' '", "20:00:00", "20:01:00"),
        ("id,YYYYMMDD,HH,v", "7,20230325,1#,#", "--time YYYYMMDD,HH", "10:00:00", "11:00:00"),
        ("Date,Time,v", "3/25/2023,1#:05 p.m.,#", "", "22:05:00", "23:05:00"),
        ("Date,Time,v", "3/25/2023,1# a. m.,#", "", "10:00:00", "11:00:00"),
        (
            "year,doy,hhmm,v",
            "2023,84,#30,#",
            "--time year,doy,hhmm --time-format '%Y %j %H%M'",
            "00:30:00",
            "01:30:00",
        ),
        (
            "Datum;T",
            "45010,#25;#",
            "--time Datum --time-format excel --decimal-comma",
            "00:36:00",
            "03:00:00",
        ),
    ] {
        let text = rows(header, row, 2);
        assert_eq!(
            first_and_last(&text, options),
            [first, last].map(|clock| format!("2023-03-25T{clock}Z")),
            "{text}{options}"
        );
    }
    let zoned = read(rows("time,zone,v", "2023-03-25 2#:00,CET,#", 2), &typed("--time time,zone")).unwrap();
    assert!(!zoned.report.to_string().contains("UTC"), "{}", &zoned.report);
    let early = "date,time,v\n2023-03-25,0,1\n2023-03-25,5,2\n2023-03-25,2359,3\n";
    let timing = read(early, &typed("--time date,time")).unwrap().report.timing.clone();
    assert_eq!(timing.interval_ns, Some(86_040_000_000_000));
}

#[test]
fn columns_that_may_belong_to_the_time_are_asked_about() {
    for (header, row, parts) in [
        ("date,time,ampm,v", "3/25/2023,#:00,PM,#", ["--time date,time,ampm", "--time date,time if not"]),
        ("date,time,tz,v", "2023-03-25,2#:00:00,+0200,#", ["--time date,time,tz", "--time date,time if not"]),
        ("time,zone,v", "2023-03-25 2#:00,CET,#", ["--time time,zone", "--time time if not"]),
        ("date,time,ms,v", "2023-03-25,20:00:00,#5,#", ["--time date,time,ms", "--time date,time if not"]),
        (
            "year,month,day,minute,v",
            "2023,3,25,#,#",
            ["dates without a time of day", "year,month,day,COLUMN"],
        ),
        ("id,YYYYMMDD,HH,v", "7,20230325,1#,#", ["dates without a time of day", "--time YYYYMMDD,COLUMN"]),
        ("time,sensor_id,v", "2023-03-2#,1,1\n2023-03-3#,2,1", ["--tags sensor_id", "--type sensor_id=text"]),
    ] {
        stops_with(&rows(header, row, 2), &typed(""), &parts);
    }
    let zoned = rows("time,zone,v", "2023-03-25 2#:00Z,CET,#", 2);
    assert_eq!(first_and_last(&zoned, "")[0], "2023-03-25T20:00:00Z");
    let parts = rows("part,date,v", "2#00Z,2023-03-2#,#", 3);
    let kinds: Vec<_> = read_plainly(&parts).schema.tables[0].fields.iter().map(|field| field.kind).collect();
    assert_eq!(kinds, [FieldType::Text, FieldType::I64]);
}

#[test]
fn numbers_with_other_signs_are_numbers_or_stop() {
    let of = |row: &str| rows("time;v", &format!("2023-03-2#;{row}"), 3);
    for (row, options, sum) in [("−#.5", "", -4.5), ("#.5 degrees C", "--unit-in-cells", 4.5)] {
        let recording = read(of(row), &typed(options)).unwrap();
        assert_eq!(figures(&recording, "v").1, sum, "{row}");
    }
    for row in ["(#.5)", "$#.5", "<#", "#.5-", "#.5*", "1.#D+03"] {
        stops_with(&of(row), &typed(""), &["numbers with other signs", "--type v=text"]);
        read(of(row), &typed("--type v=text")).unwrap();
    }
    let grouped = of("1.23#,50 kWh");
    stops_with(&grouped, &typed("--unit-in-cells"), &["1230.5 with --thousands ."]);
    let units = "time,v\n2023-03-01,12 kW\n2023-03-02,900 W\n2023-03-03,13 kW\n";
    stops_with(units, &typed(""), &["several units: W, kW", "--type v=text"]);
    let mixed = "time,v\n2023-03-01,TRUE\n2023-03-02,1\n2023-03-03,FALSE\n";
    stops_with(mixed, &typed(""), &["such as FALSE,TRUE"]);
    for words in [["on", "off"], ["Yes", "no"], ["t", "f"], ["Y", "N"], ["1", "0"]] {
        let text = format!("time,v\n2023-03-01,{}\n2023-03-02,{}\n", words[0], words[1]);
        let recording = read(text, &typed("--type v=bool")).unwrap();
        let found = [0, 1].map(|row| values(&recording, row)[0].clone());
        assert_eq!(found, [Value::Bool(true), Value::Bool(false)], "{words:?}");
    }
}

#[test]
fn a_header_is_not_shifted_nor_taken_for_a_title() {
    let unquoted = rows("time,temp,hum", "2023-03-2#,20,#,50", 3);
    stops_with(&unquoted, &typed(""), &["3 names", "4 cells", "--header false", "in quotes"]);
    let title = format!("Report, of 2023-04-01, by X\n{}", rows("time,temp,hum", "2023-03-2#,2#.5,50", 3));
    assert_eq!(figures(&read_plainly(title), "temp"), (3, 64.5, 20.5, 22.5));
    let kinds = rows("Datum,Temp,Hum\ndatetime,float,int", "2023-03-2#,2#.5,50", 3);
    assert_eq!(figures(&read_plainly(kinds), "temp"), (3, 64.5, 20.5, 22.5));
    let delays = rows("time,ms", "2023-03-2#,2#.5", 3);
    assert_eq!(figures(&read_plainly(delays), "ms"), (3, 64.5, 20.5, 22.5));
    let aligned = rows("time   temp    hum", "2023-03-2#   2#.5   5", 3);
    assert_eq!(figures(&read(aligned, &typed("--delimiter ' '")).unwrap(), "temp"), (3, 64.5, 20.5, 22.5));
}

#[test]
fn packed_files_are_read_whole_or_named() {
    let packed =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings/forms/recording.csv.zst"));
    let packed = packed.unwrap();
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0][..], b"abcd"].concat();
    let recording = read([&skipped[..], &packed, &skipped, &packed].concat(), &typed("")).unwrap();
    assert_eq!((recording.readings.len(), recording.report.bad_rows.count), (60, 1));
    for start in [&b"BZh91AY"[..], b"\xfd7zXZ\0", b"PK\x03\x04x"] {
        let message = plain_message([start, &[0; 300]].concat());
        assert!(message.contains("packed, or a spreadsheet") && message.contains("replay -"), "{message}");
    }
    let json = "\u{feff}{\"time\":\"2023-03-25\",\"v\":1}\n{\"time\":\"2023-03-26\",\"v\":2}\n";
    assert_eq!(figures(&read_plainly(json), "v"), (2, 3.0, 1.0, 2.0));
    for array in ["[{\"v\":1}]", "[\n{\"v\":1}]", "[ {\"v\":1},\n {\"v\":2} ]"] {
        stops_with(array, &typed(""), &["one JSON array", "jq -c '.[]'"]);
    }
}

#[test]
fn what_inspect_prints_is_read_when_it_is_typed() {
    let comma = rows("t;v", "2023-03-25 20:0#;1,#00", 5);
    for (text, options, sums) in [
        (&comma, "", [6_000.0, 6.0]),
        (&comma, "--decimal-comma", [6_000.0, 6.0]),
        (&comma.replace(',', "."), "--decimal-comma", [6.0, 6_000.0]),
    ] {
        let (_folder, path) = file(text);
        let found = inspect(&path, "r.csv", &typed(options)).unwrap().text;
        let commands = found.lines().filter_map(|line| line.strip_prefix("  sensormark replay r.csv "));
        let read = |command| figures(&Recording::read(&path, &typed(command)).unwrap(), "v").1;
        assert_eq!(commands.map(read).collect::<Vec<_>>(), sums, "{found}");
    }
    let both = "t,v,w\n2023-03-25,\"1,231.5\",\"0,121\"\n2023-03-26,\"1,232.5\",\"0,122\"\n";
    stops_with(both, &typed("--thousands ,"), &["\"0,121\"", "no number", "--type w=text"]);
}

#[cfg(feature = "parquet")]
#[test]
fn short_floats_of_parquet_keep_all_their_digits() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/recordings/forms/floats.parquet");
    let recording = Recording::read(path.as_ref(), &typed("")).unwrap();
    // pandas: frame[column].astype(float)
    assert_eq!(figures(&recording, "half"), (10, 46.0081787109375, 0.0999755859375, 9.1015625));
    assert_eq!(
        figures(&recording, "single"),
        (9, 43.900_000_311_434_27, 0.100_000_001_490_116_12, 9.100_000_381_469_727)
    );
}

/// Each form of a time, the options it takes, and the time.
const FORMS: [[&str; 3]; 30] = [
    ["25/Mar/23 14:05", "", "2023-03-25T14:05:00Z"],
    ["25-MAR-23 02.05.00 PM", "", "2023-03-25T14:05:00Z"],
    ["701445900", "--time t --time-format 'seconds since 2001-01-01'", "2023-03-25T14:05:00Z"],
    ["13324226700000000", "--time t --time-format webkit", "2023-03-25T14:05:00Z"],
    ["60028.5", "--time t --time-format modified-julian-days", "2023-03-25T12:00:00Z"],
    ["2023.03.25 14h05", "", "2023-03-25T14:05:00Z"],
    ["2023-03-25_14:05:30", "", "2023-03-25T14:05:30Z"],
    ["20230325_140530", "", "2023-03-25T14:05:30Z"],
    ["25/03/2023 PM 02:05:00", "", "2023-03-25T14:05:00Z"],
    ["2023/3/25 下午 2:05:00", "", "2023-03-25T14:05:00Z"],
    ["2023-03-25 오전 12:05", "", "2023-03-25T00:05:00Z"],
    ["3/25/2023 2:05:00 P", "", "2023-03-25T14:05:00Z"],
    ["3/25/2023 12:05:00 A.", "", "2023-03-25T00:05:00Z"],
    ["25. März 2023 14:05", "", "2023-03-25T14:05:00Z"],
    ["25-Okt-2023 14:05", "", "2023-10-25T14:05:00Z"],
    ["25 déc. 2023 14:05", "", "2023-12-25T14:05:00Z"],
    ["25 juil. 2023 14:05", "", "2023-07-25T14:05:00Z"],
    ["25. 3. 2023 14:05", "", "2023-03-25T14:05:00Z"],
    ["2023-03-25 14:05 JST", "", "2023-03-25T05:05:00Z"],
    ["2023-03-25 14:05 UT", "", "2023-03-25T14:05:00Z"],
    ["2023-03-25 14:05 CDT", "", "2023-03-25T19:05:00Z"],
    ["2023-03-25 14:05 (UTC+01:00)", "", "2023-03-25T13:05:00Z"],
    ["2023-03-25T14:05:00+5:30", "", "2023-03-25T08:35:00Z"],
    ["20230325-140530", "--time-format '%Y%m%d-%H%M%S'", "2023-03-25T14:05:30Z"],
    ["2023-03-25 14:05:30:250", "--time-format '%Y-%m-%d %H:%M:%S:%3f'", "2023-03-25T14:05:30.25Z"],
    ["2023-W12-6", "--time-format '%G-W%V-%u'", "2023-03-25T00:00:00Z"],
    ["43548.5", "--time t --time-format 'days since 1904-01-01'", "2023-03-25T12:00:00Z"],
    ["1080206", "--time t --time-format 'hours since 1900-01-01'", "2023-03-25T14:00:00Z"],
    ["733068300", "--time t --time-format 's since 2000-01-01T00:00:00Z'", "2023-03-25T14:05:00Z"],
    ["90.5", "--time t --time-format 'min since 2023-03-25 14:00 +01:00'", "2023-03-25T14:30:30Z"],
];

#[test]
fn times_are_read_in_the_forms_of_other_lands_and_from_any_day() {
    for [written, options, expected] in FORMS {
        let text = format!("t;v\n{written};1\n");
        assert_eq!(first_and_last(&text, options)[0], expected, "{written} {options}");
    }
    stops_with("t,v\n2023-03-25 14:05 IST,1\n", &typed(""), &["\"IST\"", "no one offset", "+05:30"]);
    stops_with("t,v\nsoon,1\n", &typed("--time t"), &["do not look like times", "one of year-month-day"]);
    let list = "{\"time\":\"2023-03-25\",\"list\":[1,2],\"v\":1}\n";
    assert_eq!(read_plainly(list).schema.tables[0].fields[0].kind, FieldType::Text);
    let matter = rows("time,matter,v", "2023-03-2#,PM 10,#", 3);
    assert_eq!(read_plainly(matter).schema.tables[0].fields[0].kind, FieldType::Text);
    for name in ["fortnights since 2000-01-01", "days since noon"] {
        assert!(name.parse::<TimeFormat>().is_err(), "{name}");
    }
    // Flags of quality are no half of a day.
    let flags = rows("time,flag,v", "2023-03-25 1#:00,A,#", 3);
    assert_eq!(first_and_last(&flags, "")[1], "2023-03-25T12:00:00Z");
    let clock = rows("day,month,year,time,v", "25,3,2023,14:0#,#", 3);
    assert_eq!(first_and_last(&clock, "")[1], "2023-03-25T14:02:00Z");
    let parts = ["--time date,hhmm)", "--time date if"];
    stops_with(&rows("date,hhmm,v", "2023-03-25,140#,#", 3), &typed(""), &parts);
}

#[test]
fn comments_titles_and_encodings_of_other_programs_are_known() {
    let table = rows("time;v", "2023-03-25 14:0#;#", 6);
    for before in
        ["; Logger 12\n; Site B\n", "% Logger, 12\n", "// Logger 12\n// Site B\n", "! by X\n", "\"sep=;\"\n"]
    {
        let recording = read_plainly(format!("{before}{table}"));
        assert_eq!(figures(&recording, "v"), (6, 15.0, 0.0, 5.0), "{before}");
        assert_eq!(recording.report.time.label, "time", "{before}");
    }
    for before in ["# by X\n#", "// by X\n// ", "%"] {
        let recording = read_plainly(format!("{before}{table}"));
        assert_eq!(recording.report.time.label, "time", "{before}");
    }
    let wide = |big: bool| {
        let bytes =
            table.encode_utf16().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() });
        bytes.collect::<Vec<u8>>()
    };
    for (big, encoding) in [(true, "--encoding utf-16be"), (false, "--encoding utf-16le")] {
        assert!(message(wide(big), &typed("")).contains(encoding), "{encoding}");
        assert_eq!(figures(&read(wide(big), &typed(encoding)).unwrap(), "v").1, 15.0, "{encoding}");
        let mark = if big { [0xfe, 0xff] } else { [0xff, 0xfe] };
        assert_eq!(figures(&read_plainly([&mark[..], &wide(big)].concat()), "v").1, 15.0, "{encoding}");
    }
}

#[test]
fn what_is_no_number_in_other_programs_is_absent_or_asked_about() {
    let text = "time,v\n2023-03-01,1\n2023-03-02,1.#QNAN\n2023-03-03,-1.#IND\n2023-03-04,-nan(ind)\n2023-03-05,<NA>\n";
    let recording = read_plainly(text);
    assert_eq!((figures(&recording, "v"), recording.report.bad_rows.count), ((1, 1.0, 1.0, 1.0), 4));
    let json =
        "{\"time\":\"2023-03-01\",\"v\":NaN,\"w\":1}\n{\"time\":\"2023-03-02\",\"v\":2.5, \"w\": NaN}\n";
    assert_eq!(figures(&read_plainly(json), "v"), (1, 2.5, 2.5, 2.5));
    stops_with(
        &json.replace("NaN", "-Infinity"),
        &typed(""),
        &["line 1", "\"-Infinity\" is not a finite number"],
    );
    let errors = rows("time,v", "2023-03-1#,5", 4) + "2023-03-15,#DIV/0!\n2023-03-16,#VALUE!\n";
    stops_with(&errors, &typed(""), &["--absent '#DIV/0!,#VALUE!'"]);
    for row in ["1,20,00#.5", "1_20#", "1.#d+02", "$1,20#.50", "(1,20#)"] {
        stops_with(
            &rows("time;v", &format!("2023-03-2#;{row}"), 3),
            &typed(""),
            &["numbers with other signs"],
        );
    }
}
