//! `sensormark replay`: the user's own recording as the data set.

mod stream;

use crate::arguments::{HostsArguments, ReplayArguments};
use crate::dry_run;
use crate::durability_class::cases_in_class;
use crate::failure::Failure;
use crate::hosts::Hosts;
use crate::measure::{Planned, supervisor};
use crate::messages;
use crate::registry::{factories, registry};
use crate::run::{choose, in_clusters};
use crate::server_memory::ServerMemory;
use sensormark_data::recording::{ColumnType, Recording, RecordingOptions};
use sensormark_engine::adjust::adjust;
use sensormark_engine::trial::case::TrialRunner;
use sensormark_workload::replay::{self, Numbers, Parameters};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use stream::Stream;

/// Types of columns, from `COLUMN=TYPE`.
fn types(texts: &[String]) -> Result<BTreeMap<String, ColumnType>, Failure> {
    let read = |text: &String| {
        let (column, name) = text.rsplit_once('=')?;
        let kind = serde_json::from_value(serde_json::Value::String(name.to_owned())).ok()?;
        Some((column.to_owned(), kind))
    };
    let complain = |text: &String| {
        Failure::usage(format!(
            "--type {text}: write it as COLUMN=TYPE; types are bool, integer, float and text"
        ))
    };
    texts.iter().map(|text| read(text).ok_or_else(|| complain(text))).collect()
}

/// How the file is read.
fn options(arguments: &ReplayArguments) -> Result<RecordingOptions, Failure> {
    Ok(RecordingOptions {
        time: arguments.time.clone(),
        tags: arguments.tags.clone(),
        delimiter: arguments.delimiter,
        header: arguments.header,
        time_format: arguments.time_format,
        types: types(&arguments.types)?,
        leave_out: arguments.leave_out.clone(),
        absent: arguments.absent.clone(),
        decimal_comma: arguments.decimal_comma,
        thousands: arguments.thousands,
        skip_bad_rows: arguments.skip_bad_rows,
        ..RecordingOptions::default()
    })
}

/// Reads the recording once, so that a clear message comes before anything starts. The trial's process reads it again.
fn read(file: &Path, options: &RecordingOptions, stream: Option<&Stream>) -> Result<Recording, Failure> {
    Recording::read(file, options).map_err(|error| {
        let message = error.to_string();
        Failure::usage(match stream {
            Some(stream) => stream.in_words(&message),
            None => message,
        })
    })
}

/// Replays a recording.
pub fn replay(arguments: &ReplayArguments) -> Result<ExitCode, Failure> {
    let mut options = options(arguments)?;
    let stream = Stream::copy(&arguments.file)?;
    let file = match &stream {
        Some(stream) => {
            options.name = Some(Stream::NAME.to_owned());
            stream.path()
        }
        None => std::path::absolute(&arguments.file).map_err(Failure::usage)?,
    };
    let recording = read(&file, &options, stream.as_ref())?;
    messages::say(recording.report());
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
    let durability = arguments.durability.class();
    let clusters = &arguments.common.cluster;
    let choices = in_clusters(choices, clusters, durability, &mut not_measured)?;
    let (cases, unsupported) = cases_in_class(factory.as_ref(), &parameters, &choices, durability)?;
    not_measured.extend(unsupported);
    let runner = TrialRunner { factory: Arc::clone(factory), parameters: parameters.clone() };
    // Results name the file, not where it lies: a path may hold a user's name.
    let mut shown = parameters;
    shown["file"] = arguments.file.file_name().map(|name| name.to_string_lossy().into_owned()).into();
    let planned = Planned {
        workload: replay::NAME,
        scale: scale.name(),
        parameters: shown,
        repetitions,
        budget: None,
        seed: arguments.seed,
        server_memory: ServerMemory::new(arguments.common.server_memory, None),
        protocol: None,
        common: &arguments.common,
        hosts: Hosts::new(&HostsArguments::default(), &arguments.common.probing.probes)?,
        runner: &runner,
        registry,
        supervisor,
        cases,
        not_measured,
    };
    dry_run::or_measure(planned)
}
