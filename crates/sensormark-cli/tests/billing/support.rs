//! What the tests share: running the program in a folder of its own, and reading what it left.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Two numbers of devices, four clients, a day and a bit.
pub const SMALL: [&str; 14] = [
    "--set",
    "devices=4,8",
    "--set",
    "clients=4",
    "--set",
    "processes=2",
    "--set",
    "records=30",
    "--set",
    "bill_rounds=3",
    "--set",
    "limit_seconds=0",
    "--set",
    "bill_month=1",
];

/// A place for one test.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("sensormark-test-")
            .tempdir()
            .expect("a scratch folder");
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

    /// Measures the workload at the small size.
    pub fn measure(&self, further: &[&str]) -> Output {
        let arguments = [
            "run",
            "billing",
            "--results",
            "results",
            "--tolerate-disturbance",
            "--progress=plain",
        ];
        self.run(&[&arguments, &SMALL[..], further].concat())
    }

    /// The folder of the one run.
    pub fn results(&self) -> PathBuf {
        let mut entries = std::fs::read_dir(self.path().join("results")).expect("results");
        let entry = entries.next().expect("one run").expect("an entry");
        assert!(entries.next().is_none(), "one run alone");
        entry.path()
    }

    /// The trials of the one run, by name.
    pub fn trials(&self) -> Vec<Value> {
        let folder = std::fs::read_dir(self.results().join("trials")).expect("trials");
        let mut trials: Vec<Value> = folder
            .map(|entry| {
                let text = std::fs::read(entry.expect("an entry").path()).expect("a trial");
                serde_json::from_slice(&text).expect("JSON")
            })
            .collect();
        trials.sort_by_key(|trial| trial["name"].as_str().map(str::to_owned));
        trials
    }

    /// What an application's file of a phase says.
    pub fn bills(&self, trial: &Value, phase: &str) -> String {
        let name = trial["name"].as_str().expect("a name");
        let path = self.results().join("files").join(name).join(phase);
        std::fs::read_to_string(path.join("bills.csv")).expect("bills")
    }
}

/// What the program said.
pub fn said(output: &Output) -> String {
    let (out, errors) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(out).into_owned() + &String::from_utf8_lossy(errors)
}

/// The kinds of the reasons of a trial's verdict, but for those that other tests beside it cause.
pub fn reasons(trial: &Value) -> Vec<String> {
    let reasons = trial["verdict"]["reasons"].as_array().cloned();
    let kind = |reason: &Value| reason["kind"].as_str().unwrap_or_default().to_owned();
    let kinds = reasons
        .unwrap_or_default()
        .iter()
        .map(kind)
        .collect::<Vec<_>>();
    kinds
        .into_iter()
        .filter(|kind| kind != "source_late" && kind != "host_disturbed")
        .collect()
}

/// The load of a phase.
pub fn load<'t>(trial: &'t Value, phase: &str) -> &'t Value {
    let loads = trial["loads"].as_array().expect("loads");
    let found = loads.iter().find(|load| load["phase"] == phase);
    found.unwrap_or_else(|| panic!("no phase {phase}"))
}
