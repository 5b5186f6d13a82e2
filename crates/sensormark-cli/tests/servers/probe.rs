//! `sensormark probe` beside a real PostgreSQL: what it prints, what it gives a run with a server by URL, and how it ends.

use crate::existing_server::Running;
use crate::support::{Place, errors, held_against, said};
use sensormark_result::probe::{
    DisturbanceLimits, HostSampler, Mark, Phase, ProbeCommand, ProbeLine, ProcessTree, Recorder, Recording,
    RoleTotals, Scope, TreeRecord, WireScope, disk_usage,
};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// About a second of work for a processor, with writes and an answer of some MB; the last line says that it came.
const LOAD: &str =
    "CREATE TABLE much AS SELECT number, repeat('x', 200) AS words FROM generate_series(1, 250000) AS number;
CHECKPOINT;
SELECT words FROM much;
\\echo done
";

/// A probe of this server, its lines and its input.
struct Probe {
    child: Child,
    input: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Probe {
    fn start(mut command: Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let output = child.stdout.take().expect("it is piped");
        Self { input: child.stdin.take(), lines: BufReader::new(output).lines(), child }
    }

    fn next(&mut self) -> ProbeLine {
        let line = self.lines.next().expect("a line").expect("text");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Sends words and reads up to the line that passes.
    fn tell(&mut self, words: &str, passes: fn(&ProbeLine) -> bool) -> ProbeLine {
        let input = self.input.as_mut().expect("it is open");
        writeln!(input, "{words}").expect("it listens");
        loop {
            let line = self.next();
            if passes(&line) {
                return line;
            }
        }
    }

    /// Closes its input, and waits for its end.
    fn end(mut self) -> std::process::Output {
        drop(self.input.take());
        self.child.wait_with_output().expect("it ends")
    }
}

/// A session that has loaded, and is open until it is dropped: what a connection carried after its last sample is in no figure.
struct Session(Child);

impl Session {
    fn load(server: &Running<'_>) -> Self {
        let mut psql = Command::new("psql");
        psql.args(["-AtqX", "-v", "ON_ERROR_STOP=1", "-d", &server.url]);
        let psql = psql.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = psql.spawn().expect("psql is there");
        let input = child.stdin.as_mut().expect("it is piped");
        input.write_all(LOAD.as_bytes()).expect("psql listens");
        let output = child.stdout.as_mut().expect("it is piped");
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        assert!(lines.any(|line| line == "done"), "it was broken off");
        Self(child)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        drop(self.0.wait());
    }
}

/// The postmaster's id and its data folder, which has a file that says so.
fn postmaster(server: &Running<'_>) -> (i32, PathBuf) {
    let folder = PathBuf::from(server.sql("postgres", "SHOW data_directory").trim());
    let text = std::fs::read_to_string(folder.join("postmaster.pid")).expect("it can be read");
    let pid = text.lines().next().expect("a line").parse();
    (pid.expect("an id"), folder)
}

fn port(server: &Running<'_>) -> u16 {
    let (_, after) = server.url.rsplit_once(':').expect("a port");
    let digits = after.split('/').next().unwrap_or_default();
    digits.parse().expect("a number")
}

/// One watches by the local recorder, the other by the probe's lines; both the same server and load.
pub fn the_probe_sees_what_the_recorder_sees() {
    let place = Place::new();
    let server = Running::start(&place);
    let ((pid, data), port) = (postmaster(&server), port(&server));
    let folder = data.to_string_lossy().into_owned();
    let by = |arguments: &[&str]| {
        let words = [&["probe", "--disk", &folder][..], arguments].concat();
        Probe::start(place.command(&words))
    };
    let mut by_port = by(&["--port", &port.to_string(), "--interval", "200ms"]);
    let mut by_pid = by(&["--pid", &pid.to_string(), "--interval", "200ms"]);
    for probe in [&mut by_port, &mut by_pid] {
        let ProbeLine::Hello(hello) = probe.next() else {
            panic!("it says hello first");
        };
        assert_eq!((hello.pid, hello.program.as_str()), (pid, "postgres"));
        assert_eq!(hello.ports, [port], "{hello:?}");
        assert!(hello.missing.is_empty(), "{:?}", hello.missing);
        assert!(!hello.host.kernel.is_empty() && hello.host.processors > 0);
    }
    let scope = Some(WireScope::ServerPort(port));
    let tree = ProcessTree::attach("server", pid, Scope::Session(pid), scope).expect("it runs");
    let host = HostSampler::new([data.as_path()]).expect("its folder is there");
    let period = Duration::from_millis(200);
    let limits = DisturbanceLimits::default();
    let recorder = Recorder::start(host, vec![tree], period, limits).expect("it starts");

    recorder.begin_phase("load").expect("it samples");
    let mut probed = [Seen::begin(&mut by_port, limits), Seen::begin(&mut by_pid, limits)];
    let session = Session::load(&server);
    probed[0].end(&mut by_port);
    probed[1].end(&mut by_pid);
    recorder.end_phase(true).expect("it samples");
    drop(session);
    let space = disk_usage(&data, |_| false).expect("its folder is there");
    let recording = recorder.stop().expect("it samples");
    let own = load_of(&recording);
    for seen in &probed {
        let theirs = load_of(&seen.recording);
        near("CPU", theirs.cpu_ns, own.cpu_ns, 5);
        near("memory", theirs.end_held_bytes(), own.end_held_bytes(), 5);
        near("peak", theirs.peak_resident_bytes, own.peak_resident_bytes, 10);
        let written = |role: &RoleTotals| role.storage_dirtied_bytes.expect("root may");
        near("storage", written(&theirs), written(&own), 5);
        let sent = |role: &RoleTotals| role.sent_wire_bytes.expect("it has connections");
        near("wire", sent(&theirs), sent(&own), 5);
        assert!(sent(&theirs) > 50_000_000 && theirs.retransmitted_segments.is_some());
        near("disk", seen.disk_bytes, space.allocated_bytes, 5);
    }
    for probe in [by_port, by_pid] {
        let ended = probe.end();
        assert!(ended.status.success(), "{}", errors(&ended));
    }
}

fn load_of(recording: &Recording) -> RoleTotals {
    let phase = recording.phase("load").expect("it ended");
    let totals = recording.phase_totals(phase).expect("two samples");
    totals.roles["server"].clone()
}

/// Within so many percent.
#[track_caller]
fn near(what: &str, found: u64, expected: u64, percent: u64) {
    println!("{what}: {found} by the probe, {expected} by the recorder");
    let off = found.abs_diff(expected) as f64 * 100.0;
    assert!(off <= (expected * percent) as f64, "{what}: {found} and {expected}");
}

/// What a probe said of a phase, as a recording.
struct Seen {
    recording: Recording,
    tree: TreeRecord,
    start_ns: u64,
    disk_bytes: u64,
}

impl Seen {
    fn begin(probe: &mut Probe, limits: DisturbanceLimits) -> Self {
        let mut seen = Self {
            recording: Recording::begun(Duration::ZERO, limits),
            tree: TreeRecord::of("server"),
            start_ns: 0,
            disk_bytes: 0,
        };
        let mark = seen.listen(probe, &ProbeCommand::Begin("load".to_owned()));
        seen.start_ns = mark.monotonic_ns;
        seen
    }

    fn end(&mut self, probe: &mut Probe) {
        let mark = self.listen(probe, &ProbeCommand::End { proportional: true });
        self.recording.phases.push(Phase {
            name: mark.name,
            start_ns: self.start_ns,
            end_ns: mark.monotonic_ns,
        });
        self.recording.trees.push(self.tree.clone());
        let disk = probe.tell("disk", |line| matches!(line, ProbeLine::Disk { .. }));
        if let ProbeLine::Disk { usage, .. } = disk {
            self.disk_bytes = usage.expect("the folder can be read").allocated_bytes;
        }
    }

    /// Tells the probe something, and takes in its samples up to the mark.
    fn listen(&mut self, probe: &mut Probe, command: &ProbeCommand) -> Mark {
        let input = probe.input.as_mut().expect("it is open");
        writeln!(input, "{command}").expect("it listens");
        loop {
            match probe.next() {
                ProbeLine::Sample(sample) => {
                    self.tree.push(sample.monotonic_ns, &sample.server);
                    self.recording.host.push(sample.monotonic_ns, &sample.host);
                }
                ProbeLine::Began(mark) | ProbeLine::Ended(mark) => return mark,
                _ => {}
            }
        }
    }
}

/// A server by URL has its columns and a rank with a probe, and none without.
pub fn a_server_by_url_has_all_columns_with_a_probe() {
    let place = Place::new();
    let server = Running::start(&place);
    let (_, data) = postmaster(&server);
    let on = format!("postgresql:bulk-arrays/bulk={}", server.url);
    let probe = format!("server=port,disk={}", data.display());
    let measured = place.short(&["--on", &on, "--probe", &probe]);
    let text = said(&measured);
    let trials = place.trials();
    assert_eq!(trials.len(), 2, "{text}");
    for trial in &trials {
        assert!(held_against(trial).is_empty(), "{} {text}", trial["verdict"]);
        let record = &trial["server"]["probe"];
        assert_eq!(record["missing"], Value::Array(Vec::new()), "{record}");
        assert!(record["longest_round_trip_ns"].as_u64() < Some(1_000_000_000));
        let phase = phase(trial, "measured");
        let role = &phase["totals"]["roles"]["server"];
        for name in ["cpu_ns", "end_proportional_bytes", "sent_wire_bytes", "context_switches"] {
            assert!(role[name].as_u64() > Some(0), "{name} of {role}");
        }
        assert!(role["storage_written_bytes"].is_u64(), "{role}");
        let samples = format!("samples/{}.server.json", trial["name"].as_str().expect("a name"));
        assert!(place.run_folder().join(samples).is_file());
    }
    let write = trials.iter().find(|trial| trial["side"] == "write");
    let disk = &write.expect("a writing trial")["figures"]["disk_settled_bytes"]["value"];
    assert!(disk.as_f64() > Some(0.0), "{disk}");
    assert!(text.contains("server measured by a probe on this machine"), "{text}");
    assert!(!text.contains("lacks load CPU"), "{text}");
    let text = errors(&measured);
    let password = server.url.split(['@', ':']).nth(2).expect("a password");
    assert!(!text.contains(password), "the password shows");

    let told = (0..4).find_map(|_| without_a_probe(&on));
    let told = told.expect("one of four runs had a machine that let its trials be valid");
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("an existing server without a probe beside it"), "{told}");
}

/// What a run without a probe says of this server. None where the machine was too busy to compare anything.
fn without_a_probe(on: &str) -> Option<String> {
    let place = Place::new();
    let text = said(&place.short(&["--on", on]));
    let trials = place.trials();
    for trial in &trials {
        assert!(trial["server"]["probe"].is_null(), "{text}");
        assert!(held_against(trial).is_empty(), "{text}");
    }
    let is_valid = |trial: &Value| trial["verdict"]["state"] == "valid";
    trials.iter().all(is_valid).then_some(text)
}

fn phase<'a>(trial: &'a Value, name: &str) -> &'a Value {
    let phases = trial["phases"].as_array().expect("phases");
    let found = phases.iter().find(|phase| phase["name"] == name);
    found.expect("the phase")
}

