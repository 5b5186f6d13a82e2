//! From an answer's bytes to columns: nothing is boxed or allocated for each value.

use crate::error;
use scylla::deserialize::row::ColumnIterator;
use scylla::response::query_result::QueryRowsResult;
use sensormark_store::record::{Wanted, blob, json};
use sensormark_store::{Batch, Column, FieldSet, FieldType, StoreError, TimeRange, Value, Values};

/// A row's columns, as they came.
pub(crate) type Columns<'frame, 'metadata> = ColumnIterator<'frame, 'metadata>;

/// An answer that is not what was asked for.
pub(crate) fn odd(what: &str) -> StoreError {
    error::unexpected("read an answer", what)
}

/// Does something with each row.
pub(crate) fn each(
    pages: &[QueryRowsResult],
    mut action: impl FnMut(&mut Columns<'_, '_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    for page in pages {
        let rows = page.rows::<Columns<'_, '_>>();
        for row in rows.map_err(|error| odd(&error.to_string()))? {
            action(&mut row.map_err(|error| odd(&error.to_string()))?)?;
        }
    }
    Ok(())
}

/// The bytes of the next column, if it has any.
pub(crate) fn optional<'f>(row: &mut Columns<'f, '_>) -> Result<Option<&'f [u8]>, StoreError> {
    let column = row.next().ok_or_else(|| odd("a column is missing"))?;
    let column = column.map_err(|error| odd(&error.to_string()))?;
    Ok(column.slice.map(|slice| slice.as_slice()))
}

/// The bytes of the next column.
pub(crate) fn next<'f>(row: &mut Columns<'f, '_>) -> Result<&'f [u8], StoreError> {
    optional(row)?.ok_or_else(|| odd("a value is missing"))
}

fn sized<const N: usize>(bytes: &[u8]) -> Result<[u8; N], StoreError> {
    bytes.try_into().map_err(|_| odd("a value has another length"))
}

/// A bigint or timestamp.
pub(crate) fn big(bytes: &[u8]) -> Result<i64, StoreError> {
    Ok(i64::from_be_bytes(sized(bytes)?))
}

/// A varint.
pub(crate) fn varint(bytes: &[u8]) -> Result<i128, StoreError> {
    let first = *bytes.first().ok_or_else(|| odd("an empty number"))?;
    if bytes.len() > 16 {
        return Err(odd("a number over 128 bits"));
    }
    let start = if first >= 128 { -1_i128 } else { 0 };
    Ok(bytes.iter().fold(start, |value, &byte| value << 8 | i128::from(byte)))
}

/// A series' number.
pub(crate) fn series(row: &mut Columns<'_, '_>) -> Result<u32, StoreError> {
    Ok(i32::from_be_bytes(sized(next(row)?)?).cast_unsigned())
}

/// Text.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, StoreError> {
    std::str::from_utf8(bytes).map_err(|_| odd("a text is not UTF-8"))
}

/// A value of a field.
pub(crate) fn value(kind: FieldType, bytes: Option<&[u8]>) -> Result<Value, StoreError> {
    let Some(bytes) = bytes else {
        return Ok(Value::Null);
    };
    Ok(match kind {
        FieldType::Bool => Value::Bool(bytes == [1]),
        FieldType::I64 => Value::I64(big(bytes)?),
        FieldType::U16 => Value::I64(i64::from(i32::from_be_bytes(sized(bytes)?))),
        FieldType::F64 => Value::F64(f64::from_be_bytes(sized(bytes)?)),
        FieldType::Text => Value::Text(text(bytes)?.to_owned()),
    })
}

fn push(column: &mut Column, bytes: Option<&[u8]>) -> Result<(), StoreError> {
    let Some(bytes) = bytes else {
        column.push_null();
        return Ok(());
    };
    match &mut column.values {
        Values::Bool(values) => values.push(bytes == [1]),
        Values::I64(values) => values.push(big(bytes)?),
        Values::U16(values) => {
            let value = u16::try_from(i32::from_be_bytes(sized(bytes)?));
            values.push(value.map_err(|_| odd("a number is not of 16 bits"))?);
        }
        Values::F64(values) => values.push(f64::from_be_bytes(sized(bytes)?)),
        Values::Text(values) => values.push(text(bytes)?),
    }
    if let Some(present) = &mut column.present {
        present.push(true);
    }
    Ok(())
}

/// Appends a reading, unless it has none of the fields.
pub(crate) fn reading(
    row: &mut Columns<'_, '_>,
    series: u32,
    unit_ns: i64,
    fields: FieldSet,
    batch: &mut Batch,
) -> Result<(), StoreError> {
    let time = big(next(row)?)?;
    let mut rest = fields.iter();
    let first = loop {
        let Some(field) = rest.next() else {
            return Ok(());
        };
        if let Some(bytes) = optional(row)? {
            break (field, bytes);
        }
    };
    // Those before it are absent. They are pushed once it is known that the reading counts.
    for absent in fields.iter().take_while(|&field| field != first.0) {
        batch.columns[absent].push_null();
    }
    push(&mut batch.columns[first.0], Some(first.1))?;
    for field in rest {
        push(&mut batch.columns[field], optional(row)?)?;
    }
    batch.times_ns.push(time.saturating_mul(unit_ns));
    batch.series.push(series);
    Ok(())
}

/// Appends the wanted readings of a record.
pub(crate) fn record(
    row: &mut Columns<'_, '_>,
    series: u32,
    (span_ns, is_json): (i64, bool),
    range: TimeRange,
    fields: FieldSet,
    batch: &mut Batch,
) -> Result<(), StoreError> {
    let span = big(next(row)?)?;
    let wanted = Wanted {
        series,
        start_ns: span.wrapping_mul(span_ns),
        from_ns: range.start_ns,
        to_ns: range.end_ns.saturating_sub(1),
        fields,
    };
    let bytes = next(row)?;
    if is_json { json::decode(text(bytes)?, &wanted, batch) } else { blob::decode(bytes, &wanted, batch) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_of_any_length_are_read() {
        for (bytes, value) in
            [(&[0x7f_u8][..], 127), (&[0x80], -128), (&[0x00, 0x80], 128), (&[0xff, 0x7f], -129)]
        {
            assert_eq!(varint(bytes).unwrap(), value);
        }
        assert!(varint(&[]).is_err());
    }
}
