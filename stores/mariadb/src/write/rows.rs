//! Rows of parameters, straight from a batch's columns.
//!
//! It decides what is written; how it travels is decided by [`super::write`].

use super::{Step, document};
use crate::schema::{Content, Model, SECOND_NS, SumsModel, TableModel};
use mysql_async::Value as Parameter;
use sensormark_store::{Batch, Column, ErrorKind, StoreError, Table, Value, Values};
use std::collections::BTreeMap;
use std::ops::Range;

/// The value of a column as a parameter.
fn parameter(column: &Column, row: usize) -> Parameter {
    if !column.has(row) {
        return Parameter::NULL;
    }
    match &column.values {
        Values::Bool(values) => Parameter::Int(i64::from(values[row])),
        Values::I64(values) => Parameter::Int(values[row]),
        Values::U16(values) => Parameter::Int(i64::from(values[row])),
        Values::F64(values) => Parameter::Double(values[row]),
        Values::Text(values) => Parameter::Bytes(values.get(row).as_bytes().to_vec()),
    }
}

/// One value as a parameter.
fn value_parameter(value: &Value) -> Parameter {
    match value {
        Value::Null => Parameter::NULL,
        Value::Bool(value) => Parameter::Int(i64::from(*value)),
        Value::I64(value) => Parameter::Int(*value),
        Value::F64(value) => Parameter::Double(*value),
        Value::Text(value) => Parameter::Bytes(value.clone().into_bytes()),
    }
}

/// The statements that store these readings, with their rows.
pub(crate) fn steps<'a>(
    model: &'a Model,
    batch: &Batch,
    range: Range<usize>,
) -> Result<Vec<Step<'a>>, StoreError> {
    let (table, described) = model.table(batch.table)?;
    let rows = match &described.content {
        Content::Readings { .. } => range
            .clone()
            .map(|reading| reading_row(table, described, batch, reading))
            .collect(),
        Content::Fields { .. } => range
            .clone()
            .flat_map(|reading| field_rows(table, described, batch, reading))
            .collect(),
        Content::Records { span_ns, .. } => {
            records(table, described, batch, range.clone(), *span_ns)
        }
    };
    let mut steps = vec![Step {
        insert: &described.inserts.readings,
        rows,
    }];
    if let Some((sums, insert)) = described.sums.as_ref().zip(described.inserts.sums.as_ref()) {
        steps.push(Step {
            insert,
            rows: sum_rows(table, described, sums, batch, range),
        });
    }
    Ok(steps)
}

fn reading_row(
    table: &Table,
    described: &TableModel,
    batch: &Batch,
    reading: usize,
) -> Vec<Parameter> {
    let mut row = Vec::with_capacity(described.keys.len() + 1 + batch.columns.len());
    described.push_keys(table, batch.series[reading], &mut row);
    row.push(Parameter::Int(batch.times_ns[reading]));
    row.extend(
        batch
            .columns
            .iter()
            .map(|column| parameter(column, reading)),
    );
    row
}

/// Seconds since the epoch, and ns within the second.
pub(crate) const fn split(time_ns: i64) -> (i64, i64) {
    (time_ns.div_euclid(SECOND_NS), time_ns.rem_euclid(SECOND_NS))
}

fn field_rows<'a>(
    table: &'a Table,
    described: &'a TableModel,
    batch: &'a Batch,
    reading: usize,
) -> impl Iterator<Item = Vec<Parameter>> + 'a {
    let (second, nanosecond) = split(batch.times_ns[reading]);
    let fields = (0_u64..).zip(&batch.columns);
    fields
        .filter(move |(_, column)| column.has(reading))
        .map(move |(number, column)| {
            let mut row = Vec::with_capacity(described.keys.len() + 4);
            described.push_keys(table, batch.series[reading], &mut row);
            row.extend([
                Parameter::Int(second),
                Parameter::Int(nanosecond),
                Parameter::UInt(number),
                parameter(column, reading),
            ]);
            row
        })
}

