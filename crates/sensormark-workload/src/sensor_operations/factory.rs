//! Sensor-operations as trials of phases: what it is made from, and the tests that an implementation goes through.

use super::operations::{Reads, Writes};
use super::parameters::{Indexes, Parameters, Statements};
use super::{NAME, Operation, labels, schema};
use sensormark_data::export::{DataRequest, DataSet};
use sensormark_data::sensor_operations::{START_NS, SensorReadings};
use sensormark_engine::answers::Checking;
use sensormark_engine::of_table;
use sensormark_engine::parameter;
use sensormark_engine::trial::script::{About, LoadSpec, PhaseSpec, Step};
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_engine::work_distribution::WorkDistribution;
use sensormark_result::measurement::names;
use sensormark_store::{DefaultSelection, Family, Index, Layout, LayoutOption, Schema, Shape, WriteMethod};
use serde_json::Value;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

const MILLISECOND_NS: i64 = 1_000_000;
/// The family's name.
const FAMILY: &str = "individual";

/// Sensor-operations.
#[derive(Debug, Clone, Copy, Default)]
pub struct SensorOperationsWorkload;

fn read(parameters: &Value) -> Result<Parameters, String> {
    parameter::read(parameters)
}

impl WorkloadFactory for SensorOperationsWorkload {
    fn name(&self) -> &str {
        NAME
    }

    fn summary(&self) -> &str {
        "single and multi writes and reads of (sensor, time, value) by 1 to 16 clients, with and without an index"
    }

    of_table!(Parameters, read);

    fn data_set(&self, parameters: &Value, request: &DataRequest) -> Result<DataSet, String> {
        let parameters = read(parameters)?;
        parameters.check_sensors()?;
        let (sensors, interval_ms) = (parameters.sensors, parameters.interval_ms);
        let readings = SensorReadings::new(request.seed, sensors, interval_ms)?;
        let start_ns = request.start_ns.unwrap_or(START_NS);
        if start_ns % MILLISECOND_NS != 0 {
            return Err("--start: sensors report at whole milliseconds".to_owned());
        }
        let interval_ns = i64::from(interval_ms) * MILLISECOND_NS;
        let most = parameters.single.max(parameters.multi);
        let ticks = request.steps(NAME, interval_ns)?;
        let ticks = ticks.unwrap_or_else(|| most.div_ceil(u64::from(sensors)));
        if ticks >= readings.ticks() {
            return Err(parameters.past_the_end(ticks));
        }
        // Sensors report one after the other: the last of a tick nearly an interval after the first.
        DataRequest::end_ns(start_ns, ticks + 1, interval_ns)?;
        Ok(readings.data_set(schema(sensors, interval_ms), start_ns, ticks))
    }

    fn schema(&self, parameters: &Value) -> Result<Schema, String> {
        let parameters = read(parameters)?;
        // The number of sensors alone is needed here, and a wrong one is said before a table of them is made.
        parameters.check_sensors()?;
        Ok(schema(parameters.sensors, parameters.interval_ms))
    }

    fn families(&self, parameters: &Value) -> Result<Vec<(String, Family)>, String> {
        read(parameters)?;
        Ok(vec![(FAMILY.to_owned(), Family::PerReading)])
    }

