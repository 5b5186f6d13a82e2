//! What must hold after every step: nothing runs, nothing is left but whole results, the exit code is right, and the report says what was printed.

use crate::running::{Ended, processes_of};
use crate::step::{Fault, Step, Victim};
use crate::support::{Place, errors, read_folder, runs};
use crate::work::Work;
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the processes of a coordinator that was killed may take to notice.
const NOTICE: Duration = Duration::from_secs(20);

/// A step that is over.
pub struct Over<'a> {
    /// The step.
    pub step: &'a Step,
    /// Its place.
    pub place: &'a Place,
    /// Where its results are.
    pub results: &'a Path,
    /// How the program ended.
    pub ended: &'a Ended,
    /// Whether the fault came before that.
    pub struck: bool,
}

impl Over<'_> {
    /// Everything that is wrong.
    pub fn violations(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        self.processes(&mut wrong);
        self.leftovers(&mut wrong);
        let runs = runs(self.results);
        for run in &runs {
            self.run(run, &mut wrong);
        }
        if runs.len() > 1 {
            wrong.push(format!("{} folders of one run", runs.len()));
        }
        self.exit_code(runs.first(), &mut wrong);
        let said = self.ended.lines.join("\n");
        let panicked = said.contains("panicked") || self.ended.output.contains("panicked");
        if panicked && !self.had_no_stack() {
            wrong.push("a panic".to_owned());
        }
        wrong
    }

    /// Whether the language's own library gave up, because a new thread got no memory to take signals on. It does so before our code runs in that thread, and
    /// ends the process.
    fn had_no_stack(&self) -> bool {
        let says_so = |line: &String| line.contains("failed to allocate an alternative stack");
        matches!(self.step.fault, Fault::Memory(..)) && self.ended.lines.iter().any(says_so)
    }

    /// Whether a signal ended the coordinator.
    fn was_killed(&self) -> bool {
        self.ended.status.signal().is_some()
    }

    fn processes(&self, wrong: &mut Vec<String>) {
        let deadline = Instant::now() + NOTICE;
        let mut left = processes_of(self.place);
        while self.was_killed() && !left.is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
            left = processes_of(self.place);
        }
        // A server whose coordinator was killed goes when the next run begins.
        if self.was_killed() {
            left.retain(|one| !one.is_server());
        }
        for process in left {
            wrong.push(format!("left running: {} {}", process.id, process.command));
        }
    }

    /// Whether the run had too few descriptors to remove a folder or a server's, and said so.
    fn could_not_remove(&self) -> bool {
        let is_starved = matches!(self.step.fault, Fault::Descriptors(_, Victim::Coordinator));
        let says_so = |line: &String| line.contains(" could not be removed");
        is_starved && self.ended.lines.iter().any(says_so)
    }

    fn leftovers(&self, wrong: &mut Vec<String>) {
        if self.was_killed() || self.could_not_remove() {
            let next = self.next_run();
            wrong.extend(next.err().map(|text| format!("the next run: {text}")));
            let servers = processes_of(self.place);
            wrong.extend(
                servers
                    .iter()
                    .map(|one| format!("after the next run: left running: {} {}", one.id, one.command)),
            );
        }
        let mut left = self.place.leftovers();
        if !self.was_killed() {
            left.extend(read_folder(&self.place.path().join("tmp")));
        }
        left.extend(read_folder(&self.place.path().join("disk/data")));
        // That a run by URL was killed stays written down, until `sensormark clean` has dropped its database.
        if self.was_killed() {
            left.retain(|path| !path.ends_with("state/runs"));
        }
        if !left.is_empty() {
            wrong.push(format!("left on disk: {left:?}"));
        }
    }

    /// A run after one that was killed: it cleans up.
    fn next_run(&self) -> Result<(), String> {
        let mut arguments = vec!["run".to_owned()];
        arguments.extend(Work::Own.arguments(self.place)?);
        let further = ["--on", "sqlite:individual", "--results", "next", "--tolerate-disturbance"];
        arguments.extend(further.map(str::to_owned));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = self.place.run(&arguments);
        let code = output.status.code();
        ensure!(matches!(code, Some(0 | 1)), "{code:?}: {}", errors(&output));
        Ok(())
    }

    /// A run's folder is whole, and its report is what was printed.
    fn run(&self, run: &Path, wrong: &mut Vec<String>) {
        if !run.join("run.json").is_file() {
            wrong.push(format!("no run.json in {:?}", read_folder(run)));
            return;
        }
        let trials = names(&run.join("trials"));
        for file in files(run) {
            let name = file.strip_prefix(run).unwrap_or(&file).to_string_lossy().into_owned();
            if name.ends_with(".part") && !self.was_killed() {
                wrong.push(format!("half a file: {name}"));
            }
            if name.ends_with(".json") && json(&file).is_none() {
                wrong.push(format!("not JSON: {name}"));
            }
            if !self.was_killed() && self.is_of_no_trial(&name, &trials) {
                wrong.push(format!("{name} belongs to no trial"));
            }
        }
        self.told(run, wrong);
        let folder = run.to_string_lossy();
        let printed = self.place.run(&["report", &folder]);
        let code = self.ended.status.code();
        if !printed.status.success() {
            wrong.push(format!("report: {:?}: {}", printed.status, errors(&printed)));
        } else if matches!(code, Some(0 | 1 | 3 | 130)) && !self.ended.output.is_empty() {
            let again = String::from_utf8_lossy(&printed.stdout).into_owned();
            if again != self.ended.output {
                let was = &self.ended.output;
                wrong.push(format!("report does not print what the run printed:\n{was}\n---\n{again}"));
            }
        }
        let machine = self.place.run(&["report", "--format", "json", &folder]);
        if serde_json::from_slice::<Value>(&machine.stdout).is_err() {
            wrong.push(format!("report --format json: {}", errors(&machine)));
        }
    }

    /// Whether a file of samples has no trial. The probes of a search leave theirs beside those of the trial that is kept. At a second Ctrl-C, or
    /// on a full disk, those of a trial may be there that is not: they are whole.
    fn is_of_no_trial(&self, name: &str, trials: &[String]) -> bool {
        let samples = name.strip_prefix("samples/");
        let Some(of) = samples.and_then(|name| name.split('.').next()) else {
            return false;
        };
        let attempt = of.rsplit_once("-a").map_or(of, |(trial, _)| trial);
        let is_probe = |trial: &str| self.step.work == Work::FindLimit && trial.starts_with(attempt);
        let is_cut = matches!(self.step.fault, Fault::Twice(_)) || self.ended.status.code() == Some(4);
        !is_cut && !trials.iter().any(|trial| trial == of || is_probe(trial))
    }

    /// Every trial that was told of is kept, with the verdict that was told.
    fn told(&self, run: &Path, wrong: &mut Vec<String>) {
        let state = |verdict: &Value| verdict["state"].as_str().unwrap_or("none").to_owned();
        let events = self.ended.lines.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let finished = events.filter(|event| event["event"] == "trial_finished");
        let mut told: Vec<String> = finished.map(|event| state(&event["data"]["verdict"])).collect();
        let mut kept: Vec<String> = records(run).iter().map(|trial| state(&trial["verdict"])).collect();
        told.sort();
        kept.sort();
        // One that was killed between its file and its line had no time to tell.
        let has_told_all = told == kept || (self.was_killed() && told.len() <= kept.len());
        if !has_told_all {
            wrong.push(format!("told of trials {told:?}, kept {kept:?}"));
        }
    }

    fn exit_code(&self, run: Option<&PathBuf>, wrong: &mut Vec<String>) {
        let (status, fault) = (self.ended.status, self.step.fault);
        let trials = run.map(|run| records(run)).unwrap_or_default();
        let is_finished =
            run.and_then(|run| json(&run.join("run.json"))).is_some_and(|run| !run["finished"].is_null());
        let is_valid = |trial: &Value| trial["verdict"]["state"] == "valid" && limits_met(trial);
        let all_valid = trials.iter().all(is_valid);
        let broken_off = self.struck && fault.breaks_off();
        let starved = self.struck && fault.starves();
        let right = match (status.code(), status.signal()) {
            (Some(0), _) => is_finished && all_valid && !trials.is_empty(),
            (Some(1), _) => is_finished && !all_valid,
            (Some(3), _) => trials.is_empty() || trials.iter().any(is_unreachable),
            (Some(4), _) => starved,
            (Some(130), _) => broken_off,
            // Before it caught signals it had made nothing.
            (None, Some(1 | 2 | 15)) => broken_off && run.is_none(),
            (None, Some(_)) => self.struck && fault.kills_coordinator(),
            _ => false,
        };
        let missed = broken_off && !is_finished && status.code().is_some_and(|code| code != 130);
        if !right || missed {
            wrong.push(format!(
                "exit: {status}; finished: {is_finished}; all valid: {all_valid}; {} trials",
                trials.len()
            ));
        }
    }
}

