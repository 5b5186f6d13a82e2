//! Sums kept at write time: a batch is added up here, then each row of sums that it touches is updated once, in the same
//! transaction as its readings.

use super::{OPERATION, Writer, bind_series};
use crate::design::Design;
use crate::error;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection};
use sensormark_store::{Batch, Column, FieldType, Shape, StoreError, Values};
use std::collections::BTreeMap;
use std::ops::Range;

/// What has been added up of one field.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    count: i64,
    total: Number,
    smallest: Number,
    largest: Number,
}

#[derive(Debug, Clone, Copy)]
enum Number {
    Whole(i64),
    Real(f64),
}

impl Default for Number {
    fn default() -> Self {
        Self::Whole(0)
    }
}

impl Number {
    const fn bound(self) -> ToSqlOutput<'static> {
        ToSqlOutput::Borrowed(match self {
            Self::Whole(value) => ValueRef::Integer(value),
            Self::Real(value) => ValueRef::Real(value),
        })
    }

    fn of(column: &Column, row: usize) -> Option<Self> {
        match &column.values {
            Values::Bool(values) => Some(Self::Whole(i64::from(values[row]))),
            Values::I64(values) => Some(Self::Whole(values[row])),
            Values::U16(values) => Some(Self::Whole(i64::from(values[row]))),
            Values::F64(values) => Some(Self::Real(values[row])),
            Values::Text(_) => None,
        }
    }
}

impl Sum {
    fn add(&mut self, value: Option<Number>) -> Option<()> {
        self.count += 1;
        let Some(value) = value else {
            return Some(());
        };
        if self.count == 1 {
            (self.total, self.smallest, self.largest) = (value, value, value);
            return Some(());
        }
        match (
            value,
            &mut self.total,
            &mut self.smallest,
            &mut self.largest,
        ) {
            (
                Number::Whole(value),
                Number::Whole(total),
                Number::Whole(smallest),
                Number::Whole(largest),
            ) => {
                *total = total.checked_add(value)?;
                *smallest = value.min(*smallest);
                *largest = value.max(*largest);
            }
            (
                Number::Real(value),
                Number::Real(total),
                Number::Real(smallest),
                Number::Real(largest),
            ) => {
                *total += value;
                *smallest = value.min(*smallest);
                *largest = value.max(*largest);
            }
            _ => unreachable!("values of one field have one type"),
        }
        Some(())
    }
}

/// The statement that adds to a row of sums.
pub fn statement(design: &Design, number: usize) -> Option<String> {
    let (table, logical) = (&design.tables[number], &design.schema.tables[number]);
    let sums = table.sums.as_ref()?;
    let mut columns = table.key.written();
    columns.extend([sums.period.as_str(), sums.day.as_str()]);
    let mut updates = Vec::new();
    for (field, [count, sum, min, max]) in logical.fields.iter().zip(&sums.fields) {
        columns.push(count);
        updates.push(format!("{count} = {count} + excluded.{count}"));
        if field.kind != FieldType::Text {
            columns.extend([sum.as_str(), min, max]);
            updates.push(format!("{sum} = {sum} + excluded.{sum}"));
            updates.push(either("min", min));
            updates.push(either("max", max));
        }
    }
    let mut keys = table.key.identifying();
    keys.extend([sums.period.as_str(), sums.day.as_str()]);
    let values: Vec<String> = (1..=columns.len())
        .map(|place| format!("?{place}"))
        .collect();
    Some(format!(
        "INSERT INTO {} ({}) VALUES ({}) ON CONFLICT ({}) DO UPDATE SET {}",
        sums.table,
        columns.join(", "),
        values.join(", "),
        keys.join(", "),
        updates.join(", ")
    ))
}

/// The smaller or larger of the value that is there and the new one; either may be missing.
fn either(function: &str, column: &str) -> String {
    format!(
        "{column} = {function}(ifnull({column}, excluded.{column}), ifnull(excluded.{column}, {column}))"
    )
}

/// Adds these rows to their sums.
pub fn add(
    connection: &Connection,
    design: &Design,
    writer: &Writer,
    batch: &Batch,
    rows: Range<usize>,
) -> Result<(), StoreError> {
    let (Shape::Summary { per_ns, split }, Some(sql)) = (design.layout.shape, &writer.add_sums)
    else {
        return Ok(());
    };
    let mut groups: BTreeMap<(u32, i64, bool), Vec<Sum>> = BTreeMap::new();
    for row in rows {
        let time = batch.times_ns[row];
        let key = (
            batch.series[row],
            time - time.rem_euclid(per_ns),
            split.is_day(time),
        );
        let sums = groups
            .entry(key)
            .or_insert_with(|| vec![Sum::default(); batch.columns.len()]);
        for (column, sum) in batch.columns.iter().zip(sums) {
            if column.has(row) {
                sum.add(Number::of(column, row)).ok_or_else(overflow)?;
            }
        }
    }
    let wrong = |cause| error::native(OPERATION, cause);
    let mut statement = connection.prepare_cached(sql).map_err(wrong)?;
    let (key, logical) = (
        &design.tables[batch.table].key,
        &design.schema.tables[batch.table],
    );
    for ((series, period, day), sums) in groups {
        let place = bind_series(&mut statement, key, logical, series, 0).map_err(wrong)?;
        statement
            .raw_bind_parameter(place + 1, period)
            .map_err(wrong)?;
        statement
            .raw_bind_parameter(place + 2, day)
            .map_err(wrong)?;
        bind(&mut statement, batch, &sums, place + 3).map_err(wrong)?;
        statement.raw_execute().map_err(wrong)?;
    }
    Ok(())
}

fn overflow() -> StoreError {
    StoreError::new(
        sensormark_store::ErrorKind::Rejected,
        OPERATION,
        "a sum of whole numbers is over 64 bits; choose a layout without sums",
    )
}

fn bind(
    statement: &mut CachedStatement<'_>,
    batch: &Batch,
    sums: &[Sum],
    mut place: usize,
) -> rusqlite::Result<()> {
    for (column, sum) in batch.columns.iter().zip(sums) {
        statement.raw_bind_parameter(place, sum.count)?;
        place += 1;
        let kind = column.values.kind();
        if kind == FieldType::Text {
            continue;
        }
        if sum.count == 0 {
            statement.raw_bind_parameter(place, 0)?;
            statement.raw_bind_parameter(place + 1, rusqlite::types::Null)?;
            statement.raw_bind_parameter(place + 2, rusqlite::types::Null)?;
        } else {
            statement.raw_bind_parameter(place, sum.total.bound())?;
            statement.raw_bind_parameter(place + 1, sum.smallest.bound())?;
            statement.raw_bind_parameter(place + 2, sum.largest.bound())?;
        }
        place += 3;
    }
    Ok(())
}