    fn choose(&self, parameters: &Value, _family: &str, offers: &mut [LayoutOption]) {
        if let Ok(parameters) = read(parameters) {
            choose(&parameters, offers);
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
        let mut schema = schema(parameters.sensors, parameters.interval_ms);
        schema.tables[0].time_resolution = subject.time_resolution(&schema, 0);
        let resolution = schema.tables[0].time_resolution;
        let unit_ms = resolution.nanoseconds() / 1_000_000;
        if unit_ms > 1 && i64::from(parameters.interval_ms) % unit_ms != 0 {
            return Err(format!(
                "interval_ms is {}; the layout keeps times to {unit_ms} ms, so it must be a multiple of that",
                parameters.interval_ms
            ));
        }
        let readings = SensorReadings::new(seed, parameters.sensors, parameters.interval_ms)?;
        Ok(Box::new(Tests { parameters, schema: Arc::new(schema), readings: Arc::new(readings), seed }))
    }
}

/// Which layouts are measured unasked: with an index on (sensor, time), without one, and the ways of writing.
fn choose(parameters: &Parameters, offers: &mut [LayoutOption]) {
    let Some(usual) = offers.first().map(|offer| offer.layout) else {
        return;
    };
    let has = |layout: Layout| offers.iter().any(|offer| offer.layout == layout);
    let without = usual.with_index(Index::None);
    // Where rows are kept by a key that cuts a sensor's readings into parts, the study's layout keeps all of a sensor together.
    let together = usual.with_index(Index::Series);
    let with = if usual.index == Index::Clustered && has(together) { together } else { usual };
    let may_choose = has(without);
    for offer in offers {
        let layout = offer.layout;
        let is_way_of_writing = !matches!(layout.write, WriteMethod::Usual | WriteMethod::Datagram)
            && layout == usual.with_write(layout.write);
        // Other ways to keep the rows of a sensor together, where the store has them measured.
        let is_kept_together = layout.write == WriteMethod::Usual
            && offer.default_selection == DefaultSelection::Further
            && matches!(
                (layout.shape, layout.index),
                (Shape::RowPerReading, Index::Clustered) | (Shape::NativeTimeSeries, _)
            );
        let is_indexed = layout == with
            || is_kept_together
            || (is_way_of_writing && parameters.statements == Statements::All);
        let is_measured = match parameters.index {
            Indexes::Both => is_indexed || layout == without,
            Indexes::With => is_indexed,
            Indexes::Without => layout == if may_choose { without } else { with },
        };
        offer.default_selection = match is_measured {
            true if offer.default_selection == DefaultSelection::Usual => DefaultSelection::Usual,
            true => DefaultSelection::Further,
            false => DefaultSelection::OnRequest,
        };
    }
}

/// The tests of one implementation.
struct Tests {
    parameters: Parameters,
    schema: Arc<Schema>,
    readings: Arc<SensorReadings>,
    seed: u64,
}

/// One of an implementation's tests.
#[derive(Clone, Copy)]
struct Test {
    multi: bool,
    statements: u64,
    clients: u32,
}

impl Tests {
    fn phase(&self, test: Test, operation: Operation, load: LoadSpec) -> PhaseSpec {
        let name = phase_name(test, operation);
        let size = test.statements * self.parameters.readings(test.multi);
        let mut phase = PhaseSpec::new(name, vec![load])
            .label(labels::OPERATION, operation.name())
            .label(labels::CLIENTS, test.clients)
            .label(labels::SIZE, size);
        // Small tests are curves of their own; what they cost is for the most part beginning and ending.
        if test.statements < self.parameters.statements(test.multi) {
            phase = phase.label(names::SCORED, false);
        }
        phase.limit = Some(Duration::from_secs_f64(self.parameters.limit_seconds));
        phase
    }

    fn writing(&self, test: Test) -> PhaseSpec {
        let operation = if test.multi { Operation::MultiWrite } else { Operation::SingleWrite };
        let per_statement = self.parameters.readings(test.multi);
        let readings = Arc::clone(&self.readings);
        let writes = Writes::new(operation, readings, 0..test.statements, per_statement);
        let load = LoadSpec {
            distribution: WorkDistribution::COUNTER,
            ..LoadSpec::writing(operation.name(), Arc::new(writes), test.clients)
        };
        self.phase(test, operation, load)
    }

