//! Values on their way to the server, and rows on their way back. Nothing is boxed or allocated for each value.

use super::error::odd;
use super::text::Slot;
use crate::{Cell, EachRow};
use scylla::deserialize::row::ColumnIterator;
use scylla::frame::response::result::{ColumnSpec, ColumnType, NativeType, TableSpec};
use scylla::response::query_result::QueryRowsResult;
use scylla::serialize::SerializationError;
use scylla::serialize::row::{RowSerializationContext, SerializeRow};
use scylla::serialize::writers::RowWriter;
use sensormark_kit::{Document, Row, unexpected};
use sensormark_store::{Column, FieldType, StoreError, Value, Values};

/// Ns in a unit of a timestamp.
const MILLISECOND: i64 = 1_000_000;

/// What knows the values of a statement's slots.
pub(super) trait Slots {
    /// The value of a slot.
    fn cell(&self, slot: Slot) -> Cell<'_>;
}

/// Values of these slots on their way.
pub(super) struct Bound<'a, T>(pub(super) &'a [Slot], pub(super) &'a T);

impl<T: Slots> SerializeRow for Bound<'_, T> {
    #[inline]
    fn serialize(
        &self,
        context: &RowSerializationContext<'_>,
        writer: &mut RowWriter<'_>,
    ) -> Result<(), SerializationError> {
        for (&slot, spec) in self.0.iter().zip(context.columns()) {
            let out = writer.make_cell_writer();
            let written = match (self.1.cell(slot), spec.typ()) {
                (Cell::I64(value), ColumnType::Native(NativeType::Int)) => out.set_value(&small(value)),
                (Cell::I64(value), ColumnType::Native(NativeType::Text)) => {
                    out.set_value(itoa::Buffer::new().format(value).as_bytes())
                }
                (Cell::I64(value), _) => out.set_value(&value.to_be_bytes()),
                (Cell::F64(value), ColumnType::Native(NativeType::Int)) => {
                    out.set_value(&small(whole(value, slot)))
                }
                (Cell::F64(value), ColumnType::Native(NativeType::BigInt)) => {
                    out.set_value(&whole(value, slot).to_be_bytes())
                }
                // one zero, so that the server's comparisons, which tell -0 from 0, are those of numbers
                (Cell::F64(value), _) => out.set_value(&(value + 0.0).to_be_bytes()),
                (Cell::Bool(value), _) => out.set_value(&[u8::from(value)]),
                (Cell::Text(value), _) => out.set_value(value.as_bytes()),
                (Cell::Bytes(value), _) => out.set_value(value),
                _ => Ok(out.set_null()),
            };
            written.map_err(SerializationError::new)?;
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// An int, or the nearest one.
fn small(value: i64) -> [u8; 4] {
    let nearest = if value < 0 { i32::MIN } else { i32::MAX };
    i32::try_from(value).unwrap_or(nearest).to_be_bytes()
}

/// A threshold for whole numbers: one is over 2.5 when it is over 2, and under 2.5 when it is under 3.
#[expect(clippy::cast_possible_truncation, reason = "a cast to an integer saturates, which is meant")]
fn whole(value: f64, slot: Slot) -> i64 {
    let rounded = if matches!(slot, Slot::Given(_, true)) { value.ceil() } else { value.floor() };
    rounded as i64
}

/// A row of an answer, behind the series of its partition where rows say it.
pub(super) struct WireRow<'a> {
    series: Option<i64>,
    cells: &'a [Option<&'a [u8]>],
    specs: &'a [ColumnSpec<'a>],
}

