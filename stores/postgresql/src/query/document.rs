//! Records of a span, read back: documents and arrays into columns, keeping what is in the range.

use super::build::RecordForm;
use super::decode::{integer, push, unexpected};
use sensormark_store::{Batch, Column, FieldSet, StoreError, TimeRange, Values};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use std::fmt;

/// One record that came back.
pub(crate) struct RecordRow {
    /// Its series.
    pub(crate) series: u32,
    /// The start of its span in ns.
    pub(crate) start_ns: i64,
    /// The length of its span in ns.
    pub(crate) span_ns: i64,
    /// The fields that are kept.
    pub(crate) fields: FieldSet,
    /// The times that are kept.
    pub(crate) range: TimeRange,
}

impl RecordRow {
    /// Appends the record's readings of the range.
    pub(crate) fn append(
        &self,
        batch: &mut Batch,
        form: RecordForm,
        payloads: &[Option<&[u8]>],
    ) -> Result<(), StoreError> {
        match form {
            RecordForm::Document { binary } => {
                let text = payloads.first().copied().flatten().unwrap_or_default();
                self.document(batch, json_text(text, binary)?)
            }
            RecordForm::JsonArrays => self.columns(batch, payloads, json_offsets, json_column),
            RecordForm::Arrays => self.columns(batch, payloads, array_offsets, array_column),
        }
    }

    /// A record that lies within the range goes straight into the columns; of another one, what is in the range.
    fn document(&self, batch: &mut Batch, text: &[u8]) -> Result<(), StoreError> {
        if self.range.start_ns <= self.start_ns
            && self.start_ns.saturating_add(self.span_ns) <= self.range.end_ns
        {
            return self.readings(batch, text);
        }
        let mut whole = Batch {
            table: batch.table,
            times_ns: Vec::new(),
            series: Vec::new(),
            columns: batch
                .columns
                .iter()
                .map(|column| Column::new(column.values.kind()))
                .collect(),
        };
        self.readings(&mut whole, text)?;
        for row in 0..whole.len() {
            if self.range.contains(whole.times_ns[row]) {
                batch.push_row(&whole, row);
            }
        }
        Ok(())
    }

    fn readings(&self, batch: &mut Batch, text: &[u8]) -> Result<(), StoreError> {
        let mut reader = serde_json::Deserializer::from_slice(text);
        Document {
            record: self,
            batch,
        }
        .deserialize(&mut reader)
        .map_err(|error| unexpected("a document is not as it was written").with_source(error))
    }

    fn columns(
        &self,
        batch: &mut Batch,
        payloads: &[Option<&[u8]>],
        offsets: fn(&[u8]) -> Result<Vec<i64>, StoreError>,
        column: fn(&[u8], &mut Column) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut payloads = payloads.iter().map(|payload| payload.unwrap_or_default());
        let offsets = offsets(payloads.next().unwrap_or_default())?;
        let mut whole: Vec<(usize, Column)> = Vec::with_capacity(self.fields.len());
        for field in self.fields.iter() {
            let mut values = Column::new(batch.columns[field].values.kind());
            column(payloads.next().unwrap_or_default(), &mut values)?;
            if values.values.len() != offsets.len() {
                return Err(unexpected("the arrays of a record differ in length"));
            }
            whole.push((field, values));
        }
        for (row, offset) in offsets.into_iter().enumerate() {
            let time_ns = self.start_ns + offset;
            if !self.range.contains(time_ns) || !whole.iter().any(|(_, values)| values.has(row)) {
                continue;
            }
            batch.times_ns.push(time_ns);
            batch.series.push(self.series);
            for (field, values) in &whole {
                copy(&mut batch.columns[*field], values, row);
            }
        }
        Ok(())
    }
}

fn copy(target: &mut Column, source: &Column, row: usize) {
    if !source.has(row) {
        target.push_null();
        return;
    }
    match (&mut target.values, &source.values) {
        (Values::Bool(target), Values::Bool(source)) => target.push(source[row]),
        (Values::I64(target), Values::I64(source)) => target.push(source[row]),
        (Values::U16(target), Values::U16(source)) => target.push(source[row]),
        (Values::F64(target), Values::F64(source)) => target.push(source[row]),
        (Values::Text(target), Values::Text(source)) => target.push(source.get(row)),
        _ => return,
    }
    if let Some(present) = &mut target.present {
        present.push(true);
    }
}

/// The text of a JSON value on the wire: the binary form of jsonb starts with its version.
fn json_text(raw: &[u8], binary: bool) -> Result<&[u8], StoreError> {
    match (binary, raw) {
        (true, [1, text @ ..]) => Ok(text),
        (true, _) => Err(unexpected("a jsonb value has an unknown version")),
        (false, text) => Ok(text),
    }
}

fn json_offsets(raw: &[u8]) -> Result<Vec<i64>, StoreError> {
    serde_json::from_slice(json_text(raw, true)?)
        .map_err(|error| unexpected("an array is not as it was written").with_source(error))
}

fn json_column(raw: &[u8], column: &mut Column) -> Result<(), StoreError> {
    let mut reader = serde_json::Deserializer::from_slice(json_text(raw, true)?);
    reader
        .deserialize_seq(OneColumn(column))
        .map_err(|error| unexpected("an array is not as it was written").with_source(error))
}

