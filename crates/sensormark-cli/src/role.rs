//! One process of a trial. Its work is in the library; this only takes its configuration off the line and names who does it.

use crate::failure::Failure;
use crate::registry::{kinds, registry};
use sensormark::engine::role::{Event, RoleLine, tell};
use sensormark::engine::site::block_on;
use sensormark::engine::trial;
use sensormark::workload::machine_tool::{
    queue::MessageQueue, reader, source, write_trial::SourceMessage, writer,
};
use sensormark_store::{ErrorKind, StoreError};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

/// Runs the role of this name to its end.
pub fn role(name: &str) -> Result<ExitCode, Failure> {
    let outcome = match name {
        "machine-tool-source" => source_role(),
        "machine-tool-writer" => open().and_then(|(line, configuration)| {
            block_on(writer::run(line, configuration, &registry()))
        }),
        "machine-tool-reader" => open().and_then(|(line, configuration)| {
            block_on(reader::run(line, configuration, &registry()))
        }),
        trial::role::ROLE => open().and_then(|(line, configuration)| {
            trial::role::run(line, &configuration, &registry(), &kinds())
        }),
        _ => {
            return Err(Failure::usage(format!(
                "there is no role {name:?}; roles are started by sensormark itself"
            )));
        }
    };
    match outcome {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => {
            let unreachable = matches!(
                error.kind(),
                ErrorKind::Unavailable | ErrorKind::Timeout | ErrorKind::Authentication
            );
            tell(&Event::Failed {
                unreachable,
                message: error.to_string(),
            });
            Ok(ExitCode::FAILURE)
        }
    }
}

fn open<T: serde::de::DeserializeOwned>() -> Result<(RoleLine, T), StoreError> {
    RoleLine::open()
        .map_err(|message| StoreError::new(ErrorKind::Configuration, "start a role", message))
}

fn source_role() -> Result<(), StoreError> {
    let (_line, message): (RoleLine, SourceMessage) = open()?;
    let failed = |error: &dyn std::fmt::Display| {
        StoreError::new(ErrorKind::Configuration, "send samples", error.to_string())
    };
    let queue = MessageQueue::open(message.queue).map_err(|error| failed(&error))?;
    let report = source::run_source(&message.source, &queue, &AtomicBool::new(false))
        .map_err(|error| failed(&error))?;
    tell(&Event::Report(
        serde_json::to_value(report).map_err(|error| failed(&error))?,
    ));
    Ok(())
}
