//! A trial's process: holds the clients of every phase, and obeys the coordinator's commands. And the process of a source, which feeds them.

use super::ceiling::Ceiling;
use super::feed::SOURCE;
use super::own_line;
use super::protocol::{CONNECTED, Command, DoubtfulLoad, FINISHED, Prepare, Report, TrialConfiguration};
use super::script::{About, LoadSpec, PhaseSpec, ROLE, Step, find};
use super::spread::over_hosts;
use super::{Subject, Workload, WorkloadFactories};
use crate::answers::Doubtful;
use crate::clients::{Clients, ClientsError};
use crate::connection::Registry;
use crate::finished::Finished;
use crate::phase::{Load, Phase, Target};
use crate::role::{Event, Progress};
use crate::role_line::{self, RoleLine, tell};
use crate::watermark::Watermark;
use crate::work_distribution::ClientRange;
use sensormark_store::{ErrorKind, StoreError};
use serde_json::Value;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often progress is reported.
const TELL: Duration = Duration::from_millis(200);

/// The name of a process with this role: a workload's own roles have its name before theirs.
pub fn process_name(kind: &str, role: &str) -> String {
    if role == ROLE { role.to_owned() } else { format!("{kind}-{role}") }
}

/// Whether a process of this name holds a trial's clients.
pub fn is_trials(name: &str) -> bool {
    let (_, role) = name.rsplit_once('-').unwrap_or_default();
    name == ROLE || ["writer", "reader"].contains(&role)
}

/// The workload whose source's process has this name, if it is one's.
pub fn source_of(name: &str) -> Option<&str> {
    name.strip_suffix(SOURCE)?.strip_suffix('-')
}

/// Runs a source's process to its end.
///
/// # Errors
/// What broke it off.
pub fn run_source(kind: &str, told: &Value, factories: &WorkloadFactories) -> Result<(), StoreError> {
    let found = factories.find(kind);
    let found = found.ok_or_else(|| broken(&format!("there is no workload {kind}")))?;
    let report = found.source(told).map_err(|problem| broken(&problem))?;
    tell(&Event::Report(report));
    Ok(())
}

/// Runs the process to its end.
///
/// # Errors
/// What broke it off.
pub fn run(
    mut line: RoleLine,
    configuration: &TrialConfiguration,
    registry: &Registry,
    factories: &WorkloadFactories,
) -> Result<(), StoreError> {
    let store = configuration.plan.store(registry)?;
    let factory = factories
        .find(&configuration.kind)
        .ok_or_else(|| broken(&format!("there is no workload {}", configuration.kind)))?;
    let workload = factory
        .build(
            &configuration.parameters,
            configuration.seed,
            Subject {
                store: store.as_ref(),
                layout: configuration.plan.layout(),
                layout_name: &configuration.layout_name,
            },
        )
        .map_err(|problem| broken(&problem))?;
    let plan = configuration.plan.plan(workload.schema());
    let mut case = configuration.case.clone();
    if let Some(stored) = &configuration.stored {
        let stored = own_line::keep_stored(stored);
        case.stored = Some(stored.map_err(|problem| broken(&problem))?);
    }
    let mut trials = over_hosts(workload.trials(&case), case.load_hosts);
    if configuration.trial >= trials.len() {
        return Err(broken("there are not so many trials"));
    }
    let trial = Trial {
        steps: trials.swap_remove(configuration.trial).steps,
        embedded: store.description().embedded,
        target: Target::new(store, Arc::new(plan)),
        process: configuration.process,
        hosts: case.load_hosts.max(1),
        workload: workload.as_ref(),
    };
    tell(&Event::Ready);
    let mut waiting = None;
    loop {
        match trial.next(&mut line)? {
            Command::Prepare(prepare) => {
                waiting = trial.phase(&mut line, &prepare, waiting.take())?;
            }
            Command::End => return Ok(()),
            other => return Err(unexpected(&other)),
        }
    }
}

fn broken(problem: &str) -> StoreError {
    StoreError::new(ErrorKind::Configuration, "run a trial", problem)
}

/// Tells at once what broke the work off: the coordinator then ends the process, which else waits for its next command.
fn broken_off(error: StoreError) -> StoreError {
    tell(&Event::Failed { unreachable: false, message: error.to_string() });
    error
}

fn unexpected(command: &Command) -> StoreError {
    broken(&format!("the command {command:?} was not expected here"))
}

/// The next command. A coordinator that is gone ends the process.
fn receive(line: &mut RoleLine) -> Result<Command, StoreError> {
    match line.receive() {
        Ok(Some(command)) => Ok(command),
        Ok(None) => role_line::end(),
        Err(problem) => Err(broken(&problem)),
    }
}

