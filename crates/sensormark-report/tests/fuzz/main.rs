//! Hostile input for everything that the pipeline reads: results, their parts, workload files, recordings, weights, and the lines of roles and probes.
//!
//! Good examples are in `examples`, a folder a target; `sensormark_conformance::fuzz` mutates them.

use sensormark_conformance::fuzz::target;
use sensormark_data::export::DataRequest;
use sensormark_data::recording::{Recording, RecordingOptions};
use sensormark_engine::outcome::PhaseOutcome;
use sensormark_engine::role::{Event, Ping};
use sensormark_engine::trial::protocol::Command;
use sensormark_engine::trial::{WorkloadFactory, own_line};
use sensormark_report::{Report, ReportOptions, csv, markdown, raw, tidy};
use sensormark_result::measurement::ResultsFolder;
use sensormark_result::measurement::checksums::{Checksums, Fit};
use sensormark_result::measurement::latency::{LatencySummary, SecondHistogram, merge_seconds};
use sensormark_result::probe::{ProbeCommand, ProbeLine};
use sensormark_workload::own::{OwnWorkload, file};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn examples(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/examples")).join(name)
}

fn example(name: &str) -> Vec<u8> {
    std::fs::read(examples(name)).expect("the example is in the repository")
}

/// A run's folder in which one file is replaced again and again.
struct Run(TempDir);

impl Run {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        for name in ["trials", "samples"] {
            std::fs::create_dir(folder.path().join(name)).expect("the folder is ours");
        }
        let run = Self(folder);
        run.put("run.json", &example("run/own.json"));
        run.put("trials/trial.json", &example("trial/own.json"));
        run
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.0.path().join(name), bytes).expect("the folder is ours");
    }

    /// Everything that can be made of it.
    fn derive(&self) {
        let Ok(folder) = ResultsFolder::open(self.0.path()) else {
            return;
        };
        let _ = folder.samples("trial");
        let Ok(report) = Report::from_folder(&folder, &ReportOptions::default()) else {
            return;
        };
        let _ = (
            sensormark_report::text::render(report.document(), 80),
            report.json(),
            report.html(Some(&folder)),
        );
        let _ = (csv::render(report.document()), markdown::render(report.document()));
        let _ = (report.summary(), report.firmer());
        let _ = (raw::samples(report.field(), &folder), raw::latencies(report.field()));
        let _ = tidy::tidy(report.field());
    }
}

#[test]
fn records_of_runs() {
    let run = Run::new();
    target("records of runs", &examples("run"), |bytes| {
        run.put("run.json", bytes);
        run.derive();
    });
}

#[test]
fn records_of_trials() {
    let run = Run::new();
    target("records of trials", &examples("trial"), |bytes| {
        run.put("trials/trial.json", bytes);
        run.derive();
    });
}

#[test]
fn samples_of_trials() {
    let run = Run::new();
    target("samples of trials", &examples("samples"), |bytes| {
        run.put("samples/trial.json", bytes);
        run.derive();
    });
}

#[test]
fn histograms() {
    target("histograms", &examples("histogram"), |bytes| {
        let v2 = String::from_utf8_lossy(bytes).into_owned();
        let seconds = [SecondHistogram { second: 0, v2 }];
        let _ = LatencySummary::of_seconds(&seconds);
        if let Ok(merged) = merge_seconds(&seconds, &seconds) {
            LatencySummary::of_seconds(&merged).expect("what was written can be read");
        }
    });
}

#[test]
fn workload_files() {
    let folder = examples("workload");
    target("workload files", &folder, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let Ok(parameters) = file::parse(&text, "own.toml", &folder, &[], &|_| Ok(())) else {
            return;
        };
        let parameters = serde_json::to_value(parameters).expect("parameters have string keys");
        if OwnWorkload.check(&parameters).is_err() {
            return;
        }
        let _ = (OwnWorkload.schema(&parameters), OwnWorkload.repetitions(&parameters));
        let _ = OwnWorkload.data_set(&parameters, &DataRequest::of(1));
    });
}

