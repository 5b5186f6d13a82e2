//! The workload as trials of phases: the steps that an implementation goes through.

use super::parameters::Parameters;
use super::query::PlatformQuery;
use super::questions::{Questions, Subjects};
use super::writes::{BatchWrites, MessageWrites, Written};
use super::{DAYS, LOAD, MESSAGES, NAME, OPERATION, SETTLED};
use crate::{growth, live};
use sensormark_data::export::{DataRequest, DataSet};
use sensormark_data::iot_platform::{HOUR_NS, Homes, MOST_DAYS, START_NS, schema};
use sensormark_data::units::round_u64;
use sensormark_engine::answers::Checking;
use sensormark_engine::judge::work::Work;
use sensormark_engine::of_table;
use sensormark_engine::operations::{ENDLESS, Operations};
use sensormark_engine::trial::script::{About, LoadSpec, PhaseSpec, Step};
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{LoadRecord, TrialRecord};
use sensormark_store::{DefaultSelection, Family, LayoutOption, Schema, Shape, TimeResolution};
use serde_json::Value;
use std::ops::Range;
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

    fn fit(&self, parameters: Value, budget: Duration) -> Value {
        growth::changed(parameters, |own: &mut Parameters| own.fit(budget))
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
        let load = Arc::new(BatchWrites::new(Arc::clone(&homes), 0..hours_of(parameters.days), batch));
        let subjects = Subjects {
            schema,
            load: Arc::clone(&load) as Arc<dyn Written>,
            seed,
            split: parameters.split(),
            points: parameters.points,
            homes,
        };
        Ok(Box::new(Platform { shape: subject.layout.shape, subjects, load, batch, parameters }))
    }
}

fn hours_of(days: u32) -> u64 {
    u64::from(days) * HOURS_A_DAY
}

/// The workload on one layout of one store.
struct Platform {
    parameters: Parameters,
    subjects: Subjects,
    /// The load that questions of data at rest are about.
    load: Arc<BatchWrites>,
    /// Readings in a batch of the load.
    batch: u64,
    shape: Shape,
}

impl Platform {
    fn limit(&self) -> Option<Duration> {
        Some(Duration::from_secs(u64::from(self.parameters.limit)))
    }

    /// Days at each size after the first. An array that a document keeps cannot grow without end.
    fn more_days(&self) -> Vec<u32> {
        if self.shape == Shape::GrowingArray { Vec::new() } else { self.parameters.sizes() }
    }

    fn writing(&self, name: &str, operations: Arc<dyn Operations>) -> PhaseSpec {
        let load = LoadSpec::writing(name, operations, self.parameters.clients);
        let mut phase = PhaseSpec::new(name, vec![load]).label(OPERATION, name);
        phase.limit = self.limit();
        phase
    }

    fn asking(&self, query: PlatformQuery, days: u32) -> PhaseSpec {
        let count = self.parameters.questions;
        let questions = Arc::new(Questions::new(&self.subjects, query, days, count));
        let load = LoadSpec {
            about: Some(About { phase: LOAD.to_owned(), load: LOAD.to_owned() }),
            ..LoadSpec::asking(query.name(), questions, 1, Checking::All)
        };
        let name = format!("{}-{days}d", query.name());
        let mut phase = PhaseSpec::new(name, vec![load]).label(OPERATION, query.name()).label(DAYS, days);
        phase.limit = self.limit();
        phase
    }

    fn messages(&self, numbers: Range<u64>) -> MessageWrites {
        MessageWrites::new(Arc::clone(&self.subjects.homes), numbers, hours_of(self.parameters.days))
    }

