//! Processes of a trial: the coordinator's end and the process's own end of the line between them.
//!
//! The program starts itself again with a role's name. Its first line on standard input is the role's configuration (JSON; secrets travel here, never as
//! arguments); further lines are commands. What it prints on standard output are events, one JSON object a line; standard error is kept for messages. A role
//! dies with the coordinator. The workloads define what the roles do.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How much of a role's standard error is kept, in bytes.
const KEPT_MESSAGE_BYTES: usize = 16_384;

/// What a role tells the coordinator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event", content = "data")]
pub enum Event {
    /// Connected and prepared; waits to be started.
    Ready,
    /// How far it is.
    Progress(Progress),
    /// A phase begins or ends here; the role waits for the coordinator's word before it goes on.
    Phase(String),
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

/// How far a role is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Operations done.
    pub done: u64,
    /// Operations in all, 0 when that is not known.
    pub of: u64,
    /// Operations that failed.
    pub errors: u64,
}

/// Why a role did not do what it should.
#[derive(Debug, thiserror::Error)]
pub enum RoleError {
    /// The process could not be started.
    #[error("cannot start the {role} process: {source}")]
    Start {
        /// The role.
        role: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The process said that it failed.
    #[error("{role}: {message}")]
    Failed {
        /// The role.
        role: String,
        /// Whether the database could not be reached.
        unreachable: bool,
        /// What it said.
        message: String,
    },
    /// The process ended without a word.
    #[error("the {role} process ended early ({status}){messages}")]
    Ended {
        /// The role.
        role: String,
        /// How it ended.
        status: String,
        /// Its last messages, with a leading separator.
        messages: String,
    },
    /// Nothing came in time.
    #[error("the {role} process said nothing for {seconds} s")]
    Silent {
        /// The role.
        role: String,
        /// How long was waited.
        seconds: u64,
    },
    /// The user broke the run off.
    #[error("interrupted")]
    Interrupted,
}

/// The coordinator's end.
pub struct RoleProcess {
    role: String,
    child: Child,
    input: Option<ChildStdin>,
    events: Receiver<Event>,
    waiting: VecDeque<Event>,
    messages: Arc<Mutex<Vec<u8>>>,
}

impl RoleProcess {
    /// Starts `program role NAME` and hands it its configuration.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(
        program: &Path,
        role: &str,
        configuration: &impl Serialize,
    ) -> Result<Self, RoleError> {
        let failed = |source| RoleError::Start {
            role: role.to_owned(),
            source,
        };
        let mut child = Command::new(program)
            .args(["role", role])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own: the terminal's Ctrl-C reaches the coordinator, which ends the roles in order.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let mut input = child.stdin.take().expect("standard input is piped");
        let mut line = serde_json::to_vec(configuration).expect("configurations have string keys");
        line.push(b'\n');
        // A role that ended at once shows by its missing events, with its messages.
        let _ = input.write_all(&line);
        let (sender, events) = channel();
        let output = BufReader::new(child.stdout.take().expect("standard output is piped"));
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Ok(event) = serde_json::from_str(&line)
                    && sender.send(event).is_err()
                {
                    break;
                }
            }
        });
        let messages = Arc::new(Mutex::new(Vec::new()));
        let (kept, mut errors) = (
            Arc::clone(&messages),
            child.stderr.take().expect("standard error is piped"),
        );
        thread::spawn(move || keep_tail(&mut errors, &kept));
        Ok(Self {
            role: role.to_owned(),
            child,
            input: Some(input),
            events,
            waiting: VecDeque::new(),
            messages,
        })
    }

    /// The process id.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a command: one word or a JSON object.
    ///
    /// # Errors
    /// When the process is gone.
    pub fn send(&mut self, command: &impl Serialize) -> Result<(), RoleError> {
        let mut line = serde_json::to_vec(command).expect("commands have string keys");
        line.push(b'\n');
        let sent = self
            .input
            .as_mut()
            .map(|input| input.write_all(&line).and_then(|()| input.flush()));
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
        let mut latest = None;
        let mut wait = deadline.saturating_duration_since(Instant::now());
        loop {
            match self.events.recv_timeout(wait) {
                Ok(Event::Failed {
                    unreachable,
                    message,
                }) => {
                    return Err(RoleError::Failed {
                        role: self.role.clone(),
                        unreachable,
                        message,
                    });
                }
                Ok(Event::Progress(progress)) => latest = Some(progress),
                Ok(event) => self.waiting.push_back(event),
                Err(RecvTimeoutError::Timeout) => return Ok(latest),
                Err(RecvTimeoutError::Disconnected) if self.has_reported() => return Ok(latest),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
            wait = Duration::ZERO;
        }
    }

    /// The first waiting event that passes.
    pub fn take(&mut self, passes: fn(&Event) -> bool) -> Option<Event> {
        let place = self.waiting.iter().position(passes)?;
        self.waiting.remove(place)
    }

    /// Whether it has sent a report that was not taken yet.
    pub fn has_reported(&self) -> bool {
        self.waiting
            .iter()
            .any(|event| matches!(event, Event::Report(_)))
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
        Err(RoleError::Silent {
            role: self.role.clone(),
            seconds: limit.as_secs(),
        })
    }

    /// The role's name.
    pub fn name(&self) -> &str {
        &self.role
    }

    /// Ends the process at once.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn ended(&mut self) -> RoleError {
        self.input = None;
        let status = self.wait_bounded(Duration::from_secs(2)).map_or_else(
            || "still running, output closed".to_owned(),
            |status| status.to_string(),
        );
        let kept = self
            .messages
            .lock()
            .map(|kept| String::from_utf8_lossy(&kept).trim().to_owned())
            .unwrap_or_default();
        let messages = if kept.is_empty() {
            kept
        } else {
            format!(": {kept}")
        };
        RoleError::Ended {
            role: self.role.clone(),
            status,
            messages,
        }
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

fn keep_tail(source: &mut impl Read, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0_u8; 4_096];
    while let Ok(count @ 1..) = source.read(&mut buffer) {
        if let Ok(mut kept) = kept.lock() {
            kept.extend_from_slice(&buffer[..count]);
            let excess = kept.len().saturating_sub(KEPT_MESSAGE_BYTES);
            kept.drain(..excess);
        }
    }
}

