//! What the tests share: running the program in a folder of its own, and reading what it left.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Small numbers: a second or two with everything in it.
const SMALL: [&str; 12] = [
    "hosts=4",
    "hours=0.25",
    "more_hours=0.5",
    "workers=1,2",
    "clients=1,2",
    "queries=12",
    "batch=60",
    "short_minutes=5",
    "long_minutes=11",
    "mean_minutes=12",
    "mean_step_minutes=4",
    "several_hosts=3",
];

/// Readings that all loads of a trial with these numbers write: two of a quarter of an hour, and another quarter.
pub const READINGS: u64 = 3 * 90 * 4 * 9;

/// The questions, as phases have them.
pub const QUESTIONS: [&str; 6] = [
    "max-1-host",
    "max-1-host-long",
    "max-several-hosts",
    "mean-all-hosts",
    "last-reading",
    "busy-hosts",
];

/// A place for one test.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("sensormark-test-")
            .tempdir();
        Self {
            folder: folder.expect("a scratch folder"),
        }
    }

    fn path(&self) -> &Path {
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

    /// Measures with the small numbers.
    pub fn measure(&self, further: &[&str]) -> Output {
        let mut arguments = vec![
            "run",
            "devops",
            "--results",
            "results",
            "--tolerate-disturbance",
            "--progress=plain",
        ];
        for setting in SMALL {
            arguments.extend(["--set", setting]);
        }
        arguments.extend(further);
        self.run(&arguments)
    }

    /// The trials of the one run.
    pub fn trials(&self) -> Vec<Value> {
        let mut runs = std::fs::read_dir(self.path().join("results")).expect("results");
        let run = runs.next().expect("one run").expect("an entry").path();
        assert!(runs.next().is_none(), "one run alone");
        let folder = std::fs::read_dir(run.join("trials")).expect("trials");
        let trials = folder.map(|entry| {
            let text = std::fs::read(entry.expect("an entry").path()).expect("a trial");
            serde_json::from_slice(&text).expect("JSON")
        });
        trials.collect()
    }
}

/// What the program said.
pub fn said(output: &Output) -> String {
    let (out, errors) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(out).into_owned() + &String::from_utf8_lossy(errors)
}

/// The kinds of the reasons of a trial's verdict but those that tests side by side bring about themselves.
pub fn held_against(trial: &Value) -> Vec<String> {
    let reasons = trial["verdict"]["reasons"].as_array().cloned();
    let kind = |reason: &Value| reason["kind"].as_str().unwrap_or_default().to_owned();
    let kinds = reasons.unwrap_or_default();
    let kinds = kinds.iter().map(kind);
    kinds
        .filter(|kind| kind != "source_late" && kind != "host_disturbed")
        .collect()
}

/// The loads of a trial that ask one of the questions.
pub fn asked<'a>(trial: &'a Value, question: &str) -> Vec<&'a Value> {
    let loads = trial["loads"].as_array().expect("loads");
    loads
        .iter()
        .filter(|load| load["labels"]["operation"] == question)
        .collect()
}
