//! Records and their arrays, written and read back.

use super::*;
use crate::record::{records, runs};
use crate::schema::{Field, FieldSet, FieldType, Series, Table, TimeResolution, Value};

fn batch() -> (Table, Batch) {
    let kinds = [FieldType::F64, FieldType::Text, FieldType::Bool, FieldType::I64, FieldType::U16];
    let fields = kinds.iter().enumerate().map(|(number, &kind)| Field {
        name: format!("f{number}"),
        kind,
        nullable: true,
    });
    let table = Table {
        name: "t".to_owned(),
        tags: Vec::new(),
        fields: fields.collect(),
        entity: None,
        time_resolution: TimeResolution::Nanoseconds,
        series: Series::single(),
    };
    let mut batch = Batch::new(0, &table);
    let text = Value::Text("a\"\\\u{1}\nß𝄞 ".into());
    let first = [Value::F64(0.1 + 0.2), text, Value::Bool(true), Value::I64(i64::MIN), Value::I64(65_535)];
    let second = [Value::F64(5e-324), Value::Text(String::new()), Value::Null, Value::Null, Value::I64(0)];
    for (time, values) in [(3, first), (9, second)] {
        batch.times_ns.push(time);
        batch.series.push(0);
        for (column, value) in batch.columns.iter_mut().zip(values) {
            column.push(value).unwrap();
        }
    }
    (table, batch)
}

fn wanted(fields: FieldSet) -> Wanted {
    Wanted { series: 0, start_ns: 0, from_ns: 0, to_ns: i64::MAX, fields }
}

#[test]
fn what_is_written_is_read_back_bit_by_bit() {
    let (table, batch) = batch();
    let mut text = Vec::new();
    let runs = runs(&batch, 0..2, 100);
    for record in records(&runs, 100) {
        encode(&batch, &record, &mut text);
    }
    let text = String::from_utf8(text).unwrap();
    let mut read = Batch::new(0, &table);
    decode(&text, &wanted(table.all_fields()), &mut read).unwrap();
    assert_eq!(read, batch);
}

#[test]
fn arrays_of_a_record_are_read_side_by_side() {
    let (table, _) = batch();
    let (numbers, counts) = ("[1.5, null, 2]", "[7,null,null]");
    let mut read = Batch::new(0, &table);
    let wanted = wanted(FieldSet::one(0).with(3));
    decode_arrays("[0, 5, 9]", &[numbers, counts], &wanted, &mut read).unwrap();
    // The reading at 5 ns has none of the fields.
    assert_eq!(read.times_ns, [0, 9]);
    assert_eq!(read.columns[0].value(1), Value::F64(2.0));
    assert_eq!(read.columns[3].value(0), Value::I64(7));
    assert_eq!(read.columns[3].value(1), Value::Null);
    let mut read = Batch::new(0, &table);
    assert!(decode_arrays("[0,1]", &["[1]", "[1,2]"], &wanted, &mut read).is_err());
}

#[test]
fn pairs_of_surrogates_are_one_character() {
    let (table, _) = batch();
    let mut read = Batch::new(0, &table);
    let text =
        r#"{ "other": [1], "measurements": [{"m": [null, "\ud834\udd1e", null, null, null], "ns": 3}]}"#;
    decode(text, &wanted(FieldSet::one(1)), &mut read).unwrap();
    assert_eq!(read.columns[1].value(0), Value::Text("𝄞".into()));
}

#[test]
fn a_damaged_document_is_an_error() {
    let (table, _) = batch();
    let few = r#"{"measurements":[{"ns":1,"m":[1.5]}]}"#;
    for text in ["{\"measurements\":", "{\"measurements\":[{\"ns\":1,\"m\":[\"abc", few] {
        let mut read = Batch::new(0, &table);
        assert!(decode(text, &wanted(table.all_fields()), &mut read).is_err());
    }
}
