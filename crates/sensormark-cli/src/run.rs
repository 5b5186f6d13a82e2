//! `sensormark run`: from arguments to a ranking.

use crate::arguments::{DurabilityName, RunArguments, ScaleName};
use crate::failure::Failure;
use crate::measure::Planned;
use crate::registry::registry;
use sensormark::engine::connection::Registry;
use sensormark::engine::run::preflight;
use sensormark::measurement::NotMeasured;
use sensormark::workload::machine_tool::{self, Parameters, trial::MachineToolRunner};
use sensormark::workload::scale::{Scale, adjust};
use sensormark::workload::selection::{Choice, parse, unknown};
use sensormark_store::Durability;
use sensormark_store::supervisor::Supervisor;
use std::process::ExitCode;

/// Measures a workload.
pub fn run(arguments: &RunArguments) -> Result<ExitCode, Failure> {
    if arguments.workload != machine_tool::NAME {
        return Err(Failure::usage(unknown(
            "workload",
            &arguments.workload,
            [machine_tool::NAME.to_owned()],
        )));
    }
    let scale = arguments.scale.scale();
    let parameters = parameters(scale, &arguments.settings)?;
    let durability = arguments.durability.class();
    let registry = registry();
    let supervisor = Supervisor::new(None)?;
    let (choices, mut not_measured) = choose(&arguments.on, &registry, &supervisor)?;
    let (cells, unsupported) =
        machine_tool::cells::cells(&choices, durability).map_err(Failure::usage)?;
    not_measured.extend(unsupported);
    let planned = Planned {
        workload: machine_tool::NAME,
        scale: scale.name(),
        parameters: serde_json::to_value(&parameters).map_err(Failure::usage)?,
        repetitions: parameters.repetitions,
        seed: arguments.seed,
        durability,
        common: &arguments.common,
        runner: &MachineToolRunner { parameters },
        registry,
        supervisor,
        cells,
        not_measured,
    };
    planned.carry_out()
}

/// The stores that were asked for, each reached or found; with `all`, those that are not here are told instead.
///
/// # Errors
/// A name that there is not, or a store that cannot be reached.
pub fn choose(
    on: &str,
    registry: &Registry,
    supervisor: &Supervisor,
) -> Result<(Vec<Choice>, Vec<NotMeasured>), Failure> {
    let choices = parse(on, registry).map_err(Failure::usage)?;
    let every_store = on.split(',').any(|item| item.trim() == "all");
    Ok(preflight(supervisor, choices, every_store)?)
}

/// The numbers of a machine-tool run.
pub fn parameters(scale: Scale, settings: &[String]) -> Result<Parameters, Failure> {
    let preset = match scale {
        Scale::Quick => Parameters::quick(),
        Scale::Standard => Parameters::standard(),
        Scale::Study => Parameters::study(),
    };
    let parameters = adjust(&preset, settings).map_err(Failure::usage)?;
    parameters.check().map_err(Failure::usage)?;
    Ok(parameters)
}

impl ScaleName {
    /// The scale of this name.
    pub const fn scale(self) -> Scale {
        match self {
            Self::Quick => Scale::Quick,
            Self::Standard => Scale::Standard,
            Self::Study => Scale::Study,
        }
    }
}

impl DurabilityName {
    /// The class of this name.
    pub const fn class(self) -> Durability {
        match self {
            Self::Default => Durability::Default,
            Self::Durable => Durability::Durable,
            Self::Relaxed => Durability::Relaxed,
            Self::Unacknowledged => Durability::Unacknowledged,
        }
    }
}
