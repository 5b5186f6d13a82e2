//! Writing: a put for one row, one request for the rows of a container, one a node for those of several.
//!
//! Rows are put by their key, so a repeated reading takes the place of the one that is there; of two in one batch the later one stays. Records of a span have
//! no key, and are added. A durable batch is committed by hand, a container and 1,000 rows at a time: by itself GridDB commits, and flushes, each row.

use crate::client::{Failure, Row};
use crate::containers::{Containers, Place};
use crate::error::mapped;
use crate::schema::Rows;
use sensormark_store::record::{self, blob, json};
use sensormark_store::{
    Acknowledgement, Atomicity, Batch, Column, EntityReading, ErrorKind, Layout, Limits, Shape, StoreError,
    Value, Values,
};
use std::ops::Range;

/// Readings that are gathered by container at a time.
const READINGS: usize = 100_000;

/// Rows in one request, as in the documentation's examples of multi-put. The client holds an object for each row of a request.
const ROWS: usize = 1_000;

/// The longest text in bytes: a STRING in blocks of 64 KB.
const LONGEST_TEXT: usize = 31 * 1024;

/// The largest record in bytes: the C client takes no larger request.
const LARGEST_RECORD: usize = 64 << 20;

/// The largest statements.
pub(crate) const fn limits(layout: &Layout) -> Limits {
    match layout.shape {
        Shape::RecordPerSpan { .. } => Limits { readings_per_statement: 1_000_000 },
        _ => Limits { readings_per_statement: READINGS },
    }
}

fn too_large(operation: &str, what: &str, size: usize, most: usize) -> StoreError {
    let text =
        format!("{what} of {size} bytes is larger than {most}; write less at a time, or shorter texts");
    StoreError::new(ErrorKind::TooLarge, operation, text)
}

/// The number of a column: fields come after this many others.
pub(crate) fn column(before: i32, field: usize) -> i32 {
    before + i32::try_from(field).unwrap_or(i32::MAX - before)
}

/// Sets a field from a column of a batch.
fn set(row: &mut Row, number: i32, column: &Column, at: usize) -> Result<(), Failure> {
    if !column.has(at) {
        return row.set_null(number);
    }
    match &column.values {
        Values::Bool(values) => row.set_bool(number, values[at]),
        Values::I64(values) => row.set_long(number, values[at]),
        Values::U16(values) => row.set_integer(number, values[at].into()),
        Values::F64(values) => row.set_double(number, values[at]),
        Values::Text(values) => row.set_text(number, values.get(at)),
    }
}

/// Sets a field from a value of an entity.
fn set_value(row: &mut Row, number: i32, value: &Value, narrow: bool) -> Result<(), Failure> {
    match value {
        Value::Null => row.set_null(number),
        Value::Bool(value) => row.set_bool(number, *value),
        Value::I64(value) if narrow => row.set_integer(number, i32::try_from(*value).unwrap_or(i32::MAX)),
        Value::I64(value) => row.set_long(number, *value),
        Value::F64(value) => row.set_double(number, *value),
        Value::Text(value) => row.set_text(number, value),
    }
}

/// Refuses what is too large before anything is sent, so that a refused batch leaves nothing behind.
fn check(batch: &Batch, rows: Rows) -> Result<(), StoreError> {
    if let Rows::Record { .. } = rows {
        return Ok(());
    }
    for column in &batch.columns {
        if let Values::Text(values) = &column.values {
            let longest = (0..values.len()).map(|row| values.get(row).len()).max();
            if let Some(length) = longest.filter(|&length| length > LONGEST_TEXT) {
                return Err(too_large("write readings", "a text", length, LONGEST_TEXT));
            }
        }
    }
    Ok(())
}

/// Rows of one container: these of those that a write brings.
struct Part {
    place: Place,
    rows: Range<usize>,
}

/// The readings of a batch by their containers, in parts of one request at most. The rows are in the order of [`Batch::rows_by_series`].
fn parts(batch: &Batch, order: &[u32]) -> Vec<Part> {
    let series = |row: u32| batch.series[row as usize];
    let mut start = 0;
    order
        .chunk_by(|&one, &other| series(one) == series(other))
        .flat_map(|rows| rows.chunks(ROWS))
        .map(|rows| {
            let begin = start;
            start += rows.len();
            Part { place: Place::Series(batch.table, series(rows[0])), rows: begin..start }
        })
        .collect()
}