/// One row for each series and span.
fn records(
    table: &Table,
    described: &TableModel,
    batch: &Batch,
    range: Range<usize>,
    span_ns: i64,
) -> Vec<Vec<Parameter>> {
    let mut documents: BTreeMap<(u32, i64), String> = BTreeMap::new();
    for reading in range {
        let time_ns = batch.times_ns[reading];
        let key = (batch.series[reading], time_ns.div_euclid(span_ns));
        let document = documents.entry(key).or_default();
        document::push(document, time_ns.rem_euclid(span_ns), batch, reading);
    }
    let row = |((series, span), mut text): ((u32, i64), String)| {
        document::finish(&mut text);
        let mut row = Vec::with_capacity(described.keys.len() + 3);
        described.push_keys(table, series, &mut row);
        row.extend([
            Parameter::Int(span),
            Parameter::UInt(text.len() as u64),
            Parameter::Bytes(text.into_bytes()),
        ]);
        row
    };
    documents.into_iter().map(row).collect()
}

/// What a write adds to one field's sums of one period.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    count: i64,
    whole: (i64, i64, i64),
    float: (f64, f64, f64),
}

impl Sum {
    fn add(&mut self, column: &Column, reading: usize) {
        if !column.has(reading) {
            return;
        }
        match &column.values {
            Values::F64(values) => {
                let value = values[reading];
                let (sum, min, max) = self.float;
                self.float = if self.count == 0 {
                    (value, value, value)
                } else {
                    (sum + value, min.min(value), max.max(value))
                };
            }
            Values::I64(values) => self.add_whole(values[reading]),
            Values::U16(values) => self.add_whole(i64::from(values[reading])),
            Values::Bool(_) | Values::Text(_) => {}
        }
        self.count += 1;
    }

    fn add_whole(&mut self, value: i64) {
        let (sum, min, max) = self.whole;
        self.whole = if self.count == 0 {
            (value, value, value)
        } else {
            (sum.saturating_add(value), min.min(value), max.max(value))
        };
    }

    fn push(self, column: &Column, row: &mut Vec<Parameter>) {
        row.push(Parameter::Int(self.count));
        if self.count == 0 {
            row.extend([Parameter::NULL, Parameter::NULL, Parameter::NULL]);
        } else if matches!(column.values, Values::F64(_)) {
            let (sum, min, max) = self.float;
            row.extend([sum, min, max].map(Parameter::Double));
        } else {
            let (sum, min, max) = self.whole;
            row.extend([sum, min, max].map(Parameter::Int));
        }
    }
}

/// One row for each series, period and part of the day, in the order of the primary key, so that writers lock in one order.
fn sum_rows(
    table: &Table,
    described: &TableModel,
    model: &SumsModel,
    batch: &Batch,
    range: Range<usize>,
) -> Vec<Vec<Parameter>> {
    let mut sums: BTreeMap<(u32, i64, bool), Vec<Sum>> = BTreeMap::new();
    for reading in range {
        let time_ns = batch.times_ns[reading];
        let key = (
            batch.series[reading],
            time_ns.div_euclid(model.per_ns),
            model.split.is_day(time_ns),
        );
        let sums = sums
            .entry(key)
            .or_insert_with(|| vec![Sum::default(); batch.columns.len()]);
        for (sum, column) in sums.iter_mut().zip(&batch.columns) {
            sum.add(column, reading);
        }
    }
    let row = |((series, period, day), sums): ((u32, i64, bool), Vec<Sum>)| {
        let mut row = Vec::new();
        described.push_identity(table, series, &mut row);
        row.extend([Parameter::Int(period), Parameter::Int(i64::from(day))]);
        for ((sum, column), columns) in sums.into_iter().zip(&batch.columns).zip(&model.fields) {
            if columns.is_some() {
                sum.push(column, &mut row);
            }
        }
        row
    };
    sums.into_iter().map(row).collect()
}

/// Parameters for updating a reading's entity, and for inserting it.
pub(crate) fn entity(
    table: &Table,
    described: &TableModel,
    reading: &Batch,
    values: &[Value],
) -> Result<(Vec<Parameter>, Vec<Parameter>), StoreError> {
    let wanted = table
        .entity
        .as_ref()
        .map_or(0, |entity| entity.columns.len());
    if values.len() != wanted {
        return Err(StoreError::new(
            ErrorKind::Rejected,
            "update an entity",
            format!("{} values for {wanted} columns", values.len()),
        ));
    }
    let (series, time) = (reading.series[0], Parameter::Int(reading.times_ns[0]));
    let mut update = vec![time.clone()];
    described.push_identity(table, series, &mut update);
    let mut insert = Vec::with_capacity(described.keys.len() + wanted + 1);
    described.push_keys(table, series, &mut insert);
    insert.extend(values.iter().map(value_parameter));
    insert.push(time);
    Ok((update, insert))
}