/// A probe that is killed ends its trial, with the reason.
pub fn a_probe_that_dies_ends_the_trial_with_the_reason() {
    let place = Place::new();
    let server = Running::start(&place);
    let on = format!("postgresql:bulk-arrays/bulk={}", server.url);
    // A launcher of words, as to another host: its last word is the host's name.
    let program = env!("CARGO_BIN_EXE_sensormark");
    let probe = format!("server=port,host=nice -n 0,program={program}");
    let arguments = [
        "run",
        "machine-tool",
        "--set",
        "measured_seconds=60",
        "--set",
        "history_seconds=0",
        "--set",
        "warmup_seconds=0.5",
        "--results",
        "results",
        "--tolerate-disturbance",
        "--progress=plain",
        "--on",
        &on,
        "--probe",
        &probe,
    ];
    let mut run = place.command(&arguments);
    let run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // The first probe is a try; the second one watches the trial.
    let deadline = Instant::now() + Duration::from_secs(60);
    let trials = || {
        let runs = crate::support::read_folder(&place.results());
        !runs.is_empty()
    };
    let probe = loop {
        assert!(Instant::now() < deadline, "no probe was started");
        match probe_of(run.id()) {
            Some(pid) if trials() => break pid,
            _ => thread::sleep(Duration::from_millis(50)),
        }
    };
    thread::sleep(Duration::from_secs(1));
    let killed = Command::new("kill").args(["-9", &probe.to_string()]).status();
    assert!(killed.expect("kill is there").success());
    let began = Instant::now();
    let output = run.wait_with_output().expect("it ends");
    assert!(began.elapsed() < Duration::from_secs(40), "it went on");
    let trials = place.trials();
    let reasons: Vec<String> = trials.iter().map(|trial| trial["verdict"].to_string()).collect();
    let told = "the probe of the server on 0 ended early (signal: 9";
    assert!(reasons.iter().any(|reason| reason.contains(told)), "{reasons:?} {}", said(&output));
}

