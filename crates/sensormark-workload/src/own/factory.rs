//! User's workloads as trials of phases: the steps that an implementation goes through, and what is said of it then.

use super::answers::Answers;
use super::limit::{What, leave_open};
use super::parameters::{MixedPart, Parameters, WritersPart};
use super::questions::{Horizon, Questions};
use super::writes::{Copies, Writes};
use super::{LOAD, MIXED, NAME, WRITERS, sensors};
use sensormark_data::export::{DataRequest, DataSet};
use sensormark_data::shapes::{SensorReadings, Sensors};
use sensormark_data::units::round_u64;
use sensormark_engine::answers::Checking;
use sensormark_engine::operations::ENDLESS;
use sensormark_engine::pacing::Schedule;
use sensormark_engine::phase::Pacing;
use sensormark_engine::trial::script::{About, LoadSpec, PhaseSpec, Step};
use sensormark_engine::trial::support::{Support, support};
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_engine::work_distribution::WorkDistribution;
use sensormark_result::measurement::record::TrialRecord;
use sensormark_store::{Family, RepeatedWrite, Schema};
use serde_json::Value;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

/// A record of the layouts that keep readings by spans holds about so many readings.
const READINGS_PER_SPAN: i64 = 1_000;
/// Rates are kept to a thousandth of an operation a second.
const RATE_PARTS: f64 = 1_000.0;

/// User's workloads.
#[derive(Debug, Clone, Copy, Default)]
pub struct OwnWorkload;

fn read(parameters: &Value) -> Result<Parameters, String> {
    serde_json::from_value(parameters.clone()).map_err(|error| error.to_string())
}

impl WorkloadFactory for OwnWorkload {
    fn name(&self) -> &str {
        NAME
    }

    fn summary(&self) -> &str {
        "your own workload: sensormark init writes a file to start from, sensormark run FILE.toml measures it"
    }

    fn data_set(&self, parameters: &Value, request: &DataRequest) -> Result<Box<dyn DataSet>, String> {
        let mut parameters = read(parameters)?;
        let series = &mut parameters.series;
        if let Some(ticks) = request.steps("this file", series.interval_ns)? {
            series.duration_ns = DataRequest::end_ns(0, ticks, series.interval_ns)?;
            series.check_duration()?;
        }
        series.start_ns = request.start_ns.unwrap_or(series.start_ns);
        DataRequest::end_ns(series.start_ns, series.ticks(), series.interval_ns)?;
        let schema = sensors::schema(&parameters);
        let resolution = schema.tables[0].time_resolution;
        let sensors = sensors::sensors(&parameters, request.seed, resolution)?;
        let ticks = parameters.series.ticks();
        Ok(Box::new(SensorReadings::new(Arc::new(schema), sensors, ticks)))
    }

    fn schema(&self, parameters: &Value) -> Result<Schema, String> {
        Ok(sensors::schema(&read(parameters)?))
    }

    fn asks_while_writing(&self, parameters: &Value) -> bool {
        let mixed = read(parameters).ok().and_then(|own| own.mixed);
        mixed.is_some_and(|mixed| mixed.writers.is_some() && !mixed.queries.is_empty())
    }

    fn families(&self, parameters: &Value) -> Result<Vec<(String, Family)>, String> {
        let parameters = read(parameters)?;
        let interval_ns = parameters.series.interval_ns;
        let span_ns = round_span(interval_ns.saturating_mul(READINGS_PER_SPAN));
        let all = [("individual", Family::PerReading), ("bulk", Family::PerSpan { span_ns })];
        let wanted = |(name, _): &(&str, Family)| parameters.layouts.iter().any(|one| one == name);
        let named = all.into_iter().filter(wanted);
        Ok(named.map(|(name, family)| (name.to_owned(), family)).collect())
    }

