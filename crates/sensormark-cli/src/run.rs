//! `sensormark run`: from arguments to a ranking.

use crate::arguments::{CacheName, DurabilityName, FindLimitName, RunArguments, ScaleName, Size};
use crate::dry_run;
use crate::durability_class::{cases_in_class, cases_in_each_class, of_shipped};
use crate::failure::Failure;
use crate::hosts::Hosts;
use crate::measure::{Planned, supervisor};
use crate::registry::{OwnFile, Workload, no_scale, numbers, own_file, registry, shown};
use crate::server_memory::ServerMemory;
use sensormark_data::export::DataRequest;
use sensormark_data::quantity::duration_text;
use sensormark_data::units::round_u64;
use sensormark_engine::connection::Registry;
use sensormark_engine::context::CaseRunner;
use sensormark_engine::run::preflight;
use sensormark_engine::scale::Scale;
use sensormark_engine::selection::{Choice, of_all, parse};
use sensormark_engine::study_protocol::{self, Protocol};
use sensormark_engine::trial::WorkloadFactory;
use sensormark_engine::trial::case::TrialRunner;
use sensormark_engine::trial::cases::layout_options;
use sensormark_result::measurement::{Cache, NotMeasured};
use sensormark_server::Supervisor;
use sensormark_store::Durability;
use sensormark_store::server::machine_memory_bytes;
use sensormark_workload::durability;
use sensormark_workload::own::find_limit::{FindLimit, Sought};
use serde_json::Value;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Where nothing is said, everything is measured on this store.
const DEFAULT_STORES: &str = "sqlite";

/// What a trial may take that grows from size to size at the short scales, where nobody says, and at least.
const QUICK: Duration = Duration::from_secs(30);
const LEAST: Duration = Duration::from_secs(10);

/// Measures a workload.
pub fn run(arguments: &mut RunArguments) -> Result<ExitCode, Failure> {
    let workload = Workload::find(&arguments.workload)?;
    if !matches!(workload, Workload::File(_)) {
        is_of_no_file(arguments)?;
    }
    match workload {
        Workload::Factory(factory) => {
            let scale = arguments.scale.unwrap_or_default().scale();
            let own = if arguments.as_study { factory.as_study() } else { &[] };
            let power_cut =
                (arguments.power_cut && factory.name() == durability::NAME).then_some(durability::POWER_CUT);
            let settings = own.iter().chain(&power_cut).map(ToString::to_string);
            let settings = settings.chain(arguments.settings.clone());
            let parameters = numbers(factory.as_ref(), scale, &settings.collect::<Vec<_>>())?;
            power_is_cut_by_its_option(arguments, &parameters)?;
            let measured = Measured {
                shown: parameters.clone(),
                parameters,
                scale: scale.name(),
                on: DEFAULT_STORES,
                durability: of_shipped(factory.name()),
                server_memory: ServerMemory::new(
                    arguments.common.server_memory,
                    None,
                    arguments.common.memory_limit,
                ),
                factory,
            };
            measured.run(arguments)
        }
        Workload::File(path) => {
            power_is_cut_by_its_option(arguments, &Value::Null)?;
            no_scale(arguments.scale)?;
            let mut own = own_file(&path, &arguments.settings)?;
            in_proportion(&mut own, arguments)?;
            // A recording that cannot be read is said before anything is started.
            own.factory
                .data_set(&own.parameters, &DataRequest::of(arguments.seed))
                .map_err(|why| Failure::usage(format!("{}: {why}", path.display())))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let measured = Measured {
                server_memory: own
                    .server_memory(arguments.common.server_memory, arguments.common.memory_limit),
                shown: shown(&own.parameters),
                parameters: own.parameters,
                scale: &name,
                on: &own.on,
                durability: own.durability,
                factory: own.factory,
            };
            measured.run(arguments)
        }
    }
}

/// Refuses the options of a user's file.
fn is_of_no_file(arguments: &RunArguments) -> Result<(), Failure> {
    let wrong = match (arguments.find_limit, arguments.in_proportion) {
        (None, None) => return Ok(()),
        (Some(_), _) => {
            "--find-limit is for a file of your own, whose writers have a rate or which has dashboards"
        }
        (None, Some(_)) => "--in-proportion is for a file of your own, which says how long data are kept",
    };
    Err(Failure::usage(format!("{wrong}; sensormark init writes one")))
}

