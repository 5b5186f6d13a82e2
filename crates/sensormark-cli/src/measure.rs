//! What every measuring command does once it knows what to measure: results folder, signals, cleaning up, the run itself, the report.

use crate::arguments::{CommonArguments, FormatName, milliseconds};
use crate::clean::name_left;
use crate::failure::{Failure, INTERRUPTED, NOT_VALID, UNREACHABLE};
use crate::hosts::Hosts;
use crate::hosts::reach::reach;
use crate::progress::Progress;
use crate::registry::registry;
use crate::report::{PAGE, draw, options, print};
use crate::server_memory::ServerMemory;
use crate::signals;
use sensormark_data::number::significant;
use sensormark_engine::benchmark_case::BenchmarkCase;
use sensormark_engine::cold;
use sensormark_engine::connection::Registry;
use sensormark_engine::context::{CaseRunner, Observer, RunContext, RunEvent};
use sensormark_engine::deployment::existing_endpoint;
use sensormark_engine::launcher::Launcher;
use sensormark_engine::lifecycle::check_means;
use sensormark_engine::memory_limit;
use sensormark_engine::owner_mark;
use sensormark_engine::pinning::Pinning;
use sensormark_engine::power::Power;
use sensormark_engine::repeats::DisturbedHost;
use sensormark_engine::role::own_program;
use sensormark_engine::run::{RunOutcome, run as measure};
use sensormark_engine::scale::Scale;
use sensormark_engine::selection::{self, Choice};
use sensormark_engine::server_probes::ServerProbes;
use sensormark_engine::study_protocol::Protocol;
use sensormark_report::{Report, ReportOptions};
use sensormark_result::measurement::record::SCHEMA_VERSION;
use sensormark_result::measurement::{NotMeasured, ResultsFolder, RunRecord};
use sensormark_result::probe::{DisturbanceLimits, Environment, FlushRate, Limits, redact_arguments};
use sensormark_server::{HeldRun, Supervisor};
use sensormark_store::ServerOptions;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Everything that a measuring command has made up its mind about.
pub struct Planned<'a> {
    /// The workload's name.
    pub workload: &'a str,
    /// The scale's name.
    pub scale: &'a str,
    /// Every number behind it.
    pub parameters: serde_json::Value,
    /// How often everything is measured.
    pub repetitions: u32,
    /// How long a trial may take that grows from size to size.
    pub budget: Option<Duration>,
    /// The seed of data and operations.
    pub seed: u64,
    /// Memory of each server for caches and heaps.
    pub server_memory: ServerMemory,
    /// The study's protocol, where the run follows it.
    pub protocol: Option<&'static Protocol>,
    /// What all measuring commands have in common.
    pub common: &'a CommonArguments,
    /// Whether the disk loses its power as servers are killed.
    pub power_cut: bool,
    /// What runs on other hosts.
    pub hosts: Hosts,
    /// What measures a case.
    pub runner: &'a dyn CaseRunner,
    /// The stores.
    pub registry: Registry,
    /// What starts and stops servers.
    pub supervisor: Supervisor,
    /// What is measured.
    pub cases: Vec<BenchmarkCase>,
    /// What is not, and why.
    pub not_measured: Vec<NotMeasured>,
}

