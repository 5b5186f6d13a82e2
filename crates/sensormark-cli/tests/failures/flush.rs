//! Whether a durable acknowledgement follows a flush: the system calls of a server are counted while one client writes reading by reading.

use crate::Outcome;
use crate::program::Program;
use crate::stores::{Running, Server, Shared, signal};
use crate::support::read_folder;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// One client, one reading at a time, as many as these.
const SINGLE: &str = r#"
layouts = ["individual"]
[series]
count = 2
interval = "1s"
duration = "100s"
[[tags]]
name = "sensor"
[[fields]]
name = "pulses"
type = "integer"
shape = "counter"
step = 20
[load]
clients = 1
batch = 1
"#;
/// The system calls that bring data to disk.
const FLUSHES: [&str; 3] = ["fsync", "fdatasync", "msync"];

/// A server whose system calls are written down.
struct Traced<'a> {
    tracer: Child,
    file: &'a Path,
}

impl<'a> Traced<'a> {
    /// Attaches to the server's processes, or says why that cannot be done.
    fn attach(root: u32, file: &'a Path) -> Result<Result<Self, String>, String> {
        let started = Command::new("strace")
            .args(["-f", "-qq", "-ttt", "-e", &format!("trace={}", FLUSHES.join(","))])
            .args(["-e", "signal=none", "-o"])
            .arg(file)
            .args(["-p", &root.to_string()])
            .args(children(root).iter().flat_map(|pid| ["-p".to_owned(), pid.to_string()]))
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut tracer = match started {
            Ok(tracer) => tracer,
            Err(error) => {
                let hint = "scripts/install-servers.sh strace";
                return Ok(Err(format!("strace cannot be started: {error}; {hint}")));
            }
        };
        let deadline = Instant::now() + Duration::from_secs(30);
        while !is_traced(root) {
            if let Ok(Some(_)) = tracer.try_wait() {
                let output = tracer.wait_with_output().map_err(|error| error.to_string())?;
                let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                return Ok(Err(format!("strace cannot attach: {words}")));
            }
            ensure!(Instant::now() < deadline, "strace does not attach");
            std::thread::sleep(Duration::from_millis(20));
        }
        // The other threads of the server follow within moments.
        std::thread::sleep(Duration::from_millis(500));
        Ok(Ok(Self { tracer, file }))
    }

    /// Lets go of the server, and gives how many flushes ended in this span of time, in seconds since 1970.
    fn flushes(mut self, span: (f64, f64)) -> Result<u64, String> {
        signal("INT", &[self.tracer.id()]);
        self.tracer.wait().map_err(|error| error.to_string())?;
        let text = std::fs::read_to_string(self.file).map_err(|error| error.to_string())?;
        let counts =
            |line: &&str| ended_at(line).is_some_and(|seconds| seconds >= span.0 && seconds <= span.1);
        Ok(text.lines().filter(counts).count() as u64)
    }
}

/// When a flush ended that a line tells of: "17 1763740800.123456 fsync(5) = 0" or "17 1763740800.123456 <... fsync resumed>) = 0".
fn ended_at(line: &str) -> Option<f64> {
    let mut parts = line.trim().splitn(2, char::is_whitespace);
    let (time, call) = parts.nth(1)?.trim_start().split_once(' ')?;
    let is_flush = |name: &str| {
        call.starts_with(&format!("{name}(")) || call.starts_with(&format!("<... {name} resumed"))
    };
    let ended = call.trim_end().ends_with("= 0") && FLUSHES.iter().any(|name| is_flush(name));
    time.parse().ok().filter(|_| ended)
}

/// The processes of the server besides its root.
fn children(root: u32) -> Vec<u32> {
    let mut all = crate::stores::processes(root);
    all.retain(|pid| *pid != root);
    all
}

fn is_traced(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_some_and(|tracer| tracer.trim() != "0")
}

/// Writes in this class while the server is traced; gives readings acknowledged and flushes.
fn written(server: &Server, running: &Running, class: &str) -> Result<Result<(u64, u64), String>, String> {
    let place = running.place();
    let file = place.path().join(format!("strace-{class}"));
    let traced = match Traced::attach(running.process, &file)? {
        Ok(traced) => traced,
        Err(reason) => return Ok(Err(reason)),
    };
    let on = format!("{}=@{}", server.on(), running.run);
    let results = format!("results-{class}");
    let options = ["--on", &on, "--durability", class, "--tolerate-disturbance"];
    let mut program = Program::run_into(place, &results, SINGLE, &options)?;
    let mut begins = |name: &'static str| {
        let begins = move |event: &str, data: &Value| event == "phase" && data["name"] == name;
        program.wait_for(name, Duration::from_secs(60), begins).map(|_| now())
    };
    // Between the two nothing is done but to connect and to write: no database is made, none brought to rest.
    let span = (begins("load")?, begins("settled")?);
    let ended = program.end(Duration::from_secs(120))?;
    let flushes = traced.flushes(span)?;
    let runs = read_folder(&place.path().join(&results));
    let trials = runs.iter().flat_map(|run| read_folder(&run.join("trials")));
    let records: Vec<Value> =
        trials.filter_map(|file| serde_json::from_slice(&std::fs::read(file).ok()?).ok()).collect();
    let [trial] = records.as_slice() else {
        return Err(format!("{} trials: {}", records.len(), ended.said));
    };
    let acknowledged = trial["ledger"]["acknowledged"].as_u64().unwrap_or(0);
    ensure!(acknowledged == 200, "{acknowledged} acknowledged: {}", ended.said);
    Ok(Ok((acknowledged, flushes)))
}

/// The time, in seconds since 1970.
fn now() -> f64 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(0.0, |since| since.as_secs_f64())
}

/// At least one flush for each acknowledgement; and, where a session can be relaxed on the same server, far fewer then, so that the flushes are the class's.
pub fn each_write_is_flushed(shared: &Shared) -> Outcome {
    shared.with(|server, running| {
        let (acknowledged, flushes) = match written(server, running, "durable")? {
            Ok(counts) => counts,
            Err(reason) => return Ok(Some(reason)),
        };
        ensure!(flushes >= acknowledged, "{flushes} flushes for {acknowledged} acknowledged writes");
        println!("{}: {flushes} flushes for {acknowledged} durable writes", server.name);
        if matches!(server.name, "postgresql" | "mongodb")
            && let Ok((acknowledged, flushes)) = written(server, running, "relaxed")?
        {
            println!("{}: {flushes} flushes for {acknowledged} relaxed writes", server.name);
            ensure!(
                flushes < acknowledged / 2,
                "{flushes} flushes for {acknowledged} relaxed writes: the class makes no difference"
            );
        }
        Ok(None)
    })
}