    fn build(
        &self,
        parameters: &Value,
        seed: u64,
        subject: Subject<'_>,
    ) -> Result<Box<dyn Workload>, String> {
        let parameters = read(parameters)?;
        let mut schema = sensors::schema(&parameters);
        let table = &schema.tables[0];
        let repeated = subject.store.repeated_write(subject.layout, table);
        let size = subject.store.write_size(subject.layout, table);
        let resolution = subject.time_resolution(&schema, 0);
        let mut notes: Vec<String> = sensors::renamed(&parameters).collect();
        if resolution > table.time_resolution {
            notes
                .push(format!("times are cut to {} ns, all that the layout keeps", resolution.nanoseconds()));
        }
        schema.tables[0].time_resolution = resolution;
        let sensors = Arc::new(sensors::sensors(&parameters, seed, resolution)?);
        let some = parameters.series.repeated > 0.0;
        let copies = Copies {
            sent: some && repeated != RepeatedWrite::Refused,
            kept: repeated == RepeatedWrite::KeepsBoth,
        };
        if some && !copies.sent {
            notes.push("nothing is sent twice, because the layout refuses it".to_owned());
        }
        let schema = Arc::new(schema);
        let mut own = Own {
            answers: Arc::new(Answers::new(Arc::clone(&schema), Arc::clone(&sensors), copies)),
            batch: match parameters.load.batch {
                0 => size.readings_per_write() as u64,
                batch => batch,
            },
            parameters,
            schema,
            sensors,
            copies,
            seed,
            steps: Vec::new(),
            notes,
        };
        own.make_steps(subject);
        Ok(Box::new(own))
    }
}

/// The first round length (1, 10 s; 1, 10 min; 1, 6 h; 1, 30, 365 days) that is no shorter than this.
fn round_span(least_ns: i64) -> i64 {
    const SECOND_NS: i64 = 1_000_000_000;
    let spans = [1, 10, 60, 600, 3_600, 21_600, 86_400, 2_592_000].map(|s| s * SECOND_NS);
    let found = spans.into_iter().find(|&span| span >= least_ns);
    found.unwrap_or(365 * 86_400 * SECOND_NS)
}

/// A user's workload on one layout of one store.
struct Own {
    parameters: Parameters,
    schema: Arc<Schema>,
    sensors: Arc<Sensors>,
    answers: Arc<Answers>,
    copies: Copies,
    /// Turns in an operation of the load.
    batch: u64,
    seed: u64,
    steps: Vec<Step>,
    notes: Vec<String>,
}

impl Own {
    fn turns_loaded(&self) -> u64 {
        let ticks = self.parameters.series.ticks();
        ticks.saturating_mul(u64::from(self.sensors.series()))
    }

    fn make_steps(&mut self, subject: Subject<'_>) {
        let turns = 0..self.turns_loaded();
        let writes = Writes::new(LOAD, Arc::clone(&self.sensors), self.copies, turns, self.batch);
        let load = LoadSpec {
            distribution: WorkDistribution::COUNTER,
            ..LoadSpec::writing(LOAD, Arc::new(writes), self.parameters.load.clients)
        };
        let load = PhaseSpec::new(LOAD, vec![load]).label("operation", LOAD);
        let mut steps = vec![Step::Run(load), Step::Settle("settled".to_owned())];
        if let Some(mixed) = self.parameters.mixed.clone() {
            let queries = self.supported(&mixed, subject);
            if mixed.warm_up_ns > 0 && !queries.is_empty() {
                let asked = |&number: &usize| self.asking(&mixed, number, None);
                let mut warm_up = PhaseSpec::new("warm-up", queries.iter().map(asked).collect());
                warm_up.warm_up = true;
                warm_up.limit = Some(Duration::from_nanos(mixed.warm_up_ns));
                steps.push(Step::Run(warm_up));
            }
            let mut loads = Vec::new();
            if let Some(writers) = &mixed.writers {
                loads.push(self.writing(&mixed, writers));
            }
            let writers = mixed.writers.as_ref();
            loads.extend(queries.iter().map(|&number| self.asking(&mixed, number, writers)));
            if !loads.is_empty() {
                let mut phase = PhaseSpec::new(MIXED, loads).label("operation", MIXED);
                phase.limit = Some(Duration::from_nanos(mixed.duration_ns));
                steps.push(Step::Run(phase));
            }
        }
        self.steps = steps;
    }