/// Whether a step's fault may take the program itself, so that it takes longer until all is over.
pub fn limit(step: &Step) -> Duration {
    let is_server = !matches!(step.store, "sqlite" | "duckdb");
    let hangs = matches!(step.fault, Fault::Hang | Fault::Silence | Fault::Pause(_, Victim::Server));
    Duration::from_secs(match (is_server, hangs) {
        (false, _) => 90,
        (true, false) => 240,
        (true, true) => 300,
    })
}

fn limits_met(trial: &Value) -> bool {
    let limits = trial["limits"].as_array().into_iter().flatten();
    limits.into_iter().all(|limit| limit["met"] == true)
}

fn is_unreachable(trial: &Value) -> bool {
    let reasons = trial["verdict"]["reasons"].as_array().into_iter().flatten();
    reasons.into_iter().any(|reason| reason["kind"] == "unreachable")
}

fn records(run: &Path) -> Vec<Value> {
    let files = read_folder(&run.join("trials"));
    let is_whole = |file: &&PathBuf| file.extension().is_some_and(|extension| extension == "json");
    files.iter().filter(is_whole).filter_map(|file| json(file)).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let stem = |path: &PathBuf| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    read_folder(folder).iter().filter_map(stem).collect()
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (folders, mut all): (Vec<_>, Vec<_>) =
        read_folder(folder).into_iter().partition(|path| path.is_dir());
    all.extend(folders.iter().flat_map(|folder| files(folder)));
    all
}

fn json(file: &Path) -> Option<Value> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}
