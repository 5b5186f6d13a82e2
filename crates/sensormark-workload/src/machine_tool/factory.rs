//! The workload itself: its numbers, its layouts and strategies, and its trials: one that writes, then one for each strategy that reads what was stored.

use super::history::History;
use super::line::{self, Machine};
use super::parameters::Parameters;
use super::read_cycle::Strategy;
use super::reads::Reads;
use super::writes::Writes;
use super::{HISTORY, INDIVIDUAL, INDIVIDUAL_IN_SECONDS, NAME, SPAN_NS, is_in_seconds, results, strategies};
use sensormark_data::export::{DataRequest, DataSet};
use sensormark_data::machine_tool::{INDEX_LIMIT, MachineTool, SAMPLE_PERIOD_NS, schema};
use sensormark_data::units::{round_u64, seconds_to_ns, signed};
use sensormark_engine::answers::Checking;
use sensormark_engine::judge::work::Work;
use sensormark_engine::of_table;
use sensormark_engine::operations::Operations;
use sensormark_engine::pacing::Schedule;
use sensormark_engine::parameter;
use sensormark_engine::phase::Pacing;
use sensormark_engine::selection::Choice;
use sensormark_engine::trial::script::{CaseTrials, LoadSpec, PhaseSpec, Step, TrialSpec, Window};
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_result::measurement::record::{LoadRecord, NotMeasured, Side, TrialRecord};
use sensormark_store::{DefaultSelection, Family, LayoutOption, Schema, Shape, TimeResolution, WriteMethod};
use serde_json::Value;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

/// The phase that counts.
const MEASURED: &str = "measured";
/// The phase before it.
const WARM_UP: &str = "warm-up";

/// When generated samples begin, unless it is said: 2026-01-01, in ns since the Unix epoch. (In a run, samples are stamped as they come.)
const START_NS: i64 = 1_767_225_600_000_000_000;

/// The kind.
pub struct MachineToolWorkload;

fn read(parameters: &Value) -> Result<Parameters, String> {
    parameter::read(parameters)
}

impl WorkloadFactory for MachineToolWorkload {
    fn name(&self) -> &str {
        NAME
    }

    fn summary(&self) -> &str {
        "a machine's five channels at 1 kHz, written and read by the cycle"
    }

    of_table!(Parameters, read);

    fn data_set(&self, parameters: &Value, request: &DataRequest) -> Result<DataSet, String> {
        let parameters = read(parameters)?;
        let period_ns = signed(parameters.period_ns().max(1));
        let samples = request.steps(NAME, period_ns)?;
        let samples = samples.unwrap_or_else(|| parameters.samples());
        let start_ns = request.start_ns.unwrap_or(START_NS);
        DataRequest::end_ns(start_ns, samples, period_ns.max(signed(SAMPLE_PERIOD_NS)))?;
        if samples > INDEX_LIMIT {
            return Err(format!("--for: the signal has {INDEX_LIMIT} samples"));
        }
        let schema = schema(TimeResolution::Nanoseconds);
        let machine = MachineTool::new(request.seed);
        Ok(machine.data_set(schema, start_ns, period_ns.unsigned_abs(), samples))
    }

    fn schema(&self, parameters: &Value) -> Result<Schema, String> {
        read(parameters)?;
        Ok(schema(TimeResolution::Nanoseconds))
    }

    fn families(&self, _parameters: &Value) -> Result<Vec<(String, Family)>, String> {
        Ok(vec![
            (INDIVIDUAL.to_owned(), Family::PerReading),
            (INDIVIDUAL_IN_SECONDS.to_owned(), Family::PerReading),
            ("bulk".to_owned(), Family::PerSpan { span_ns: SPAN_NS }),
        ])
    }

    /// In seconds the usual layout alone is written unasked: how a write travels tells more of a database than which of its layouts it goes to.
    fn choose(&self, _parameters: &Value, family: &str, offers: &mut [LayoutOption]) {
        for offer in offers.iter_mut().filter(|_| is_in_seconds(family)) {
            if offer.default_selection != DefaultSelection::Usual {
                offer.default_selection = DefaultSelection::OnRequest;
            }
            let kept = &offer.description;
            offer.description = format!("{kept}; a request has the samples of a second");
        }
    }

    fn strategies(
        &self,
        choice: &Choice,
        layout_name: &str,
        offer: &LayoutOption,
    ) -> Result<(Vec<String>, Vec<NotMeasured>), String> {
        strategies::strategies(choice, layout_name, offer)
    }

    fn source(&self, told: &Value) -> Result<Value, String> {
        line::send(told)
    }