    /// The queries that the layout can answer, by their places; the others are noted.
    fn supported(&mut self, mixed: &MixedPart, subject: Subject<'_>) -> Vec<usize> {
        let mut supported = Vec::new();
        for (number, query) in mixed.queries.iter().enumerate() {
            let load = self.asking(mixed, number, None);
            match support(subject.store, subject.layout, &self.schema, &load) {
                Support::Not(reason) => {
                    let note = format!("query {} is not supported: {reason}", query.name);
                    self.notes.push(note);
                }
                _ => supported.push(number),
            }
        }
        supported
    }

    fn writing(&self, mixed: &MixedPart, writers: &WritersPart) -> LoadSpec {
        let operations = writers.rate.map(|rate| rate / writers.batch as f64);
        let length = length(operations, mixed.duration_ns);
        let first = self.turns_loaded();
        let end = first.saturating_add(length.saturating_mul(writers.batch));
        let sensors = Arc::clone(&self.sensors);
        let writes = Writes::new(WRITERS, sensors, self.copies, first..end, writers.batch);
        LoadSpec {
            distribution: WorkDistribution::COUNTER,
            pacing: pacing(operations),
            ..LoadSpec::writing(WRITERS, Arc::new(writes), writers.clients)
        }
    }

    fn asking(&self, mixed: &MixedPart, number: usize, writers: Option<&WritersPart>) -> LoadSpec {
        let part = &mixed.queries[number];
        let turns_loaded = self.turns_loaded();
        let horizon = Horizon {
            turns_before: if writers.is_some() { turns_loaded } else { 0 },
            batch: writers.map_or(self.batch, |writers| writers.batch),
            turns_loaded,
            lag_ticks: self.sensors.longest_delay(self.copies.sent),
        };
        let about = match writers {
            Some(_) => (MIXED, WRITERS),
            None => (LOAD, LOAD),
        };
        let answers = Arc::clone(&self.answers);
        let length = length(part.rate, mixed.duration_ns);
        let questions = Questions::new(part, number as u64, self.seed, answers, horizon, length);
        let checking = match NonZeroU64::new(mixed.check_one_in) {
            Some(several) if several.get() > 1 => Checking::OneIn(several),
            _ => Checking::All,
        };
        LoadSpec {
            pacing: pacing(part.rate),
            distribution: WorkDistribution::COUNTER,
            about: Some(About { phase: about.0.to_owned(), load: about.1.to_owned() }),
            ..LoadSpec::asking(part.name.clone(), Arc::new(questions), part.clients, checking)
        }
    }
}

/// How many operations there are: those that are due, or as many as anybody could do.
fn length(rate: Option<f64>, duration_ns: u64) -> u64 {
    rate.map_or(ENDLESS, |rate| {
        let due = rate * duration_ns as f64 / 1e9;
        round_u64(due.ceil()).max(1)
    })
}

fn pacing(rate: Option<f64>) -> Pacing {
    let ticks = rate.and_then(|rate| NonZeroU64::new(round_u64(rate * RATE_PARTS)));
    let span_ns = NonZeroU64::new(round_u64(RATE_PARTS) * 1_000_000_000);
    match (ticks, span_ns) {
        (Some(ticks), Some(span_ns)) => Pacing::Open(Schedule::Rate { ticks, span_ns }),
        _ => Pacing::Closed,
    }
}

impl Workload for Own {
    fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema)
    }

    fn steps(&self) -> Vec<Step> {
        self.steps.clone()
    }

    fn figures(&self, record: &mut TrialRecord) {
        record.warnings.extend(self.notes.iter().cloned());
        // One trial knows no highest rate.
        let limits = self.parameters.limits.iter();
        let limits = limits.filter(|limit| limit.what != What::Headroom);
        let held: Vec<_> = limits.map(|limit| limit.hold(record)).collect();
        record.limits = held;
        leave_open(record, self.parameters.series.readings_per_second());
    }
}
