//! What the tests share: running the program in a folder of its own, and reading what it left.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A small workload: some seconds with everything in it. Closed loops, so that other tests beside it do not make a schedule late.
pub const SMALL: &str = r#"
limits = ["lost = 0", "wrong answers = 0"]
layouts = ["individual"]
[series]
count = 8
interval = "1s"
jitter = "300ms"
duration = "5m"
missing = 0.02
late = 0.05
late_by = "10s"
repeated = 0.03
[[tags]]
name = "sensor"
[[tags]]
name = "hall"
values = ["north", "south"]
[[fields]]
name = "temperature"
shape = "walk"
min = 15
max = 30
period = "2m"
[[fields]]
name = "pulses"
type = "integer"
shape = "counter"
step = 20
[[fields]]
name = "open"
type = "bool"
shape = "random"
chance = 0.2
[[fields]]
name = "state"
type = "text"
shape = "random"
values = ["ok", "failed"]
[load]
clients = 2
batch = 100
[mixed]
duration = "1500ms"
[writers]
clients = 1
batch = 20
[[queries]]
name = "point"
kind = "point"
[[queries]]
name = "board"
kind = "window mean"
field = "temperature"
span = "2m"
window = "10s"
when = "latest"
[[queries]]
name = "total"
kind = "sum"
field = "pulses"
of = "hall"
span = "1m"
by = "series"
[[queries]]
name = "current"
kind = "last value"
of = "all"
when = "latest"
[[queries]]
name = "alarm"
kind = "matching"
field = "temperature"
above = 25
span = "1m"
[[queries]]
name = "raw"
kind = "range"
span = "30s"
"#;

/// A place for one test.
pub struct Place {
    folder: TempDir,
}

impl Place {
    /// With this workload file, `own.toml`.
    pub fn with(text: &str) -> Self {
        let place = Self::new();
        std::fs::write(place.path().join("own.toml"), text).expect("the folder is ours");
        place
    }

    pub fn new() -> Self {
        // Servers drop to an unprivileged user, who must be able to enter the folder.
        let folder = tempfile::Builder::new()
            .prefix("sensormark-test-")
            .tempdir()
            .expect("a scratch folder");
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).expect("the folder is ours");
        Self { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs the program to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_sensormark"))
            .args(arguments)
            .current_dir(self.path())
            .env("SENSORMARK_STATE", self.path().join("state"))
            .stdin(Stdio::null())
            .output()
            .expect("the program starts")
    }

    /// Measures `own.toml`.
    pub fn measure(&self, further: &[&str]) -> Output {
        let arguments = [
            "run",
            "own.toml",
            "--results",
            "results",
            "--tolerate-disturbance",
            "--progress=plain",
        ];
        self.run(&[&arguments, further].concat())
    }

    /// The trials of the one run, by store.
    pub fn trials(&self) -> Vec<Value> {
        let run = only(&self.path().join("results"));
        let folder = std::fs::read_dir(run.join("trials")).expect("trials");
        let mut trials: Vec<Value> = folder
            .map(|entry| {
                let text = std::fs::read(entry.expect("an entry").path()).expect("a trial");
                serde_json::from_slice(&text).expect("JSON")
            })
            .collect();
        trials.sort_by_key(|trial| trial["name"].as_str().map(str::to_owned));
        trials
    }

    /// The record of the one run.
    pub fn record(&self) -> Value {
        let run = only(&self.path().join("results"));
        let text = std::fs::read(run.join("run.json")).expect("a record");
        serde_json::from_slice(&text).expect("JSON")
    }
}

fn only(folder: &Path) -> std::path::PathBuf {
    let mut entries = std::fs::read_dir(folder).expect("results");
    let entry = entries.next().expect("one run").expect("an entry");
    assert!(entries.next().is_none(), "one run alone");
    entry.path()
}

/// What the program said.
pub fn said(output: &Output) -> String {
    let (out, errors) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(out).into_owned() + &String::from_utf8_lossy(errors)
}

/// The kinds of the reasons of a trial's verdict.
pub fn reasons(trial: &Value) -> Vec<String> {
    let reasons = trial["verdict"]["reasons"].as_array().cloned();
    let kind = |reason: &Value| reason["kind"].as_str().unwrap_or_default().to_owned();
    reasons.unwrap_or_default().iter().map(kind).collect()
}
