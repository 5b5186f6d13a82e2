//! What the tests share: running the program in a state folder of its own, and reading what it left.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Fields of small workload files: one that walks, one that counts. (Macros, as text that is put together when it is compiled.)
macro_rules! numbers {
    () => {
        r#"[[fields]]
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
"#
    };
}
pub(crate) use numbers;

/// One field of each other type.
macro_rules! others {
    () => {
        r#"[[fields]]
name = "open"
type = "bool"
shape = "random"
chance = 0.2
[[fields]]
name = "state"
type = "text"
shape = "random"
values = ["ok", "failed"]
"#
    };
}
pub(crate) use others;

/// A place for one test: state folder, results folder.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        // Servers drop to an unprivileged user, who must be able to enter the folder.
        let folder = tempfile::Builder::new().prefix("sensormark-test-").tempdir().expect("a scratch folder");
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).expect("the folder is ours");
        Self { folder }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn results(&self) -> PathBuf {
        self.folder.path().join("results")
    }

    /// The program with these arguments, about to run in this place.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sensormark"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("SENSORMARK_STATE", self.folder.path().join("state"))
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }

    /// A short machine-tool run: half a second of warm-up, 3.5 s written, 3 reads.
    pub fn short(&self, further: &[&str]) -> Output {
        self.run(&[&SHORT, further].concat())
    }

    /// Measures a workload with these settings and further arguments.
    pub fn measure(&self, workload: &str, settings: &[&str], further: &[&str]) -> Output {
        let mut arguments = vec!["run", workload, "--results", "results"];
        arguments.extend(["--tolerate-disturbance", "--progress=plain", "--full"]);
        for setting in settings {
            arguments.extend(["--set", setting]);
        }
        arguments.extend(further);
        self.run(&arguments)
    }

    /// Measures a small workload of the user's own, of three repetitions, into a results folder of this name, and gives the run's.
    pub fn measured(&self, name: &str, further: &[&str]) -> PathBuf {
        const WORKLOAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/own.toml");
        let common = [
            "run",
            WORKLOAD,
            "--set",
            "layouts=bulk",
            "--results",
            name,
            "--tolerate-disturbance",
            "--progress=quiet",
        ];
        let output = self.run(&[&common[..], further].concat());
        let mut runs = runs(&self.folder.path().join(name));
        assert_eq!(runs.len(), 1, "{}", errors(&output));
        runs.remove(0)
    }

    /// All trial records of the one run in this place, by name.
    pub fn trials(&self) -> Vec<Value> {
        let mut files = read_folder(&self.run_folder().join("trials"));
        files.sort();
        files.iter().map(|file| json(file)).collect()
    }

    /// The record of the one run in this place.
    pub fn record(&self) -> Value {
        json(&self.run_folder().join("run.json"))
    }

    /// The folder of the one run in this place.
    pub fn run_folder(&self) -> PathBuf {
        only(&self.results())
    }

    /// What is left in the state folder of servers and embedded databases.
    pub fn leftovers(&self) -> Vec<PathBuf> {
        read_folder(&self.folder.path().join("state"))
    }

    /// Whether a run has a folder with its mark: one that is killed before has an empty one.
    pub fn has_begun(&self) -> bool {
        self.leftovers().iter().any(|folder| folder.join("sensormark-owner.json").exists())
    }
}

/// The arguments of a short run.
pub const SHORT: [&str; 15] = [
    "run",
    "machine-tool",
    "--set",
    "warmup_seconds=0.5",
    "--set",
    "measured_seconds=3.5",
    "--set",
    "history_seconds=2",
    "--set",
    "reads=3",
    "--results",
    "results",
    "--tolerate-disturbance",
    "--progress=plain",
    "--full",
];

/// The paths in a folder; none when it is not there.
pub fn read_folder(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder)
        .map(|entries| entries.map(|entry| entry.expect("an entry").path()).collect())
        .unwrap_or_default()
}

/// The folders of runs in a results folder, by name: the list of them lies beside.
pub fn runs(results: &Path) -> Vec<PathBuf> {
    let mut runs = read_folder(results);
    runs.retain(|path| path.is_dir());
    runs.sort();
    runs
}

fn json(file: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(file).expect("a record")).expect("JSON")
}

fn only(folder: &Path) -> PathBuf {
    let mut paths = runs(folder);
    assert_eq!(paths.len(), 1, "one run in {}: {paths:?}", folder.display());
    paths.remove(0)
}

/// The kinds of the reasons of a trial's verdict.
pub fn reasons(trial: &Value) -> Vec<String> {
    let reasons = trial["verdict"]["reasons"].as_array();
    let kind = |reason: &Value| reason["kind"].as_str().expect("a kind").to_owned();
    reasons.into_iter().flatten().map(kind).collect()
}

/// The reasons of a trial's verdict, without those that tests cause when they run side by side on one machine. Left out are late turns of our own processes,
/// and processors that others had.
pub fn held_against(trial: &Value) -> Vec<String> {
    let mut kinds = reasons(trial);
    // Without processors a client without a database is slow, too, and one with a database comes near it.
    let disturbed = kinds.iter().any(|kind| kind == "host_disturbed");
    kinds.retain(|kind| kind != "source_late" && kind != "host_disturbed");
    kinds.retain(|kind| !(disturbed && kind == "client_bound"));
    kinds
}

/// What the program said: standard output, then standard error.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &errors(output)
}

/// Standard error as text.
pub fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Why a database's server is not available here, if so, in the words of `doctor`, which begin with the database's name.
#[allow(dead_code, reason = "tests/servers and tests/machine, which share this file, ask it")]
pub fn missing(title: &str) -> Option<String> {
    let doctor = said(&Place::new().run(&["doctor"]));
    let is_it = |line: &str| line.trim_start().starts_with(title);
    let lines = || doctor.lines().filter(|line| is_it(line));
    if lines().any(|line| !line.contains("not installed")) {
        return None;
    }
    let told = lines().next().map_or(title, str::trim);
    Some(told.split_whitespace().collect::<Vec<_>>().join(" "))
}