struct Trial<'a> {
    steps: Vec<Step>,
    embedded: bool,
    target: Target,
    process: u32,
    /// Over how many hosts the processes are spread.
    hosts: u32,
    workload: &'a dyn Workload,
}

impl Trial<'_> {
    /// Has the clients do a phase, on the connections of those of the phase before it where it says so. Gives them back where another phase goes on on theirs.
    fn phase(
        &self,
        line: &mut RoleLine,
        prepare: &Prepare,
        waiting: Option<Finished>,
    ) -> Result<Option<Finished>, StoreError> {
        let Some(Step::Run(spec)) = self.steps.get(prepare.step) else {
            return Err(broken(&format!("step {} is not a phase", prepare.step)));
        };
        let mut ceiling = self.ceiling(spec);
        if let Some(ceiling) = &mut ceiling {
            ceiling.take_turn().map_err(failed)?;
        }
        let mut phase = self.prepared(spec, prepare);
        self.open_line(spec, prepare, &mut phase)?;
        let clients = match waiting {
            Some(before) if spec.continues => Clients::going_on(before, phase),
            before => {
                drop(before);
                Clients::connect(&self.target, phase)
            }
        };
        let clients = clients.map_err(failed)?;
        tell(&Event::Phase(CONNECTED.to_owned()));
        let start_ns = match self.next(line)? {
            Command::Start { start_ns } => start_ns,
            other => return Err(unexpected(&other)),
        };
        if let Some(told) = own_line::told(start_ns) {
            tell(&Event::Line(told));
        }
        let mut told = (Instant::now(), Progress::default());
        let mut progress = |now: Progress| {
            // Only progress is reported: silence is how the coordinator learns that nothing moves.
            if now != told.1 && told.0.elapsed() >= TELL {
                told = (Instant::now(), now);
                tell(&Event::Progress(now));
            }
        };
        let mut finished = std::thread::scope(|scope| {
            // Commands are taken in while the clients work: they may be told to stop.
            let commands = std::thread::Builder::new()
                .spawn_scoped(scope, || self.obey_until_report(line))
                .map_err(|error| broken(&format!("cannot start a thread: {error}")))?;
            let finished = match clients.run_from(start_ns, &mut progress) {
                Ok(finished) => finished,
                Err(error) => return Err(broken_off(failed(error))),
            };
            tell(&Event::Phase(FINISHED.to_owned()));
            let obeyed = commands.join();
            obeyed.unwrap_or_else(|_| Err(broken("commands cannot be taken in any more")))?;
            Ok::<_, StoreError>(finished)
        })?;
        if spec.task.is_some() {
            // Its clients were told to stop; those of the next phase were not.
            self.target.stop.store(false, Ordering::Relaxed);
        }
        let goes_on = self.goes_on(prepare.step);
        if !goes_on {
            finished.close();
        }
        tell(&Event::Report(report(&mut finished, ceiling)?));
        Ok(goes_on.then_some(finished))
    }

    /// Opens the line of a fed load, where the process is to do that itself.
    fn open_line(&self, spec: &PhaseSpec, prepare: &Prepare, phase: &mut Phase) -> Result<(), StoreError> {
        let sources = spec.loads.iter().map(|load| load.source.as_ref());
        for (load, source) in phase.loads.iter_mut().zip(sources) {
            if let Some(source) = source.filter(|_| prepare.own_line) {
                let feed = own_line::open(source.as_ref());
                load.feed = Some(feed.map_err(|problem| broken(&problem))?);
            }
        }
        Ok(())
    }

    /// Whether another phase goes on on this one's connections.
    fn goes_on(&self, step: usize) -> bool {
        let next = self.steps.iter().skip(step + 1).find_map(|step| match step {
            Step::Run(phase) => Some(phase),
            _ => None,
        });
        next.is_some_and(|phase| phase.continues)
    }

    /// The next command but *stop*, which may come at any time.
    fn next(&self, line: &mut RoleLine) -> Result<Command, StoreError> {
        loop {
            match receive(line)? {
                Command::Stop => {
                    self.target.stop.store(true, Ordering::Relaxed);
                    own_line::end();
                }
                other => return Ok(other),
            }
        }
    }

    fn obey_until_report(&self, line: &mut RoleLine) -> Result<(), StoreError> {
        match self.next(line)? {
            Command::Report => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    /// How fast its clients can be, of a phase that is measured with a database apart from them.
    fn ceiling(&self, spec: &PhaseSpec) -> Option<Ceiling> {
        let load = spec.loads.first()?;
        if self.embedded || spec.warm_up {
            return None;
        }
        let all = std::thread::available_parallelism().map_or(1, NonZero::get);
        let processes_here = spec.processes.div_ceil(self.hosts).max(1);
        let processors = all as f64 / f64::from(processes_here);
        let (plan, kind) = (&self.target.plan, self.target.kind);
        Ceiling::new(plan, spec, self.range(spec, load), kind, processors)
    }

    /// The clients of a load that are this process's: an even share.
    fn range(&self, spec: &PhaseSpec, load: &LoadSpec) -> ClientRange {
        let bound = |process: u32| {
            let share = u64::from(load.clients) * u64::from(process.min(spec.processes));
            u32::try_from(share / u64::from(spec.processes.max(1))).unwrap_or(load.clients)
        };
        let first = bound(self.process);
        ClientRange { first, count: bound(self.process + 1) - first, of: load.clients }
    }

    fn prepared(&self, spec: &PhaseSpec, prepare: &Prepare) -> Phase {
        let doubtful = Arc::new(self.doubtful(&prepare.doubtful));
        let ranges: Vec<ClientRange> = spec.loads.iter().map(|load| self.range(spec, load)).collect();
        let asked_about = |load: &LoadSpec| {
            let is_it = |about: &About| about.phase == spec.name && about.load == load.name;
            let mut abouts = spec.loads.iter().filter_map(|other| other.about.as_ref());
            load.writes && abouts.any(is_it)
        };
        let own: Vec<Option<Arc<Watermark>>> = spec
            .loads
            .iter()
            .zip(&ranges)
            .map(|(load, range)| {
                asked_about(load).then(|| Arc::new(Watermark::new(range.count, load.operations.len())))
            })
            .collect();
        let below = |number: usize, load: &LoadSpec| {
            let about = load.about.as_ref()?;
            if about.phase == spec.name {
                let place = spec.loads.iter().position(|one| one.name == about.load)?;
                return own[place].clone();
            }
            let fixed = prepare.watermarks.get(number).copied().flatten();
            fixed.map(|value| Arc::new(Watermark::fixed(value)))
        };
        let loads = spec.loads.iter().enumerate().map(|(number, load)| Load {
            name: load.name.clone(),
            operations: Arc::clone(&load.operations),
            clients: ranges[number],
            pacing: load.pacing.clone(),
            distribution: load.distribution,
            publishes: own[number].clone(),
            below: below(number, load),
            accompanies: load.accompanies,
            checking: load.checking,
            doubtful: Arc::clone(&doubtful),
            feed: prepare.feed.clone(),
        });
        Phase {
            loads: loads.collect(),
            limit: spec.limit,
            lead_in: spec.window.map_or(Duration::ZERO, |window| window.lead_in),
            workers: spec.workers,
            only_reads: spec.only_reads(),
        }
    }

    fn doubtful(&self, loads: &[DoubtfulLoad]) -> Doubtful {
        let schema = self.workload.schema();
        let mut doubtful = Doubtful::default();
        for one in loads {
            if let Some(Step::Run(phase)) = self.steps.get(one.step)
                && let Some(load) = phase.loads.get(one.load)
            {
                let operations = load.operations.as_ref();
                let indices = one.indices.iter().copied();
                doubtful.append(Doubtful::of(operations, &schema, indices));
            }
        }
        doubtful
    }
}

/// What a phase led to, with the ceiling of its clients.
fn report(finished: &mut Finished, ceiling: Option<Ceiling>) -> Result<Value, StoreError> {
    let outcome = finished.outcome();
    let per_second = outcome.loads[0].operations_per_second();
    let ceiling = ceiling.map(|ceiling| ceiling.against(per_second));
    let report = Report {
        outcome,
        ceiling: ceiling.transpose().map_err(failed)?.flatten(),
        journal: own_line::close().map_err(|problem| broken(&problem))?,
    };
    serde_json::to_value(report).map_err(|error| broken(&error.to_string()))
}

fn failed(error: ClientsError) -> StoreError {
    match error {
        ClientsError::Connect(error) => error,
        ClientsError::Thread(problem) => broken(&problem),
    }
}

/// Whether a load of an earlier phase is asked about, by its step and place.
pub fn asked_about(steps: &[Step], load: &LoadSpec, phase: &str) -> Option<(usize, usize)> {
    let about = load.about.as_ref().filter(|about| about.phase != phase)?;
    find(steps, about)
}
