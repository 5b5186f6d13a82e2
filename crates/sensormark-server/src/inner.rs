//! The state of one server, shared by its handle, the supervisor and the watching thread; every change of it is here.
//!
//! The order of the steps that bring a server up is in `start`; what users of a server see is in `managed`, the words of its failures in
//! `failure`.

use super::cause::KernelKills;
use super::folder::RunFolder;
use super::memory_group::{self, MemoryGroup};
use super::process::{self, ProcessIdentity};
use super::shared_memory;
use super::shortage::Shortage;
use super::spawn::{self, Surroundings};
use super::watch::{self, Exit};
use rustix::process::Signal;
use sensormark_store::error::{ErrorKind, StoreError};
use sensormark_store::server::{Command, Launch, ServerFolder, StopSignal};
use std::process::Child;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a tree may take to vanish after SIGKILL.
const KILL_LIMIT: Duration = Duration::from_secs(20);

/// Called once when the server ends without being asked to, with the error that [`ManagedServer::check`] gives.
type Listener = Box<dyn Fn(&str) + Send + Sync>;

/// Where a server is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Being brought up.
    Starting,
    /// Ready for work.
    Running,
    /// Killed or stopped on request, may be started again.
    Down,
    /// Being stopped for good.
    Stopping,
    /// Gone, and its folders with it.
    Removed,
    /// Left to itself.
    Detached,
}

pub(super) struct State {
    pub(super) phase: Phase,
    /// The server's root process; not reaped before its whole tree is gone, so that its id stays taken.
    pub(super) child: Option<Child>,
    pub(super) identity: Option<ProcessIdentity>,
    pub(super) exit: Option<Exit>,
    /// Processes that the kernel had ended for want of memory when the server was last started.
    pub(super) killed_before: u64,
    /// What the kernel had ended elsewhere when the server was made or last started.
    pub(super) kills_before: KernelKills,
    /// How short of memory its own group and sensormark's were then.
    pub(super) short_before: [Option<Shortage>; 2],
    /// Every process that was started or seen.
    pub(super) known: Vec<ProcessIdentity>,
    pub(super) listeners: Vec<Listener>,
    pub(super) prepare: Duration,
    pub(super) start: Duration,
    pub(super) version: String,
}

/// What the supervisor and the handle share.
pub(super) struct Inner {
    pub(super) title: String,
    pub(super) folder: RunFolder,
    /// The control group that bounds the memory of all its processes, where there is one.
    pub(super) group: Option<MemoryGroup>,
    pub(super) server_folder: ServerFolder,
    pub(super) launch: Launch,
    pub(super) surroundings: Surroundings,
    state: Mutex<State>,
    changed: Condvar,
    /// Held while processes are started or ended, so that nothing starts after a stop.
    lifecycle: Mutex<()>,
}

