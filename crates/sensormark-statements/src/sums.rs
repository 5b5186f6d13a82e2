//! Sums that the client adds up: a batch becomes one row for each series, period and part of the day that it touches.

use sensormark_drivers::{Cell, MadeRow};
use sensormark_store::{Batch, DaySplit, ErrorKind, StoreError, Table};
use std::collections::BTreeMap;
use std::ops::Range;

/// What a part of a sum becomes with one more value; nothing when a whole number is over 64 bits. Values of one field have one type.
fn with<'a>(
    part: Cell<'a>,
    value: Cell<'a>,
    whole: fn(i64, i64) -> Option<i64>,
    real: fn(f64, f64) -> f64,
) -> Option<Cell<'a>> {
    match (part, value) {
        (Cell::Null, first) => Some(first),
        (Cell::I64(part), Cell::I64(value)) => whole(part, value).map(Cell::I64),
        (Cell::F64(part), Cell::F64(value)) => Some(Cell::F64(real(part, value))),
        _ => None,
    }
}

/// Adds a value, if there is one, to count, sum, smallest and largest; nothing when the sum is over 64 bits.
fn add<'a>(parts: &mut [Cell<'a>; 4], value: Cell<'a>) -> Option<()> {
    let [count, total, smallest, largest] = parts;
    if !matches!(value, Cell::Null) {
        *count = with(*count, Cell::I64(1), i64::checked_add, f64::max)?;
        *total = with(*total, value, i64::checked_add, |one, other| one + other)?;
        *smallest = with(*smallest, value, |one, other| Some(one.min(other)), f64::min)?;
        *largest = with(*largest, value, |one, other| Some(one.max(other)), f64::max)?;
    }
    Some(())
}

/// What a batch adds to rows of sums: the period's start in ns, whether it is day, and four parts for each field of numbers. The rows come in an order in which
/// all writers lock them: by series, period and part of the day.
///
/// # Errors
/// [`ErrorKind::Rejected`] when a sum of whole numbers is over 64 bits.
pub fn sums_of<'a>(
    batch: &'a Batch,
    readings: Range<usize>,
    description: &Table,
    (per_ns, split): (i64, DaySplit),
) -> Result<Vec<MadeRow<'a>>, StoreError> {
    let fields = description.fields.iter().enumerate();
    let numeric: Vec<usize> =
        fields.filter(|(_, field)| field.kind.is_number()).map(|(number, _)| number).collect();
    let mut rows = BTreeMap::new();
    for reading in readings {
        let time = batch.times_ns[reading];
        let (period, is_day) = (time - time.rem_euclid(per_ns), split.is_day(time));
        let row = rows.entry((batch.series[reading], period, is_day)).or_insert_with(|| {
            let nothing = [Cell::I64(0), Cell::Null, Cell::Null, Cell::Null];
            let sums = std::iter::repeat_n(nothing, numeric.len()).flatten();
            MadeRow {
                reading,
                values: [Cell::I64(period), Cell::Bool(is_day)].into_iter().chain(sums).collect(),
            }
        });
        let (sums, _) = row.values[2..].as_chunks_mut();
        for (&field, parts) in numeric.iter().zip(sums) {
            add(parts, Cell::field(batch, reading, field)).ok_or_else(overflow)?;
        }
    }
    Ok(rows.into_values().collect())
}

fn overflow() -> StoreError {
    let text = "a sum of whole numbers is over 64 bits; choose a layout without sums";
    StoreError::new(ErrorKind::Rejected, "add up sums", text)
}
