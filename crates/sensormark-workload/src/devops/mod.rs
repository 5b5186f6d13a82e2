//! The devops workload: many hosts report nine measurements every ten seconds; loading them, the disk that they take, and six questions of a dashboard.
//!
//! A trial loads the data once for each number of workers, each time into an empty database that is then brought to rest and measured. It then asks the six
//! questions by one and by several clients, and lets the data grow. The numbers are in [`Parameters`], the writes in [`writes`], the questions in
//! [`questions`], the answers that are due in [`history`]. Data: [`sensormark_data::devops`].

pub mod history;
mod parameters;
pub mod questions;
pub mod steps;
#[cfg(test)]
mod tests;
pub mod writes;

use crate::{growth, live};
pub use parameters::{LAYOUTS, Parameters};
use sensormark_data::devops::fields::MEASUREMENTS;
use sensormark_data::devops::{Devops, INTERVAL_NS, START_NS, TICK_LIMIT, VALUES_PER_HOST};
use sensormark_data::export::{DataRequest, DataSet};
use sensormark_engine::judge::work::Work;
use sensormark_engine::of_table;
use sensormark_engine::parameter;
use sensormark_engine::trial::script::Step;
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{Figure, LoadRecord, TrialRecord};
use sensormark_store::{DaySplit, DefaultSelection, Family, LayoutOption, Schema, WriteMethod};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use steps::Script;

/// The workload's name.
pub const NAME: &str = "devops";

/// Names of figures that the workload adds to a trial's record; those with a slash end with a phase's or table's name.
pub mod figures {
    /// Values that a load stored a second, by its phase.
    pub const VALUES_PER_SECOND: &str = "values_per_second";
    /// Values that had been stored when disk was measured, by the phase of settling.
    pub const VALUES: &str = "values";
    /// Readings in a write, the last of a block perhaps fewer, by table.
    pub const READINGS_PER_WRITE: &str = "readings_per_write";
}

/// A minute, which the buckets of the study's opponents cover, in ns.
const BUCKET_NS: i64 = 60_000_000_000;
/// Readings in a minute.
const BUCKET_READINGS: u32 = 6;
const HOUR_NS: i64 = 3_600_000_000_000;

/// The workload.
#[derive(Debug, Clone, Copy, Default)]
pub struct DevopsWorkload;

const fn data(parameters: &Parameters, seed: u64) -> Devops {
    Devops { seed, hosts: parameters.hosts, walk: parameters.walk }
}

/// A host sends a reading, of one measurement or another, as often as this, in seconds.
pub fn data_seconds_of_a_reading() -> f64 {
    INTERVAL_NS as f64 / 1e9 / MEASUREMENTS.len() as f64
}

fn read(parameters: &Value) -> Result<Parameters, String> {
    parameter::read(parameters)
}

impl WorkloadFactory for DevopsWorkload {
    fn name(&self) -> &str {
        NAME
    }

    fn summary(&self) -> &str {
        "hosts that report 101 values each every 10 s: loading, disk, dashboard questions"
    }

    of_table!(Parameters, read);

    fn data_set(&self, parameters: &Value, request: &DataRequest) -> Result<DataSet, String> {
        let parameters = read(parameters)?;
        request.begins(NAME, START_NS)?;
        let ticks = match request.steps(NAME, INTERVAL_NS)? {
            Some(ticks) if ticks < TICK_LIMIT => ticks,
            Some(_) => return Err("--for: data of under 300 years".to_owned()),
            None => {
                parameters.check_data()?;
                parameters.ticks()
            }
        };
        Ok(data(&parameters, request.seed).data_set(ticks))
    }

    fn schema(&self, parameters: &Value) -> Result<Schema, String> {
        let parameters = read(parameters)?;
        // Tags of any seed will do for asking stores for layouts, and of a few hosts.
        let hosts = parameters.hosts.clamp(1, 2);
        Ok(Devops { hosts, ..data(&parameters, 0) }.schema())
    }

    fn fit(&self, parameters: Value, budget: Duration) -> Value {
        growth::changed(parameters, |own: &mut Parameters| own.fit(budget))
    }

