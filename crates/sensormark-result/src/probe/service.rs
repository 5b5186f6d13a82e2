//! The probe on a server's host. Each period, and whenever it is asked, it samples the server's processes, itself and the host. It hands each sample on as a line.
//! It keeps nothing and changes nothing. What it may not read it says once, at the beginning.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use procfs::{Current, CurrentSI, KernelStats, Meminfo};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use sensormark_store::Logs;

use super::clock::monotonic_ns;
use super::control_group::ControlGroup;
use super::device::attribute;
use super::disk::{self, DiskUsage};
use super::error::ProbeError;
use super::host::HostSampler;
use super::lines::{Hello, HostFacts, LINES_VERSION, Mark, ProbeCommand, ProbeLine, ProbeSample};
use super::memory;
use super::processes::{FoundProcesses, Processes, user_name, working_folder};
use super::tree::{ProcessTree, Scan, Scope};
use super::wire::WireScope;

/// What the probe watches.
#[derive(Debug, Clone)]
pub struct Watched {
    /// The server's processes.
    pub processes: Processes,
    /// The port whose connections count, where it is not that of the processes' name.
    pub port: Option<u16>,
    /// Folders whose space is counted.
    pub folders: Vec<PathBuf>,
    /// Time between two samples.
    pub interval: Duration,
    /// The version of the program.
    pub version: String,
}

/// Where lines go; whether somebody still reads them.
pub type Teller<'a> = dyn FnMut(&ProbeLine) -> bool + 'a;

/// The probe at work.
pub struct ProbeService {
    watched: Watched,
    found: FoundProcesses,
    host: HostSampler,
    server: ProcessTree,
    own: ProcessTree,
    missing: Vec<String>,
    phase: Option<String>,
}

impl ProbeService {
    /// Finds the processes and takes the first figures. The calling thread has to be the one that goes on with [`Self::run`]: it enters the network namespace of a
    /// container's processes, where it may.
    ///
    /// # Errors
    /// When there are no such processes, or nothing can be read of them.
    pub fn open(watched: Watched) -> Result<Self, ProbeError> {
        let found = watched.processes.find(watched.port)?;
        let mut missing = Vec::new();
        let unseen = network_unseen(&found);
        // What cannot be seen is absent, never 0.
        let wire = unseen.is_none().then_some(found.wire);
        missing.extend(unseen);
        missing.extend(not_permitted(found.root));
        let (disks, unread) = folders_or_why(&watched, &found);
        missing.extend(unread);
        let own = i32::try_from(std::process::id()).unwrap_or(i32::MAX);
        Ok(Self {
            host: HostSampler::new(disks.iter().copied())?,
            server: ProcessTree::attach("server", found.root, found.scope.clone(), wire)?,
            own: ProcessTree::attach("probe", own, Scope::Process, None)?,
            watched,
            found,
            missing,
            phase: None,
        })
    }

    /// Says hello, and goes on until the commands end or nobody reads the lines.
    ///
    /// # Errors
    /// When the processes have ended, or `/proc` cannot be read any more.
    pub fn run(
        mut self,
        commands: &Receiver<Result<ProbeCommand, String>>,
        tell: &mut Teller<'_>,
    ) -> Result<(), ProbeError> {
        let period = self.watched.interval;
        let mut deadline = Instant::now() + period;
        let (_, first) = self.sample(false)?;
        let hello = ProbeLine::Hello(Box::new(self.hello(first.server.processes)?));
        let mut goes_on = tell(&hello) && tell(&ProbeLine::Sample(Box::new(first)));
        while goes_on {
            let wait = deadline.saturating_duration_since(Instant::now());
            goes_on = match commands.recv_timeout(wait) {
                Ok(Ok(command)) => self.obey(command, tell)?,
                Ok(Err(message)) => tell(&ProbeLine::Unknown { message }),
                Err(RecvTimeoutError::Timeout) => {
                    while deadline <= Instant::now() {
                        deadline += period;
                    }
                    let (_, sample) = self.sample(false)?;
                    tell(&ProbeLine::Sample(Box::new(sample)))
                }
                Err(RecvTimeoutError::Disconnected) => false,
            };
        }
        Ok(())
    }

    fn obey(&mut self, command: ProbeCommand, tell: &mut Teller<'_>) -> Result<bool, ProbeError> {
        let (name, proportional, marks) = match command {
            ProbeCommand::Disk(names) => {
                let (usage, missing) = self.disk(names);
                return Ok(tell(&ProbeLine::Disk { usage, missing }));
            }
            ProbeCommand::Begin(name) => (Some(name), false, true),
            ProbeCommand::Sample => (None, false, false),
            ProbeCommand::End { proportional } => (None, proportional, true),
        };
        let (monotonic_ns, sample) = self.sample(proportional)?;
        let mut goes_on = tell(&ProbeLine::Sample(Box::new(sample)));
        if marks && let Some(name) = self.phase.take() {
            goes_on &= tell(&ProbeLine::Ended(Mark { name, monotonic_ns }));
        }
        if let Some(name) = name {
            self.phase = Some(name.clone());
            goes_on &= tell(&ProbeLine::Began(Mark { name, monotonic_ns }));
        }
        Ok(goes_on)
    }

    fn sample(&mut self, proportional: bool) -> Result<(u64, ProbeSample), ProbeError> {
        let monotonic_ns = monotonic_ns();
        let mut scan = Scan::now()?;
        let host = self.host.sample(&scan.table)?;
        let server = self.server.sample(&mut scan, proportional);
        if server.processes == 0 {
            return Err(ProbeError::ServerEnded { processes: self.watched.processes.to_string() });
        }
        let probe = self.own.sample(&mut scan, false);
        let sample = ProbeSample { monotonic_ns, server, probe, host };
        Ok((monotonic_ns, sample))
    }