/// Calls for each row of a page; false when no more are wanted.
pub(super) fn each_row(
    page: &QueryRowsResult,
    series: Option<i64>,
    each: &mut dyn FnMut(&WireRow<'_>) -> Result<bool, StoreError>,
) -> Result<bool, StoreError> {
    let specs = page.column_specs().as_slice();
    let mut cells = Vec::with_capacity(specs.len());
    for row in page.rows::<ColumnIterator<'_, '_>>().map_err(odd)? {
        cells.clear();
        for column in row.map_err(odd)? {
            cells.push(column.map_err(odd)?.slice.map(|slice| slice.as_slice()));
        }
        if !each(&WireRow { series, cells: &cells, specs })? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Hands a text over as a row.
pub(super) fn text_row(text: &str, each: &mut EachRow<'_>) -> Result<bool, StoreError> {
    let kind = ColumnType::Native(NativeType::Text);
    let specs = [ColumnSpec::borrowed("", kind, TableSpec::borrowed("", ""))];
    each(&WireRow { series: None, cells: &[Some(text.as_bytes())], specs: &specs })
}

fn sized<const N: usize>(bytes: &[u8]) -> Result<[u8; N], StoreError> {
    bytes.try_into().map_err(|_| unexpected("a value has another length"))
}

fn big(bytes: &[u8]) -> Result<i64, StoreError> {
    Ok(i64::from_be_bytes(sized(bytes)?))
}

fn small_of(bytes: &[u8]) -> Result<i64, StoreError> {
    Ok(i32::from_be_bytes(sized(bytes)?).into())
}

fn utf8(bytes: &[u8]) -> Result<&str, StoreError> {
    std::str::from_utf8(bytes).map_err(|_| unexpected("a text is not UTF-8"))
}

/// A number of any length.
fn varint(bytes: &[u8]) -> i128 {
    let start = if bytes.first().is_some_and(|&first| first >= 128) { -1_i128 } else { 0 };
    bytes.iter().fold(start, |value, &byte| value << 8 | i128::from(byte))
}

impl<'a> WireRow<'a> {
    /// The bytes at a place and their type; none for the series that stands before them.
    fn at(&self, place: usize) -> Result<(Option<&'a [u8]>, &'a ColumnType<'a>), StoreError> {
        let column = place.checked_sub(usize::from(self.series.is_some()));
        let found = column.and_then(|column| Some((*self.cells.get(column)?, self.specs.get(column)?.typ())));
        found.ok_or_else(|| unexpected("a column is missing"))
    }

    fn there(&self, place: usize) -> Result<(&'a [u8], &'a ColumnType<'a>), StoreError> {
        let (bytes, kind) = self.at(place)?;
        Ok((bytes.ok_or_else(|| unexpected("a value is missing"))?, kind))
    }

    /// The first value, a number.
    pub(super) fn number(&self) -> Result<Value, StoreError> {
        match self.at(0)?.1 {
            ColumnType::Native(NativeType::Double) => self.value(0, FieldType::F64),
            _ => self.value(0, FieldType::I64),
        }
    }
}

impl Row for WireRow<'_> {
    fn columns(&self) -> usize {
        self.cells.len()
    }

    fn push(&self, place: usize, column: &mut Column) -> Result<(), StoreError> {
        let (Some(bytes), _) = self.at(place)? else {
            column.push_null();
            return Ok(());
        };
        match &mut column.values {
            Values::Bool(values) => values.push(bytes == [1]),
            Values::I64(values) => values.push(big(bytes)?),
            Values::U16(values) => {
                let value = u16::try_from(small_of(bytes)?);
                values.push(value.map_err(|_| unexpected("a number is not of 16 bits"))?);
            }
            Values::F64(values) => values.push(f64::from_be_bytes(sized(bytes)?)),
            Values::Text(values) => values.push(utf8(bytes)?),
        }
        if let Some(present) = &mut column.present {
            present.push(true);
        }
        Ok(())
    }

    fn integer(&self, place: usize) -> Result<i64, StoreError> {
        match self.series {
            Some(series) if place == 0 => Ok(series),
            _ => match self.there(place)? {
                (bytes, ColumnType::Native(NativeType::Timestamp)) => {
                    Ok(big(bytes)?.saturating_mul(MILLISECOND))
                }
                (bytes, _) if bytes.len() == 4 => small_of(bytes),
                (bytes, _) => big(bytes),
            },
        }
    }

    fn text(&self, place: usize) -> Result<&str, StoreError> {
        utf8(self.there(place)?.0)
    }

    fn truth(&self, place: usize) -> Result<bool, StoreError> {
        Ok(self.there(place)?.0 == [1])
    }

    fn value(&self, place: usize, kind: FieldType) -> Result<Value, StoreError> {
        let (Some(bytes), of) = self.at(place)? else { return Ok(Value::Null) };
        Ok(match kind {
            FieldType::Bool => Value::Bool(bytes == [1]),
            FieldType::I64 if matches!(of, ColumnType::Native(NativeType::Varint)) => {
                let whole = varint(bytes);
                i64::try_from(whole).map_or_else(|_| Value::Text(whole.to_string()), Value::I64)
            }
            FieldType::I64 | FieldType::U16 => Value::I64(self.integer(place)?),
            FieldType::F64 => Value::F64(f64::from_be_bytes(sized(bytes)?)),
            FieldType::Text => Value::Text(utf8(bytes)?.to_owned()),
        })
    }

    fn printed(&self, place: usize) -> Result<String, StoreError> {
        let (Some(bytes), kind) = self.at(place)? else { return Ok(String::new()) };
        Ok(match kind {
            ColumnType::Native(NativeType::Text | NativeType::Ascii) => utf8(bytes)?.to_owned(),
            _ => self.integer(place)?.to_string(),
        })
    }

    fn is_null(&self, place: usize) -> Result<bool, StoreError> {
        Ok(self.at(place)?.0.is_none())
    }

    fn document(&self, place: usize) -> Result<Document<'_>, StoreError> {
        match self.there(place)? {
            (bytes, ColumnType::Native(NativeType::Text)) => Ok(Document::Json(utf8(bytes)?)),
            (bytes, _) => Ok(Document::Packed(bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_of_any_length_are_read() {
        for (bytes, value) in
            [(&[0x7f_u8][..], 127), (&[0x80], -128), (&[0x00, 0x80], 128), (&[0xff, 0x7f], -129)]
        {
            assert_eq!(varint(bytes), value);
        }
    }

    #[test]
    fn thresholds_of_whole_numbers_are_rounded_to_where_they_pass() {
        let (over, under) = (Slot::Given(0, false), Slot::Given(0, true));
        assert_eq!((whole(2.5, over), whole(2.5, under), whole(-2.5, over)), (2, 3, -3));
        assert_eq!((whole(1e30, over), small(i64::MAX)), (i64::MAX, i32::MAX.to_be_bytes()));
    }
}
