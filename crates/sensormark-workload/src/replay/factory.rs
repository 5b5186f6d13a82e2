//! Replays as trials of phases: what parameters they are made from, and the steps that an implementation goes through.
//!
//! The load, rest, and then one phase a class of questions, so that what a layout does not support is said of that class alone.

use std::path::PathBuf;
use std::sync::Arc;

use sensormark_store::{Family, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::spans::round_span;
use super::{Class, Loading, NAME, Questions, Replay};
use sensormark_data::recording::{Recording, RecordingOptions};
use sensormark_engine::answers::Checking;
use sensormark_engine::parameter::{Parameter, any, at_least};
use sensormark_engine::parameters;
use sensormark_engine::scale::Scale;
use sensormark_engine::trial::script::{LoadSpec, PhaseSpec, Step};
use sensormark_engine::trial::{Subject, Workload, WorkloadFactory};
use sensormark_result::measurement::record::TrialRecord;

/// A record of the layouts that keep readings by spans holds about so many readings.
const READINGS_PER_SPAN: i64 = 1_000;

/// Everything that a replay is made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Questions of each class.
    pub questions: u64,
    /// Readings in a batch of the load; 0 for what its documentation advises.
    pub batch: u64,
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
        /// how often everything is measured
        repetitions: u32, Plain, at_least(1.0) => 1, 5, 5, 5;
    }
}

impl Parameters {
    /// A recording with the numbers of a scale.
    pub fn of(scale: Scale, file: PathBuf, recording: RecordingOptions) -> Self {
        let Numbers { questions, batch, repetitions } = Numbers::of(scale);
        Self { questions, batch, repetitions, file, recording }
    }

    fn read(parameters: &Value) -> Result<(Self, Recording), String> {
        let own: Self = serde_json::from_value(parameters.clone()).map_err(|error| error.to_string())?;
        let recording = Recording::read(&own.file, &own.recording).map_err(|error| error.to_string())?;
        Ok((own, recording))
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
        let (_, recording) = Parameters::read(parameters)?;
        Ok(Schema::clone(&recording.schema))
    }

    fn families(&self, parameters: &Value) -> Result<Vec<(String, Family)>, String> {
        let (_, recording) = Parameters::read(parameters)?;
        let interval_ns = recording.report.timing.interval_ns.unwrap_or(1);
        let span_ns = round_span(interval_ns.saturating_mul(READINGS_PER_SPAN));
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
        let table = &recording.schema.tables[0];
        let batch = match parameters.batch {
            0 => subject.store.write_size(subject.layout, table).readings_per_write(),
            batch => usize::try_from(batch).unwrap_or(usize::MAX),
        };
        let repeated = subject.store.repeated_write(subject.layout, table);
        let resolution = subject.time_resolution(&recording.schema, 0);
        let replay = Arc::new(Replay::new(&recording, resolution, repeated));
        let questions = Questions::new(Arc::clone(&replay), seed, parameters.questions);
        Ok(Box::new(Phases { replay, batch, questions }))
    }
}

/// A replay on one layout of one store.
struct Phases {
    replay: Arc<Replay>,
    batch: usize,
    questions: Questions,
}

impl Phases {
    fn asking(&self, class: Class) -> Option<Step> {
        let questions = Arc::new(self.questions.only(class)?);
        let load = LoadSpec::asking(class.name(), questions, 1, Checking::All);
        let phase = PhaseSpec::new(class.name(), vec![load]);
        Some(Step::Run(phase.label("operation", class.name())))
    }
}

impl Workload for Phases {
    fn schema(&self) -> Arc<Schema> {
        Arc::clone(self.replay.schema())
    }

    fn steps(&self) -> Vec<Step> {
        let loading = Arc::new(Loading::new(Arc::clone(&self.replay), self.batch));
        let load = PhaseSpec::new("load", vec![LoadSpec::writing("load", loading, 1)]);
        let mut steps = vec![Step::Run(load.label("operation", "load")), Step::Settle("settled".to_owned())];
        let classes = self.questions.classes().iter();
        steps.extend(classes.filter_map(|&class| self.asking(class)));
        steps
    }

    fn figures(&self, record: &mut TrialRecord) {
        let notes = self.replay.notes().iter().chain(self.questions.notes());
        record.warnings.extend(notes.cloned());
    }
}
