//! Workloads that are a file like a user's own, `NAME.toml` beside this, with numbers of a scale in it: a template of minijinja.
//!
//! The numbers are in [`parameters`]. Everything else is [`own`](crate::own): data, phases, questions and answers.

mod cardinality;
mod maintenance;
pub mod parameters;

#[cfg(test)]
mod tests;

use crate::own::{OwnWorkload, factory::THIS, file};
use sensormark_data::export::{DataRequest, DataSet};
use sensormark_engine::lifecycle::render;
use sensormark_engine::parameter::{Parameter, check_each};
use sensormark_engine::scale::Scale;
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_store::{Family, LayoutOption, Schema};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

/// A trial has about so many phases of questions: they take half of its budget at most.
const QUESTION_PHASES: u32 = 60;
/// The shortest of them, in seconds.
const LEAST_QUESTION_SECONDS: f64 = 0.5;

/// The most seconds that a trial's budget has for a question at one size.
pub fn most_question_seconds(budget: Duration) -> f64 {
    (budget / QUESTION_PHASES).as_secs_f64().max(LEAST_QUESTION_SECONDS)
}

/// A workload that is a file.
pub struct Shipped {
    name: &'static str,
    summary: &'static str,
    text: &'static str,
    table: &'static [Parameter],
    preset: fn(Scale) -> Value,
    as_study: &'static [&'static str],
}

/// A workload of a file: its constant, its numbers and its name, in a sentence what it is, and the numbers that are otherwise as in its study.
macro_rules! shipped {
    ($(#[$about:meta])* $CONSTANT:ident, $Numbers:ty, $name:literal, $summary:literal $(, $as_study:literal)*) => {
        $(#[$about])*
        pub const $CONSTANT: Shipped = Shipped {
            name: $name,
            summary: $summary,
            text: include_str!(concat!($name, ".toml")),
            table: <$Numbers>::TABLE,
            preset: |scale| serde_json::json!(<$Numbers>::of(scale)),
            as_study: &[$($as_study),*],
        };
    };
}

shipped! {
    /// The workload after SciTS.
    SLOW_CONTROL, parameters::SlowControl, "slow-control",
    "an experiment's slow control (SciTS): sizes of writes, clients, growth, five questions of scientists, and both at once", "values=uniform", "burst=10"
}

shipped! {
    /// The workload after TSM-Bench.
    HYDROMETRY, parameters::Hydrometry, "hydrometry",
    "stations of 100 sensors (TSM-Bench): eleven questions over stations, sensors and time, then at growing rates of writing"
}

shipped! {
    /// The workload of study 001.
    SENSOR_OPERATIONS, parameters::SensorOperations, "sensor-operations",
    "single and multi writes and reads of (sensor, time, value) by 1 to 16 clients, with and without an index"
}

shipped! {
    /// The workload of study 003.
    BILLING, parameters::Billing, "billing",
    "hourly readings of consumption meters, each updating its meter; then a month's bill for everybody"
}

shipped! {
    /// The workload of study 002.
    DEVOPS, parameters::Devops, "devops",
    "hosts that report 101 values each every 10 s: loading, disk, dashboard questions"
}

shipped! {
    /// The workload of study 004.
    IOT_PLATFORM, parameters::IotPlatform, "iot-platform",
    "a home's devices behind an IoT platform: messages, charts, means, statistics"
}

shipped! {
    /// A year's life of data.
    YEAR, parameters::Year, "year",
    "a year in minutes: readings are kept for a time and then go, rollups are renewed, some readings come late; latency over the year"
}

shipped! {
    /// Backup and restore, a restart after a crash, a column more, deletion and correction of old readings.
    MAINTENANCE, maintenance::Maintenance, "maintenance",
    "operations of a database's life: restart after a crash, backup, restore, a column more, old readings deleted and corrected, while clients write"
}

shipped! {
    /// The workload of many series.
    CARDINALITY, cardinality::Cardinality, "cardinality",
    "from a hundred series to a million, and series that end and begin: load rate, disk, memory and the newest readings"
}

impl Shipped {
    /// The workload file with these numbers.
    ///
    /// # Errors
    /// What is wrong with them, in words.
    pub fn file(&self, numbers: &Value) -> Result<String, String> {
        check_each(self.table, numbers)?;
        render(self.text, numbers)
    }

    fn own(&self, numbers: &Value) -> Result<Value, String> {
        let own = file::parse(&self.file(numbers)?, self.name, Path::new(""), &[], &|_| Ok(()));
        serde_json::to_value(own.map_err(|error| error.message)?).map_err(|error| error.to_string())
    }
}

impl WorkloadFactory for Shipped {
    fn name(&self) -> &str {
        self.name
    }

    fn summary(&self) -> &str {
        self.summary
    }

    fn preset(&self, scale: Scale) -> Option<Value> {
        Some((self.preset)(scale))
    }

    fn parameters(&self) -> &'static [Parameter] {
        self.table
    }

    fn as_study(&self) -> &'static [&'static str] {
        self.as_study
    }

    fn fit(&self, mut numbers: Value, budget: Duration) -> Value {
        for name in ["seconds", "grown_seconds", "query_seconds"] {
            if let Some(seconds) = numbers[name].as_f64() {
                numbers[name] = seconds.min(most_question_seconds(budget)).into();
            }
        }
        numbers
    }

    fn asks_while_writing(&self, numbers: &Value) -> bool {
        self.own(numbers).is_ok_and(|own| OwnWorkload.asks_while_writing(&own))
    }

    fn data_set(&self, numbers: &Value, request: &DataRequest) -> Result<DataSet, String> {
        let mut numbers = numbers.clone();
        // What the data grow by, from size to size, is not generated; and days that are asked about need not be there.
        if numbers.get("grown_seconds").is_some() {
            numbers["grown"] = 0.into();
        }
        for name in ["spans", "statistics"] {
            if let Some(days) = numbers.get_mut(name) {
                *days = vec![1].into();
            }
        }
        OwnWorkload.data_set(&self.own(&numbers)?, request).map_err(|why| why.replace(THIS, self.name))
    }

    fn schema(&self, numbers: &Value) -> Result<Schema, String> {
        OwnWorkload.schema(&self.own(numbers)?)
    }

    fn families(&self, numbers: &Value) -> Result<Vec<(String, Family)>, String> {
        OwnWorkload.families(&self.own(numbers)?)
    }

    fn choose(&self, numbers: &Value, family: &str, offers: &mut [LayoutOption]) {
        if let Ok(own) = self.own(numbers) {
            OwnWorkload.choose(&own, family, offers);
        }
    }

    fn build(&self, numbers: &Value, seed: u64, subject: Subject<'_>) -> Result<Box<dyn Workload>, String> {
        OwnWorkload.build(&self.own(numbers)?, seed, subject)
    }
}