/// The same parts in runs of at most so many rows, each a request. A part stays whole.
fn requests(parts: &[Part]) -> Vec<&[Part]> {
    let (mut runs, mut start, mut rows) = (Vec::new(), 0, 0);
    for (place, part) in parts.iter().enumerate() {
        if place > start && rows + part.rows.len() > ROWS {
            runs.push(&parts[start..place]);
            (start, rows) = (place, 0);
        }
        rows += part.rows.len();
    }
    if start < parts.len() {
        runs.push(&parts[start..]);
    }
    runs
}

/// Writes a batch.
pub(crate) fn write(
    containers: &mut Containers,
    batch: &Batch,
    durable: bool,
) -> Result<Acknowledgement, StoreError> {
    let rows = containers.physical.rows;
    check(batch, rows)?;
    let mut done = Acknowledgement::default();
    let most = limits(&containers.physical.layout).readings_per_statement;
    let mut start = 0;
    while start < batch.len() {
        let end = batch.len().min(start + most);
        let sent = match rows {
            Rows::Record { span_ns, json } => {
                records(containers, batch, start..end, (span_ns, json), durable)
            }
            _ => readings(containers, batch, start..end, durable),
        };
        done.statements += sent.map_err(|error| error.after_acknowledging(done.readings))?;
        done.readings += (end - start) as u64;
        done.sent = done.readings;
        start = end;
    }
    Ok(done)
}

const WRITE: &str = "write readings";

fn failed(failure: Failure) -> StoreError {
    mapped(WRITE, failure)
}

/// Writes rows of readings; gives the number of requests.
fn readings(
    containers: &mut Containers,
    batch: &Batch,
    range: Range<usize>,
    durable: bool,
) -> Result<u64, StoreError> {
    let rows = containers.physical.rows;
    let order = batch.rows_by_series(range);
    let fill = |row: &mut Row, number: usize| -> Result<(), Failure> {
        let at = order[number] as usize;
        let key = rows.key(batch.times_ns[at]);
        if rows == Rows::Timed {
            row.set_time(0, key)?;
        } else {
            row.set_long(0, key)?;
        }
        for (field, values) in batch.columns.iter().enumerate() {
            set(row, column(1, field), values, at)?;
        }
        Ok(())
    };
    if order.len() > ROWS {
        containers.let_rows_go_but_of(batch.table);
    }
    let mut sent = 0;
    for request in requests(&parts(batch, &order)) {
        let done = send(containers, request, durable, &fill);
        // What earlier requests took stays there.
        sent += done.map_err(|error| {
            let doubt = error.is_in_doubt() || sent > 0;
            error.with_doubt(doubt)
        })?;
    }
    Ok(sent)
}

/// Fills a row of a container with the reading or record of this number among those that a write brings.
type Fill<'a> = dyn Fn(&mut Row, usize) -> Result<(), Failure> + 'a;

/// Sends the rows of some containers; gives the number of requests.
fn send(
    containers: &mut Containers,
    parts: &[Part],
    durable: bool,
    fill: &Fill<'_>,
) -> Result<u64, StoreError> {
    let mut ready = Vec::with_capacity(parts.len());
    for part in parts {
        let container =
            if durable { containers.get_by_hand(part.place)? } else { containers.get(part.place)? };
        let mut rows = container.rows(part.rows.len()).map_err(failed)?;
        for (row, number) in rows.iter_mut().zip(part.rows.clone()) {
            fill(row, number).map_err(failed)?;
        }
        ready.push((container, rows));
    }
    if let [(container, rows)] = ready.as_slice()
        && !durable
    {
        let put = match &**rows {
            [row] => container.put(row),
            rows => container.put_rows(rows),
        };
        put.map_err(failed)?;
        return Ok(1);
    }
    if durable {
        for (number, (container, rows)) in ready.iter().enumerate() {
            let put = container.put_rows(rows).and_then(|()| container.commit());
            put.map_err(|failure| {
                container.abort().ok();
                let error = failed(failure);
                let doubt = error.is_in_doubt() || number > 0;
                error.with_doubt(doubt)
            })?;
        }
        return Ok(ready.len() as u64);
    }
    let names: Vec<String> = parts.iter().map(|part| containers.name(part.place)).collect();
    let named: Vec<(&str, &[Row])> =
        names.iter().zip(&ready).map(|(name, (_, rows))| (name.as_str(), &**rows)).collect();
    // what one container took stays there when another one fails
    let sent = containers.connection.put_many(&named);
    sent.map_err(|failure| failed(failure).with_doubt(true))?;
    Ok(1)
}

