//! Hostile documents: a server's answer may be refused, and what is taken of it is whole readings.

use super::{Decoder, KEY};
use crate::schema::layout_options::layouts;
use crate::schema::{Fields, PhysicalSchema, PhysicalTable, SAMPLES, Tags};
use mongodb::bson::raw::CString;
use mongodb::bson::{Bson, DateTime, Document, RawDocument, RawDocumentBuf};
use sensormark_store::{DaySplit, Family, Field, FieldType, Schema, Shape, Table, TimeResolution};
use std::sync::Arc;

/// Three sensors, and a field of each type.
fn schema() -> Arc<Schema> {
    let mut schema = Schema::of_sensors([7, 8, 9], TimeResolution::Milliseconds);
    let kinds = [
        ("open", FieldType::Bool),
        ("count", FieldType::I64),
        ("value", FieldType::F64),
        ("state", FieldType::Text),
    ];
    let field = |(name, kind): (&str, FieldType)| Field { name: name.to_owned(), kind, nullable: true };
    schema.tables[0].fields = kinds.map(field).to_vec();
    Arc::new(schema)
}

fn families() -> [Family; 4] {
    let split = DaySplit { day_start_ns: 0, day_end_ns: 1 };
    [
        Family::PerReading,
        Family::PerSpan { span_ns: 60_000_000_000 },
        Family::Bucketed { limit: 10, per_ns: 60_000_000_000, split },
        Family::GrowingArray,
    ]
}

/// A reading's values, where the layout has them.
fn put_values(kept: &PhysicalTable, reading: &mut Document) {
    let values = [Bson::Boolean(true), Bson::Int64(5), Bson::Double(1.5), Bson::String("ok".to_owned())];
    match &kept.fields {
        Fields::Beside(names) => reading.extend(names.iter().cloned().zip(values)),
        Fields::Under(under, names) => {
            let fields: Document = names.iter().cloned().zip(values).collect();
            reading.insert(under, fields);
        }
        Fields::Array(array) => {
            reading.insert(array, values.to_vec());
        }
    }
}

/// A document of one reading of the first sensor, as the layout keeps it.
fn good(kept: &PhysicalTable) -> Document {
    let mut document = Document::new();
    match &kept.tags {
        Tags::Beside(names) => document.extend(names.iter().map(|name| (name.clone(), Bson::Int64(7)))),
        Tags::Under(under) => {
            let names = kept.roster.identity_names();
            let tags: Document = names.map(|name| (name.to_owned(), Bson::Int64(7))).collect();
            document.insert(under, tags);
        }
        Tags::Pairs(_) => {
            document.insert(KEY, vec![Bson::Int64(7)]);
        }
    }
    let time = match kept.date {
        true => Bson::DateTime(DateTime::from_millis(1_000)),
        false => Bson::Int64(1_000_000_000),
    };
    if kept.is_flat() {
        document.insert(&kept.time, time);
        put_values(kept, &mut document);
        return document;
    }
    let mut reading = Document::new();
    reading.insert(&kept.inner_time, time);
    put_values(kept, &mut reading);
    let readings = Bson::Array(vec![Bson::Document(reading)]);
    let inner = match kept.shape {
        Shape::Bucketed { .. } => {
            let property = [(SAMPLES.to_owned(), readings)].into_iter().collect();
            Bson::Document([("7".to_owned(), Bson::Document(property))].into_iter().collect())
        }
        _ => readings,
    };
    document.insert(&kept.inner, inner);
    document
}

/// Takes a document as one that may be of any series, and as one of the first; gives how many readings were taken, where it was not refused.
fn taken(table: &Table, kept: &PhysicalTable, document: &RawDocument) -> Option<usize> {
    let mut most = None;
    for sole in [None, Some(0)] {
        let mut decoder = Decoder::new(0, table, kept, table.all_fields(), sole, |_| true);
        if decoder.take(document).is_err() {
            continue;
        }
        let batch = decoder.batch;
        let rows = batch.times_ns.len();
        assert_eq!(batch.series.len(), rows, "{document:?}");
        for column in &batch.columns {
            assert_eq!(column.values.len(), rows, "{document:?}");
        }
        most = most.max(Some(rows));
    }
    most
}

#[test]
fn hostile_documents_are_refused_or_whole_readings() {
    let schema = schema();
    let schemas: Vec<PhysicalSchema> = families()
        .into_iter()
        .flat_map(|family| layouts(&schema, family))
        .filter_map(|offer| PhysicalSchema::new(&schema, offer.layout).ok())
        .collect();
    assert!(!schemas.is_empty());
    let examples = std::env::temp_dir().join(format!("sensormark-documents-{}", std::process::id()));
    std::fs::create_dir(&examples).expect("a folder of this process");
    for (number, physical) in schemas.iter().enumerate() {
        let (table, kept) = physical.table(0).expect("the only one");
        let document = RawDocumentBuf::try_from(&good(kept)).expect("a small document");
        assert!(taken(table, kept, &document).is_some(), "{kept:?}: {document:?}");
        let file = examples.join(format!("{number:03}"));
        std::fs::write(file, document.as_bytes()).expect("the folder is ours");
    }
    sensormark_conformance::fuzz::target("MongoDB documents", &examples, |bytes| {
        let mut bytes = bytes.to_vec();
        // Its own length in front, and a zero at the end: without them nothing is looked into.
        if let (Ok(length), true) = (i32::try_from(bytes.len()), bytes.len() > 4) {
            bytes[..4].copy_from_slice(&length.to_le_bytes());
            *bytes.last_mut().expect("five at least") = 0;
        }
        let Ok(document) = RawDocument::from_bytes(&bytes) else {
            return;
        };
        for physical in &schemas {
            let (table, kept) = physical.table(0).expect("the only one");
            let _ = taken(table, kept, document);
        }
    });
    std::fs::remove_dir_all(&examples).expect("the folder is ours");
}

#[test]
fn a_field_that_comes_twice_is_refused() {
    let schema = schema();
    let offer = layouts(&schema, Family::PerReading).remove(0);
    let physical = PhysicalSchema::new(&schema, offer.layout).expect("an offered layout");
    let (table, kept) = physical.table(0).expect("the only one");
    let Fields::Beside(names) = &kept.fields else { panic!("another layout: {:?}", kept.fields) };
    let once = RawDocumentBuf::try_from(&good(kept)).expect("a small document");
    for order in [[0, 0, 1, 2], [1, 0, 1, 2], [2, 1, 0, 1]] {
        let mut twice = once.clone();
        for place in order {
            let name = CString::try_from(names[place].as_str()).expect("a plain name");
            match place {
                0 => twice.append(name, true),
                1 => twice.append(name, 5_i64),
                _ => twice.append(name, 1.5),
            }
        }
        assert_eq!(taken(table, kept, &twice), None, "{order:?}");
    }
}
