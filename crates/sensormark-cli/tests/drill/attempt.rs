//! One step from beginning to end: a place, the program, the fault at its moment, and what holds afterwards.

use crate::check::{self, Over};
use crate::databases::Databases;
use crate::faults::{Clock, Disk, strike};
use crate::proxy::Proxy;
use crate::running::Running;
use crate::step::{Fault, Reach, Step};
use crate::stores::{self, MEMORY, Shared};
use crate::summary::Entry;
use crate::support::Place;
use std::time::{Duration, Instant};

/// How long a program may take to its moment.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a step came to.
pub enum Outcome {
    /// It was carried out, and everything held.
    Done(Entry),
    /// It cannot be carried out here.
    Ignored(String),
}

/// Carries a step out.
///
/// # Errors
/// What did not hold, with the command.
pub fn attempt(step: &Step, shared: Option<&Shared>) -> Result<Outcome, String> {
    match (step.reach, shared) {
        (Reach::Own, _) | (Reach::Url, None) => carry_out(step, None),
        (_, Some(shared)) => {
            if let Some(reason) = shared.server.past_proxies().filter(|_| step.reach == Reach::Proxy) {
                return Ok(Outcome::Ignored(reason));
            }
            shared.with(|_, running| carry_out(step, Some(running)))
        }
        (Reach::Proxy, None) => Err("an embedded database has no network".to_owned()),
    }
}

/// What a step needs beside the program.
struct Stage<'a> {
    place: Place,
    disk: Option<Disk>,
    clock: Option<Clock>,
    proxy: Option<Proxy>,
    server: Option<&'a stores::Running>,
}

impl<'a> Stage<'a> {
    /// Prepares it; `Err` says why that is not possible here.
    fn new(step: &Step, server: Option<&'a stores::Running>) -> Result<Self, String> {
        let place = Place::new();
        let disk = match step.fault {
            Fault::FullDisk(_) => Some(Disk::mount(&place).map_err(|reason| {
                format!("a small file system cannot be mounted (it takes root): {reason}")
            })?),
            _ => None,
        };
        let clock = match step.fault {
            Fault::Clock(_) => Some(Clock::new(&place).map_err(|reason| {
                format!("the library with a clock cannot be made (it takes a C compiler): {reason}")
            })?),
            _ => None,
        };
        let proxy = match (step.reach, server) {
            (Reach::Proxy, Some(server)) => Some(Proxy::before(server.port())?),
            _ => None,
        };
        Ok(Self { place, disk, clock, proxy, server })
    }

    fn arguments(&self, step: &Step) -> Result<Vec<String>, String> {
        let mut arguments = vec!["run".to_owned()];
        arguments.extend(step.work.arguments(&self.place)?);
        let mut on = format!("{}:{}", step.store, step.work.layout());
        match (step.reach, self.server) {
            (Reach::Own, _) => {}
            (_, Some(server)) => {
                let port = self.proxy.as_ref().map_or(server.port(), |proxy| proxy.port);
                on += &format!("={}", server.with_port(port));
            }
            (_, None) => {
                let folder = Databases::folder(&self.place);
                std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
                on += &format!("={}:{}", step.store, folder.display());
            }
        }
        let results = self.results().to_string_lossy().into_owned();
        let further = [
            "--on",
            &on,
            "--results",
            &results,
            "--tolerate-disturbance",
            "--progress=json",
            "--server-memory",
            MEMORY,
        ];
        arguments.extend(further.map(str::to_owned));
        if matches!(step.fault, Fault::Hang | Fault::Silence) {
            arguments.extend(["--timeout", "1", "--start-timeout", "30"].map(str::to_owned));
        }
        if let Some(disk) = self.disk.as_ref().filter(|_| step.reach == Reach::Own) {
            let data = disk.path().join("data").to_string_lossy().into_owned();
            arguments.extend(["--data".to_owned(), data]);
        }
        Ok(arguments)
    }

    fn results(&self) -> std::path::PathBuf {
        let folder = self.disk.as_ref().map_or(self.place.path(), Disk::path);
        folder.join("results")
    }

    /// Lets the fault come; says whether the program was still there.
    fn strike(&self, step: &Step, running: &mut Running) -> Result<bool, String> {
        match (step.fault, &self.disk, &self.clock, &self.proxy) {
            (Fault::FullDisk(left), Some(disk), ..) => disk.shrink(left)?,
            (Fault::Clock(seconds), _, Some(clock), _) => clock.set(seconds)?,
            (Fault::Silence, .., Some(proxy)) => proxy.fall_silent(),
            (fault, ..) => return strike(fault, running, &self.place),
        }
        Ok(running.is_running())
    }
}

fn carry_out(step: &Step, server: Option<&stores::Running>) -> Result<Outcome, String> {
    let stage = match Stage::new(step, server) {
        Ok(stage) => stage,
        Err(reason) => return Ok(Outcome::Ignored(reason)),
    };
    let databases = Databases::before(step, &stage.place, server);
    let variables = stage.clock.as_ref().map(Clock::variables).unwrap_or_default();
    let arguments = stage.arguments(step)?;
    let mut running = Running::start(&stage.place, &arguments, &variables)?;
    let command = running.command.clone();
    let wrong = |text: String| {
        format!(
            "{step}\nseed {}: SENSORMARK_DRILL_SEED={} SENSORMARK_DRILL={} cargo test --test drill -- 'step {}:'\ncommand: {command}\n{text}",
            step.seed,
            step.seed,
            step.number + 1,
            step.number,
        )
    };
    wait(step, &mut running);
    let phase = running.phase();
    let struck = running.is_running() && stage.strike(step, &mut running).map_err(wrong)?;
    let ended = match running.end(check::limit(step)) {
        Ok(ended) => ended,
        Err(text) => {
            end_all(&stage.place);
            return Err(wrong(text));
        }
    };
    if let Some(disk) = &stage.disk {
        disk.grow().map_err(wrong)?;
    }
    let results = stage.results();
    let over = Over { step, place: &stage.place, results: &results, ended: &ended, struck };
    let mut violations = over.violations();
    violations.extend(databases.violations(&ended));
    if !violations.is_empty() {
        end_all(&stage.place);
        let list: Vec<String> = violations.iter().map(|text| format!("- {text}")).collect();
        let (phase, lines) = (format!("at {phase:?}"), ended.lines.join("\n"));
        return Err(wrong(format!("{phase}\n{}\nit said:\n{lines}\n{}", list.join("\n"), ended.output)));
    }
    Ok(Outcome::Done(Entry::new(step, phase, struck, ended.status)))
}

/// Waits for the step's moment, or the program's end.
fn wait(step: &Step, running: &mut Running) {
    let deadline = Instant::now() + PATIENCE;
    while running.events() < step.moment.events && running.is_running() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(2));
    }
    // A database that settles may take minutes, and a server that says nothing is given up no sooner.
    let falls_silent = matches!(step.fault, Fault::Hang | Fault::Silence);
    while falls_silent && running.phase().starts_with("settle") && running.is_running() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let moment = Instant::now() + Duration::from_millis(step.moment.milliseconds);
    while running.is_running() && Instant::now() < moment && !falls_silent {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Nothing of a step that failed disturbs the next ones.
fn end_all(place: &Place) {
    let left = crate::running::processes_of(place);
    if !left.is_empty() {
        stores::signal("KILL", &left.iter().map(|one| one.id).collect::<Vec<_>>());
    }
}
