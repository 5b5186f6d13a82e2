//! Values as the driver takes them.

use mysql_async::Value;
use sensormark_relational::cell::Cell;

/// A value as the driver takes it.
#[inline]
pub(crate) fn native(cell: Cell<'_>) -> Value {
    match cell {
        Cell::Null => Value::NULL,
        Cell::Bool(value) => Value::Int(i64::from(value)),
        Cell::I16(value) => Value::Int(i64::from(value)),
        Cell::I32(value) => Value::Int(i64::from(value)),
        Cell::I64(value) => Value::Int(value),
        Cell::F64(value) => Value::Double(value),
        Cell::Text(value) => Value::Bytes(value.as_bytes().to_vec()),
        Cell::Encoded(value) => Value::Bytes(value.to_vec()),
    }
}
