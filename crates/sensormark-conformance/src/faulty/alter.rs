//! How faults change readings that are written and answers that are given.

use super::fault::{AnswerKind, Fault};
use sensormark_store::answer::Answer;
use sensormark_store::batch::{Batch, Column, TextColumn, Values};
use sensormark_store::query::Query;
use sensormark_store::schema::Value;

/// What is written instead of this batch, one write an entry; `None` where it is written as it is. `seen` counts readings.
pub(super) fn readings(fault: Fault, batch: &Batch, seen: &mut u64) -> Option<Vec<Batch>> {
    let before = *seen;
    *seen += batch.len() as u64;
    let struck = |every: u64| -> Vec<usize> {
        (0..batch.len()).filter(|&row| (before + row as u64 + 1).is_multiple_of(every)).collect()
    };
    match fault {
        Fault::Drop { every } => {
            let rows = struck(every);
            let left = |row: &usize| rows.binary_search(row).is_err();
            (!rows.is_empty()).then(|| {
                let part = chosen(batch, (0..batch.len()).filter(left));
                if part.is_empty() { Vec::new() } else { vec![part] }
            })
        }
        Fault::Duplicate { every } => {
            let rows = struck(every);
            (!rows.is_empty()).then(|| vec![batch.clone(), chosen(batch, rows.into_iter())])
        }
        Fault::Corrupt { every } => {
            let rows = struck(every);
            (!rows.is_empty()).then(|| {
                let mut changed = batch.clone();
                for row in rows {
                    change_reading(&mut changed, row);
                }
                vec![changed]
            })
        }
        Fault::Round { to } => {
            let unit = to.nanoseconds();
            let mut changed = batch.clone();
            for time in &mut changed.times_ns {
                *time -= time.rem_euclid(unit);
            }
            Some(vec![changed])
        }
        _ => None,
    }
}

fn chosen(batch: &Batch, rows: impl Iterator<Item = usize>) -> Batch {
    let mut chosen = batch.clone();
    chosen.clear();
    for row in rows {
        chosen.push_row(batch, row);
    }
    chosen
}

/// Changes the first value that the reading has.
fn change_reading(batch: &mut Batch, row: usize) {
    if let Some(column) = batch.columns.iter_mut().find(|column| column.has(row)) {
        change_value(column, row);
    }
}

fn change_value(column: &mut Column, row: usize) {
    match &mut column.values {
        Values::Bool(values) => values[row] = !values[row],
        Values::I64(values) => values[row] ^= 1,
        Values::U16(values) => values[row] ^= 1,
        Values::F64(values) => values[row] = other_number(values[row]),
        Values::Text(values) => {
            let mut changed = TextColumn::default();
            for other in 0..values.len() {
                let text = values.get(other);
                if other == row {
                    changed.push(&format!("{text}?"));
                } else {
                    changed.push(text);
                }
            }
            *values = changed;
        }
    }
}

/// A number near this one, and certainly not it.
fn other_number(number: f64) -> f64 {
    if number.abs() < 1e15 { number + 1.0 } else { number / 2.0 }
}

/// Changes an answer, where the fault strikes. `seen` counts answers that hold something and that the fault is about.
pub(super) fn answer(fault: Fault, query: &Query, answer: &mut Answer, seen: &mut u64) {
    let (every, empties) = match fault {
        Fault::WrongAnswer { kind, every } if kind == AnswerKind::of(&query.ask) => (every, false),
        Fault::EmptyAnswer { every } => (every, true),
        _ => return,
    };
    if answer.is_empty() {
        return;
    }
    *seen += 1;
    if !seen.is_multiple_of(every) {
        return;
    }
    match answer {
        Answer::Readings(batch) if empties => batch.clear(),
        Answer::Readings(batch) => change_reading(batch, 0),
        Answer::Moment(moment) if empties => *moment = None,
        Answer::Moment(moment) => {
            if let Some(moment) = moment {
                moment.time_ns += 1;
            }
        }
        Answer::Groups(groups) if empties => groups.clear(),
        Answer::Groups(groups) => {
            let mut values = groups.iter_mut().flat_map(|group| &mut group.values);
            if let Some(value) = values.find(|value| **value != Value::Null) {
                change(value);
            }
        }
        Answer::Series(series) if empties => series.clear(),
        Answer::Series(series) => {
            series.pop();
        }
    }
}

fn change(value: &mut Value) {
    match value {
        Value::Null => {}
        Value::Bool(value) => *value = !*value,
        Value::I64(value) => *value ^= 1,
        Value::F64(value) => *value = other_number(*value),
        Value::Text(value) => value.push('?'),
    }
}
