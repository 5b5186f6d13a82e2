//! Values in the binary form of PostgreSQL's protocol, which other databases speak, too. Whole numbers have 2, 4 or 8 bytes, floating point numbers 8, the
//! highest byte first. Text is in UTF-8. A truth value is a number that is zero or not.
//!
//! Which bytes belong to which place of a row is known to the store's driver.

use sensormark_kit::unexpected;
use sensormark_store::{Column, FieldType, StoreError, Value, Values};

fn fixed<const LENGTH: usize>(raw: &[u8]) -> Result<[u8; LENGTH], StoreError> {
    raw.try_into().map_err(|_| unexpected("a value has the wrong length"))
}

/// A whole number.
///
/// # Errors
/// [`sensormark_store::ErrorKind::Protocol`] when it has another length.
#[inline]
pub fn integer(raw: &[u8]) -> Result<i64, StoreError> {
    Ok(match raw.len() {
        2 => i64::from(i16::from_be_bytes(fixed(raw)?)),
        4 => i64::from(i32::from_be_bytes(fixed(raw)?)),
        _ => i64::from_be_bytes(fixed(raw)?),
    })
}

/// A text.
///
/// # Errors
/// [`sensormark_store::ErrorKind::Protocol`] when it is not UTF-8.
#[inline]
pub fn text(raw: &[u8]) -> Result<&str, StoreError> {
    std::str::from_utf8(raw).map_err(|_| unexpected("a text is not UTF-8"))
}

#[inline]
fn real(raw: &[u8]) -> Result<f64, StoreError> {
    Ok(f64::from_be_bytes(fixed(raw)?))
}

#[inline]
fn truth(raw: &[u8]) -> bool {
    raw.iter().any(|byte| *byte != 0)
}

/// Appends a value to a column of its type; without one an absent value.
///
/// # Errors
/// [`sensormark_store::ErrorKind::Protocol`] when it is of another type.
#[inline]
pub fn push(raw: Option<&[u8]>, column: &mut Column) -> Result<(), StoreError> {
    let Some(raw) = raw else {
        column.push_null();
        return Ok(());
    };
    match &mut column.values {
        Values::Bool(values) => values.push(truth(raw)),
        Values::I64(values) => values.push(integer(raw)?),
        Values::U16(values) => {
            let value = u16::try_from(integer(raw)?);
            values.push(value.map_err(|_| unexpected("a number is not of 16 bits"))?);
        }
        Values::F64(values) => values.push(real(raw)?),
        Values::Text(values) => values.push(text(raw)?),
    }
    if let Some(present) = &mut column.present {
        present.push(true);
    }
    Ok(())
}

/// A value of this type.
///
/// # Errors
/// [`sensormark_store::ErrorKind::Protocol`] when it is of another type.
pub fn value(raw: Option<&[u8]>, kind: FieldType) -> Result<Value, StoreError> {
    let Some(raw) = raw else {
        return Ok(Value::Null);
    };
    Ok(match kind {
        FieldType::Bool => Value::Bool(truth(raw)),
        FieldType::I64 | FieldType::U16 => Value::I64(integer(raw)?),
        FieldType::F64 => Value::F64(real(raw)?),
        FieldType::Text => Value::Text(text(raw)?.to_owned()),
    })
}

/// Hands over each element of an array of one dimension, none where it is NULL.
///
/// # Errors
/// [`sensormark_store::ErrorKind::Protocol`] when the array is cut off, and what `each` fails with.
pub fn elements(
    raw: &[u8],
    mut each: impl FnMut(Option<&[u8]>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let short = || unexpected("an array is cut off");
    let word = |at: usize| {
        let bytes = raw.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).ok_or_else(short)?;
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