impl Inner {
    pub(super) fn new(
        title: String,
        (folder, group): (RunFolder, Option<MemoryGroup>),
        server_folder: ServerFolder,
        launch: Launch,
        surroundings: Surroundings,
    ) -> Self {
        Self {
            title,
            folder,
            group,
            server_folder,
            launch,
            surroundings,
            state: Mutex::new(State {
                phase: Phase::Starting,
                child: None,
                identity: None,
                exit: None,
                killed_before: 0,
                kills_before: KernelKills::now(),
                short_before: [None; 2],
                known: Vec::new(),
                listeners: Vec::new(),
                prepare: Duration::ZERO,
                start: Duration::ZERO,
                version: String::new(),
            }),
            changed: Condvar::new(),
            lifecycle: Mutex::new(()),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn lifecycle(&self) -> MutexGuard<'_, ()> {
        self.lifecycle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn phase(&self) -> Phase {
        self.state().phase
    }

    /// The id of the server's root process; 0 while it is down.
    pub(super) fn process_id(&self) -> u32 {
        let state = self.state();
        let running = state.child.is_some() && state.exit.is_none();
        state.identity.filter(|_| running).map_or(0, |identity| identity.pid)
    }

    /// How the server's process ended, if it did.
    pub(super) fn exit(&self) -> Option<Exit> {
        self.state().exit
    }

    fn is_ending(&self) -> bool {
        matches!(self.phase(), Phase::Stopping | Phase::Removed)
    }

    pub(super) fn interrupted(&self) -> StoreError {
        StoreError::new(
            ErrorKind::Unavailable,
            format!("start {}", self.title),
            "it was stopped while it started",
        )
        .with_doubt(false)
    }

    /// A thread that the start takes cannot be had.
    pub(super) fn no_thread(&self, error: std::io::Error) -> StoreError {
        StoreError::new(
            ErrorKind::Overload,
            format!("start {}", self.title),
            format!("cannot start a thread: {error}; raise the limit of processes (ulimit -u)"),
        )
        .with_source(error)
        .with_doubt(false)
    }

    /// Starts a command unless everything is being stopped, and writes its process down.
    fn spawn(&self, command: &Command) -> Result<(Child, ProcessIdentity), StoreError> {
        let _guard = self.lifecycle();
        if self.is_ending() {
            return Err(self.interrupted());
        }
        let mut child = spawn::spawn(command, &self.surroundings)?;
        let recorded =
            ProcessIdentity::of(child.id()).ok_or_else(|| self.interrupted()).and_then(|identity| {
                self.state().known.push(identity);
                self.record(None).map(|()| identity)
            });
        match recorded {
            Ok(identity) => Ok((child, identity)),
            Err(error) => {
                child.kill().ok();
                child.wait().ok();
                Err(error)
            }
        }
    }

    /// Writes down the known processes, and the root process where it is given.
    fn record(&self, root: Option<ProcessIdentity>) -> Result<(), StoreError> {
        let known = self.state().known.clone();
        self.folder.update(|owner| {
            owner.processes = known;
            owner.server = root.or(owner.server);
        })
    }

    /// Runs one command to its end, strays included.
    ///
    /// # Errors
    /// When it fails, takes longer than the start may take, or everything is being stopped.
    pub(super) fn run_to_end(&self, command: &Command) -> Result<(), StoreError> {
        let limit = Duration::from_secs(self.launch.start_seconds.max(1));
        let deadline = Instant::now() + limit;
        let (mut child, identity) = self.spawn(command)?;
        let exit = loop {
            if let Some(exit) = watch::poll_exit(identity) {
                break Some(exit);
            }
            if Instant::now() > deadline || self.is_ending() {
                break None;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        // Its own tree only: after it ended by itself its zombie still holds the session together.
        process::kill_tree(&[identity], None, KILL_LIMIT).ok();
        child.wait().ok();
        self.state().known.retain(|known| *known != identity);
        let program = command.program.display();
        match exit {
            Some(Exit::Code(0)) => Ok(()),
            Some(exit) => Err(self.failure(ErrorKind::Crashed, &format!("{program} {exit}"))),
            None if self.is_ending() => Err(self.interrupted()),
            None => Err(self
                .failure(ErrorKind::Timeout, &format!("{program} did not end within {} s", limit.as_secs()))),
        }
    }

    /// Starts this command as the server's process and has it watched.
    pub(super) fn start_process(self: &Arc<Self>, command: &Command) -> Result<ProcessIdentity, StoreError> {
        let (killed, kills) = (self.killed_processes(), KernelKills::now());
        let short = self.shortages();
        {
            let mut state = self.state();
            (state.killed_before, state.kills_before) = (killed, kills);
            state.short_before = short;
        }
        let (child, identity) = self.spawn(command)?;
        {
            let mut state = self.state();
            state.child = Some(child);
            state.identity = Some(identity);
            state.exit = None;
        }
        let inner = Arc::downgrade(self);
        let watched = watch::on_exit(identity, move |exit| {
            if let Some(inner) = inner.upgrade() {
                inner.ended(identity, exit);
            }
        });
        watched.map_err(|error| self.no_thread(error))?;
        self.record(Some(identity))?;
        Ok(identity)
    }

    /// Its end is expected from here on.
    pub(super) fn go_down(&self) -> Result<(), StoreError> {
        let mut state = self.state();
        if matches!(state.phase, Phase::Stopping | Phase::Removed | Phase::Detached) {
            drop(state);
            return Err(self.interrupted());
        }
        state.phase = Phase::Down;
        Ok(())
    }

    /// From down to starting, unless it is being stopped for good meanwhile.
    pub(super) fn begin_again(&self) -> Result<(), StoreError> {
        let mut state = self.state();
        if state.phase != Phase::Down {
            drop(state);
            return Err(self.interrupted());
        }
        state.phase = Phase::Starting;
        Ok(())
    }

    /// Leaves the server to itself, and writes down that it is meant to live on.
    pub(super) fn detach(&self) -> Result<(), StoreError> {
        let _guard = self.lifecycle();
        if self.surroundings.tied {
            return Err(StoreError::unsupported(
                format!("leave {} running", self.title),
                "it was started so that it ends with this process; start it as detachable",
            ));
        }
        if self.phase() != Phase::Running {
            return Err(self.interrupted());
        }
        let tree = self.living();
        self.folder.update(|owner| {
            owner.processes = tree;
            owner.detached = true;
        })?;
        self.state().phase = Phase::Detached;
        Ok(())
    }

    /// Called by the watching thread at the moment when the process ends.
    fn ended(&self, identity: ProcessIdentity, exit: Exit) {
        let listeners = {
            let mut state = self.state();
            if state.identity != Some(identity) {
                return;
            }
            state.exit = Some(exit);
            if state.phase == Phase::Running { std::mem::take(&mut state.listeners) } else { Vec::new() }
        };
        self.changed.notify_all();
        if !listeners.is_empty() {
            let message = self.crash(exit).to_string();
            for listener in listeners {
                listener(&message);
            }
        }
    }

    /// Waits until the server's process has ended; false when it has not by then.
    pub(super) fn wait_for_exit(&self, limit: Duration) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(self.state(), limit, |state| state.child.is_some() && state.exit.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        !waited.1.timed_out()
    }

    /// Marks the server ready and writes its whole tree down.
    pub(super) fn ready(&self, version: String, start: Duration) -> Result<(), StoreError> {
        let tree = self.living();
        {
            let mut state = self.state();
            if state.phase != Phase::Starting {
                drop(state);
                return Err(self.interrupted());
            }
            state.phase = Phase::Running;
            state.version = version;
            state.start = start;
            state.known.retain(|known| tree.contains(known));
            for process in tree {
                if !state.known.contains(&process) {
                    state.known.push(process);
                }
            }
        }
        self.record(None)
    }

    pub(super) fn prepared(&self, prepare: Duration) {
        self.state().prepare = prepare;
    }

    /// The living processes of the server.
    pub(super) fn living(&self) -> Vec<ProcessIdentity> {
        let known = self.state().known.clone();
        process::members(&known, Some(&self.surroundings.run))
    }

    /// Ends the server with SIGKILL, as was asked for; its folders stay.
    pub(super) fn kill(&self) -> Result<(), StoreError> {
        let _guard = self.lifecycle();
        self.go_down()?;
        self.kill_all()
    }

    /// Ends the tree with SIGKILL and reaps the root.
    pub(super) fn kill_all(&self) -> Result<(), StoreError> {
        let known = self.state().known.clone();
        let gone = process::kill_tree(&known, Some(&self.surroundings.run), KILL_LIMIT);
        if gone.is_ok() && self.wait_for_exit(Duration::from_secs(5)) {
            let child = self.state().child.take();
            if let Some(mut child) = child {
                child.wait().ok();
            }
            shared_memory::remove_left_by(&known);
            self.state().known.clear();
        }
        gone.map_err(|left| {
            let pids: Vec<String> = left.iter().map(|process| process.pid.to_string()).collect();
            let text = format!(
                "processes {} are still there {} s after SIGKILL; see whether they wait for a disk (ps -o stat,wchan)",
                pids.join(", "),
                KILL_LIMIT.as_secs()
            );
            StoreError::new(ErrorKind::Timeout, format!("stop {}", self.title), text).with_doubt(false)
        })
    }

    /// Asks the root process to stop, waits, then ends what is left.
    pub(super) fn end_process(&self, grace: Duration) -> Result<(), StoreError> {
        let tree = self.living();
        let root = {
            let mut state = self.state();
            for process in &tree {
                if !state.known.contains(process) {
                    state.known.push(*process);
                }
            }
            state.identity.filter(|_| state.child.is_some() && state.exit.is_none())
        };
        if let Some(root) = root {
            root.signal(match self.launch.stop {
                StopSignal::Terminate => Signal::TERM,
                StopSignal::Interrupt => Signal::INT,
            });
            for process in tree {
                process.signal(Signal::CONT);
            }
            self.wait_for_exit(grace);
        }
        self.kill_all()
    }

    /// Ends the server that ran on loopback for its accounts alone.
    ///
    /// # Errors
    /// When it does not end in good order within `grace`: it might have kept no account.
    pub(super) fn end_set_up(&self, grace: Duration) -> Result<(), StoreError> {
        let _guard = self.lifecycle();
        if self.is_ending() {
            return Err(self.interrupted());
        }
        self.end_process(grace)?;
        match self.exit() {
            Some(Exit::Signal(9)) | None => {
                let what = "the server did not stop in good order once its account was made";
                Err(self.failure(ErrorKind::Timeout, what))
            }
            Some(_) => Ok(()),
        }
    }

    /// Stops the server for good and removes its folders. The second call does nothing.
    ///
    /// # Errors
    /// When a process or folder could not be removed. Its ownership file stays, so the next cleaning tries again.
    pub(super) fn stop(&self, grace: Duration) -> Result<(), StoreError> {
        {
            let mut state = self.state();
            if matches!(state.phase, Phase::Removed | Phase::Detached) {
                return Ok(());
            }
            state.phase = Phase::Stopping;
        }
        let _guard = self.lifecycle();
        if self.phase() == Phase::Removed {
            return Ok(());
        }
        self.end_process(grace)?;
        if let Some(group) = &self.group {
            memory_group::remove(group.folder())?;
        }
        self.folder.remove()?;
        self.state().phase = Phase::Removed;
        Ok(())
    }
}
