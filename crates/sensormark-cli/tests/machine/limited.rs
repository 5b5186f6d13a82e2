//! A run that may use a fraction of a core measures that limit, and says so, whatever the workload.

use crate::Outcome;
use crate::support::{Place, errors, read_folder, reasons, runs};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A control group with this much of a core, which it gets before all others, of version 1 or 2; removed in the end.
struct Group(PathBuf);

impl Group {
    /// None where this user may not make one.
    fn new(percent: u32) -> Option<Self> {
        let name = format!("sensormark-test-{}", std::process::id());
        let quota = percent * 1_000;
        let mounts = Path::new("/sys/fs/cgroup");
        let one = mounts.join("cpu").join(&name);
        if mounts.join("cpu/cpu.cfs_quota_us").is_file() && std::fs::create_dir(&one).is_ok() {
            let group = Self(one);
            std::fs::write(group.0.join("cpu.cfs_quota_us"), quota.to_string()).ok()?;
            std::fs::write(group.0.join("cpu.shares"), "262144").ok()?;
            return Some(group);
        }
        let two = mounts.join(&name);
        std::fs::create_dir(&two).ok()?;
        let group = Self(two);
        std::fs::write(group.0.join("cpu.max"), format!("{quota} 100000")).ok()?;
        std::fs::write(group.0.join("cpu.weight"), "10000").ok()?;
        Some(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// A PostgreSQL server outside of every group, so that the client alone is limited.
struct Server<'a> {
    place: &'a Place,
    name: String,
}

impl<'a> Server<'a> {
    fn start(place: &'a Place) -> Self {
        const BEFORE: &str = "measure it: sensormark run machine-tool --on postgresql=";
        let started = place.run(&["servers", "start", "postgresql", "--server-memory", "256"]);
        let told = String::from_utf8_lossy(&started.stdout).into_owned();
        let name = told.lines().find_map(|line| line.strip_prefix(BEFORE));
        let name = name.unwrap_or_else(|| panic!("{}", errors(&started)));
        Self { place, name: name.to_owned() }
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        self.place.run(&["servers", "stop", "postgresql"]);
    }
}

/// Runs a command of the program in the group: a shell joins it and becomes the program.
fn limited(group: &Group, run: &Command) -> Output {
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "echo $$ > \"$0\" && exec \"$@\""])
        .arg(group.0.join("cgroup.procs"))
        .arg(run.get_program())
        .args(run.get_args())
        .envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdin(Stdio::null());
    if let Some(folder) = run.get_current_dir() {
        limited.current_dir(folder);
    }
    limited.output().expect("a shell")
}

const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/own.toml");
const BOILER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/boiler.csv");

/// Every workload with its smallest layout and settings that keep its client at work for a second or more: what it is called here, the command, and
/// the settings.
const WORKLOADS: [(&str, &[&str], &str, &[&str]); 7] = [
    (
        "machine-tool",
        &["run", "machine-tool"],
        "individual",
        &["warmup_seconds=0.5", "measured_seconds=3.5", "reads=3", "history_seconds=2"],
    ),
    (
        "sensor-operations",
        &["run", "sensor-operations"],
        "individual",
        &["single=600", "multi=4000", "batch=50", "sensors=7", "clients=1,3", "grown=0"],
    ),
    (
        "devops",
        &["run", "devops"],
        "individual",
        &[
            "hosts=4",
            "hours=1",
            "more_hours=2",
            "workers=1,2",
            "clients=1,2",
            "queries=120",
            "several_hosts=3",
        ],
    ),
    (
        "billing",
        &["run", "billing"],
        "reading-copy",
        &[
            "devices=4,8",
            "clients=4",
            "processes=2",
            "records=300",
            "bill_rounds=3",
            "limit_seconds=0",
            "bill_month=1",
            "grown=0",
        ],
    ),
    (
        "iot-platform",
        &["run", "iot-platform"],
        "flat",
        &["days=4", "messages=150", "spans=1,3", "statistics=1", "questions=60", "grown=0"],
    ),
    ("own", &["run", OWN], "individual", &["repetitions=1", "mixed.duration=3s"]),
    ("replay", &["replay", BOILER], "individual", &["questions=200", "grown=0"]),
];

/// The group of a fifth of a core made machine-tool's trial valid: only the other workloads were held against it. Built for release, a client needs
/// so little that four workloads were valid there, pauses of the kernel's in their latencies or not.
pub fn clients_of_a_fraction_of_a_core_are_client_bound() -> Outcome {
    let Some(group) = Group::new(20) else {
        return Some("no control group can be made here");
    };
    let place = Place::new();
    let server = Server::start(&place);
    let mut unseen = Vec::new();
    for (name, command, layout, settings) in WORKLOADS {
        let on = format!("--on=postgresql:{layout}={}", server.name);
        let mut arguments = command.to_vec();
        let further = ["--results", name, "--tolerate-disturbance", "--progress=plain", "--full"];
        arguments.extend(further);
        arguments.push(&on);
        arguments.extend(settings.iter().flat_map(|setting| ["--set", setting]));
        let output = limited(&group, &place.command(&arguments));
        let said = errors(&output);
        let runs = runs(&place.path().join(name));
        if runs.len() != 1 {
            unseen.push(format!("{name}: {said}"));
            continue;
        }
        let mut trials = read_folder(&runs[0].join("trials"));
        trials.sort();
        // The one that writes, of those that do one thing.
        let trial = trials.iter().rfind(|file| file.to_string_lossy().contains("-r0-"));
        let text = std::fs::read_to_string(trial.expect(name)).expect("a trial");
        let trial: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let is_bound = reasons(&trial).iter().any(|kind| kind == "client_bound");
        let verdict = &trial["verdict"];
        if !is_bound || verdict["state"] != "invalid" {
            unseen.push(format!("{name}: {verdict}; {said}"));
            continue;
        }
        let note = "no trial of a server can be valid here: the control group may use 0.20 cores";
        assert!(said.contains(note), "{name}: {said}");
        let text = verdict.to_string();
        assert!(text.contains("control group may use 0.20 cores"), "{name}: {text}");
        assert_eq!(output.status.code(), Some(1), "{name}: {said}");
        let report = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(report.contains("client-bound"), "{name}: {report}");
    }
    assert!(unseen.is_empty(), "{unseen:#?}");
    None
}