    /// Messages come after those that are there, while a home is looked at.
    fn live(&self, there: u64) -> Option<Step> {
        let Parameters { live_rate, live_seconds, clients, .. } = self.parameters;
        let count = round_u64(live_rate * live_seconds);
        let writes = Arc::new(self.messages(there..there + count));
        let subjects = Subjects { load: Arc::clone(&writes) as Arc<dyn Written>, ..self.subjects.clone() };
        let asked = [PlatformQuery::Chart, PlatformQuery::Latest].map(|query| {
            let questions = Questions::new(&subjects, query, 1, ENDLESS);
            (query.name(), Arc::new(questions) as Arc<dyn Operations>)
        });
        let any = writes.len() > 0;
        any.then(|| {
            let after = About { phase: MESSAGES.to_owned(), load: MESSAGES.to_owned() };
            live::live(OPERATION, after, LoadSpec::writing(MESSAGES, writes, clients), live_rate, asked)
        })
    }

    /// Whether a question counts at each size: every layout answers it, and this is the longest span.
    fn is_sized(&self, query: PlatformQuery, days: u32) -> bool {
        query.is_common() && self.parameters.spans_of(query).last() == Some(&days)
    }

    /// From size to size: the load goes on, and the questions are asked of all of it, each for a time.
    fn grow(&self, steps: &mut Vec<Step>) {
        let mut before = self.parameters.days;
        for days in self.more_days() {
            let hours = hours_of(before)..hours_of(days);
            let load = Arc::new(BatchWrites::new(Arc::clone(&self.subjects.homes), hours, self.batch));
            let (stored, phase) = (load.stored(), format!("{LOAD}-{days}d"));
            let writing =
                LoadSpec::writing(LOAD, Arc::clone(&load) as Arc<dyn Operations>, self.parameters.clients);
            let subjects = Subjects { load: load as Arc<dyn Written>, ..self.subjects.clone() };
            let loading = PhaseSpec::new(&phase, vec![writing]).label(names::STORED, stored);
            steps.extend([
                Step::Size(stored),
                Step::Run(loading),
                Step::Settle(format!("{SETTLED}-{days}d")),
            ]);
            for query in self.parameters.queries().filter(|query| query.is_common()) {
                let Some(span) = self.parameters.spans_of(query).last() else { continue };
                let questions = Arc::new(Questions::new(&subjects, query, *span, ENDLESS));
                let asking = LoadSpec {
                    about: Some(About { phase: phase.clone(), load: LOAD.to_owned() }),
                    ..LoadSpec::asking(query.name(), questions, 1, Checking::OneIn(growth::CHECK_ONE_IN))
                };
                let name = format!("{}-{span}d-of-{days}d", query.name());
                let mut asking = PhaseSpec::new(name, vec![asking]).label(names::STORED, stored);
                asking.limit = Some(Duration::from_secs_f64(self.parameters.grown_seconds));
                steps.push(Step::Run(asking));
            }
            before = days;
        }
    }
}

impl Workload for Platform {
    fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.subjects.schema)
    }

    fn work(&self, load: &LoadRecord, _record: &TrialRecord) -> Work {
        live::work(load)
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let (load, count) = (&self.load, self.parameters.messages);
        if count > 0 {
            steps.push(Step::Run(self.writing(MESSAGES, Arc::new(self.messages(0..count)))));
            steps.extend(self.live(count));
            steps.push(Step::Reset);
        }
        let grows = !self.parameters.sizes().is_empty();
        let sized = |phase: PhaseSpec| if grows { phase.label(names::STORED, load.stored()) } else { phase };
        if grows {
            steps.push(Step::Size(load.stored()));
        }
        let loading = self.writing(LOAD, Arc::clone(load) as Arc<dyn Operations>);
        steps.extend([Step::Run(sized(loading)), Step::Settle(SETTLED.to_owned())]);
        for query in self.parameters.queries() {
            // Only such layouts find readings by the day of their document.
            if query == PlatformQuery::RawWithoutDays && !matches!(self.shape, Shape::Bucketed { .. }) {
                continue;
            }
            for &days in self.parameters.spans_of(query) {
                let asking = self.asking(query, days);
                steps.push(Step::Run(if self.is_sized(query, days) { sized(asking) } else { asking }));
            }
        }
        self.grow(&mut steps);
        steps
    }
}
