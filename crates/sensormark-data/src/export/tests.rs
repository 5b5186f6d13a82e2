//! What is exported reads back as what it was.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use sensormark_store::{
    Batch, Census, Column, Field, FieldType, Schema, Series, Table, Tag, TagColumn, TimeResolution, Value,
    Values,
};

use super::*;
use crate::machine_tool::{CHANNELS, MachineTool, schema};
use crate::recording::{Recording, RecordingOptions};

mod line;

use line::read_line_protocol;

/// Writes a data set, or a shard of it, to anything that takes bytes.
pub fn write_batches(data: &DataSet, options: &ExportOptions, to: &mut dyn Write) -> Result<Summary, String> {
    output::write(&output::writers(data, options)?, data, options, to).map_err(|error| error.to_string())
}

/// Readings that are hard to write.
struct Awkward {
    schema: Arc<Schema>,
    batch: Batch,
}

impl Awkward {
    fn data_set(&self) -> DataSet {
        let schema = (*self.schema).clone();
        recorded(schema, self.batch.clone())
    }
}

/// A batch as a data set.
fn recorded(schema: Schema, readings: Batch) -> DataSet {
    let count = schema.tables[0].series.len();
    DataSet::new(schema, move |shard, sink| {
        let series = shard.series(count);
        sink.put(0, |ours| {
            for row in (0..readings.len()).filter(|&row| series.contains(&readings.series[row])) {
                ours.push_row(&readings, row);
            }
        })
    })
}

/// Samples of the machine tool, one a millisecond.
fn samples(seed: u64, start_ns: i64, samples: u64) -> DataSet {
    let schema = schema(TimeResolution::Milliseconds);
    MachineTool::new(seed).data_set(schema, start_ns, 1_000_000, samples)
}

const TEXTS: [&str; 6] = ["", "a b,c=d", "quo\"te \\ back\\", "line\r\nbreak", " blanks ", "ü€😀\u{1}"];
const FLOATS: [f64; 8] = [0.1, -0.0, 1e300, -5e-324, 123_456_789.123_456_79, 3.0, f64::MIN, 1e21];
const INTEGERS: [i64; 8] = [0, -1, i64::MAX, i64::MIN, 99_999_999, 100_000_000, -100_000_001, 42];
const TAGS: [&str; 4] = ["plain", "a b,c=d", "back\\slash \"q\"", ""];

/// Two tags, and a field of each type that may be absent.
fn awkward_table() -> Table {
    let field = |(name, kind): (&str, FieldType)| Field { name: name.into(), kind, nullable: true };
    let fields = [
        ("f", FieldType::F64),
        ("i", FieldType::I64),
        ("u", FieldType::U16),
        ("b", FieldType::Bool),
        ("a_name_that_is_longer_than_thirty_two_by", FieldType::Text),
    ];
    let tag = |name: &str| Tag { name: name.into() };
    Table {
        name: "awkward".into(),
        tags: vec![tag("z"), tag("number")],
        fields: fields.map(field).to_vec(),
        entity: None,
        time_resolution: TimeResolution::Nanoseconds,
        series: Series::new(vec![
            TagColumn::Text(TAGS.map(str::to_owned).to_vec()),
            TagColumn::Integer(vec![-1, 0, i64::MAX, 7]),
        ]),
    }
}

fn awkward() -> Awkward {
    let table = awkward_table();
    let mut batch = Batch::new(0, &table);
    for row in 0..400_usize {
        let start = [1_700_000_000_123_456_789, 0, 1][row % 3];
        batch.times_ns.push(start + i64::try_from(row).unwrap());
        batch.series.push(u32::try_from(row % 4).unwrap());
        let values = [
            Value::F64(FLOATS[row % 8]),
            Value::I64(INTEGERS[row % 8]),
            Value::I64(i64::try_from(row * 163 % 65_536).unwrap()),
            Value::Bool(row % 3 == 0),
            Value::Text(TEXTS[row % 6].into()),
        ];
        for (number, value) in values.into_iter().enumerate() {
            let absent = (row / 5) % 4 == 1 && row % 5 != number;
            let value = if absent { Value::Null } else { value };
            batch.columns[number].push(value).unwrap();
        }
    }
    Awkward { schema: Arc::new(Schema { tables: vec![table] }), batch }
}

fn options(format: Format) -> ExportOptions {
    ExportOptions { format, shard: Shard::WHOLE, table: None }
}

fn exported(data: &DataSet, options: &ExportOptions) -> (String, Summary) {
    let mut bytes = Vec::new();
    let summary = write_batches(data, options, &mut bytes).unwrap();
    assert_eq!(summary.bytes, bytes.len() as u64);
    (String::from_utf8(bytes).unwrap(), summary)
}

/// A reading as a format has it: tags, time, fields.
type Read = (BTreeMap<String, String>, i64, BTreeMap<String, Value>);

