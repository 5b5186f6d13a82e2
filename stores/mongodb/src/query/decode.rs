//! From documents to readings: the layouts' own documents, whole or projected, into columns.
//!
//! Nothing is allocated for a value. A reading that has none of the fields asked for is left out.

use super::OPERATION;
use crate::connection::unreadable;
use crate::schema::SAMPLES;
use crate::schema::series::{key_integer, key_text};
use crate::schema::{Fields, PhysicalTable, Tags};
use mongodb::bson::{RawBsonRef, RawDocument};
use sensormark_store::{Batch, Column, FieldSet, FieldType, Shape, StoreError, Table, Value, Values};

/// What stands for the identifying tags where they are kept as pairs.
pub(super) const KEY: &str = "_k";

/// Collects readings out of documents.
pub(super) struct Decoder<'a> {
    kept: &'a PhysicalTable,
    /// The fields asked for, ascending: their names in a reading, and their numbers.
    names: Vec<(&'a str, usize)>,
    sole: Option<u32>,
    admits: Box<dyn Fn(u32) -> bool + 'a>,
    key: Vec<u8>,
    /// What was decoded.
    pub(super) batch: Batch,
}

fn wrong(what: &str) -> StoreError {
    unreadable(OPERATION, what)
}

fn raw<T>(result: mongodb::bson::error::Result<T>) -> Result<T, StoreError> {
    result.map_err(|error| wrong(&error.to_string()).with_source(error))
}

impl<'a> Decoder<'a> {
    /// Decodes these fields of readings of the only series that they can be of, or of those that are admitted.
    pub(super) fn new(
        number: usize,
        table: &'a Table,
        kept: &'a PhysicalTable,
        fields: FieldSet,
        sole: Option<u32>,
        admits: impl Fn(u32) -> bool + 'a,
    ) -> Self {
        let names = match &kept.fields {
            Fields::Beside(names) | Fields::Under(_, names) => {
                fields.iter().map(|field| (names[field].as_str(), field)).collect()
            }
            Fields::Array(_) => fields.iter().map(|field| ("", field)).collect(),
        };
        Self {
            kept,
            names,
            sole,
            admits: Box::new(admits),
            key: Vec::new(),
            batch: Batch::new(number, table),
        }
    }

    /// Takes the readings of a document.
    pub(super) fn take(&mut self, document: &RawDocument) -> Result<(), StoreError> {
        let kept = self.kept;
        if matches!(kept.shape, Shape::Bucketed { .. }) {
            return self.bucket(document);
        }
        let series = self.series(document)?;
        if kept.is_flat() {
            return self.reading(document, &kept.time, series);
        }
        if let Some(RawBsonRef::Array(readings)) = raw(document.get(&kept.inner))? {
            self.readings(readings, series)?;
        }
        Ok(())
    }

    fn bucket(&mut self, document: &RawDocument) -> Result<(), StoreError> {
        let Some(RawBsonRef::Document(properties)) = raw(document.get(&self.kept.inner))? else {
            return Ok(());
        };
        let length = self.read_key(document)?;
        for property in properties {
            let (name, content) = raw(property)?;
            let RawBsonRef::Document(content) = content else {
                continue;
            };
            let series = match self.sole {
                Some(series) => series,
                None => {
                    self.key.truncate(length);
                    key_text(&mut self.key, name.as_str());
                    self.found()?
                }
            };
            if !(self.admits)(series) {
                continue;
            }
            if let Some(RawBsonRef::Array(readings)) = raw(content.get(SAMPLES))? {
                self.readings(readings, series)?;
            }
        }
        Ok(())
    }

    /// Takes the readings of an array.
    pub(super) fn readings(
        &mut self,
        readings: &mongodb::bson::RawArray,
        series: u32,
    ) -> Result<(), StoreError> {
        let kept = self.kept;
        for reading in readings {
            match raw(reading)? {
                RawBsonRef::Document(reading) => {
                    self.reading(reading, &kept.inner_time, series)?;
                }
                _ => return Err(wrong("a reading is no document")),
            }
        }
        Ok(())
    }

    /// The series of a document.
    fn series(&mut self, document: &RawDocument) -> Result<u32, StoreError> {
        if let Some(series) = self.sole {
            return Ok(series);
        }
        self.read_key(document)?;
        self.found()
    }

    fn found(&self) -> Result<u32, StoreError> {
        self.kept.roster.find(&self.key).ok_or_else(|| wrong("a document bears tags that no series has"))
    }

    /// Reads the identifying tags' parts of the key; gives its length.
    fn read_key(&mut self, document: &RawDocument) -> Result<usize, StoreError> {
        self.key.clear();
        if self.sole.is_some() {
            return Ok(0);
        }
        match &self.kept.tags {
            Tags::Beside(names) => {
                for &tag in self.kept.roster.identity() {
                    let value = raw(document.get(&names[tag]))?;
                    push_part(&mut self.key, value)?;
                }
            }
            Tags::Under(under) => {
                let tags = raw(document.get(under))?;
                let Some(RawBsonRef::Document(tags)) = tags else {
                    return Err(wrong("a document has no tags"));
                };
                for path in self.kept.roster.identity_names() {
                    push_part(&mut self.key, raw(tags.get(path))?)?;
                }
            }
            Tags::Pairs(_) => {
                let Some(RawBsonRef::Array(parts)) = raw(document.get(KEY))? else {
                    return Err(wrong("a document has no tags"));
                };
                for part in parts {
                    push_part(&mut self.key, Some(raw(part)?))?;
                }
            }
        }
        Ok(self.key.len())
    }

