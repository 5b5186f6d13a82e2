//! Records of a span, read back: documents and arrays into columns, keeping what is in the range.

use crate::plan::RecordForm;
use sensormark_kit::{Document, Row, unexpected};
use sensormark_store::record::{Wanted, blob, json};
use sensormark_store::{Batch, Column, FieldSet, StoreError, TimeRange, Values};

/// One record that came back.
pub(super) struct RecordRow {
    /// Its series.
    pub(super) series: u32,
    /// The start of its span in ns.
    pub(super) start_ns: i64,
    /// The fields that are kept.
    pub(super) fields: FieldSet,
    /// The times that are kept.
    pub(super) range: TimeRange,
}

impl RecordRow {
    /// Appends the record's readings of the range; its payload is in the row's columns from `first` on.
    pub(super) fn append<R: Row>(
        &self,
        batch: &mut Batch,
        form: RecordForm,
        row: &R,
        first: usize,
    ) -> Result<(), StoreError> {
        let wanted = Wanted {
            series: self.series,
            start_ns: self.start_ns,
            from_ns: self.range.start_ns,
            to_ns: self.last_ns(),
            fields: self.fields,
        };
        match form {
            RecordForm::Document => match row.document(first)? {
                Document::Json(text) => json::decode(text, &wanted, batch),
                Document::Packed(bytes) => blob::decode(bytes, &wanted, batch),
            },
            RecordForm::Arrays => self.arrays(batch, row, first),
        }
    }

    /// The last instant that is wanted. Everything ends after the last instant that there is.
    fn last_ns(&self) -> i64 {
        match self.range.end_ns {
            i64::MAX => i64::MAX,
            end => end - 1,
        }
    }

    fn arrays<R: Row>(&self, batch: &mut Batch, row: &R, first: usize) -> Result<(), StoreError> {
        let offsets = row.offsets(first)?;
        let mut whole: Vec<(usize, Column)> = Vec::with_capacity(self.fields.len());
        for (position, field) in self.fields.iter().enumerate() {
            let mut values = Column::new(batch.columns[field].values.kind());
            row.elements(first + 1 + position, &mut values)?;
            if values.values.len() != offsets.len() {
                return Err(unexpected("the arrays of a record differ in length"));
            }
            whole.push((field, values));
        }
        for (row, offset) in offsets.into_iter().enumerate() {
            let time_ns = self.start_ns.wrapping_add(offset);
            let is_wanted = self.range.start_ns <= time_ns && time_ns <= self.last_ns();
            if !is_wanted || !whole.iter().any(|(_, values)| values.has(row)) {
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
