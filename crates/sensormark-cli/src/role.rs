//! One process of a trial. Its work is in the library; this only takes its configuration off the line and names who does it.

use crate::failure::Failure;
use crate::registry::{factories, registry};
use sensormark_engine::placement::SERVER;
use sensormark_engine::power::POWER;
use sensormark_engine::role::{ELSEWHERE, Event};
use sensormark_engine::role_line::{RoleLine, tell};
use sensormark_engine::server_role;
use sensormark_engine::trial::role;
use sensormark_server::Supervisor;
use sensormark_store::{ErrorKind, StoreError};
use std::path::Path;
use std::process::ExitCode;

/// Runs the role of this name to its end.
pub fn role(name: &str, place: Option<&str>) -> Result<ExitCode, Failure> {
    if let (POWER, Some(folder)) = (name, place) {
        return sensormark_power::serve(Path::new(folder))
            .map(|()| ExitCode::SUCCESS)
            .map_err(Failure::usage);
    }
    let is_elsewhere = place == Some(ELSEWHERE);
    let outcome = if let Some(workload) = role::source_of(name) {
        open(is_elsewhere).and_then(|(_line, told)| role::run_source(workload, &told, &factories()))
    } else if role::is_trials(name) {
        open(is_elsewhere)
            .and_then(|(line, configuration)| role::run(line, &configuration, &registry(), &factories()))
    } else if name == SERVER {
        open(is_elsewhere)
            .and_then(|(line, task)| server_role::run(line, &task, &registry(), &Supervisor::new(None)?))
    } else {
        return Err(Failure::usage(format!(
            "there is no role {name:?}; roles are started by sensormark itself"
        )));
    };
    match outcome {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => {
            let unreachable = matches!(
                error.kind(),
                ErrorKind::Unavailable | ErrorKind::Timeout | ErrorKind::Authentication
            );
            tell(&Event::Failed { unreachable, message: error.to_string() });
            Ok(ExitCode::FAILURE)
        }
    }
}

fn open<T: serde::de::DeserializeOwned>(is_elsewhere: bool) -> Result<(RoleLine, T), StoreError> {
    RoleLine::open(is_elsewhere)
        .map_err(|message| StoreError::new(ErrorKind::Configuration, "start a role", message))
}
