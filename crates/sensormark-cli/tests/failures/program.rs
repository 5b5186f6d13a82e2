//! The program at work, watched: what it tells as it goes, when, and how it ends.

use crate::stores::{owner, process};
use crate::support::{Place, numbers};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A workload that writes reading by reading and takes longer than any test.
pub const ENDLESS: &str = concat!(
    r#"
layouts = ["individual"]
[series]
count = 8
interval = "1s"
duration = "30d"
[[tags]]
name = "sensor"
"#,
    numbers!(),
    "[load]\nclients = 2\nbatch = 5\n"
);

/// A short run of machine-tool, but for what it is measured on.
pub const MACHINE_TOOL: [&str; 15] = [
    "run",
    "machine-tool",
    "--results",
    "results",
    "--progress=plain",
    "--tolerate-disturbance",
    "--full",
    "--set",
    "warmup_seconds=0.5",
    "--set",
    "measured_seconds=4",
    "--set",
    "history_seconds=0",
    "--set",
    "reads=6",
];

/// How long a server may take to start on a busy machine, and a load to begin.
const PATIENCE: Duration = Duration::from_secs(300);

/// The program at work.
pub struct Program<'a> {
    place: &'a Place,
    child: Child,
    told: Receiver<(Instant, String)>,
    /// Everything that it printed so far.
    lines: Vec<(Instant, String)>,
}

/// How it ended.
pub struct Ended {
    /// Its exit code.
    pub code: Option<i32>,
    /// Everything that it said.
    pub said: String,
    /// When it ended.
    pub at: Instant,
}

impl<'a> Program<'a> {
    /// Runs a workload file with this text.
    pub fn run(place: &'a Place, workload: &str, further: &[&str]) -> Result<Self, String> {
        Self::run_into(place, "results", workload, further)
    }

    /// Runs a workload file with this text, its results in a folder of this name.
    pub fn run_into(
        place: &'a Place,
        results: &str,
        workload: &str,
        further: &[&str],
    ) -> Result<Self, String> {
        std::fs::write(place.path().join("own.toml"), workload).map_err(|error| error.to_string())?;
        let arguments = ["run", "own.toml", "--results", results, "--progress=json"];
        let mut child = place
            .command(&[&arguments[..], further].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let (sender, told) = channel();
        let errors = BufReader::new(child.stderr.take().ok_or("no standard error")?);
        std::thread::spawn(move || {
            for line in errors.lines().map_while(Result::ok) {
                if sender.send((Instant::now(), line)).is_err() {
                    break;
                }
            }
        });
        Ok(Self { place, child, told, lines: Vec::new() })
    }

    /// Waits for an event that passes, and says when it came.
    ///
    /// # Errors
    /// When the program ends, or it takes longer than `limit`.
    pub fn wait_for(
        &mut self,
        what: &str,
        limit: Duration,
        passes: impl Fn(&str, &Value) -> bool,
    ) -> Result<Instant, String> {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.told.recv_timeout(left) {
                Ok((at, line)) => {
                    let event: Value = serde_json::from_str(&line).unwrap_or_default();
                    let name = event["event"].as_str().unwrap_or_default();
                    let found = passes(name, &event["data"]);
                    self.lines.push((at, line));
                    if found {
                        return Ok(at);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let limit = limit.as_secs();
                    return Err(format!("{what}: not within {limit} s: {}", self.all()));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(format!("{what}: it ended before: {}", self.all()));
                }
            }
        }
    }

    /// Waits until so many operations are done.
    ///
    /// # Errors
    /// As [`Program::wait_for`].
    pub fn wait_for_load(&mut self, operations: u64) -> Result<(), String> {
        let loaded = |name: &str, data: &Value| {
            name == "progress" && data["done"].as_u64().is_some_and(|done| done >= operations)
        };
        self.wait_for("a load", PATIENCE, loaded).map(drop)
    }

    /// The root process of the server that it started, as soon as that is written down.
    ///
    /// # Errors
    /// When there is none in good time.
    pub fn server(&mut self) -> Result<u32, String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(root) = owner(self.place).as_ref().and_then(process) {
                return Ok(root);
            }
            ensure!(
                matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline,
                "no server was started: {}",
                self.all()
            );
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// When it takes longer than `limit`; it is then killed.
    pub fn end(mut self, limit: Duration) -> Result<Ended, String> {
        let deadline = Instant::now() + limit;
        // The report is short enough for a pipe's buffer, so that it can be read at the end.
        let code = loop {
            match self.child.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break status.code(),
                None if Instant::now() > deadline => {
                    let text = self.all();
                    return Err(format!("not ended within {} s: {text}", limit.as_secs()));
                }
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let at = Instant::now();
        let mut said = self.all();
        if let Some(output) = &mut self.child.stdout {
            let _ = output.read_to_string(&mut said);
        }
        Ok(Ended { code, said, at })
    }

    /// Everything that it printed, without its lines of progress.
    fn all(&mut self) -> String {
        while let Ok(line) = self.told.recv_timeout(Duration::from_millis(50)) {
            self.lines.push(line);
        }
        let lines = self.lines.iter().map(|(_, line)| line.as_str());
        let worth = lines.filter(|line| !line.contains("\"event\":\"progress\""));
        worth.collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // In good order, so that its server goes too.
            crate::stores::signal("INT", &[self.child.id()]);
            crate::stores::signal("INT", &[self.child.id()]);
            let deadline = Instant::now() + Duration::from_secs(60);
            while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(50));
            }
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