/// The process's own end.
pub struct RoleLine {
    input: BufReader<std::io::Stdin>,
}

impl RoleLine {
    /// Takes the configuration from standard input, and sees to it that the process dies with the coordinator.
    ///
    /// # Errors
    /// When there is no configuration, in words: a role is not started by hand.
    pub fn open<T: DeserializeOwned>() -> Result<(Self, T), String> {
        // Best effort: the closed standard input ends the process too.
        let _ =
            rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
        let mut line = Self {
            input: BufReader::new(std::io::stdin()),
        };
        let configuration = line
            .receive()?
            .ok_or("a role is started by sensormark itself, not by hand")?;
        Ok((line, configuration))
    }

    /// The next command; `None` when the coordinator has closed the line.
    ///
    /// # Errors
    /// When it cannot be understood.
    pub fn receive<T: DeserializeOwned>(&mut self) -> Result<Option<T>, String> {
        let mut line = String::new();
        match self.input.read_line(&mut line) {
            Ok(0) => Ok(None),
            Ok(_) => serde_json::from_str(&line)
                .map(Some)
                .map_err(|error| format!("not a command: {error}")),
            Err(error) => Err(format!("cannot read commands: {error}")),
        }
    }
}

/// Tells the coordinator something. A coordinator that is gone ends the process.
pub fn tell(event: &Event) {
    let mut line = serde_json::to_vec(event).expect("events have string keys");
    line.push(b'\n');
    let mut output = std::io::stdout().lock();
    if output
        .write_all(&line)
        .and_then(|()| output.flush())
        .is_err()
    {
        std::process::exit(1);
    }
}

/// The program to start roles with: this one.
///
/// # Errors
/// When its path cannot be found.
pub fn own_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}
