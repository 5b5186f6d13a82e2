//! Replays as trials of phases: what parameters they are made from, and the steps that an implementation goes through.
//!
//! The load, rest, and then one phase a class of questions, so that what a layout does not support is said of that class alone.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sensormark_store::{Family, Schema, Shape};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::copies::{self, Order, READINGS_PER_RECORD};
use super::spans::round_span;
use super::{Class, Loading, NAME, Questions, Replay};
use crate::shipped::most_question_seconds;
use sensormark_data::recording::{Recording, RecordingOptions};
use sensormark_data::units::round_u64;
use sensormark_engine::answers::Checking;
use sensormark_engine::operations::ENDLESS;
use sensormark_engine::parameter::{Parameter, any, at_least, over};
use sensormark_engine::parameters;
use sensormark_engine::scale::Scale;
use sensormark_engine::trial::script::{LoadSpec, PhaseSpec, Step};
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::TrialRecord;

/// The time in which a trial reaches so many readings as the number says, as a rule. One with more time is to reach more.
const QUICK: Duration = Duration::from_secs(30);

/// Everything that a replay is made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Questions of each class.
    pub questions: u64,
    /// Readings in a batch of the load; 0 for what its documentation advises.
    pub batch: u64,
    /// The recording is repeated as further series until so many readings are stored; 0 for never.
    pub grown: u64,
    /// How long each kind of question is asked at each size of copies, in seconds.
    pub grown_seconds: f64,
    /// How often everything is measured.
    pub repetitions: u32,
    /// The recording.
    pub file: PathBuf,
    /// What the user says about it.
    #[serde(default)]
    pub recording: RecordingOptions,
}

parameters! {
    /// The numbers behind the scales. (No study replays: `study` is as `standard`.)
    pub struct Numbers {
        /// questions of each class
        questions: u64, Plain, any() => 100, 300, 1_000, 1_000;
        /// readings in a batch of the load; 0 for what its documentation advises
        batch: u64, Plain, any() => 0;
        /// the recording is repeated as further series until so many readings are stored (a larger budget raises it), four times as many at each size; 0 for never
        grown: u64, Plain, any() => 1_000_000, 1_000_000, 10_000_000, 10_000_000;
        /// how long each kind of question is asked at each of these sizes, in seconds
        grown_seconds: f64, Seconds, over(0.0) => 0.5, 0.5, 5.0, 5.0;
        /// how often everything is measured
        repetitions: u32, Plain, at_least(1.0) => 1, 5, 5, 5;
    }
}

impl Parameters {
    /// A recording with the numbers of a scale.
    pub fn of(scale: Scale, file: PathBuf, recording: RecordingOptions) -> Self {
        let Numbers { questions, batch, grown, grown_seconds, repetitions } = Numbers::of(scale);
        Self { questions, batch, grown, grown_seconds, repetitions, file, recording }
    }

    fn read(parameters: &Value) -> Result<(Self, Recording), String> {
        let own: Self = serde_json::from_value(parameters.clone()).map_err(|error| error.to_string())?;
        let recording = Recording::read(&own.file, &own.recording).map_err(|error| error.to_string())?;
        Ok((own, recording))
    }

    /// How many copies each size has.
    fn sizes(&self, recording: &Recording) -> Vec<u32> {
        let series = recording.schema.tables[0].series.len();
        copies::sizes(recording.readings.len(), series, self.grown)
    }

    /// The schema with the copies of the largest size.
    fn grown_schema(&self, recording: &Recording) -> Schema {
        let most = self.sizes(recording).last().copied().unwrap_or(1);
        Schema { tables: vec![copies::copied(&recording.schema.tables[0], most)] }
    }
}

/// Replays.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReplayWorkload;

impl WorkloadFactory for ReplayWorkload {
    fn name(&self) -> &str {
        NAME
    }