#[test]
fn recordings() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("recording.csv");
    target("recordings", &examples("recording"), |bytes| {
        std::fs::write(&path, bytes).expect("the folder is ours");
        for skip_bad_rows in [false, true] {
            let options = RecordingOptions { skip_bad_rows, ..RecordingOptions::default() };
            if let Ok(recording) = Recording::read(&path, &options) {
                assert!(!recording.readings.is_empty(), "an empty recording");
            }
        }
    });
}

#[test]
fn weights() {
    target("weights", &examples("weights"), |bytes| {
        let _ = ReportOptions::from_toml(&String::from_utf8_lossy(bytes));
    });
}

#[test]
fn lines_of_roles() {
    target("lines of roles", &examples("role"), |bytes| {
        for line in bytes.split(|byte| *byte == b'\n') {
            let Ok(Event::Report(value)) = serde_json::from_slice(line) else {
                continue;
            };
            let outcome = value.get("outcome").cloned().unwrap_or_default();
            let Ok(outcome) = serde_json::from_value::<PhaseOutcome>(outcome) else {
                continue;
            };
            let _ = outcome.seconds();
            for load in &outcome.loads {
                let _ = (load.operations(), load.readings(), load.failed());
                let _ = (load.operations_per_second(), load.readings_per_second());
            }
        }
    });
}

#[test]
fn hostile_lists_of_checksums() {
    target("lists of checksums", &examples("checksums"), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let Ok(sums) = Checksums::parse(&text) else {
            return;
        };
        for name in sums.names() {
            assert_ne!(sums.fit(name, b""), Fit::NotListed, "{name:?} is listed");
        }
        // A line may end with a carriage return, which is no part of its name then.
        if !text.contains('\r') {
            let again = Checksums::parse(&sums.text());
            assert_eq!(again, Ok(sums), "it is written as it was read");
        }
    });
}

#[test]
fn hostile_commands_to_roles() {
    target("commands to roles", &examples("command"), |bytes| {
        for line in String::from_utf8_lossy(bytes).lines() {
            let _ = serde_json::from_str::<Ping>(line);
            let _ = own_line::decode(line);
            if let Ok(command) = serde_json::from_str::<Command>(line) {
                let again = serde_json::to_string(&command).expect("commands have string keys");
                serde_json::from_str::<Command>(&again).expect("what was written can be read");
            }
        }
    });
}

#[test]
fn hostile_lines_of_probes() {
    target("lines of probes", &examples("probe"), |bytes| {
        for line in String::from_utf8_lossy(bytes).lines() {
            if let Ok(line) = serde_json::from_str::<ProbeLine>(line) {
                let again = serde_json::to_string(&line).expect("lines have string keys");
                serde_json::from_str::<ProbeLine>(&again).expect("what was written can be read");
            }
            if let Ok(command) = ProbeCommand::parse(line) {
                let again = ProbeCommand::parse(&command.to_string());
                assert_eq!(again, Ok(command), "{line:?}");
            }
        }
    });
}

/// An example that nothing takes would make a target say nothing.
#[test]
fn hostile_lines_begin_as_good_ones() {
    for line in String::from_utf8_lossy(&example("command/all")).lines() {
        let is_one =
            serde_json::from_str::<Command>(line).is_ok() || serde_json::from_str::<Ping>(line).is_ok();
        assert!(is_one, "{line}");
    }
    for line in String::from_utf8_lossy(&example("probe/lines")).lines() {
        serde_json::from_str::<ProbeLine>(line).expect(line);
    }
    for line in String::from_utf8_lossy(&example("probe/commands")).lines() {
        ProbeCommand::parse(line).expect(line);
    }
    let sums = example("checksums/two");
    Checksums::parse(&String::from_utf8_lossy(&sums)).expect("two trials");
}
