//! What a random case is made of, and what of it the contract lets a store be asked.
//!
//! A scene knows no store's limits. [`steps`] fits it to one: how finely the layout keeps times, what becomes of repeated readings, whether the least whole
//! number is refused.

use sensormark_store::batch::Batch;
use sensormark_store::layout::{Family, Layout};
use sensormark_store::query::Query;
use sensormark_store::schema::{Schema, Value};
use sensormark_store::store::{RepeatedWrite, Store};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A schema, the layout that it is kept in, and what is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Scene {
    pub(super) schema: Schema,
    pub(super) family: Family,
    /// The layout among those that the store offers for the family.
    pub(super) variant: String,
    /// Readings that are written together.
    pub(super) writes: Vec<Vec<Reading>>,
}

/// One reading.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Reading {
    pub(super) table: usize,
    pub(super) series: u32,
    pub(super) time_ns: i64,
    /// One value a field.
    pub(super) values: Vec<Value>,
}

/// A case that failed once, kept to be tried first.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Kept {
    /// What was wrong, and where.
    pub(super) why: String,
    pub(super) scene: Scene,
    pub(super) questions: Vec<Query>,
}

/// One write of a scene, fitted to a store.
pub(super) enum Step {
    /// It is acknowledged.
    Written(Batch),
    /// One reading that is there already: it is refused.
    Refused(Batch),
}

/// The writes in their order. Within one write no reading is repeated, unless both are kept; then they are alike, since their order is not stated.
pub(super) fn steps(store: &dyn Store, layout: &Layout, scene: &Scene) -> Vec<Step> {
    let mut written: HashMap<(usize, u32, i64), Vec<Value>> = HashMap::new();
    let mut steps = Vec::new();
    for write in &scene.writes {
        let mut batches: Vec<Batch> = Vec::new();
        let mut later = Vec::new();
        for reading in write {
            let table = &scene.schema.tables[reading.table];
            let unit = store.time_resolution(layout, table).nanoseconds();
            let cut = reading.time_ns - reading.time_ns.rem_euclid(unit);
            let mut batch = Batch::new(reading.table, table);
            let mut values = reading.values.clone();
            if store.refuses_least_number().is_some() {
                let least = |value: &&mut Value| **value == Value::I64(i64::MIN);
                let values = values.iter_mut();
                values.filter(least).for_each(|value| *value = Value::I64(0));
            }
            let repeated = store.repeated_write(layout, table);
            let key = (reading.table, reading.series, cut);
            let before = written.get(&key).cloned();
            match (&before, repeated) {
                (Some(before), RepeatedWrite::KeepsBoth) => values.clone_from(before),
                // a store may keep what the later reading lacks
                (Some(before), RepeatedWrite::Replaces) => {
                    let pairs = values.iter_mut().zip(before);
                    pairs
                        .filter(|(value, _)| **value == Value::Null)
                        .for_each(|(value, before)| value.clone_from(before));
                }
                _ => {}
            }
            push(&mut batch, reading, &values);
            match (before.is_some(), repeated) {
                (true, RepeatedWrite::Refused) => later.push(Step::Refused(batch)),
                (true, RepeatedWrite::Replaces) => later.push(Step::Written(batch)),
                _ => match batches.iter_mut().find(|one| one.table == reading.table) {
                    Some(all) => all.push_row(&batch, 0),
                    None => batches.push(batch),
                },
            }
            if repeated == RepeatedWrite::Replaces {
                written.insert(key, values);
            } else {
                written.entry(key).or_insert(values);
            }
        }
        steps.extend(batches.into_iter().map(Step::Written));
        steps.extend(later);
    }
    steps
}

fn push(batch: &mut Batch, reading: &Reading, values: &[Value]) {
    batch.times_ns.push(reading.time_ns);
    batch.series.push(reading.series);
    for (column, value) in batch.columns.iter_mut().zip(values) {
        column.push(value.clone()).expect("values fit their fields");
    }
}

/// The batch with every number's magnitude in its place: how large sums become on their way.
pub(super) fn magnitudes(batch: &Batch) -> Batch {
    use sensormark_store::batch::Values;
    let mut batch = batch.clone();
    for column in &mut batch.columns {
        match &mut column.values {
            Values::I64(values) => values.iter_mut().for_each(|one| *one = one.saturating_abs()),
            Values::F64(values) => values.iter_mut().for_each(|one| *one = one.abs()),
            Values::Bool(_) | Values::U16(_) | Values::Text(_) => {}
        }
    }
    batch
}
