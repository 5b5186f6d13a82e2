//! Three hosts with an sshd each: one has source and writer, one reads, and the hub has the server and the coordinator.

use crate::network::Network;
use crate::support::{Place, SHORT, held_against, said};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_sensormark");

/// The program as the hosts start it: with a state folder of their own, and a clock of their own that is 3 s ahead and 50 ppm fast.
fn program_of_hosts(folder: &Path, state: &Path) -> PathBuf {
    let program = folder.join("sensormark");
    let lines = format!(
        "#!/bin/sh\nexec env SENSORMARK_STATE={} SENSORMARK_TEST_CLOCK=3000000000,50 {PROGRAM} \"$@\"\n",
        state.display()
    );
    fs::write(&program, lines).expect("room");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("ours");
    program
}

/// All trials hold, know the planted clock, and have stored what the source made.
fn check(trials: &[Value], output: &Output) {
    for trial in trials {
        let held = held_against(trial);
        assert!(held.is_empty(), "{held:?}: {}", said(output));
        let clocks = trial["clocks"].as_array().expect("clocks");
        assert!(!clocks.is_empty(), "{}", said(output));
        for clock in clocks {
            let offset_ns = clock["offset_ns"].as_i64().expect("an offset");
            assert!(offset_ns >= 3_000_000_000, "{clock}");
        }
    }
    let write = trials
        .iter()
        .find(|trial| trial["side"] == "write")
        .expect("a write trial");
    assert_eq!(write["ledger"]["produced"], 4_200);
    assert_eq!(
        write["ledger"]["checksum"],
        write["ledger"]["expected_checksum"]
    );
}

pub fn three_hosts() -> Option<String> {
    let place = Place::new();
    let folder = place.path().join("network");
    fs::create_dir(&folder).expect("room");
    let mut network = match Network::new(&folder, &["pi1", "pi2"]) {
        Ok(network) => network,
        Err(why) => return Some(why),
    };
    let url = match network.postgresql() {
        Ok(url) => url,
        Err(why) => return Some(why),
    };
    let state = folder.join("state");
    let program = program_of_hosts(&folder, &state);
    let (program, launcher) = (program.to_str().expect("UTF-8"), network.launcher());
    let on = format!("postgresql:individual={url}");
    let hosts = [
        "--on",
        &on,
        "--launcher",
        &launcher,
        "--host-program",
        program,
        "--host",
        "source=pi1",
        "--host",
        "writer=pi1",
        "--host",
        "reader=pi2",
    ];
    let arguments = [&SHORT[..], &hosts].concat();
    let run = |arguments: &[&str]| {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", network.hub(), PROGRAM])
            .args(arguments)
            .current_dir(place.path())
            .env("SENSORMARK_STATE", place.path().join("state"));
        command
    };
    let output = run(&arguments).output().expect("it starts");
    let trials = place.trials();
    assert!(trials.len() > 1, "{}", said(&output));
    check(&trials, &output);
    cut_off(&run, &arguments);
    let queues = crate::support::read_folder(&state.join("queues"));
    assert!(queues.is_empty(), "a queue is left on the host: {queues:?}");
    None
}

/// The processes of this program's roles by their command line.
fn roles(program: &str) -> Vec<u32> {
    let folders = fs::read_dir("/proc").expect("processes").flatten();
    let ids = folders.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_role = |id: &u32| {
        let line = fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.starts_with(program) && line.contains("\0elsewhere")
    };
    ids.filter(is_role).collect()
}

/// Kills the ssh session of the writer in mid-load. The message names the trial and the host, and nothing is left running.
fn cut_off(run: &dyn Fn(&[&str]) -> Command, arguments: &[&str]) {
    let before = roles(PROGRAM);
    let further = ["--set", "measured_seconds=30", "--results", "cut"];
    let changed: Vec<&str> = arguments
        .iter()
        .map(|word| if *word == "results" { "cut" } else { *word })
        .collect();
    let changed = [&changed[..], &further[..2]].concat();
    let child = run(&changed)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let new = || -> Vec<u32> {
        let all = roles(PROGRAM).into_iter();
        all.filter(|id| !before.contains(id)).collect()
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while new().len() < 2 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_secs(2));
    let ours = new();
    assert_eq!(ours.len(), 2, "writer and source are at work");
    // The coordinator's ssh clients are its children.
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let children = fs::read_to_string(children).unwrap_or_default();
    let is_writer = |id: &&str| {
        let line = fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.starts_with("ssh") && line.contains("writer")
    };
    let session = children
        .split_whitespace()
        .find(is_writer)
        .expect("its ssh client");
    assert!(
        Command::new("kill")
            .args(["-9", session])
            .status()
            .expect("kill")
            .success()
    );
    let output = child.wait_with_output().expect("it ends");
    assert!(
        said(&output).contains("writer process on pi1 ended early"),
        "{}",
        said(&output)
    );
    let gone = Instant::now() + Duration::from_secs(5);
    while ours.iter().any(|id| roles(PROGRAM).contains(id)) && Instant::now() < gone {
        std::thread::sleep(Duration::from_millis(50));
    }
    let left: Vec<u32> = ours
        .into_iter()
        .filter(|id| roles(PROGRAM).contains(id))
        .collect();
    assert!(left.is_empty(), "left running there: {left:?}");
}