    fn families(&self, parameters: &Value) -> Result<Vec<(String, Family)>, String> {
        let parameters = read(parameters)?;
        let buckets = Family::Bucketed {
            limit: BUCKET_READINGS,
            per_ns: BUCKET_NS,
            split: DaySplit { day_start_ns: 6 * HOUR_NS, day_end_ns: 22 * HOUR_NS },
        };
        let all = [Family::PerReading, buckets];
        let named = LAYOUTS.iter().zip(all);
        let wanted = |name: &str| parameters.layouts.iter().any(|one| one == name);
        Ok(named
            .filter(|(name, _)| wanted(name))
            .map(|(name, family)| ((*name).to_owned(), family))
            .collect())
    }

    /// Ingest is of what a database has acknowledged: datagrams, which nobody acknowledges, are measured only when they are asked for.
    fn choose(&self, _parameters: &Value, _family: &str, offers: &mut [LayoutOption]) {
        let datagrams = |offer: &&mut LayoutOption| offer.layout.write == WriteMethod::Datagram;
        for offer in offers.iter_mut().filter(datagrams) {
            offer.default_selection = DefaultSelection::OnRequest;
        }
    }

    fn build(
        &self,
        parameters: &Value,
        seed: u64,
        subject: Subject<'_>,
    ) -> Result<Box<dyn Workload>, String> {
        let parameters = read(parameters)?;
        parameters.check()?;
        let data = data(&parameters, seed);
        let schema = Arc::new(data.schema());
        Ok(Box::new(Built {
            script: Script::new(Arc::new(parameters), data, Arc::clone(&schema), subject),
            schema,
        }))
    }
}

/// The workload on one layout of one store.
struct Built {
    script: Script,
    schema: Arc<Schema>,
}

impl Workload for Built {
    fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema)
    }

    fn work(&self, load: &LoadRecord, _record: &TrialRecord) -> Work {
        live::work(load)
    }

    fn steps(&self) -> Vec<Step> {
        self.script.steps.clone()
    }

    fn figures(&self, record: &mut TrialRecord) {
        add_rates(record);
        add_stored(record);
        for (table, measurement) in MEASUREMENTS.iter().enumerate() {
            let readings = self.script.base.readings(table) as f64;
            let name = format!("{}/{}", figures::READINGS_PER_WRITE, measurement.name);
            record.figures.insert(name, Figure::new(readings, "readings"));
        }
    }
}

/// Values in so many readings. Tables keep pace with each other, so that nine readings, one a table, hold 101 values.
fn values(readings: f64) -> f64 {
    readings * VALUES_PER_HOST as f64 / MEASUREMENTS.len() as f64
}

fn add_rates(record: &mut TrialRecord) {
    let loads = record.loads.iter();
    let writing = loads.filter(|load| load.writes && load.seconds > 0.0 && load.operations() > 0);
    let rate = |load: &LoadRecord| {
        let counted = load.counted();
        (load.phase.clone(), values(counted.readings) / counted.seconds)
    };
    let rates: Vec<(String, f64)> = writing.map(rate).collect();
    for (phase, rate) in rates {
        let name = format!("{}/{phase}", figures::VALUES_PER_SECOND);
        record.figures.insert(name, Figure::new(rate, "values/s"));
    }
}

/// How much was stored whenever disk was measured.
fn add_stored(record: &mut TrialRecord) {
    let mut stored = 0.0;
    let mut found = Vec::new();
    for load in record.loads.iter().filter(|load| load.writes) {
        let operation = load.labels.get(steps::OPERATION).and_then(Value::as_str);
        let grows = matches!(operation, Some(steps::GROW | live::LIVE));
        let written = values(load.readings() as f64);
        stored = if grows { stored + written } else { written };
        if let Some(phase) = load.labels.get(steps::SETTLED).and_then(Value::as_str)
            && record.figures.contains_key(&format!("{}/{phase}", names::DISK_SETTLED))
        {
            found.push((phase.to_owned(), stored));
        }
    }
    for (phase, stored) in found {
        let name = format!("{}/{phase}", figures::VALUES);
        record.figures.insert(name, Figure::new(stored, "values"));
    }
}