    fn hello(&self, count: u64) -> Result<Hello, ProbeError> {
        Ok(Hello {
            schema_version: LINES_VERSION,
            sensormark: self.watched.version.clone(),
            processes: self.watched.processes.to_string(),
            pid: self.found.root,
            program: self.found.program.clone(),
            count,
            ports: self.found.ports.clone(),
            folders: self.watched.folders.clone(),
            interval_ns: u64::try_from(self.watched.interval.as_nanos()).unwrap_or(u64::MAX),
            monotonic_ns: monotonic_ns(),
            wall: jiff::Timestamp::now().to_string(),
            host: host_facts()?,
            missing: self.missing.clone(),
        })
    }

    /// The space of all folders, that of logs of these names apart, or why it is not known.
    fn disk(&self, names: Vec<String>) -> (Option<DiskUsage>, Option<String>) {
        let logs = Logs { names, bound: None };
        let mut sum: Option<DiskUsage> = None;
        for folder in &self.watched.folders {
            match disk::usage(folder, |path| logs.holds(path)) {
                Ok(usage) => sum.get_or_insert_default().add(&usage),
                Err(error) => return (None, Some(told(&error))),
            }
        }
        let missing = sum.is_none().then(|| "no folder was named".to_owned());
        (sum, missing)
    }
}

/// An error with its cause.
fn told(error: &ProbeError) -> String {
    let cause = std::error::Error::source(error);
    cause.map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

/// The kind of host that this is.
///
/// # Errors
/// When `/proc` cannot be read.
fn host_facts() -> Result<HostFacts, ProbeError> {
    let memory = Meminfo::current().map_err(ProbeError::proc("meminfo"))?;
    let processors = KernelStats::current().map_err(ProbeError::proc("stat"))?;
    let system = rustix::system::uname();
    let clocks = Path::new("/sys/devices/system/clocksource/clocksource0");
    Ok(HostFacts {
        boot: boot_id(),
        kernel: system.release().to_string_lossy().into_owned(),
        architecture: system.machine().to_string_lossy().into_owned(),
        processors: processors.cpu_time.len() as u64,
        memory_bytes: memory.mem_total,
        clock_source: attribute(clocks, "current_clocksource"),
    })
}

/// The random id of this boot of the kernel.
pub fn boot_id() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    id.unwrap_or_default().trim().to_owned()
}

/// Enters the network namespace of the processes where it is another one, and says why their connections cannot be seen, if so.
fn network_unseen(found: &FoundProcesses) -> Option<String> {
    let pid = found.root;
    if !enter_network(pid, &found.scope) {
        let why = "network: the processes have a network of their own, which only root may enter";
        return Some(why.to_owned());
    }
    let sees_sockets = !is_denied(&std::fs::read_dir(format!("/proc/{pid}/fd")).map(drop));
    let is_unseen = found.wire == WireScope::Sockets && !sees_sockets;
    is_unseen.then(|| {
        "network: which connections are another user's process's needs root; or name the port with --port"
            .to_owned()
    })
}

/// Whether this thread is in the network namespace of a process, then if not before.
fn enter_network(pid: i32, scope: &Scope) -> bool {
    let name = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/net"));
    let (Ok(own), Ok(theirs)) = (name("thread-self"), name(&pid.to_string())) else {
        // Another user's cannot be seen. Nearly all have the host's, and containers one of their own.
        return !matches!(scope, Scope::ControlGroup(ControlGroup::Container(_)));
    };
    if own == theirs {
        return true;
    }
    let Ok(file) = std::fs::File::open(format!("/proc/{pid}/ns/net")) else {
        return false;
    };
    move_into_link_name_space(std::os::fd::AsFd::as_fd(&file), Some(LinkNameSpaceType::Network)).is_ok()
}

/// What may not be read of the processes, and who may.
fn not_permitted(pid: i32) -> Vec<String> {
    let user = user_name(rustix::process::getuid().as_raw());
    let mut missing = Vec::new();
    if is_denied(&std::fs::File::open(format!("/proc/{pid}/io")).map(drop)) {
        missing
            .push(format!("disk I/O of another user's processes needs root, and the probe runs as {user}"));
    }
    if memory::proportional_bytes(pid).is_err() {
        missing.push(format!(
            "memory that processes share, each page once, needs root, and the probe runs as {user}: resident memory stands in"
        ));
    }
    missing
}

fn is_denied(opened: &std::io::Result<()>) -> bool {
    let error = opened.as_ref().err();
    error.is_some_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
}

/// The folders whose disks are followed, and why the space of the folders is not known.
fn folders_or_why<'a>(watched: &'a Watched, found: &FoundProcesses) -> (Vec<&'a Path>, Option<String>) {
    if watched.folders.is_empty() {
        let place = working_folder(found.root).filter(|folder| folder != Path::new("/"));
        let hint =
            place.map_or_else(String::new, |folder| format!(" (the server works in {})", folder.display()));
        let why = format!("disk: no folder of data was named; name it with --disk{hint}");
        return (Vec::new(), Some(why));
    }
    let unread = watched.folders.iter().find_map(|folder| {
        let error = disk::usage(folder, |_| false).err()?;
        Some(format!("disk: {}", told(&error)))
    });
    let there = watched.folders.iter().filter(|folder| folder.is_dir());
    (there.map(PathBuf::as_path).collect(), unread)
}