/// Gives each database the share of the machine's memory that the file's largest measured size is of the user's.
fn in_proportion(own: &mut OwnFile, arguments: &mut RunArguments) -> Result<(), Failure> {
    let Some(memory) = arguments.in_proportion else { return Ok(()) };
    let share = own.measure_in_proportion()?;
    let of = |bytes: u64| Size(round_u64(bytes as f64 * share));
    let memory = memory.map_or_else(machine_memory_bytes, |memory| memory.0);
    arguments.common.memory_limit = Some(of(memory));
    arguments.common.server_memory = arguments.common.server_memory.map(|own| of(own.0));
    Ok(())
}

/// The power is cut by the option alone, because that gives this process mounts of its own.
fn power_is_cut_by_its_option(arguments: &RunArguments, parameters: &Value) -> Result<(), Failure> {
    let is_cut = parameters.get("kill").is_some_and(|victim| victim == "power");
    match (arguments.power_cut, is_cut) {
        (true, false) => Err(Failure::usage("--power-cut is for the workload durability")),
        (false, true) => Err(Failure::usage("--set kill=power is written --power-cut")),
        _ => Ok(()),
    }
}

/// A workload that is about to be measured.
struct Measured<'a> {
    factory: Arc<dyn WorkloadFactory>,
    parameters: Value,
    /// The parameters as results have them.
    shown: Value,
    /// The scale's name.
    scale: &'a str,
    /// The stores, where the user names none.
    on: &'a str,
    /// What an acknowledged write promises, where the user does not say.
    durability: Durability,
    /// Memory of each server for caches and heaps.
    server_memory: ServerMemory,
}

impl Measured<'_> {
    fn run(self, arguments: &RunArguments) -> Result<ExitCode, Failure> {
        let registry = registry();
        let (factory, parameters) = (self.factory.as_ref(), &self.parameters);
        let supervisor = supervisor(&arguments.common)?;
        let on = arguments.on.as_deref().unwrap_or(self.on);
        let hosts = Hosts::new(&arguments.hosts, &arguments.common.probing.probes)?;
        let (choices, mut not_measured) = match hosts.server() {
            None => choose(on, &registry, &supervisor)?,
            Some(_) => choose_elsewhere(on, &registry, &supervisor)?,
        };
        let protocol = protocol(factory.name(), arguments)?;
        // A study's databases were what they are as they come.
        let own = if protocol.is_some() { Durability::Default } else { self.durability };
        let durability = arguments.durability.map_or(own, DurabilityName::class);
        let choices = own_layouts(protocol, choices, |choice| {
            let offers = layout_options(factory, parameters, choice)?;
            Ok(offers.into_iter().map(|(name, _)| name).collect())
        })?;
        let (cases, unsupported) = if arguments.power_cut && arguments.durability.is_none() {
            cases_in_each_class(factory, parameters, &choices)?
        } else {
            cases_in_class(factory, parameters, &choices, durability)?
        };
        not_measured.extend(unsupported);
        let repetitions = factory.repetitions(parameters);
        let budget = a_trial(arguments.budget, arguments.scale, cases.len(), repetitions)?;
        let parameters =
            &budget.map_or_else(|| parameters.clone(), |budget| factory.fit(parameters.clone(), budget));
        let trials = TrialRunner { factory: Arc::clone(&self.factory), parameters: parameters.clone() };
        let runner: Box<dyn CaseRunner> = if let Some(name) = arguments.find_limit {
            let found = FindLimit::new(Arc::clone(&self.factory), parameters, name.sought());
            Box::new(found.map_err(Failure::usage)?)
        } else {
            Box::new(trials)
        };
        let planned = Planned {
            workload: factory.name(),
            scale: self.scale,
            parameters: self.shown,
            repetitions,
            budget,
            seed: arguments.seed,
            server_memory: self.server_memory,
            protocol,
            common: &arguments.common,
            power_cut: arguments.power_cut,
            hosts,
            runner: runner.as_ref(),
            registry,
            supervisor,
            cases,
            not_measured,
        };
        dry_run::or_measure(planned)
    }
}

