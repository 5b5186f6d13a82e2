//! Parameters: what each slot of a statement is bound to. Times are whole numbers, symbols are texts.

use bytes::{BufMut, BytesMut};
use sensormark_relational::cell::Cell;
use sensormark_relational::plan::slot::{Bindings, Slot};
use std::error::Error;
use std::fmt;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// No value.
    Null,
    /// A whole number, or a time in ns.
    Whole(i64),
    /// A floating point number.
    Real(f64),
    /// A text, or a symbol.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("NULL"),
            Self::Whole(value) => write!(formatter, "{value}"),
            Self::Real(value) => write!(formatter, "{value:?}"),
            Self::Text(value) => write!(formatter, "'{}'", value.replace('\'', "''")),
        }
    }
}

impl ToSql for Value {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => return Ok(IsNull::Yes),
            Self::Whole(value) => out.put_i64(*value),
            Self::Real(value) => out.put_f64(*value),
            Self::Text(value) => out.put_slice(value.as_bytes()),
        }
        Ok(IsNull::No)
    }

    // Statements are prepared with the types of their values, so there is nothing to check.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// The types of a statement's parameters.
pub(super) fn kinds(slots: &[Slot], asked: Bindings<'_>) -> Vec<Type> {
    let mut kinds = Vec::with_capacity(slots.len());
    for slot in slots {
        match slot {
            Slot::Members => {
                let width = asked.table.keys.len();
                asked.each_series(|_| kinds.extend((0..width).map(|_| Type::VARCHAR)));
            }
            Slot::Key(_) | Slot::Member(..) | Slot::OtherKey(_) | Slot::TagValue => kinds.push(Type::VARCHAR),
            Slot::Threshold | Slot::Number(_) => kinds.push(Type::FLOAT8),
            _ => kinds.push(Type::INT8),
        }
    }
    kinds
}

/// The values of a statement's parameters.
pub(super) fn values(slots: &[Slot], asked: Bindings<'_>) -> Vec<Value> {
    let mut values = Vec::with_capacity(slots.len());
    for &slot in slots {
        match slot {
            Slot::Members => asked.each_series(|series| {
                let keys = 0..asked.table.keys.len();
                let cell = |key| asked.table.key_cell(asked.description, key, series);
                values.extend(keys.map(|key| symbol(cell(key))));
            }),
            Slot::Key(_) | Slot::Member(..) | Slot::OtherKey(_) | Slot::TagValue => {
                values.push(symbol(asked.value(slot)));
            }
            // The least whole number is no value, and readings are of 1970 or later.
            Slot::Start | Slot::End | Slot::StartNs | Slot::EndNs => {
                values.push(match plain(asked.value(slot)) {
                    Value::Whole(ns) => Value::Whole(ns.max(0)),
                    other => other,
                });
            }
            _ => values.push(plain(asked.value(slot))),
        }
    }
    values
}

fn plain(cell: Cell<'_>) -> Value {
    match cell {
        Cell::Null | Cell::Encoded(_) => Value::Null,
        Cell::Bool(value) => Value::Whole(i64::from(value)),
        Cell::I16(value) => Value::Whole(i64::from(value)),
        Cell::I32(value) => Value::Whole(i64::from(value)),
        Cell::I64(value) => Value::Whole(value),
        Cell::F64(value) => Value::Real(value),
        Cell::Text(value) => Value::Text(value.to_owned()),
    }
}

/// A tag's value as its symbol.
fn symbol(cell: Cell<'_>) -> Value {
    match plain(cell) {
        Value::Whole(value) => Value::Text(value.to_string()),
        other => other,
    }
}
