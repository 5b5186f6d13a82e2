//! Sums that the client adds up: a batch becomes one row for each series, period and part of the day that it touches.

use sensormark_store::{Batch, DaySplit, ErrorKind, StoreError, Table, Value};
use std::collections::BTreeMap;
use std::ops::Range;

/// What a batch adds to a row of sums.
#[derive(Debug)]
pub struct SumsRow {
    /// The series.
    pub series: u32,
    /// The first reading of it.
    pub reading: usize,
    /// The period's start in ns and whether it is day; then count, sum, smallest and largest of each field of numbers.
    pub values: Vec<Value>,
}

/// What a part of a sum becomes with one more value; nothing when a whole number is over 64 bits. Values of one field have one type.
fn with(
    part: &Value,
    value: &Value,
    whole: fn(i64, i64) -> Option<i64>,
    real: fn(f64, f64) -> f64,
) -> Option<Value> {
    match (part, value) {
        (Value::Null, first) => Some(first.clone()),
        (Value::I64(part), Value::I64(value)) => whole(*part, *value).map(Value::I64),
        (Value::F64(part), Value::F64(value)) => Some(Value::F64(real(*part, *value))),
        _ => None,
    }
}

/// Adds a value, if there is one, to count, sum, smallest and largest; nothing when the sum is over 64 bits.
fn add(parts: &mut [Value; 4], value: &Value) -> Option<()> {
    let [count, total, smallest, largest] = parts;
    if !matches!(value, Value::Null) {
        *count = with(count, &Value::I64(1), i64::checked_add, f64::max)?;
        *total = with(total, value, i64::checked_add, |one, other| one + other)?;
        *smallest = with(smallest, value, |one, other| Some(one.min(other)), f64::min)?;
        *largest = with(largest, value, |one, other| Some(one.max(other)), f64::max)?;
    }
    Some(())
}

/// What readings add to rows of sums, in an order in which all writers lock them: by series, period and part of the day.
///
/// # Errors
/// [`ErrorKind::Rejected`] when a sum of whole numbers is over 64 bits.
pub fn sums_of(
    batch: &Batch,
    readings: Range<usize>,
    description: &Table,
    (per_ns, split): (i64, DaySplit),
) -> Result<Vec<SumsRow>, StoreError> {
    let fields = description.fields.iter().enumerate();
    let numeric: Vec<usize> =
        fields.filter(|(_, field)| field.kind.is_number()).map(|(number, _)| number).collect();
    let mut rows = BTreeMap::new();
    for reading in readings {
        let (series, time) = (batch.series[reading], batch.times_ns[reading]);
        let (period, is_day) = (time - time.rem_euclid(per_ns), split.is_day(time));
        let row = rows.entry((series, period, is_day)).or_insert_with(|| {
            let nothing = [Value::I64(0), Value::Null, Value::Null, Value::Null];
            let sums = std::iter::repeat_n(nothing, numeric.len()).flatten();
            let values = [Value::I64(period), Value::Bool(is_day)].into_iter().chain(sums);
            SumsRow { series, reading, values: values.collect() }
        });
        let (sums, _) = row.values[2..].as_chunks_mut();
        for (&field, parts) in numeric.iter().zip(sums) {
            add(parts, &batch.columns[field].value(reading)).ok_or_else(overflow)?;
        }
    }
    Ok(rows.into_values().collect())
}

fn overflow() -> StoreError {
    let text = "a sum of whole numbers is over 64 bits; choose a layout without sums";
    StoreError::new(ErrorKind::Rejected, "add up sums", text)
}