/// How long a trial may take that grows from size to size: its share of the budget of all; else 30 s at the scales that are short.
///
/// # Errors
/// The budget is too small to measure anything.
pub fn a_trial(
    budget: Option<Duration>,
    scale: Option<ScaleName>,
    cases: usize,
    repetitions: u32,
) -> Result<Option<Duration>, Failure> {
    let trials = u32::try_from(cases).unwrap_or(u32::MAX).saturating_mul(repetitions).max(1);
    let is_short = matches!(scale, None | Some(ScaleName::Quick | ScaleName::Firm));
    let Some(budget) = budget else { return Ok(is_short.then_some(QUICK)) };
    let least = LEAST.saturating_mul(trials);
    if budget < least {
        let (least, given) =
            (duration_text(least.as_secs_f64() * 1e9), duration_text(budget.as_secs_f64() * 1e9));
        return Err(Failure::usage(format!(
            "--budget is {given} for {trials} trials, and each takes {} at least: give {least}, or name fewer databases with --on",
            duration_text(LEAST.as_secs_f64() * 1e9)
        )));
    }
    Ok(Some(budget / trials))
}

/// The study's protocol, where it is asked for or the scale is the study's.
///
/// # Errors
/// It is asked for and the workload is after no study.
fn protocol(workload: &str, arguments: &RunArguments) -> Result<Option<&'static Protocol>, Failure> {
    if arguments.as_study {
        return study_protocol::required(workload).map(Some).map_err(Failure::usage);
    }
    let is_studys_scale = matches!(arguments.scale, Some(ScaleName::Study));
    Ok(study_protocol::protocol(workload).filter(|_| is_studys_scale))
}

/// The choices, with the study's own layouts where the run follows it.
fn own_layouts(
    protocol: Option<&Protocol>,
    choices: Vec<Choice>,
    offered: impl Fn(&Choice) -> Result<Vec<String>, String>,
) -> Result<Vec<Choice>, Failure> {
    match protocol {
        None => Ok(choices),
        Some(protocol) => protocol.choose(choices, offered).map_err(Failure::usage),
    }
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
    let every_store = on.split(',').any(|item| of_all(item).is_some());
    let (here, mut missing) = preflight(supervisor, choices, every_store)?;
    if every_store {
        missing.extend(registry.left_out().map(|(name, why)| NotMeasured {
            implementation: name.to_owned(),
            reason: format!("not available: {why}"),
        }));
    }
    Ok((here, missing))
}

/// The same, where servers are started on another host: what is installed here does not count for them.
///
/// # Errors
/// A name that there is not, or a store that cannot be reached.
fn choose_elsewhere(
    on: &str,
    registry: &Registry,
    supervisor: &Supervisor,
) -> Result<(Vec<Choice>, Vec<NotMeasured>), Failure> {
    let choices = parse(on, registry).map_err(Failure::usage)?;
    let is_there = |choice: &Choice| choice.url.is_some();
    let (there, started) = choices.into_iter().partition(is_there);
    let (mut choices, missing) = preflight(supervisor, there, false)?;
    choices.extend::<Vec<Choice>>(started);
    Ok((choices, missing))
}

impl ScaleName {
    /// The scale of this name.
    pub const fn scale(self) -> Scale {
        match self {
            Self::Quick => Scale::Quick,
            Self::Firm => Scale::Firm,
            Self::Standard => Scale::Standard,
            Self::Study => Scale::Study,
        }
    }
}

impl FindLimitName {
    /// What is looked for.
    const fn sought(self) -> Sought {
        match self {
            Self::Rate => Sought::Rate,
            Self::Users => Sought::Users,
        }
    }
}

impl CacheName {
    /// The cache of this name.
    pub const fn cache(self) -> Cache {
        match self {
            Self::Hot => Cache::Hot,
            Self::Cold => Cache::Cold,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command};
    use clap::Parser;

    /// The protocol that these words of a command line ask for.
    fn asked(words: &[&str]) -> Option<&'static str> {
        let line = [&["sensormark", "run"], words].concat();
        let arguments = Arguments::try_parse_from(line).expect("a command line");
        let Command::Run(run) = arguments.command else {
            panic!("it runs");
        };
        let found = protocol(&run.workload, &run).expect("a study's workload");
        found.map(|protocol| protocol.workload)
    }

    #[test]
    fn the_studys_scale_implies_its_protocol() {
        for study in &study_protocol::PROTOCOLS {
            let name = study.workload;
            assert_eq!(asked(&[name, "--scale", "study"]), Some(name));
            assert_eq!(asked(&[name, "--as-study"]), Some(name));
            assert_eq!(asked(&[name, "--scale", "standard"]), None);
            assert_eq!(asked(&[name]), None);
        }
        let of_no_study = asked(&["durability", "--scale", "study"]);
        assert_eq!(of_no_study, None, "it has that scale and no study");
    }
}