    fn build(
        &self,
        parameters: &Value,
        seed: u64,
        subject: Subject<'_>,
    ) -> Result<Box<dyn Workload>, String> {
        let parameters = read(parameters)?;
        parameters.check()?;
        let resolution = subject.time_resolution(&schema(TimeResolution::Nanoseconds), 0);
        let by_second =
            matches!(subject.layout.shape, Shape::RecordPerSpan { .. }) || is_in_seconds(subject.layout_name);
        let schema = Arc::new(schema(resolution));
        let size = subject.store.write_size(subject.layout, &schema.tables[0]);
        let of_a_write = (!by_second).then(|| size.readings_per_write() as u64);
        let mut past = parameters.clone();
        if subject.layout.write == WriteMethod::Datagram {
            // Nobody acknowledges that history arrived.
            past.history_seconds = 0;
        }
        Ok(Box::new(MachineToolTrials {
            history: Arc::new(History::new(&past, seed, resolution, of_a_write)),
            writes: Arc::new(Writes::new(&parameters, seed, by_second, resolution)),
            schema,
            parameters,
            seed,
        }))
    }
}

/// The workload with its numbers, on one layout.
struct MachineToolTrials {
    parameters: Parameters,
    seed: u64,
    schema: Arc<Schema>,
    writes: Arc<Writes>,
    history: Arc<History>,
}

impl MachineToolTrials {
    /// The trial that writes: what is measured lies within the time in which the source sends.
    fn write_trial(&self) -> TrialSpec {
        let parameters = &self.parameters;
        let machine = Machine::new(parameters, self.seed);
        let writes = Arc::clone(&self.writes);
        let load = LoadSpec::fed("write", writes, Arc::new(machine));
        let mut phase = PhaseSpec::new(MEASURED, vec![load]);
        phase.window = Some(Window {
            lead_in: Duration::from_secs_f64(parameters.warmup_seconds),
            lasts: Duration::from_secs_f64(parameters.measured_seconds),
        });
        let mut steps = Vec::new();
        if !self.history.is_empty() {
            let history = LoadSpec::writing(HISTORY, Arc::clone(&self.history) as Arc<dyn Operations>, 1);
            let mut history = PhaseSpec::new(HISTORY, vec![history]);
            history.warm_up = true;
            steps.extend([Step::Run(history), Step::Settle(format!("settle-{HISTORY}"))]);
        }
        steps.extend([Step::Run(phase), Step::Settle("settle".to_owned())]);
        TrialSpec {
            part: Some("write".to_owned()),
            side: Side::Write,
            strategy: None,
            role: "writer",
            steps,
            needs_stored: false,
        }
    }

    /// The trial that reads with this strategy what the first one stored.
    fn read_trial(&self, strategy: Strategy, cell: &CaseTrials) -> TrialSpec {
        let parameters = &self.parameters;
        let rate = parameters.reads_per_second;
        let warm_up = round_u64(parameters.warmup_seconds * rate);
        let reads = u64::from(parameters.reads);
        let mut steps = Vec::new();
        if warm_up > 0 {
            let mut phase = self.reading(WARM_UP, strategy, (0, warm_up), cell);
            phase.warm_up = true;
            steps.push(Step::Run(phase));
        }
        let mut measured = self.reading(MEASURED, strategy, (warm_up, reads), cell);
        measured.continues = warm_up > 0;
        steps.push(Step::Run(measured));
        TrialSpec {
            part: Some(format!("read-{}", strategy.name())),
            side: Side::Read,
            strategy: Some(strategy.name().to_owned()),
            role: "reader",
            steps,
            needs_stored: true,
        }
    }

    /// A phase of reads in open loop.
    fn reading(&self, name: &str, strategy: Strategy, reads: (u64, u64), cell: &CaseTrials) -> PhaseSpec {
        let parameters = &self.parameters;
        let margin_ns = signed(seconds_to_ns(parameters.margin_seconds));
        let stored = (self.seed, cell.stored.clone());
        let history = self.history.as_ref().clone();
        let operations = Arc::new(Reads::new(strategy, reads, margin_ns, stored, history));
        let period_ns = round_u64(1e9 / parameters.reads_per_second);
        let period_ns = NonZeroU64::new(period_ns).unwrap_or(NonZeroU64::MIN);
        let mut load = LoadSpec::asking("read", operations, 1, Checking::All);
        load.pacing = Pacing::Open(Schedule::every(period_ns));
        PhaseSpec::new(name, vec![load])
    }
}

impl Workload for MachineToolTrials {
    fn schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema)
    }

    fn steps(&self) -> Vec<Step> {
        let strategies = Strategy::ALL.map(|strategy| strategy.name().to_owned());
        let cell = CaseTrials { strategies: strategies.to_vec(), ..CaseTrials::default() };
        let trials = self.trials(&cell).into_iter();
        trials.flat_map(|trial| trial.steps).collect()
    }

    fn trials(&self, cell: &CaseTrials) -> Vec<TrialSpec> {
        let named = |strategy: &Strategy| {
            let mut names = cell.strategies.iter();
            names.any(|name| name == strategy.name())
        };
        let strategies = Strategy::ALL.into_iter().filter(named);
        let reads = strategies.map(|strategy| self.read_trial(strategy, cell));
        std::iter::once(self.write_trial()).chain(reads).collect()
    }

    fn work(&self, load: &LoadRecord, record: &TrialRecord) -> Work {
        let samples_per_write = self.writes.samples_per_write();
        results::work(&self.parameters, samples_per_write, load, record)
    }

    fn figures(&self, record: &mut TrialRecord) {
        results::form(&self.parameters, record);
    }
}
