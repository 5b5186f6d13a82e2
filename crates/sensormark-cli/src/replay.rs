//! `sensormark replay`: the user's own recording as the data set.

mod stream;

use crate::arguments::{HostsArguments, InspectArguments, ReplayArguments};
use crate::dry_run;
use crate::durability_class::cases_in_class;
use crate::failure::Failure;
use crate::hosts::Hosts;
use crate::measure::{Planned, supervisor};
use crate::messages;
use crate::output;
use crate::registry::{factories, registry};
use crate::run::{a_trial, choose};
use crate::server_memory::ServerMemory;
use sensormark_data::recording::{self, Recording, RecordingError, RecordingOptions};
use sensormark_engine::adjust::adjust;
use sensormark_engine::selection::Choice;
use sensormark_engine::trial::case::TrialRunner;
use sensormark_result::measurement::record::NotMeasured;
use sensormark_workload::replay::{self, Numbers, Parameters};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use stream::Stream;

/// The file that all processes of a run can read, and its copy where the user named a stream.
fn file(given: &Path, options: &mut RecordingOptions) -> Result<(PathBuf, Option<Stream>), Failure> {
    let stream = Stream::copy(given)?;
    let file = match &stream {
        Some(stream) => {
            options.name = Some(Stream::NAME.to_owned());
            stream.path()
        }
        None => std::path::absolute(given).map_err(Failure::usage)?,
    };
    Ok((file, stream))
}

/// A message about a recording, in the user's words.
fn explained(error: &RecordingError, stream: Option<&Stream>) -> Failure {
    let message = error.to_string();
    Failure::usage(stream.map_or_else(|| message.clone(), |stream| stream.in_words(&message)))
}

/// Reads the recording that the user named: with its file, which is there as long as the stream that it may be a copy of.
///
/// # Errors
/// What is wrong with it, and the options that help.
pub fn read(
    given: &Path,
    options: &mut RecordingOptions,
) -> Result<(Recording, PathBuf, Option<Stream>), Failure> {
    let (file, stream) = file(given, options)?;
    let recording = Recording::read(&file, options).map_err(|error| explained(&error, stream.as_ref()))?;
    Ok((recording, file, stream))
}

/// Says what a recording holds.
pub fn inspect(arguments: &InspectArguments) -> Result<ExitCode, Failure> {
    let mut options = arguments.recording.clone();
    let (file, stream) = file(&arguments.file, &mut options)?;
    let shown = arguments.file.display().to_string();
    let found =
        recording::inspect(&file, &shown, &options).map_err(|error| explained(&error, stream.as_ref()))?;
    output::line(found.text)?;
    Ok(if found.is_clear { ExitCode::SUCCESS } else { ExitCode::from(2) })
}

/// Stores that are known to keep times before 1970 and to answer about them.
const BEFORE_1970: [&str; 1] = ["sqlite"];

/// The choices that keep the recording's times. The others are left out with the reason.
fn keeping(
    choices: Vec<Choice>,
    recording: &Recording,
    not_measured: &mut Vec<NotMeasured>,
) -> Result<Vec<Choice>, Failure> {
    let is_early = recording.report.timing.first_ns < 0;
    let is_kept =
        |choice: &Choice| !is_early || BEFORE_1970.contains(&choice.store.description().name.as_str());
    let (kept, left_out): (Vec<Choice>, Vec<Choice>) = choices.into_iter().partition(is_kept);
    let reason = format!("readings before 1970 are measured on {} alone, so far", BEFORE_1970.join(", "));
    if kept.is_empty() {
        return Err(Failure::usage(reason));
    }
    not_measured.extend(
        left_out.iter().map(|choice| NotMeasured { implementation: choice.title(), reason: reason.clone() }),
    );
    Ok(kept)
}

/// Replays a recording.
pub fn replay(arguments: &ReplayArguments) -> Result<ExitCode, Failure> {
    let mut options = arguments.recording.clone();
    // A clear message comes before anything starts. The trial's process reads it again.
    let (recording, file, _stream) = read(&arguments.file, &mut options)?;
    messages::say(&recording.report);
    let scale = arguments.scale.scale();
    let preset = Parameters::of(scale, file, options);
    let parameters = adjust(&preset, &arguments.settings, Numbers::TABLE).map_err(Failure::usage)?;
    let repetitions = parameters.repetitions;
    let parameters = serde_json::to_value(parameters).map_err(Failure::usage)?;
    let factories = factories();
    let factory = factories.find(replay::NAME).expect("replay is listed");
    let registry = registry();
    let supervisor = supervisor(&arguments.common)?;
    let (choices, mut not_measured) = choose(&arguments.on, &registry, &supervisor)?;
    let choices = keeping(choices, &recording, &mut not_measured)?;
    let durability = arguments.durability.class();
    let (cases, unsupported) = cases_in_class(factory.as_ref(), &parameters, &choices, durability)?;
    not_measured.extend(unsupported);
    let budget = a_trial(arguments.budget, Some(arguments.scale), cases.len(), repetitions)?;
    let parameters = match budget {
        Some(budget) => factory.fit(parameters, budget),
        None => parameters,
    };
    let runner = TrialRunner { factory: Arc::clone(factory), parameters: parameters.clone() };
    // Results name the file, not where it lies: a path may hold a user's name.
    let mut shown = parameters;
    shown["file"] = arguments.file.file_name().map(|name| name.to_string_lossy().into_owned()).into();
    let planned = Planned {
        workload: replay::NAME,
        scale: scale.name(),
        parameters: shown,
        repetitions,
        budget,
        seed: arguments.seed,
        server_memory: ServerMemory::new(arguments.common.server_memory, None, arguments.common.memory_limit),
        protocol: None,
        common: &arguments.common,
        power_cut: false,
        hosts: Hosts::new(&HostsArguments::default(), &arguments.common.probing.probes)?,
        runner: &runner,
        registry,
        supervisor,
        cases,
        not_measured,
    };
    dry_run::or_measure(planned)
}