    /// Takes one reading.
    fn reading(&mut self, body: &RawDocument, time_name: &str, series: u32) -> Result<(), StoreError> {
        let kept = self.kept;
        let (mut time, mut seen, mut next) = (None, 0, 0);
        for element in body {
            let (name, value) = raw(element)?;
            let name = name.as_str();
            if name == time_name {
                time = Some(time_of(value)?);
                continue;
            }
            match (&kept.fields, value) {
                (Fields::Beside(_), value) => seen += self.named(name, value, &mut next)?,
                (Fields::Under(under, _), RawBsonRef::Document(fields)) if name == under => {
                    for field in fields {
                        let (name, value) = raw(field)?;
                        seen += self.named(name.as_str(), value, &mut next)?;
                    }
                }
                (Fields::Array(array), RawBsonRef::Array(values)) if name == array => {
                    if seen > 0 {
                        return Err(wrong("a reading has its values twice"));
                    }
                    for (value, &(_, field)) in values.into_iter().zip(&self.names) {
                        push(&mut self.batch.columns[field], raw(value)?)?;
                        seen += 1;
                    }
                }
                _ => {}
            }
        }
        if seen == 0 {
            return Ok(());
        }
        let time = time.ok_or_else(|| wrong("a reading has no time"))?;
        self.batch.times_ns.push(time);
        self.batch.series.push(series);
        if seen < self.names.len() {
            let rows = self.batch.times_ns.len();
            for &(_, field) in &self.names {
                let column = &mut self.batch.columns[field];
                if column.values.len() < rows {
                    column.push_null();
                }
            }
        }
        Ok(())
    }

    /// Takes a value if it is of a field that was asked for; gives how many it took.
    fn named(&mut self, name: &str, value: RawBsonRef<'_>, next: &mut usize) -> Result<usize, StoreError> {
        let place = match self.names.get(*next) {
            Some((expected, _)) if *expected == name => *next,
            _ => match self.names.iter().position(|(other, _)| *other == name) {
                Some(place) => place,
                None => return Ok(0),
            },
        };
        // Ascending names are those of a good document. After the first that is not, each is looked at.
        if place < *next {
            let taken = &self.batch.columns[self.names[place].1];
            if taken.values.len() > self.batch.times_ns.len() {
                return Err(wrong("a reading has a field twice"));
            }
            *next = self.names.len();
        } else {
            *next = place + 1;
        }
        push(&mut self.batch.columns[self.names[place].1], value)?;
        Ok(1)
    }
}

/// Appends a tag's value to a key.
pub(super) fn push_part(key: &mut Vec<u8>, value: Option<RawBsonRef<'_>>) -> Result<(), StoreError> {
    match value {
        Some(RawBsonRef::String(text)) => key_text(key, text),
        Some(RawBsonRef::Int64(value)) => key_integer(key, value),
        Some(RawBsonRef::Int32(value)) => key_integer(key, i64::from(value)),
        _ => return Err(wrong("a tag is neither text nor a whole number")),
    }
    Ok(())
}

/// A kept time in ns.
pub(super) fn time_of(value: RawBsonRef<'_>) -> Result<i64, StoreError> {
    match value {
        RawBsonRef::Int64(time) => Ok(time),
        RawBsonRef::DateTime(date) => {
            date.timestamp_millis().checked_mul(1_000_000).ok_or_else(|| wrong("a date is out of range"))
        }
        _ => Err(wrong("a time is neither a whole number nor a date")),
    }
}

fn push(column: &mut Column, value: RawBsonRef<'_>) -> Result<(), StoreError> {
    match (&mut column.values, value) {
        (Values::Bool(values), RawBsonRef::Boolean(value)) => values.push(value),
        (Values::I64(values), RawBsonRef::Int64(value)) => values.push(value),
        (Values::U16(values), RawBsonRef::Int32(value)) => {
            let value = u16::try_from(value).map_err(|_| wrong("a value is over 16 bits"))?;
            values.push(value);
        }
        (Values::F64(values), RawBsonRef::Double(value)) => values.push(value),
        (Values::Text(values), RawBsonRef::String(value)) => values.push(value),
        _ => return Err(wrong("a value is not of its field's type")),
    }
    if let Some(present) = &mut column.present {
        present.push(true);
    }
    Ok(())
}

/// A value of a field's type, or what the server made of it.
pub(super) fn value(kind: FieldType, value: Option<RawBsonRef<'_>>) -> Result<Value, StoreError> {
    Ok(match (kind, value) {
        (_, None | Some(RawBsonRef::Null)) => Value::Null,
        (FieldType::Bool, Some(RawBsonRef::Boolean(value))) => Value::Bool(value),
        (FieldType::Text, Some(RawBsonRef::String(text))) => Value::Text(text.to_owned()),
        (FieldType::I64 | FieldType::U16, Some(RawBsonRef::Int64(value))) => Value::I64(value),
        (FieldType::I64 | FieldType::U16, Some(RawBsonRef::Int32(value))) => Value::I64(i64::from(value)),
        (FieldType::F64, Some(RawBsonRef::Int32(value))) => Value::F64(f64::from(value)),
        (FieldType::F64, Some(RawBsonRef::Int64(value))) => Value::F64(value as f64),
        // a sum of whole numbers that is over 64 bits is a floating point number
        (_, Some(RawBsonRef::Double(value))) => Value::F64(value),
        _ => return Err(wrong("a value is not of its field's type")),
    })
}

#[cfg(test)]
mod hostile;