/// Writes records of spans; gives the number of requests.
fn records(
    containers: &mut Containers,
    batch: &Batch,
    range: Range<usize>,
    (span_ns, json): (i64, bool),
    durable: bool,
) -> Result<u64, StoreError> {
    let runs = record::runs(batch, range, span_ns);
    let mut spans: Vec<(i64, Vec<u8>)> = Vec::new();
    let mut parts: Vec<Part> = Vec::new();
    for record in record::records(&runs, span_ns) {
        let mut bytes = Vec::new();
        if json {
            json::encode(batch, &record, &mut bytes);
        } else {
            blob::encode(batch, &record, &mut bytes)?;
        }
        if bytes.len() > LARGEST_RECORD {
            return Err(too_large(WRITE, "a record", bytes.len(), LARGEST_RECORD));
        }
        let place = Place::Series(batch.table, record.series);
        match parts.last_mut() {
            Some(part) if part.place == place => part.rows.end += 1,
            _ => parts.push(Part { place, rows: spans.len()..spans.len() + 1 }),
        }
        spans.push((record.span, bytes));
    }
    let fill = |row: &mut Row, at: usize| -> Result<(), Failure> {
        row.set_long(0, spans[at].0)?;
        row.set_blob(1, &spans[at].1)
    };
    send(containers, &parts, durable, &fill)
}

/// Updates an entity, or adds it, and writes its reading: two commits.
pub(crate) fn upsert(
    containers: &mut Containers,
    write: EntityReading<'_>,
    durable: bool,
) -> Result<Acknowledgement, StoreError> {
    const OPERATION: &str = "update an entity";
    let batch = write.reading;
    let schema = std::sync::Arc::clone(&containers.physical.schema);
    let table = schema.tables.get(batch.table);
    let Some(entity) = table.and_then(|table| table.entity.as_ref()) else {
        return Err(StoreError::unsupported(OPERATION, "the table has no entity"));
    };
    if write.atomicity == Atomicity::Atomic {
        return Err(StoreError::unsupported(
            OPERATION,
            "a transaction ends at a container, so that an entity and its reading are two",
        ));
    }
    check(batch, containers.physical.rows)?;
    let failed = |failure| mapped(OPERATION, failure);
    let container = containers.get(Place::Entities(batch.table))?;
    let key = i32::try_from(batch.series[0]).unwrap_or(i32::MAX);
    let mut rows = container.rows(1).map_err(failed)?;
    let row = &mut rows[0];
    if !container.row_by_integer(key, row).map_err(failed)? {
        row.set_integer(0, key).map_err(failed)?;
        for (number, (value, field)) in write.entity.iter().zip(&entity.columns).enumerate() {
            let narrow = field.kind == sensormark_store::FieldType::U16;
            set_value(row, column(2, number), value, narrow).map_err(failed)?;
        }
    }
    let time = containers.physical.rows;
    let last = match time {
        Rows::Timed => time.time_ns(time.key(batch.times_ns[0])),
        Rows::Reading | Rows::Record { .. } => batch.times_ns[0],
    };
    row.set_long(1, last).map_err(failed)?;
    container.put(row).map_err(failed)?;
    drop(rows);
    let mut done = self::write(containers, batch, durable)?;
    done.statements += 1;
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_holds_whole_parts_of_a_thousand_rows_at_most() {
        let part = |rows: usize| Part { place: Place::Series(0, 0), rows: 0..rows };
        let parts = [400, 600, 1, 1_000, 300, 300].map(part);
        let sizes: Vec<Vec<usize>> = requests(&parts)
            .into_iter()
            .map(|request| request.iter().map(|part| part.rows.len()).collect())
            .collect();
        assert_eq!(sizes, [vec![400, 600], vec![1], vec![1_000], vec![300, 300]]);
        assert!(requests(&[]).is_empty());
    }
}