/// The readings of a batch as they should be read; tags as text.
fn expected(data: &Awkward, with_empty_tags: bool) -> Vec<Read> {
    let table = &data.schema.tables[0];
    let reading = |row: usize| {
        let tags = (table.tags.iter().zip(table.series.columns()))
            .map(|(tag, column)| (tag.name.clone(), column.text(data.batch.series[row])))
            .filter(|(_, value)| with_empty_tags || !value.is_empty());
        let fields = (table.fields.iter().zip(&data.batch.columns))
            .map(|(field, column)| (field.name.clone(), column.value(row)))
            .filter(|(_, value)| *value != Value::Null);
        (tags.collect(), data.batch.times_ns[row], fields.collect())
    };
    (0..data.batch.len()).map(reading).collect()
}

fn same_bits(one: &[Read], other: &[Read]) {
    assert_eq!(one.len(), other.len());
    for (one, other) in one.iter().zip(other) {
        assert_eq!(one, other);
        for (one, other) in one.2.values().zip(other.2.values()) {
            if let (Value::F64(one), Value::F64(other)) = (one, other) {
                assert_eq!(one.to_bits(), other.to_bits());
            }
        }
    }
}

#[test]
fn line_protocol_reads_back() {
    let data = awkward();
    let (text, summary) = exported(&data.data_set(), &options(Format::LineProtocol));
    same_bits(&read_line_protocol(&text), &expected(&data, false));
    let present = |column: &Column| (0..400).filter(|&row| column.has(row)).count() as u64;
    let values: u64 = data.batch.columns.iter().map(present).sum();
    assert_eq!((summary.readings, summary.values), (400, values));
    assert!(text.starts_with("awkward,number=-1,z=plain f=0.1,i=0i,u=0i,b=true,a_name"));
}

#[test]
fn json_lines_read_back() {
    let data = awkward();
    let (text, _) = exported(&data.data_set(), &options(Format::Json));
    let kinds: BTreeMap<_, _> =
        (data.schema.tables[0].fields.iter()).map(|field| (field.name.clone(), field.kind)).collect();
    let value = |(name, value): (&String, &serde_json::Value)| {
        let value = match (kinds[name], value) {
            (FieldType::F64, value) => Value::F64(value.as_f64().unwrap()),
            (FieldType::Bool, value) => Value::Bool(value.as_bool().unwrap()),
            (FieldType::Text, value) => Value::Text(value.as_str().unwrap().into()),
            (_, value) => Value::I64(value.as_i64().unwrap()),
        };
        (name.clone(), value)
    };
    let tag = |(name, value): (&String, &serde_json::Value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (name.clone(), text)
    };
    let line = |line: &str| -> Read {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(object["table"], "awkward");
        (
            object["tags"].as_object().unwrap().iter().map(tag).collect(),
            object["time_ns"].as_i64().unwrap(),
            object["fields"].as_object().unwrap().iter().map(value).collect(),
        )
    };
    let read: Vec<Read> = text.lines().map(line).collect();
    same_bits(&read, &expected(&data, true));
}

#[test]
fn csv_reads_back_as_a_recording() {
    let options =
        RecordingOptions { tags: vec!["room".into()], skip_bad_rows: true, ..RecordingOptions::default() };
    let greenhouse = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/greenhouse.csv");
    let first = Recording::read(greenhouse.as_ref(), &options).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("greenhouse.csv");
    let csv = super::ExportOptions { format: Format::Csv, shard: Shard::WHOLE, table: None };
    let data = recorded((*first.schema).clone(), first.readings.clone());
    let summary = export(&data, &csv, Some(&path)).unwrap();
    assert_eq!(summary.unwrap().readings, 116);
    let strict = RecordingOptions { skip_bad_rows: false, ..options };
    let second = Recording::read(&path, &strict).unwrap();
    assert_eq!(&second.readings, &first.readings);
    assert_eq!(&second.schema, &first.schema);
    assert!(second.report.assumptions.iter().all(|text| !text.contains("zone")));
}

#[test]
fn csv_is_by_the_book() {
    let data = awkward();
    let (text, _) = exported(&data.data_set(), &options(Format::Csv));
    let mut reader = ::csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(header[..5], ["time_ns", "z", "number", "f", "i"]);
    for (row, record) in reader.records().enumerate() {
        let record = record.unwrap();
        assert_eq!(record[0], data.batch.times_ns[row].to_string());
        assert_eq!(&record[1], TAGS[row % 4]);
        for (number, column) in data.batch.columns.iter().enumerate() {
            let cell = &record[3 + number];
            match column.value(row) {
                Value::Null => assert_eq!(cell, ""),
                Value::F64(value) => {
                    assert_eq!(cell.parse::<f64>().unwrap().to_bits(), value.to_bits())
                }
                Value::Text(value) => assert_eq!(cell, value),
                Value::Bool(value) => assert_eq!(cell, value.to_string()),
                Value::I64(value) => assert_eq!(cell, value.to_string()),
            }
        }
    }
    // Every line ends so, and so do the breaks inside the texts that are there.
    let texts = &data.batch.columns[4];
    let breaks = (0..400).filter(|&row| texts.value(row) == Value::Text(TEXTS[3].into()));
    assert_eq!(text.matches("\r\n").count(), 401 + breaks.count());
}

