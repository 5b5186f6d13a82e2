//! The workload as trials of phases: the steps that an implementation goes through.

use super::parameters::Parameters;
use super::query::PlatformQuery;
use super::questions::{Questions, Subjects};
use super::writes::{BatchWrites, MessageWrites};
use super::{DAYS, LOAD, MESSAGES, NAME, OPERATION, SETTLED};
use sensormark_data::export::{DataRequest, DataSet};
use sensormark_data::iot_platform::{HOUR_NS, Homes, MOST_DAYS, START_NS, schema};
use sensormark_engine::answers::Checking;
use sensormark_engine::of_table;
use sensormark_engine::operations::Operations;
use sensormark_engine::trial::script::{About, LoadSpec, PhaseSpec, Step};
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_store::{DefaultSelection, Family, LayoutOption, Schema, Shape, TimeResolution};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

const HOURS_A_DAY: u64 = 24;

/// The workload.
#[derive(Debug, Clone, Copy, Default)]
pub struct IotPlatformWorkload;

impl WorkloadFactory for IotPlatformWorkload {
    fn name(&self) -> &str {
        NAME
    }

    fn summary(&self) -> &str {
        "a home's devices behind an IoT platform: messages, charts, means, statistics"
    }

    of_table!(Parameters, Parameters::read);

    fn data_set(&self, parameters: &Value, request: &DataRequest) -> Result<DataSet, String> {
        let parameters = Parameters::read(parameters)?;
        request.begins(NAME, START_NS)?;
        let hours = request.steps(NAME, HOUR_NS)?;
        let hours = hours.unwrap_or_else(|| u64::from(parameters.days) * HOURS_A_DAY);
        if hours > u64::from(MOST_DAYS) * HOURS_A_DAY {
            return Err(format!("--for: there are {MOST_DAYS} days of data; give that or less"));
        }
        let homes = Homes::new(request.seed, parameters.homes);
        Ok(homes.data_set(hours))
    }

    fn schema(&self, parameters: &Value) -> Result<Schema, String> {
        Ok(schema(Parameters::read(parameters)?.homes))
    }

    fn families(&self, parameters: &Value) -> Result<Vec<(String, Family)>, String> {
        Ok(Parameters::read(parameters)?.families())
    }

    fn choose(&self, parameters: &Value, _family: &str, offers: &mut [LayoutOption]) {
        let Ok(parameters) = Parameters::read(parameters) else {
            return;
        };
        // A variant may have another shape than its family's usual layout.
        let Some(shape) = offers.first().map(|offer| offer.layout.shape) else {
            return;
        };
        for offer in offers.iter_mut() {
            offer.default_selection = match parameters.is_measured(shape, &offer.variant) {
                true if offer.variant.is_empty() => DefaultSelection::Usual,
                true => DefaultSelection::Further,
                false => DefaultSelection::OnRequest,
            };
        }
    }

    fn build(
        &self,
        parameters: &Value,
        seed: u64,
        subject: Subject<'_>,
    ) -> Result<Box<dyn Workload>, String> {
        let parameters = Parameters::read(parameters)?;
        parameters.check()?;
        let schema = Arc::new(schema(parameters.homes));
        if subject.time_resolution(&schema, 0) > TimeResolution::Milliseconds {
            return Err("devices send times of milliseconds, and the layout keeps fewer digits".to_owned());
        }
        let table = &schema.tables[0];
        let size = subject.store.write_size(subject.layout, table);
        let batch = match parameters.batch {
            0 => size.readings_per_write() as u64,
            batch => batch,
        };
        let homes = Arc::new(Homes::new(seed, parameters.homes));
        let hours = u64::from(parameters.days) * 24;
        let load = Arc::new(BatchWrites::new(Arc::clone(&homes), hours, batch));
        let subjects = Subjects {
            schema,
            load: Arc::clone(&load),
            seed,
            split: parameters.split(),
            points: parameters.points,
            homes,
        };
        Ok(Box::new(Platform {
            has_days: matches!(subject.layout.shape, Shape::Bucketed { .. }),
            subjects,
            load,
            parameters,
        }))
    }
}

/// The workload on one layout of one store.
struct Platform {
    parameters: Parameters,
    subjects: Subjects,
    load: Arc<BatchWrites>,
    /// Whether readings are found by the day of their document.
    has_days: bool,
}

impl Platform {
    fn limit(&self) -> Option<Duration> {
        Some(Duration::from_secs(u64::from(self.parameters.limit)))
    }

    fn writing(&self, name: &str, operations: Arc<dyn Operations>) -> Step {
        let load = LoadSpec::writing(name, operations, self.parameters.clients);
        let mut phase = PhaseSpec::new(name, vec![load]).label(OPERATION, name);
        phase.limit = self.limit();
        Step::Run(phase)
    }

    fn asking(&self, query: PlatformQuery, days: u32) -> Step {
        let count = self.parameters.questions;
        let questions = Arc::new(Questions::new(&self.subjects, query, days, count));
        let load = LoadSpec {
            about: Some(About { phase: LOAD.to_owned(), load: LOAD.to_owned() }),
            ..LoadSpec::asking(query.name(), questions, 1, Checking::All)
        };
        let name = format!("{}-{days}d", query.name());
        let mut phase = PhaseSpec::new(name, vec![load]).label(OPERATION, query.name()).label(DAYS, days);
        phase.limit = self.limit();
        Step::Run(phase)
    }
}

impl Workload for Platform {
    fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.subjects.schema)
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let (homes, count) = (&self.subjects.homes, self.parameters.messages);
        if count > 0 {
            let hours = u64::from(self.parameters.days) * 24;
            let messages = MessageWrites::new(Arc::clone(homes), count, hours);
            steps.push(self.writing(MESSAGES, Arc::new(messages)));
            steps.push(Step::Reset);
        }
        steps.push(self.writing(LOAD, Arc::clone(&self.load) as Arc<dyn Operations>));
        steps.push(Step::Settle(SETTLED.to_owned()));
        for query in self.parameters.queries() {
            if query == PlatformQuery::RawWithoutDays && !self.has_days {
                continue;
            }
            let spans = self.parameters.spans_of(query).iter();
            steps.extend(spans.map(|&days| self.asking(query, days)));
        }
        steps
    }
}