/// The elements of an array in the binary form.
fn elements(
    raw: &[u8],
    mut each: impl FnMut(Option<&[u8]>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let short = || unexpected("an array is cut off");
    let word = |at: usize| {
        let bytes = raw
            .get(at..at + 4)
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or_else(short)?;
        Ok::<i32, StoreError>(i32::from_be_bytes(bytes))
    };
    if word(0)? == 0 {
        return Ok(());
    }
    let count = word(12)?;
    let mut at = 20;
    for _ in 0..count {
        let length = word(at)?;
        at += 4;
        match usize::try_from(length) {
            Err(_) => each(None)?,
            Ok(length) => {
                each(Some(raw.get(at..at + length).ok_or_else(short)?))?;
                at += length;
            }
        }
    }
    Ok(())
}

fn array_offsets(raw: &[u8]) -> Result<Vec<i64>, StoreError> {
    let mut offsets = Vec::with_capacity(raw.len() / 8);
    elements(raw, |element| {
        offsets.push(integer(element.unwrap_or_default())?);
        Ok(())
    })?;
    Ok(offsets)
}

fn array_column(raw: &[u8], column: &mut Column) -> Result<(), StoreError> {
    elements(raw, |element| push(column, element))
}

/// `{"measurements": […]}`.
struct Document<'a> {
    record: &'a RecordRow,
    batch: &'a mut Batch,
}

/// The list of readings.
struct Readings<'a>(Document<'a>);

/// One reading, `{"ns": …, "m": […]}` in any order.
struct Reading<'a>(&'a RecordRow, &'a mut Batch);

/// The values of a reading, one a field.
struct Fields<'a>(&'a mut Batch);

/// The values of a column.
struct OneColumn<'a>(&'a mut Column);

/// One value of a column.
struct One<'a>(&'a mut Column);

macro_rules! seed {
    ($name:ident, $method:ident) => {
        impl<'de> DeserializeSeed<'de> for $name<'_> {
            type Value = ();

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
                deserializer.$method(self)
            }
        }
    };
}

seed!(Document, deserialize_map);
seed!(Readings, deserialize_seq);
seed!(Reading, deserialize_map);
seed!(Fields, deserialize_seq);
seed!(One, deserialize_any);

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with measurements")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { record, batch } = self;
        while let Some(key) = map.next_key::<&str>()? {
            if key == "measurements" {
                map.next_value_seed(Readings(Document {
                    record,
                    batch: &mut *batch,
                }))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

impl<'de> Visitor<'de> for Readings<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of readings")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Document { record, batch } = self.0;
        while list
            .next_element_seed(Reading(record, &mut *batch))?
            .is_some()
        {}
        Ok(())
    }
}

impl<'de> Visitor<'de> for Reading<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a reading with ns and m")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(record, batch) = self;
        let mut offset = None;
        while let Some(key) = map.next_key::<&str>()? {
            match key {
                "ns" => offset = Some(map.next_value::<i64>()?),
                "m" => map.next_value_seed(Fields(&mut *batch))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        let time_ns = record.start_ns + offset.ok_or_else(|| A::Error::missing_field("ns"))?;
        let rows = batch.len();
        if batch
            .columns
            .iter()
            .any(|column| column.values.len() != rows + 1)
        {
            return Err(A::Error::custom(
                "a reading has values for some of the fields only",
            ));
        }
        batch.times_ns.push(time_ns);
        batch.series.push(record.series);
        Ok(())
    }
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value for each field")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        for column in &mut self.0.columns {
            if list.next_element_seed(One(column))?.is_none() {
                return Err(A::Error::custom("a reading has too few values"));
            }
        }
        match list.next_element::<IgnoredAny>()? {
            None => Ok(()),
            Some(_) => Err(A::Error::custom("a reading has too many values")),
        }
    }
}

impl<'de> Visitor<'de> for OneColumn<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(One(&mut *self.0))?.is_some() {}
        Ok(())
    }
}

impl One<'_> {
    fn done(self) {
        if let Some(present) = &mut self.0.present {
            present.push(true);
        }
    }
}

impl<'de> Visitor<'de> for One<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of its field's type")
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        match &mut self.0.values {
            Values::Bool(values) => values.push(value),
            _ => return Err(E::custom("a truth value in another field")),
        }
        self.done();
        Ok(())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        match (&mut self.0.values, i64::try_from(value)) {
            (Values::F64(values), _) => values.push(value as f64),
            (_, Ok(value)) => return self.visit_i64(value),
            (_, Err(error)) => return Err(E::custom(error)),
        }
        self.done();
        Ok(())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        match &mut self.0.values {
            Values::I64(values) => values.push(value),
            Values::U16(values) => values.push(u16::try_from(value).map_err(E::custom)?),
            Values::F64(values) => values.push(value as f64),
            _ => return Err(E::custom("a number in another field")),
        }
        self.done();
        Ok(())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        match &mut self.0.values {
            Values::F64(values) => values.push(value),
            _ => return Err(E::custom("a fraction in a field of another type")),
        }
        self.done();
        Ok(())
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        match &mut self.0.values {
            Values::Text(values) => values.push(value),
            _ => return Err(E::custom("a text in another field")),
        }
        self.done();
        Ok(())
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.0.push_null();
        Ok(())
    }
}
