//! Processes of a trial: the coordinator's end of the line to them. The process's own end is in `role_line`.
//!
//! The program starts itself again with a role's name, here or on another host by a [`Launcher`]. Its first line on standard input is the role's configuration (JSON; secrets travel here, never as
//! arguments); further lines are commands. What it prints on standard output are events, one JSON object a line; standard error is kept for messages. A role
//! dies with the coordinator. The workloads define what the roles do.

use super::clock::ClockSample;
use super::last_words::LastWords;
use super::launcher::Launcher;
use super::notifications::Notifier;
use super::pacing::monotonic_ns;
pub use super::role_error::RoleError;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The word that tells a role that the coordinator is on another host.
pub const ELSEWHERE: &str = "elsewhere";

/// What stands before the host's name in messages.
const ON: &str = " on ";

/// What a role tells the coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event", content = "data")]
pub enum Event {
    /// The process is there and waits for its configuration.
    Here {
        /// Its process id on its own host.
        process_id: u32,
    },
    /// The answer to a ping: what this process's clock shows.
    Pong {
        /// The ping's number.
        number: u64,
        /// CLOCK_MONOTONIC of its host, in ns.
        clock_ns: u64,
    },
    /// Connected and prepared; waits to be started.
    Ready,
    /// How far it is.
    Progress(Progress),
    /// What the source of the process's line gets to know, where the process opened the line itself.
    Line(serde_json::Value),
    /// A phase begins or ends here; the role waits for the coordinator's word before it goes on.
    Phase(String),
    /// The answer to a command of the server's role.
    Answer(serde_json::Value),
    /// Done; what it counted, in the workload's own form.
    Report(serde_json::Value),
    /// Broken off: what happened, and what to try.
    Failed {
        /// Whether the database could not be reached.
        unreachable: bool,
        /// The message.
        message: String,
    },
}

/// The question for this host's clock.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Ping {
    /// Its number, which the answer has too.
    pub ping: u64,
}

/// A question for a process's clock that was sent.
#[derive(Debug, Clone, Copy)]
pub struct AskedClock {
    ping: u64,
    sent_ns: u64,
}

/// How far a role is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Operations done.
    pub done: u64,
    /// Operations in all, 0 when that is not known.
    pub of: u64,
    /// Operations that failed.
    pub errors: u64,
    /// Seconds in which clients waited until what they wrote shows.
    pub waited: u64,
}

/// The coordinator's end.
pub struct RoleProcess {
    role: String,
    place: String,
    launcher: Launcher,
    /// The id that it has on its own host, once it has said so.
    id_there: Option<u32>,
    child: Child,
    input: Option<ChildStdin>,
    events: Receiver<(u64, Event)>,
    notifier: Notifier,
    pings: u64,
    waiting: VecDeque<Event>,
    messages: LastWords,
}