/// The probe that this process started, if it runs.
fn probe_of(parent: u32) -> Option<i32> {
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
    children.split_whitespace().find_map(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        (words.get(1) == Some(&&b"probe"[..])).then(|| pid.parse().ok())?
    })
}

/// Without the privilege it says what is missing, and gives the rest.
pub fn without_privilege_the_probe_says_what_is_missing() -> Option<String> {
    let is_root =
        std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if !is_root || Command::new("setpriv").arg("--version").output().is_err() {
        return Some("only root can become somebody else, by setpriv".to_owned());
    }
    let place = Place::new();
    let server = Running::start(&place);
    let (pid, data) = postmaster(&server);
    // The server has a user of its own; this one is nobody's. Its copy of the program can be reached by everybody.
    let program = place.path().join("sensormark");
    std::fs::copy(env!("CARGO_BIN_EXE_sensormark"), &program).expect("it is ours");
    let as_stranger = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        let user = ["--reuid=54321", "--regid=54321", "--clear-groups"];
        command.args(user).arg(&program).arg("probe").args(arguments);
        command
    };
    let (pid, data, port) = (pid.to_string(), data.to_string_lossy().into_owned(), port(&server));
    let mut probe = Probe::start(as_stranger(&["--pid", &pid, "--disk", &data]));
    let ProbeLine::Hello(hello) = probe.next() else {
        panic!("it says hello first");
    };
    let missing = hello.missing.join("\n");
    for words in [
        "disk I/O of another user's processes needs root, and the probe runs as 54321",
        "memory that processes share",
        "network: which connections",
        "disk: cannot read",
    ] {
        assert!(missing.contains(words), "{words:?} is not in: {missing}");
    }
    let ProbeLine::Sample(sample) = probe.next() else {
        panic!("a sample follows");
    };
    assert!(sample.server.processes > 1 && sample.server.resident_bytes > 0);
    assert_eq!(sample.server.storage_written_bytes, None);
    assert_eq!(sample.server.wire, None);
    probe.tell("end", |line| match line {
        ProbeLine::Sample(sample) => sample.server.proportional_bytes.is_none(),
        _ => false,
    });
    assert!(probe.end().status.success());
    let hidden = as_stranger(&["--port", &port.to_string()]).output().expect("it starts");
    let text = errors(&hidden);
    assert!(text.contains("may not be seen: it is a process of the user"), "{text}");
    None
}

/// A probe that nobody reads goes on. It says when a process ends.
pub fn the_probe_ends_with_its_server() {
    let place = Place::new();
    let mut asleep = Command::new("sleep").arg("600").spawn().expect("it starts");
    let pid = asleep.id().to_string();
    let words = ["probe", "--pid", &pid, "--interval", "100ms"];
    let mut probe = Probe::start(place.command(&words));
    let said = probe.tell("hurry", |line| matches!(line, ProbeLine::Unknown { .. }));
    assert!(format!("{said:?}").contains("begin NAME, end"), "{said:?}");
    asleep.kill().expect("it is ours");
    asleep.wait().expect("it ends");
    let ended = probe.child.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(1));
    let text = errors(&ended);
    assert!(text.contains(&format!("the processes of pid:{pid} have ended")), "{text}");
}
