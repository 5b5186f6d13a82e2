//! A disk that is full: a small file system in memory holds the data, and what is left on it is taken away while clients write. Or it holds the results.

use crate::Outcome;
use crate::program::Program;
use crate::stores::{MEMORY, Server};
use crate::support::{Place, errors, read_folder, runs};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What the file system may hold until it is made small, in MB.
const ROOMY: u64 = 2_048;
/// What is left when it is made small, in MB.
const LEFT: u64 = 12;
/// How often it is tried to make it small.
const ATTEMPTS: u32 = 50;
/// The longest that a trial may go on after that.
const LIMIT: Duration = Duration::from_secs(240);
/// Much data that hardly gets smaller when it is compressed, in batches that suit the database.
const BULKY: &str = r#"
layouts = ["individual"]
[series]
count = 8
interval = "1s"
duration = "300d"
[[tags]]
name = "sensor"
"#;

/// A file system in memory, unmounted when it is dropped.
struct Disk(PathBuf);

impl Disk {
    /// One of this size, as `mount` takes it; the error is why it cannot be tried here.
    fn mount(place: &Place, size: &str) -> Result<Self, String> {
        let disk = Self(place.path().join("disk"));
        std::fs::create_dir(&disk.0).map_err(|error| error.to_string())?;
        let options = format!("size={size},mode=755");
        let mounted = mount(&["-t", "tmpfs", "-o", &options, "tmpfs"], &disk.0);
        mounted
            .map(|()| disk)
            .map_err(|reason| format!("a small file system cannot be mounted (it takes root): {reason}"))
    }

    /// Takes away what is left, but for a little. A server that writes more than that between the look and the change makes the kernel refuse the
    /// change, so it is tried again.
    fn shrink(&self) -> Result<(), String> {
        let mut shrunk = self.shrink_once();
        for _ in 0..ATTEMPTS {
            if shrunk.is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
            shrunk = self.shrink_once();
        }
        shrunk
    }

    fn shrink_once(&self) -> Result<(), String> {
        let output = Command::new("df").args(["-m", "--output=used"]).arg(&self.0).output();
        let text = output.map_err(|error| error.to_string())?.stdout;
        let text = String::from_utf8_lossy(&text).into_owned();
        let used: u64 = text
            .lines()
            .last()
            .and_then(|line| line.trim().parse().ok())
            .ok_or_else(|| format!("df says {text:?}"))?;
        mount(&["-o", &format!("remount,size={}m", used + LEFT)], &self.0)
    }
}

fn mount(arguments: &[&str], folder: &Path) -> Result<(), String> {
    let output = Command::new("mount").args(arguments).arg(folder).output();
    let output = output.map_err(|error| format!("run mount: {error}"))?;
    let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    output.status.success().then_some(()).ok_or(words)
}

impl Drop for Disk {
    fn drop(&mut self) {
        Command::new("umount").arg(&self.0).output().ok();
    }
}

fn bulky() -> String {
    let mut text = BULKY.to_owned();
    for number in 0..12 {
        text += &format!("[[fields]]\nname = \"value_{number}\"\nshape = \"random\"\nmin = 0\nmax = 1\n");
    }
    text + "[load]\nclients = 2\n"
}

/// The trial ends in good time, and says that the disk is full.
pub fn full(server: &Server) -> Outcome {
    let place = Place::new();
    let disk = match Disk::mount(&place, &format!("{ROOMY}m")) {
        Ok(disk) => disk,
        Err(reason) => return Ok(Some(reason)),
    };
    let (on, folder) = (server.on(), disk.0.to_string_lossy().into_owned());
    let options = ["--on", &on, "--server-memory", MEMORY, "--data", &folder];
    let mut program = Program::run(&place, &bulky(), &options)?;
    program.wait_for_load(2)?;
    disk.shrink()?;
    let ended = program.end(LIMIT)?;
    ensure!(matches!(ended.code, Some(1 | 3)), "exit code {:?}: {}", ended.code, ended.said);
    let words = ["disk full", "disk is full", "No space left", "out of disk space"];
    ensure!(words.iter().any(|words| ended.said.contains(words)), "no word of a full disk: {}", ended.said);
    ensure!(!ended.said.contains("panicked"), "{}", ended.said);
    // A server that is asked to settle may wait for room until it is asked no more.
    let told = |trial: &Value| trial["errors"]["disk full"].is_u64();
    let settled = ended.said.contains(r#"{"name":"settled"}"#);
    ensure!(!(settled && place.trials().iter().any(told)), "the trial went on: {}", ended.said);
    let left = place.leftovers();
    ensure!(left.is_empty(), "left behind: {left:?}");
    Ok(None)
}

/// A server that finds no room when it is made: the message begins with that, not with what the server's programs say of it.
pub fn too_small(server: &Server) -> Outcome {
    // Enough for the first steps of each. MongoDB and GridDB 5 start on little.
    let size = match server.name {
        "mongodb" | "griddb" => "64k",
        "influxdb" => {
            let reason = "InfluxDB starts on a disk of 64 kB, and tries for minutes on a smaller one";
            return Ok(Some(reason.to_owned()));
        }
        _ => "24m",
    };
    let place = Place::new();
    let disk = match Disk::mount(&place, size) {
        Ok(disk) => disk,
        Err(reason) => return Ok(Some(reason)),
    };
    let folder = disk.0.to_string_lossy().into_owned();
    let arguments = ["servers", "start", server.name, "--data", &folder];
    let output = place.run(&[&arguments[..], &["--server-memory", MEMORY]].concat());
    let said = errors(&output);
    ensure!(output.status.code() == Some(3), "{:?}: {said}", output.status);
    let begins = said.lines().next().unwrap_or_default();
    ensure!(begins.contains(": disk full: "), "it begins with something else: {said}");
    let left = place.leftovers();
    ensure!(left.is_empty(), "left behind: {left:?}");
    Ok(None)
}

/// A disk holds the results of a few trials, and there are many. Each trial that the program reported is there. The first that finds no room ends the run.
pub fn results_full() -> Outcome {
    const WORKLOAD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/own.toml");
    let place = Place::new();
    let disk = match Disk::mount(&place, "512k") {
        Ok(disk) => disk,
        Err(reason) => return Ok(Some(reason)),
    };
    let results = disk.0.to_string_lossy().into_owned();
    let output = place.run(&[
        "run",
        WORKLOAD,
        "--on",
        "sqlite",
        "--set",
        "repetitions=100",
        "--results",
        &results,
        "--tolerate-disturbance",
        "--progress=plain",
    ]);
    let said = errors(&output);
    ensure!(output.status.code() == Some(4), "{:?}: {said}", output.status);
    ensure!(said.contains("is the disk full"), "{said}");
    let is_told = |line: &&str| ["ok  ", "~   ", "FAIL"].iter().any(|mark| line.starts_with(mark));
    let told = said.lines().filter(is_told).count();
    let runs = runs(&disk.0);
    ensure!(runs.len() == 1, "{runs:?}");
    let mut files = read_folder(&runs[0].join("trials"));
    files.retain(|file| file.extension().is_some_and(|end| end == "json"));
    ensure!(told > 0 && told == files.len(), "{told} trials were told, {} are there: {said}", files.len());
    let run = runs[0].to_string_lossy().into_owned();
    let report = place.run(&["report", "--full", &run]);
    ensure!(report.status.success(), "{}", errors(&report));
    let left = place.leftovers();
    ensure!(left.is_empty(), "left behind: {left:?}");
    Ok(None)
}
