//! The coordinator's end of a probe: `sensormark probe` on the host of a server that sensormark did not start, or of a role of the trial. Its lines become a
//! recording as of processes of this machine. Which server has which probe is in [`server_probes`](super::server_probes), and which role in
//! [`role_probes`](super::trial::role_probes).

use super::last_words::LastWords;
use sensormark_result::measurement::server::ProbeRecord;
use sensormark_result::probe::{
    DiskUsage, DisturbanceLimits, Hello, LINES_VERSION, Phase, PhaseTotals, ProbeCommand, ProbeLine,
    Recording, TreeRecord, boot_id,
};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long a probe may take to say hello: a launcher may have to queue.
const HELLO: Duration = Duration::from_secs(60);
/// How long it may take to answer: the proportional set size of a large server takes a second.
const ANSWER: Duration = Duration::from_secs(30);
/// How long it may take to end when its input closes.
const END: Duration = Duration::from_secs(2);

/// A probe at work.
pub struct ServerProbe {
    /// Whose processes it watches, as messages and results call them.
    whose: String,
    host: Option<String>,
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<ProbeLine>,
    messages: LastWords,
    hello: Option<Hello>,
    recording: Recording,
    open: Option<(String, u64)>,
    longest_round_trip_ns: u64,
}

/// What a probe has seen.
pub struct Probed {
    /// The samples, by the probe's own clock.
    pub recording: Recording,
    /// The boot of its host's kernel: probes with the same one saw the same host.
    pub boot: String,
    /// Whether it ran on this machine.
    pub is_here: bool,
    /// What results say about it.
    pub record: ProbeRecord,
}

impl Probed {
    /// What it has seen of the phase that is this one here, by its number and name.
    pub fn phase_totals(&self, number: usize, name: &str) -> Option<PhaseTotals> {
        let phase = self.recording.phases.get(number)?;
        let seen = self.recording.phase_totals(phase);
        seen.filter(|_| phase.name == name)
    }
}

impl ServerProbe {
    /// Starts it by this command on this host, None for this machine, and waits for its first line. `whose` processes are watched: the server's, or a role's. The
    /// limits are those of a disturbed host.
    ///
    /// # Errors
    /// Why nothing can be watched there.
    pub fn start(
        whose: &str,
        command: Command,
        host: Option<&str>,
        limits: DisturbanceLimits,
    ) -> Result<Self, String> {
        let mut probe = Self::launch(whose, command, host, limits)?;
        probe.greet(HELLO)?;
        Ok(probe)
    }

