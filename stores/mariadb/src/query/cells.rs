//! Cells of rows as values of the contract.

use crate::connection::cell::{self, integer, unexpected};
use mysql_async::{Row, Value as Native};
use sensormark_store::{Column, FieldType, StoreError, Value, Values};

/// Appends a cell to a column of its type; NULL becomes an absent value.
pub(crate) fn push(column: &mut Column, row: &Row, number: usize) -> Result<(), StoreError> {
    let Some(native) = cell::value(row, number) else {
        column.push_null();
        return Ok(());
    };
    match (&mut column.values, native) {
        (Values::Bool(values), Native::Int(value)) => values.push(*value != 0),
        (Values::I64(values), Native::Int(value)) => values.push(*value),
        (Values::U16(values), _) => {
            let value = u16::try_from(integer(row, number)?);
            values.push(value.map_err(|_| unexpected(number, "number of 16 bits"))?);
        }
        (Values::F64(values), Native::Double(value)) => values.push(*value),
        (Values::Text(values), Native::Bytes(_)) => values.push(cell::text(row, number)?),
        _ => return Err(unexpected(number, "value of the field's type")),
    }
    if let Some(present) = &mut column.present {
        present.push(true);
    }
    Ok(())
}

/// A cell of a field's type.
pub(crate) fn value(row: &Row, number: usize, kind: FieldType) -> Result<Value, StoreError> {
    let Some(native) = cell::value(row, number) else {
        return Ok(Value::Null);
    };
    Ok(match kind {
        FieldType::Bool => Value::Bool(integer(row, number)? != 0),
        FieldType::I64 | FieldType::U16 => Value::I64(integer(row, number)?),
        FieldType::F64 => match native {
            Native::Double(value) => Value::F64(*value),
            _ => return Err(unexpected(number, "floating point number")),
        },
        FieldType::Text => Value::Text(cell::text(row, number)?.to_owned()),
    })
}

/// A sum of whole numbers, which the server gives as a decimal: of 64 bits where it fits, else floating.
pub(crate) fn whole_sum(row: &Row, number: usize) -> Result<Value, StoreError> {
    match cell::value(row, number) {
        None => Ok(Value::Null),
        Some(Native::Bytes(_)) => {
            let sum: i128 = cell::text(row, number)?
                .parse()
                .map_err(|_| unexpected(number, "whole sum"))?;
            Ok(i64::try_from(sum).map_or(Value::F64(sum as f64), Value::I64))
        }
        Some(_) => integer(row, number).map(Value::I64),
    }
}