#[test]
fn samples_are_the_machines() {
    const SAMPLES: usize = 10_000;
    let data = samples(7, 1_700_000_000_000_000_000, SAMPLES as u64);
    let (text, summary) = exported(&data, &options(Format::LineProtocol));
    assert_eq!((summary.readings, summary.values), (10_000, 50_000));
    let machine = MachineTool::new(7);
    for (index, (_, time, fields)) in read_line_protocol(&text).into_iter().enumerate() {
        let index = index as u64;
        assert_eq!(time, 1_700_000_000_000_000_000 + index.cast_signed() * 1_000_000);
        let sample = machine.sample(index);
        let fields: Vec<Value> = fields.into_values().collect();
        let expected: Vec<Value> = sample.map(|value| Value::I64(value.into())).to_vec();
        assert_eq!((fields.len(), fields), (CHANNELS, expected));
    }
}

#[test]
fn shards_make_the_whole_and_one_series_has_one() {
    let data = awkward();
    let whole = exported(&data.data_set(), &options(Format::Json)).0;
    let mut whole: Vec<&str> = whole.lines().collect();
    let parts: Vec<String> = (0..3)
        .map(|number| {
            let shard = Shard::new(number, 3).unwrap();
            let options = ExportOptions { shard, ..options(Format::Json) };
            exported(&data.data_set(), &options).0
        })
        .collect();
    let mut together: Vec<&str> = parts.iter().flat_map(|part| part.lines()).collect();
    whole.sort_unstable();
    together.sort_unstable();
    assert_eq!(together, whole);
    assert!(parts.iter().all(|part| !part.is_empty()));
    let machine = samples(7, 0, 10);
    let half = ExportOptions { shard: "1/2".parse().unwrap(), ..options(Format::Csv) };
    let error = write_batches(&machine, &half, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("leave --shard out"), "{error}");
    assert!("2/2".parse::<Shard>().is_err() && "x".parse::<Shard>().is_err());
}

#[test]
fn what_does_not_fit_a_format_is_refused() {
    let mut data = awkward();
    let table = Arc::get_mut(&mut data.schema).unwrap().tables[0].clone();
    let schema = Arc::get_mut(&mut data.schema).unwrap();
    schema.tables.push(Table { name: "second".into(), ..table });
    let error = write_batches(&data.data_set(), &options(Format::Csv), &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("awkward, second"), "{error}");
    let one = ExportOptions { table: Some("awkward".into()), ..options(Format::Csv) };
    assert_eq!(exported(&data.data_set(), &one).1.readings, 400);
    let none = ExportOptions { table: Some("third".into()), ..options(Format::Json) };
    assert!(write_batches(&data.data_set(), &none, &mut Vec::new()).is_err());
    let schema = Arc::get_mut(&mut data.schema).unwrap();
    for bad in ["line\nbreak", "back\\"] {
        let text = TagColumn::Text(vec![bad.into(); 4]);
        schema.tables[0].series = Series::new(vec![text, TagColumn::Integer(vec![1, 2, 3, 4])]);
        assert!(LineProtocolOf(schema).is_refused(), "{bad:?}");
    }
}

struct LineProtocolOf<'s>(&'s Schema);

impl LineProtocolOf<'_> {
    fn is_refused(&self) -> bool {
        line_protocol::writer(&self.0.tables[0]).is_err_and(|why| why.contains("tag z"))
    }
}

#[test]
fn a_file_is_there_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.lp");
    let data = samples(1, 0, 100);
    export(&data, &options(Format::LineProtocol), Some(&path)).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 100);
    let nowhere = folder.path().join("no/such/folder/out.lp");
    let error = export(&data, &options(Format::LineProtocol), Some(&nowhere)).unwrap_err();
    assert!(error.to_string().contains("no/such/folder"), "{error}");
    export(&data, &options(Format::Csv), Some("/dev/null".as_ref())).unwrap();
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_recording_is_exported_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.csv");
    std::fs::write(&path, "time,room,x\n2020-01-01,a,1\n2020-01-02,b,2\n2020-01-03,a,3\n").unwrap();
    let options = RecordingOptions { tags: vec!["room".into()], ..RecordingOptions::default() };
    let recording = Recording::read(&path, &options).unwrap();
    let data = recorded((*recording.schema).clone(), recording.readings.clone());
    let mut census = Census::new(&data.schema);
    for number in 0..2 {
        let read = data.each_batch(Shard::new(number, 2).unwrap(), |batch| {
            assert!(batch.series.iter().all(|&series| series == number));
            assert!(matches!(batch.columns[0].values, Values::I64(_)));
            census.add(batch);
            Ok(())
        });
        read.unwrap();
    }
    let mut whole = Census::new(&data.schema);
    whole.add(&recording.readings);
    assert_eq!(census, whole);
}