    /// Starts it as [`Self::start`] does, and does not wait for its first line.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn launch(
        whose: &str,
        mut command: Command,
        host: Option<&str>,
        limits: DisturbanceLimits,
    ) -> Result<Self, String> {
        let place = host.map_or_else(String::new, |host| format!(" on {host}"));
        let failed = |error: std::io::Error| format!("cannot start the probe of the {whose}{place}: {error}");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // The terminal's Ctrl-C reaches the coordinator, which ends the probe in order.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let input = child.stdin.take();
        let output = child.stdout.take().expect("standard output is piped");
        let errors = child.stderr.take().expect("standard error is piped");
        let heard = listen(output).and_then(|lines| Ok((lines, LastWords::of(errors)?)));
        let (lines, messages) = heard.map_err(|error| {
            child.kill().ok();
            child.wait().ok();
            failed(error)
        })?;
        Ok(Self {
            whose: whose.to_owned(),
            host: host.map(str::to_owned),
            child,
            input,
            lines,
            messages,
            hello: None,
            recording: Recording::begun(Duration::ZERO, limits),
            open: None,
            longest_round_trip_ns: 0,
        })
    }

    /// Waits for its first line.
    ///
    /// # Errors
    /// Why nothing can be watched there.
    pub fn greet(&mut self, limit: Duration) -> Result<(), String> {
        self.wait(limit, |line| matches!(line, ProbeLine::Hello(_))).map(drop)
    }

    /// Tells it that nobody wants to know more; what it has still to say is read by [`Self::stop`].
    pub fn close(&mut self) {
        self.input = None;
    }

    /// Where it runs, after a noun.
    fn place(&self) -> String {
        let host = self.host.as_ref();
        host.map_or_else(String::new, |host| format!(" on {host}"))
    }

    /// Whether it still watches; takes in what it has seen.
    ///
    /// # Errors
    /// How it ended, with its last words.
    pub fn look(&mut self) -> Result<(), String> {
        loop {
            match self.lines.recv_timeout(Duration::ZERO) {
                Ok(line) => drop(self.take(line)?),
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        }
    }

    /// Tells it something; the answer is for [`Self::answered`].
    ///
    /// # Errors
    /// How it ended.
    pub fn tell(&mut self, command: &ProbeCommand) -> Result<Instant, String> {
        let sent = self.input.as_mut().map(|input| {
            let line = format!("{command}\n");
            input.write_all(line.as_bytes()).and_then(|()| input.flush())
        });
        match sent {
            Some(Ok(())) => Ok(Instant::now()),
            _ => Err(self.ended()),
        }
    }

    /// Waits until what was told is done: the phase's end was sampled.
    ///
    /// # Errors
    /// How it ended, or that it says nothing.
    pub fn answered(&mut self, command: &ProbeCommand, sent: Instant) -> Result<(), String> {
        self.wait(ANSWER, |line| match (command, line) {
            (ProbeCommand::Begin(name), ProbeLine::Began(mark)) => mark.name == *name,
            (ProbeCommand::End { .. }, ProbeLine::Ended(_)) => true,
            _ => false,
        })?;
        let took = u64::try_from(sent.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.longest_round_trip_ns = self.longest_round_trip_ns.max(took);
        Ok(())
    }

    /// The space of the folders, that of logs of these names apart, where they were named and can be read.
    ///
    /// # Errors
    /// How it ended, or that it says nothing.
    pub fn disk(&mut self, logs: Vec<String>) -> Result<Option<DiskUsage>, String> {
        self.tell(&ProbeCommand::Disk(logs))?;
        let line = self.wait(ANSWER, |line| matches!(line, ProbeLine::Disk { .. }))?;
        Ok(match line {
            ProbeLine::Disk { usage, .. } => usage,
            _ => None,
        })
    }

    /// Ends it, and gives what it has seen.
    pub fn stop(mut self) -> Probed {
        self.close();
        let deadline = Instant::now() + END;
        loop {
            let wait = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(wait) {
                Ok(line) => drop(self.take(line)),
                Err(_) => break,
            }
        }
        let hello = self.hello.take().expect("it has said hello");
        let recording = std::mem::replace(
            &mut self.recording,
            Recording::begun(Duration::ZERO, DisturbanceLimits::default()),
        );
        let own = boot_id();
        Probed {
            recording,
            is_here: !own.is_empty() && hello.host.boot == own,
            boot: hello.host.boot,
            record: ProbeRecord {
                host: self.host.clone(),
                sensormark: hello.sensormark,
                processes: hello.processes,
                count: hello.count,
                kernel: hello.host.kernel,
                processors: hello.host.processors,
                memory_bytes: hello.host.memory_bytes,
                longest_round_trip_ns: self.longest_round_trip_ns,
                missing: hello.missing.iter().map(|text| without_folder(text)).collect(),
            },
        }
    }

    /// Waits for a line that passes, and takes in all before it.
    fn wait(&mut self, limit: Duration, passes: impl Fn(&ProbeLine) -> bool) -> Result<ProbeLine, String> {
        let deadline = Instant::now() + limit;
        loop {
            let wait = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(wait) {
                Ok(line) => {
                    let is_it = passes(&line);
                    self.take(line.clone())?;
                    if is_it {
                        return Ok(line);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!(
                        "the probe of the {}{} said nothing for {} s",
                        self.whose,
                        self.place(),
                        limit.as_secs()
                    ));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        }
    }

    /// Takes a line into the recording.
    fn take(&mut self, line: ProbeLine) -> Result<(), String> {
        match line {
            ProbeLine::Hello(hello) => self.greeted(*hello)?,
            ProbeLine::Sample(sample) => {
                let (at, recording) = (sample.monotonic_ns, &mut self.recording);
                recording.host.push(at, &sample.host);
                let both = [(self.whose.as_str(), &sample.server), ("probe", &sample.probe)];
                for (role, seen) in both {
                    let trees = &mut recording.trees;
                    if !trees.iter().any(|tree| tree.role == role) {
                        trees.push(TreeRecord::of(role));
                    }
                    let tree = trees.iter_mut().find(|tree| tree.role == role);
                    tree.expect("it is there").push(at, seen);
                }
                recording.cost.samples += 1;
            }
            ProbeLine::Began(mark) => self.open = Some((mark.name, mark.monotonic_ns)),
            ProbeLine::Ended(mark) => {
                if let Some((name, start_ns)) = self.open.take() {
                    self.recording.phases.push(Phase { name, start_ns, end_ns: mark.monotonic_ns });
                }
            }
            ProbeLine::Disk { .. } | ProbeLine::Unknown { .. } => {}
        }
        Ok(())
    }

    fn greeted(&mut self, hello: Hello) -> Result<(), String> {
        if hello.schema_version != LINES_VERSION {
            return Err(format!(
                "the probe of the {}{} is of sensormark {}, whose lines this one does not understand; install the same version there",
                self.whose,
                self.place(),
                hello.sensormark
            ));
        }
        self.recording.started_at.clone_from(&hello.wall);
        self.recording.started_monotonic_ns = hello.monotonic_ns;
        self.recording.period_ns = hello.interval_ns;
        self.hello = Some(hello);
        Ok(())
    }

    fn ended(&mut self) -> String {
        self.input = None;
        let deadline = Instant::now() + END;
        let mut status = self.child.try_wait();
        while matches!(status, Ok(None)) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
            status = self.child.try_wait();
        }
        let status = match status {
            Ok(Some(status)) => status.to_string(),
            _ => "still running, output closed".to_owned(),
        };
        let said = self.messages.text(deadline);
        let said = said.strip_prefix("sensormark: ").unwrap_or(&said);
        let (whose, place) = (&self.whose, self.place());
        if said.is_empty() {
            format!("the probe of the {whose}{place} ended early ({status})")
        } else {
            format!("the probe of the {whose}{place} ended early ({status}): {said}")
        }
    }
}

impl Drop for ServerProbe {
    fn drop(&mut self) {
        self.input = None;
        let deadline = Instant::now() + Duration::from_millis(200);
        while matches!(self.child.try_wait(), Ok(None)) {
            if Instant::now() >= deadline {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// The probe's lines; what is none is left out.
fn listen(output: ChildStdout) -> io::Result<Receiver<ProbeLine>> {
    let (sender, lines) = channel();
    thread::Builder::new().spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if let Ok(line) = serde_json::from_str(&line)
                && sender.send(line).is_err()
            {
                break;
            }
        }
    })?;
    Ok(lines)
}

/// What is missing, without a folder: results hold no path.
fn without_folder(text: &str) -> String {
    let (before, _) = text.split_once(" (the server works in ").unwrap_or((text, ""));
    match before.strip_prefix("disk: cannot read ") {
        Some(_) => "disk: a folder that was named cannot be read".to_owned(),
        None => before.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_that_ends_at_once_is_told_with_its_words() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo 'sensormark: nobody listens' >&2; exit 2"]);
        let said = ServerProbe::start("server", command, Some("db1"), DisturbanceLimits::default());
        let said = said.err().expect("it ended");
        assert!(said.contains("on db1 ended early"), "{said}");
        assert!(said.ends_with("(exit status: 2): nobody listens"), "{said}");
    }

    #[test]
    fn results_hold_no_folder() {
        let text = "disk: no folder of data was named; name it with --disk (the server works in /x)";
        assert!(without_folder(text).ends_with("with --disk"));
        assert!(!without_folder("disk: cannot read /x/y: Permission denied").contains("/x"));
    }
}
