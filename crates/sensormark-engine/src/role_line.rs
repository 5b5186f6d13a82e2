//! A role's own end of the line to the coordinator.
//!
//! One thread reads the line all the time, whatever the role does meanwhile. It answers the coordinator's pings at once, with this host's clock. When the
//! line is closed, it ends the process: on another host nothing else would tell it that the coordinator, or the way to it, is gone.

use super::pacing::monotonic_ns;
use super::role::{Event, Ping};
use serde::de::DeserializeOwned;
use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a process may take to end in good order once its line is closed.
const FAREWELL: Duration = Duration::from_millis(500);

/// The process's own end.
pub struct RoleLine {
    lines: Receiver<String>,
}

/// What is done before the process ends with its line.
static BEFORE_END: Mutex<Vec<fn()>> = Mutex::new(Vec::new());

/// Has this done before the process ends because its line is closed: a server, say, does not end with the process.
pub fn before_end(action: fn()) {
    if let Ok(mut actions) = BEFORE_END.lock() {
        actions.push(action);
    }
}

/// Ends the process, because nobody listens any more.
pub fn end() -> ! {
    // Whoever comes second waits here until the first has ended the process.
    let mut actions = BEFORE_END.lock().unwrap_or_else(PoisonError::into_inner);
    actions.drain(..).for_each(|action| action());
    std::process::exit(1)
}

impl RoleLine {
    /// Says that the process is there, and takes the configuration from standard input. The process ends with the line from now on. `is_elsewhere` says that the
    /// coordinator is on another host.
    ///
    /// # Errors
    /// When there is no configuration, in words: a role is not started by hand.
    pub fn open<T: DeserializeOwned>(is_elsewhere: bool) -> Result<(Self, T), String> {
        if !is_elsewhere {
            // Sooner than the closed line. On another host the parent is the launcher's, and what the process holds there has to be removed.
            let signal = Some(rustix::process::Signal::KILL);
            let _ = rustix::process::set_parent_process_death_signal(signal);
        }
        let (sender, lines) = channel();
        let reader = thread::Builder::new().name("line".to_owned());
        reader.spawn(move || read(&sender)).map_err(|error| format!("cannot read the line: {error}"))?;
        let process_id = std::process::id();
        tell(&Event::Here { process_id });
        let mut line = Self { lines };
        let configuration = line.receive()?.ok_or("a role is started by sensormark itself, not by hand")?;
        Ok((line, configuration))
    }

    /// The next command; `None` when the coordinator has closed the line.
    ///
    /// # Errors
    /// When it cannot be understood.
    pub fn receive<T: DeserializeOwned>(&mut self) -> Result<Option<T>, String> {
        let Ok(line) = self.lines.recv() else {
            return Ok(None);
        };
        let command = serde_json::from_str(&line);
        command.map(Some).map_err(|error| format!("not a command: {error}"))
    }
}

/// Passes commands on until the line is closed, and ends the process then.
fn read(commands: &Sender<String>) {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        if let Ok(Ping { ping }) = serde_json::from_str(&line) {
            let clock_ns = monotonic_ns();
            tell(&Event::Pong { number: ping, clock_ns });
        } else {
            // A source takes no commands; its line says when to end all the same.
            let _ = commands.send(line);
        }
    }
    thread::sleep(FAREWELL);
    end()
}

/// Tells the coordinator something. A coordinator that is gone ends the process.
pub fn tell(event: &Event) {
    let mut line = serde_json::to_vec(event).expect("events have string keys");
    line.push(b'\n');
    let mut output = std::io::stdout().lock();
    let written = output.write_all(&line).and_then(|()| output.flush());
    drop(output);
    if written.is_err() {
        end();
    }
}