impl Planned<'_> {
    /// Refuses what cannot be measured, before anything is made.
    ///
    /// # Errors
    /// What cannot, and why.
    pub fn check(&self) -> Result<(), Failure> {
        if self.cases.is_empty() {
            return Err(Failure::usage(
                "nothing of what was asked for can be measured here; sensormark doctor says what is missing",
            ));
        }
        let common = self.common;
        let cache = common.cache.cache();
        cold::check(cache, self.runner, &self.cases, self.data()).map_err(Failure::usage)?;
        let roles = self.cases.iter().flat_map(|case| self.runner.roles(case));
        self.hosts.check(&roles.collect(), &self.cases)?;
        self.hosts.check_server(common)?;
        let choices: Vec<&Choice> = self.cases.iter().map(|case| &case.choice).collect();
        if self.hosts.server().is_none() {
            self.server_memory.check(&choices)?;
        }
        check_memory_limit(&self.server(), &choices)?;
        let probes = ServerProbes::new(self.launcher()?, self.hosts.probes());
        probes.check(&choices).map_err(Failure::usage)?;
        check_means()?;
        options(common.weights.as_deref(), common.prices.as_deref()).map(drop)
    }

    /// Measures into a folder of its own, and prints what came out.
    ///
    /// # Errors
    /// When results cannot be written.
    pub fn carry_out(mut self) -> Result<ExitCode, Failure> {
        let options = options(self.common.weights.as_deref(), self.common.prices.as_deref())?;
        let (common, supervisor) = (self.common, &self.supervisor);
        let limits = Limits::of_this_process();
        let progress = Progress::new(common.progress);
        let name = run_name();
        let program = own_program().map_err(Failure::usage)?;
        // Held to the end: dropping it removes what was copied to other hosts.
        let _copies = reach(&mut self.hosts, &program)?;
        let probes = ServerProbes::new(self.launcher()?, self.hosts.probes());
        self.try_probes(&probes)?;
        let mut record = self.record(&name, &progress)?;
        signals::clean_up_with(supervisor);
        if signals::interrupted() {
            return Ok(ExitCode::from(INTERRUPTED));
        }
        let folder = ResultsFolder::create(&common.results, &name.folder)?;
        folder.begin(&record)?;
        // After the limits, which are of server and client together, and before anything is started.
        if let Some(pinning) = &common.pin {
            pinning.hold().map_err(Failure::usage)?;
        }
        clean(supervisor, &progress);
        let _held = self.hold(&name, &progress);
        let data = common.data.as_deref();
        let power = self.power_cut.then(|| Power::make(supervisor, &program, data)).transpose()?;
        let context = RunContext {
            registry: &self.registry,
            supervisor,
            folder: &folder,
            limits,
            observer: &progress,
            interrupt: signals::interrupt(),
            placement: self.hosts.placement(&program),
            probes,
            owner: name.owner,
            seed: self.seed,
            budget: self.budget,
            cache: common.cache.cache(),
            timeout_ms: milliseconds(common.timeout),
            server: self.server(),
            data_folder: power.as_ref().map(|power| power.path().to_owned()).or_else(|| common.data.clone()),
            power: power.as_ref(),
            disturbance: DisturbanceLimits::default(),
            disturbed_host: self.disturbed_host(),
            protocol: self.protocol,
            plant: common.plant.clone(),
        };
        self.announce_protocol(&progress);
        let outcome = measure(&context, self.runner, &self.cases, self.repetitions)?;
        progress.finish();
        if !outcome.interrupted {
            record.finished = Some(jiff::Timestamp::now().to_string());
            record.trials = folder.written()?;
            folder.write_run(&record)?;
        }
        show(&folder, common.full, &options, &progress)?;
        Ok(exit_code(outcome))
    }

    /// Where databases are reached by URL: names those that runs left there, and writes down that this run is going on.
    fn hold(&self, name: &RunName, progress: &Progress) -> Option<HeldRun> {
        let by_url = self.cases.iter().map(|case| &case.choice);
        let by_url: Vec<&Choice> = by_url.filter(|choice| choice.url.is_some()).collect();
        if by_url.is_empty() {
            return None;
        }
        let timeout_ms = milliseconds(self.common.timeout);
        for text in name_left(&self.supervisor, &by_url, timeout_ms) {
            progress.event(RunEvent::Note(text));
        }
        let held = self.supervisor.hold_run(&name.owner);
        let noted = held.inspect_err(|error| {
            let text = format!("sensormark clean cannot tell that this run is going on: {error}");
            progress.event(RunEvent::Note(text));
        });
        noted.ok()
    }

    /// What places processes: this machine's program.
    fn launcher(&self) -> Result<Launcher, Failure> {
        let program = own_program().map_err(Failure::usage)?;
        Ok(Launcher::local(&program))
    }

    /// Starts each probe once, so that what cannot be watched is said before anything is measured.
    fn try_probes(&self, probes: &ServerProbes) -> Result<(), Failure> {
        let mut tried = Vec::new();
        for choice in self.cases.iter().map(|case| &case.choice) {
            if choice.store.description().embedded || tried.contains(&choice.title()) {
                continue;
            }
            tried.push(choice.title());
            if let Some(endpoint) = existing_endpoint(&self.supervisor, choice)? {
                let store = choice.store.description().name;
                let of = (store.as_str(), choice.server.as_deref());
                let port = endpoint.ports.first().copied();
                let probe = probes.start(of, port, DisturbanceLimits::default());
                drop(probe.map_err(Failure::usage)?);
            }
        }
        Ok(())
    }

    /// Options of the servers that are started.
    pub fn server(&self) -> ServerOptions {
        let common = self.common;
        ServerOptions {
            memory_bytes: self.server_memory.bytes,
            profile: self.profile(),
            start_seconds: common.start_timeout,
            processors: common.pin.as_ref().map(Pinning::server),
            log_folder: common.log_folder.clone(),
            memory_limit_bytes: common.memory_limit.map(|limit| limit.0),
            cpu_millicores: common.cpu_limit,
            address: self.hosts.server_address(),
            ..ServerOptions::default()
        }
    }

    /// The profile of servers' settings: what the user says, or else the study's where the run follows it.
    fn profile(&self) -> Option<String> {
        let own = self.protocol.map(|study| study.profile.to_owned());
        self.common.profile.clone().or(own)
    }

    /// What a busy machine means for this run: at the scales that a decision rests on, its trials do not count.
    pub fn disturbed_host(&self) -> DisturbedHost {
        let mut deciding = Scale::ALL.into_iter().filter(|scale| scale.decides());
        let is_firm = deciding.any(|scale| scale.name() == self.scale);
        if self.common.tolerate_disturbance {
            DisturbedHost::Tolerated
        } else if self.common.strict || is_firm {
            DisturbedHost::Refused
        } else {
            DisturbedHost::Rough
        }
    }

    /// Says what the run does not do as its study did.
    fn announce_protocol(&self, progress: &Progress) {
        for line in self.protocol.iter().flat_map(|study| study.not_done(self.hosts.is_used())) {
            progress.event(RunEvent::Note(format!("not as the study did: {line}")));
        }
    }

    /// Where databases lie: what the user says, or else the supervisor's own folder.
    pub fn data(&self) -> &Path {
        let common = self.common;
        common.data.as_deref().unwrap_or(self.supervisor.home())
    }

    /// The folders that data and logs are kept in, by what they are for.
    pub fn folders(&self) -> Vec<(&str, &Path)> {
        let logs = self.common.log_folder.as_deref();
        std::iter::once(("data", self.data())).chain(logs.map(|logs| ("logs", logs))).collect()
    }

    fn record(&self, name: &RunName, progress: &Progress) -> Result<RunRecord, Failure> {
        let common = self.common;
        let folders = self.folders();
        let mut environment = Environment::read(&folders).map_err(Failure::usage)?;
        environment.pinned = common.pin.as_ref().map_or_else(BTreeMap::new, Pinning::record);
        for (name, folder) in folders {
            match FlushRate::measure(folder) {
                Ok(rate) => {
                    let flushes = significant(rate.per_second, 3);
                    let text = format!("the disk of the folder {name} flushes {flushes} times a second");
                    progress.event(RunEvent::Note(text));
                    environment.flushes.insert(name.to_owned(), rate);
                }
                Err(error) => tracing::warn!(%error, "the disk's flushes could not be measured"),
            }
        }
        let command_line: Vec<String> = std::env::args().skip(1).collect();
        Ok(RunRecord {
            schema_version: SCHEMA_VERSION,
            name: name.folder.clone(),
            sensormark: env!("CARGO_PKG_VERSION").to_owned(),
            started: jiff::Timestamp::now().to_string(),
            finished: None,
            command_line: redacted(&command_line),
            workload: self.workload.to_owned(),
            scale: self.scale.to_owned(),
            parameters: self.parameters.clone(),
            seed: self.seed,
            shard: (0, 1),
            clock_offset_ns: 0,
            repetitions: self.repetitions,
            environment: serde_json::to_value(environment).map_err(Failure::usage)?,
            as_study: self.protocol.is_some(),
            not_measured: self.not_measured.clone(),
            checksums: true,
            trials: Vec::new(),
        })
    }
}