    fn parameters(&self) -> &'static [Parameter] {
        Numbers::TABLE
    }

    fn schema(&self, parameters: &Value) -> Result<Schema, String> {
        let (own, recording) = Parameters::read(parameters)?;
        Ok(own.grown_schema(&recording))
    }

    fn fit(&self, parameters: Value, budget: Duration) -> Value {
        let Ok(own) = serde_json::from_value::<Parameters>(parameters.clone()) else { return parameters };
        let grown = own.grown.saturating_mul(round_u64(budget.div_duration_f64(QUICK).max(1.0)));
        json!(Parameters { grown, grown_seconds: most_question_seconds(budget), ..own })
    }

    fn families(&self, parameters: &Value) -> Result<Vec<(String, Family)>, String> {
        let (_, recording) = Parameters::read(parameters)?;
        let interval_ns = recording.report.timing.interval_ns.unwrap_or(1);
        let span_ns = round_span(interval_ns.saturating_mul(READINGS_PER_RECORD.into()));
        Ok(vec![
            ("individual".to_owned(), Family::PerReading),
            ("bulk".to_owned(), Family::PerSpan { span_ns }),
        ])
    }

    fn build(
        &self,
        parameters: &Value,
        seed: u64,
        subject: Subject<'_>,
    ) -> Result<Box<dyn Workload>, String> {
        let (parameters, recording) = Parameters::read(parameters)?;
        let schema = parameters.grown_schema(&recording);
        let table = &schema.tables[0];
        let batch = match parameters.batch {
            0 => subject.store.write_size(subject.layout, table).readings_per_write(),
            batch => usize::try_from(batch).unwrap_or(usize::MAX),
        };
        let repeated = subject.store.repeated_write(subject.layout, table);
        let resolution = subject.time_resolution(&schema, 0);
        let sizes = parameters.sizes(&recording);
        let most = sizes.last().copied().unwrap_or(1);
        let replay = Arc::new(Replay::new(&recording, resolution, repeated, most));
        let questions = Questions::new(Arc::clone(&replay), seed, parameters.questions);
        let asked = Duration::from_secs_f64(parameters.grown_seconds);
        Ok(Box::new(Phases { replay, batch, questions, sizes, asked, shape: subject.layout.shape }))
    }
}

/// A replay on one layout of one store.
struct Phases {
    replay: Arc<Replay>,
    batch: usize,
    questions: Questions,
    /// How many copies each size has.
    sizes: Vec<u32>,
    /// How long a question is asked at each size after the first.
    asked: Duration,
    shape: Shape,
}

impl Phases {
    /// From so many copies to so many, and the database at rest.
    fn loading(&self, copies: Range<u32>) -> [Step; 2] {
        let grown = if copies.start == 0 { String::new() } else { format!("-{}", copies.end) };
        let stored = self.stored(copies.end);
        let order = Order::new(copies, self.shape);
        let loading = Arc::new(Loading::new(Arc::clone(&self.replay), order, self.batch));
        let phase = PhaseSpec::new(format!("load{grown}"), vec![LoadSpec::writing("load", loading, 1)]);
        let phase = if grown.is_empty() { phase.label("operation", "load") } else { phase };
        [Step::Run(self.sized(phase, stored)), Step::Settle(format!("settled{grown}"))]
    }

    /// The recording's own questions, of which every answer is compared.
    fn asking(&self, class: Class) -> Option<Step> {
        let questions = Arc::new(self.questions.only(class)?);
        let load = LoadSpec::asking(class.name(), questions, 1, Checking::All);
        let phase = PhaseSpec::new(class.name(), vec![load]).label("operation", class.name());
        Some(Step::Run(self.sized(phase, self.stored(1))))
    }

    /// Questions about any copy, for a time.
    fn asking_copies(&self, class: Class, copies: u32) -> Option<Step> {
        let questions = Arc::new(self.questions.only(class)?.of_copies(copies, ENDLESS));
        let load = LoadSpec::asking(class.name(), questions, 1, Checking::SAMPLED);
        let mut phase = PhaseSpec::new(format!("{}-{copies}", class.name()), vec![load]);
        phase.limit = Some(self.asked);
        Some(Step::Run(self.sized(phase, self.stored(copies))))
    }

    /// Says at how many readings a phase is, where there are several sizes.
    fn sized(&self, phase: PhaseSpec, stored: u64) -> PhaseSpec {
        if self.sizes.len() > 1 { phase.label(names::STORED, stored) } else { phase }
    }

    fn stored(&self, copies: u32) -> u64 {
        self.replay.stored() * u64::from(copies)
    }
}

impl Workload for Phases {
    fn schema(&self) -> Arc<Schema> {
        Arc::clone(self.replay.schema())
    }

    fn steps(&self) -> Vec<Step> {
        let classes = self.questions.classes();
        let mut steps = Vec::new();
        let mut before = 0;
        for &copies in &self.sizes {
            if self.sizes.len() > 1 {
                steps.push(Step::Size(self.stored(copies)));
            }
            steps.extend(self.loading(before..copies));
            steps.extend(classes.iter().filter_map(|&class| match before {
                0 => self.asking(class),
                _ => self.asking_copies(class, copies),
            }));
            before = copies;
        }
        steps
    }

    fn figures(&self, record: &mut TrialRecord) {
        let notes = self.replay.notes().iter().chain(self.questions.notes());
        record.warnings.extend(notes.cloned());
    }
}