impl RoleProcess {
    /// Starts `role NAME` of the program where the launcher places it, and hands it its configuration.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(launcher: &Launcher, role: &str, configuration: &impl Serialize) -> Result<Self, RoleError> {
        let mut process = Self::launch(launcher, role)?;
        // A role that ended at once shows by its missing events, with its messages.
        let _ = process.send(configuration);
        Ok(process)
    }

    /// Starts `role NAME` of the program where the launcher places it; its configuration is sent later.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn launch(launcher: &Launcher, role: &str) -> Result<Self, RoleError> {
        let place = launcher.host().map(|host| format!("{ON}{host}"));
        let place = place.unwrap_or_default();
        let failed = |source| RoleError::Start { role: role.to_owned(), place: place.clone(), source };
        let mut arguments = vec!["role", role];
        if launcher.host().is_some() {
            arguments.push(ELSEWHERE);
        }
        let mut child = launcher
            .command(&arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own: the terminal's Ctrl-C reaches the coordinator, which ends the roles in order.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let input = child.stdin.take().expect("standard input is piped");
        let (sender, events) = channel();
        let output = BufReader::new(child.stdout.take().expect("standard output is piped"));
        let notifier = Notifier::default();
        let from_reader = notifier.clone();
        let told = thread::Builder::new().spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let arrived_ns = monotonic_ns();
                if let Ok(event) = serde_json::from_str(&line) {
                    if sender.send((arrived_ns, event)).is_err() {
                        break;
                    }
                    from_reader.notify();
                }
            }
            // The end of the line is heard too.
            drop(sender);
            from_reader.notify();
        });
        let errors = child.stderr.take().expect("standard error is piped");
        let messages = match told.and_then(|_| LastWords::of(errors)) {
            Ok(messages) => messages,
            Err(error) => {
                child.kill().ok();
                child.wait().ok();
                return Err(failed(error));
            }
        };
        Ok(Self {
            role: role.to_owned(),
            place,
            launcher: launcher.clone(),
            id_there: None,
            child,
            input: Some(input),
            events,
            notifier,
            pings: 0,
            waiting: VecDeque::new(),
            messages,
        })
    }

    /// The host that it runs on, if that is another than this one.
    pub fn host(&self) -> Option<&str> {
        self.place.strip_prefix(ON)
    }

    /// What it rings by when it has said something.
    pub fn notifier(&self) -> &Notifier {
        &self.notifier
    }

    /// The process id; of the launcher, where the process runs on another host.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// What places it.
    pub const fn launcher(&self) -> &Launcher {
        &self.launcher
    }

    /// The process id on the host that it runs on; none before it has said that it is there.
    pub const fn id_there(&self) -> Option<u32> {
        self.id_there
    }

    /// Sends a command: one word or a JSON object.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn send(&mut self, command: &impl Serialize) -> Result<(), RoleError> {
        let mut line = serde_json::to_vec(command).expect("commands have string keys");
        line.push(b'\n');
        let sent = self.input.as_mut().map(|input| input.write_all(&line).and_then(|()| input.flush()));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.ended()),
        }
    }

    /// Takes in what the process has said by `deadline` at the latest, one event at least if there is one. Progress is given back;
    /// other events wait for [`RoleProcess::take`].
    ///
    /// # Errors
    /// [`RoleError::Failed`] when the process says so, [`RoleError::Ended`] when it is gone and has left no report.
    pub fn listen(&mut self, deadline: Instant) -> Result<Option<Progress>, RoleError> {
        let (mut latest, mut is_kept) = (None, false);
        let mut wait = deadline.saturating_duration_since(Instant::now());
        loop {
            let heard = self.events.recv_timeout(wait);
            match heard.map(|(_, event)| event) {
                Ok(Event::Progress(progress)) => latest = Some(progress),
                Ok(event) => {
                    self.keep(event)?;
                    is_kept = true;
                }
                Err(RecvTimeoutError::Timeout) => return Ok(latest),
                // Its last words come first.
                Err(RecvTimeoutError::Disconnected) if is_kept || self.has_reported() => return Ok(latest),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
            wait = Duration::ZERO;
        }
    }

    /// Waits until the process says that it is there, before its configuration is sent.
    ///
    /// # Errors
    /// When it ends or fails, or says nothing within `limit`.
    pub fn wait_here(&mut self, limit: Duration) -> Result<(), RoleError> {
        let deadline = Instant::now() + limit;
        self.hear(deadline, |_, event| matches!(event, Event::Here { .. }).then_some(()))?
            .ok_or_else(|| self.silent(limit))
    }

    /// Asks the process for its clock.
    ///
    /// # Errors
    /// When it is gone.
    pub fn ask_clock(&mut self) -> Result<AskedClock, RoleError> {
        self.pings += 1;
        let ping = self.pings;
        let sent_ns = monotonic_ns();
        self.send(&Ping { ping })?;
        Ok(AskedClock { ping, sent_ns })
    }

    /// The answer to this question for the process's clock; none where it does not come by `deadline`.
    ///
    /// # Errors
    /// When it ends or fails.
    pub fn hear_clock(
        &mut self,
        asked: AskedClock,
        deadline: Instant,
    ) -> Result<Option<ClockSample>, RoleError> {
        self.hear(deadline, |arrived_ns, event: &Event| match event {
            Event::Pong { number, clock_ns } if *number == asked.ping => {
                Some(ClockSample::new(asked.sent_ns, *clock_ns, arrived_ns))
            }
            _ => None,
        })
    }

    /// Waits for what `is_it` recognizes, until `deadline`. Other events but progress wait for [`RoleProcess::take`].
    fn hear<T>(
        &mut self,
        deadline: Instant,
        is_it: impl Fn(u64, &Event) -> Option<T>,
    ) -> Result<Option<T>, RoleError> {
        loop {
            let wait = deadline.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(wait) {
                Ok((arrived_ns, event)) => {
                    self.note(&event);
                    if let Some(found) = is_it(arrived_ns, &event) {
                        return Ok(Some(found));
                    }
                    self.keep(event)?;
                }
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        }
    }

    /// Takes down which process it is.
    const fn note(&mut self, event: &Event) {
        if let Event::Here { process_id } = event {
            self.id_there = Some(*process_id);
        }
    }

    /// Keeps an event for [`RoleProcess::take`].
    fn keep(&mut self, event: Event) -> Result<(), RoleError> {
        self.note(&event);
        match event {
            Event::Failed { unreachable, message } => {
                return Err(RoleError::Failed {
                    role: self.role.clone(),
                    place: self.place.clone(),
                    unreachable,
                    message,
                });
            }
            // A pong that comes late is of no use any more.
            Event::Progress(_) | Event::Here { .. } | Event::Pong { .. } => {}
            event => self.waiting.push_back(event),
        }
        Ok(())
    }

    /// The first waiting event that passes.
    pub fn take(&mut self, passes: fn(&Event) -> bool) -> Option<Event> {
        let place = self.waiting.iter().position(passes)?;
        self.waiting.remove(place)
    }

    /// Whether it has sent a report that was not taken yet.
    pub fn has_reported(&self) -> bool {
        self.waiting.iter().any(|event| matches!(event, Event::Report(_)))
    }

    /// Waits for the process to be ready.
    ///
    /// # Errors
    /// When it fails, ends, or is not ready within `limit`.
    pub fn wait_ready(&mut self, limit: Duration) -> Result<(), RoleError> {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            self.listen(deadline)?;
            if self.take(|event| *event == Event::Ready).is_some() {
                return Ok(());
            }
        }
        Err(self.silent(limit))
    }

    /// That the process did not tell its clock for as long as this.
    pub fn without_clock(&self, limit: Duration) -> RoleError {
        RoleError::NoClock { place: self.place.clone(), seconds: limit.as_secs() }
    }

    /// That nothing came from the process for as long as this.
    pub fn silent(&self, limit: Duration) -> RoleError {
        RoleError::Silent { role: self.role.clone(), place: self.place.clone(), seconds: limit.as_secs() }
    }

    /// That the process said what cannot be.
    pub fn implausible(&self, problem: impl Into<String>) -> RoleError {
        RoleError::Implausible { role: self.role.clone(), place: self.place.clone(), problem: problem.into() }
    }

    /// Ends the process at once.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn ended(&mut self) -> RoleError {
        self.input = None;
        let limit = Duration::from_secs(2);
        let deadline = Instant::now() + limit;
        let status = self
            .wait_bounded(limit)
            .map_or_else(|| "still running, output closed".to_owned(), |status| status.to_string());
        let kept = self.messages.text(deadline);
        let messages = if kept.is_empty() { kept } else { format!(": {kept}") };
        RoleError::Ended { role: self.role.clone(), place: self.place.clone(), status, messages }
    }

    fn wait_bounded(&mut self, limit: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + limit;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
                _ => return None,
            }
        }
    }
}

impl Drop for RoleProcess {
    fn drop(&mut self) {
        self.input = None;
        if self.wait_bounded(Duration::from_millis(200)).is_none() {
            self.kill();
        }
    }
}

/// The program to start roles with: this one.
///
/// # Errors
/// When its path cannot be found.
pub fn own_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

#[cfg(test)]
mod tests;