/// What starts and stops servers for a command; what only plans leaves no folder behind.
///
/// # Errors
/// When there is no folder for what servers need.
pub fn supervisor(common: &CommonArguments) -> Result<Supervisor, Failure> {
    Ok(match common.dry_run {
        Some(_) => Supervisor::planning()?,
        None => Supervisor::new(None)?,
    })
}

/// Refuses a memory limit that these databases cannot all be held to.
///
/// # Errors
/// What cannot, why, and what to do.
pub fn check_memory_limit(options: &ServerOptions, choices: &[&Choice]) -> Result<(), Failure> {
    let limits = Limits::of_this_process();
    let available = memory_limit::available_bytes(limits.cgroup_memory_bytes);
    Ok(memory_limit::check(options, choices, available)?)
}

/// A run's name, as a folder and as an owner's mark in databases.
pub struct RunName {
    folder: String,
    /// The owner's mark.
    pub owner: String,
}

/// A name for what begins now.
pub fn run_name() -> RunName {
    let now = jiff::Timestamp::now();
    let owner = owner_mark::new();
    let end = owner_mark::short(&owner);
    RunName { folder: format!("{}-{end}", now.strftime("%Y%m%d-%H%M%S")), owner }
}

/// Removes what runs that were killed left behind.
pub fn clean(supervisor: &Supervisor, progress: &Progress) {
    for what in supervisor.clean_orphans() {
        progress.event(RunEvent::Note(what));
    }
}

