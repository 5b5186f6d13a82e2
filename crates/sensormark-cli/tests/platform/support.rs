//! What the tests share: running the program in a folder of its own, and reading what it left.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Four days of a home, few messages and questions.
const SMALL: [&str; 5] = [
    "days=4",
    "messages=150",
    "spans=1,3",
    "statistics=1",
    "questions=12",
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
        // Servers drop to an unprivileged user, who must be able to enter the folder.
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

    /// Measures the small workload, with further settings and arguments.
    pub fn measure(&self, settings: &[&str], further: &[&str]) -> Output {
        let mut arguments = vec![
            "run",
            "iot-platform",
            "--results",
            "results",
            "--tolerate-disturbance",
            "--progress=plain",
        ];
        for setting in SMALL.iter().chain(settings) {
            arguments.extend(["--set", setting]);
        }
        arguments.extend(further);
        self.run(&arguments)
    }

    /// The trials of the one run, by name.
    pub fn trials(&self) -> Vec<Value> {
        let mut runs = std::fs::read_dir(self.path().join("results")).expect("results");
        let run = runs.next().expect("one run").expect("an entry").path();
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