    fn reading(&self, test: Test, written: &PhaseSpec) -> PhaseSpec {
        let operation = if test.multi { Operation::MultiRead } else { Operation::SingleRead };
        let reads = Reads::new(
            operation,
            Arc::clone(&self.readings),
            self.schema.tables[0].clone(),
            self.seed,
            (0..test.statements, self.parameters.readings(test.multi)),
        );
        let about = About { phase: written.name.clone(), load: written.loads[0].name.clone() };
        self.phase(test, operation, self.asking(operation, reads, test.clients, about))
    }
}

/// How long each question is asked at a size.
const ASKED: Duration = Duration::from_secs(1);

impl Tests {
    /// From size to size: multi writes go on, and both reads are asked about all of it.
    fn grow(&self, steps: &mut Vec<Step>) {
        let clients = self.parameters.clients.iter().copied().max().unwrap_or(1);
        let mut before = 0;
        for statements in self.parameters.sizes() {
            if before == 0 {
                steps.push(Step::Reset);
            }
            let readings = statements * self.parameters.batch;
            let write = Operation::MultiWrite;
            let writes =
                Writes::new(write, Arc::clone(&self.readings), before..statements, self.parameters.batch);
            let load = LoadSpec {
                distribution: WorkDistribution::COUNTER,
                ..LoadSpec::writing(write.name(), Arc::new(writes), clients)
            };
            let loading = at_size(write, readings, load);
            let about = About { phase: loading.name.clone(), load: write.name().to_owned() };
            steps.extend([
                Step::Size(readings),
                Step::Run(loading),
                Step::Settle(format!("settled-at-{readings}")),
            ]);
            for operation in [Operation::SingleRead, Operation::MultiRead] {
                let per_question = self.parameters.readings(operation == Operation::MultiRead);
                let reads = Reads::new(
                    operation,
                    Arc::clone(&self.readings),
                    self.schema.tables[0].clone(),
                    self.seed,
                    (before..statements, per_question),
                );
                let mut asking =
                    at_size(operation, readings, self.asking(operation, reads, 1, about.clone()));
                asking.limit = Some(ASKED);
                steps.push(Step::Run(asking));
            }
            before = statements;
        }
    }

    /// Clients that ask about what was written.
    fn asking(&self, operation: Operation, reads: Reads, clients: u32, about: About) -> LoadSpec {
        let checking = match NonZeroU64::new(self.parameters.check_one_in) {
            Some(several) if several.get() > 1 => Checking::OneIn(several),
            _ => Checking::All,
        };
        LoadSpec {
            about: Some(about),
            distribution: WorkDistribution::COUNTER,
            ..LoadSpec::asking(operation.name(), Arc::new(reads), clients, checking)
        }
    }
}

/// A phase at a size.
fn at_size(operation: Operation, readings: u64, load: LoadSpec) -> PhaseSpec {
    let name = format!("{}-at-{readings}", operation.name().replace(' ', "-"));
    PhaseSpec::new(name, vec![load])
        .label(labels::GROWN, operation.name())
        .label(names::STORED, readings)
        .label(names::SCORED, false)
}

fn phase_name(test: Test, operation: Operation) -> String {
    let operation = operation.name().replace(' ', "-");
    format!("{operation}-{}-by-{}", test.statements, test.clients)
}

impl Workload for Tests {
    fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema)
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for multi in [false, true] {
            for (statements, clients) in self.parameters.tests(multi) {
                let test = Test { multi, statements, clients };
                if !steps.is_empty() {
                    steps.push(Step::Reset);
                }
                let writing = self.writing(test);
                let reading = self.reading(test, &writing);
                steps.push(Step::Run(writing));
                if self.parameters.settle {
                    let what = if multi { "multi" } else { "single" };
                    let name = format!("settled-{what}-{statements}-by-{clients}");
                    steps.push(Step::Settle(name));
                }
                steps.push(Step::Run(reading));
            }
        }
        // The disk of the last test, at rest.
        if !self.parameters.settle {
            steps.push(Step::Settle("settled".to_owned()));
        }
        self.grow(&mut steps);
        steps
    }
}