/// Prints what came out of a run, and draws its page.
fn show(
    folder: &ResultsFolder,
    is_full: bool,
    options: &ReportOptions,
    progress: &Progress,
) -> Result<(), Failure> {
    // The report first: it is derived from what is kept, and a full disk cannot keep it from being seen.
    let report = Report::from_folder(folder, options)?;
    if is_full {
        print(folder, &report, &[FormatName::Text], true)?;
    }
    draw(folder, &report)?;
    // The answer last, so that it stands on the screen when the program ends.
    if is_full {
        let page = folder.path().join(PAGE);
        progress.afterwards(format!("the report as a page: {}", page.display()));
    } else {
        print(folder, &report, &[FormatName::Text], false)?;
    }
    Ok(())
}

fn exit_code(outcome: RunOutcome) -> ExitCode {
    match outcome {
        RunOutcome { interrupted: true, .. } => ExitCode::from(INTERRUPTED),
        RunOutcome { unreachable: true, .. } => ExitCode::from(UNREACHABLE),
        RunOutcome { not_valid: 0, limits_missed: 0, .. } => ExitCode::SUCCESS,
        _ => ExitCode::from(NOT_VALID),
    }
}

/// The command line as a result keeps it: what follows `--on` is cut where the program cuts it.
fn redacted(line: &[String]) -> Vec<String> {
    let mut kept = redact_arguments(line);
    let registry = registry();
    for (place, argument) in line.iter().enumerate() {
        if let Some(on) = argument.strip_prefix("--on=") {
            kept[place] = format!("--on={}", selection::redacted(on, &registry));
        } else if place > 0 && line[place - 1] == "--on" {
            kept[place] = selection::redacted(argument, &registry);
        }
    }
    kept
}
