//! `sensormark probe` where processes are set apart: in a control group, as systemd and containers have them, and in a network of their own.

use crate::support::{Place, errors};
use sensormark_result::probe::{Hello, ProbeLine, ProbeSample};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A program that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A control group that is removed with the test.
struct Group(PathBuf);

impl Group {
    /// One of this name, of whatever version is here; none where no group may be made.
    fn make(name: &str) -> Option<Self> {
        let roots = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].map(Path::new);
        let folders = roots.map(|root| root.join(name));
        let made = folders.into_iter().find(|folder| {
            let is_made = std::fs::create_dir(folder).is_ok();
            let is_group = is_made && folder.join("cgroup.procs").exists();
            if is_made && !is_group {
                drop(std::fs::remove_dir(folder));
            }
            is_group
        });
        made.map(Self)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        drop(std::fs::remove_dir(&self.0));
    }
}

/// The first two lines of a probe with these arguments.
fn hello(place: &Place, arguments: &[&str]) -> (Hello, ProbeSample) {
    let mut command = place.command(&[&["probe"], arguments].concat());
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let output = child.wait_with_output().expect("its input is closed");
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = lines.lines().map(|line| serde_json::from_str(line).expect(line));
    match (lines.next(), lines.next()) {
        (Some(ProbeLine::Hello(hello)), Some(ProbeLine::Sample(sample))) => (*hello, *sample),
        other => panic!("{other:?} {}", errors(&output)),
    }
}

/// A unit and a container are the processes of their control groups, whose parents are somebody else.
pub fn a_unit_and_a_container_are_their_control_groups() -> Option<String> {
    let own = std::process::id();
    let (unit, id) = (format!("sensormark-{own}"), format!("{own:064x}"));
    let place = Place::new();
    let names = [format!("{unit}.service"), format!("docker-{id}.scope")];
    for (name, arguments) in names.iter().zip([["--unit", &unit], ["--container", &id]]) {
        let Some(group) = Group::make(name) else {
            return Some("only root, and not everywhere, can make a control group".to_owned());
        };
        let sleepers = [0, 1].map(|_| {
            let sleep = Command::new("sleep").arg("600").spawn();
            let sleep = Running(sleep.expect("it starts"));
            let members = std::fs::OpenOptions::new().append(true).open(group.0.join("cgroup.procs"));
            // In one write: the kernel takes each for a number.
            let id = sleep.0.id().to_string();
            let put = members.and_then(|mut file| file.write_all(id.as_bytes()));
            put.map(|()| sleep)
        });
        if sleepers.iter().any(Result::is_err) {
            return Some("processes may not be put into a control group here".to_owned());
        }
        let (hello, sample) = hello(&place, &arguments);
        assert_eq!((hello.count, sample.server.processes), (2, 2), "{name}");
        assert_eq!(hello.program, "sleep");
        drop(sleepers);
    }
    None
}

/// What listens and connects in a network of its own, so that a container's connections are.
const TALK: &str = "import socket, time
listening = socket.create_server(('127.0.0.1', 7777))
sending = socket.create_connection(('127.0.0.1', 7777))
receiving, _ = listening.accept()
print('connected', flush=True)
time.sleep(600)";

/// Connections are those of the processes' own network, which root may enter.
pub fn connections_of_a_network_of_its_own_are_seen() -> Option<String> {
    let script = "ip link set lo up && exec python3 -c \"$0\"";
    let mut command = Command::new("unshare");
    command.args(["--net", "sh", "-c", script, TALK]);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::null());
    let reason = || Some("a network namespace with Python in it cannot be made here".to_owned());
    let Ok(talking) = command.spawn() else {
        return reason();
    };
    let mut talking = Running(talking);
    let mut line = String::new();
    let output = talking.0.stdout.as_mut().expect("it is piped");
    let read = BufReader::new(output).read_line(&mut line);
    if read.is_err() || line.trim() != "connected" {
        return reason();
    }
    let place = Place::new();
    let pid = talking.0.id().to_string();
    let (hello, sample) = hello(&place, &["--pid", &pid]);
    assert_eq!(hello.ports, [7777]);
    assert!(!hello.missing.join(" ").contains("network"), "{:?}", hello.missing);
    let wire = sample.server.wire.expect("it was entered");
    assert_eq!(wire.open_connections, 1, "{wire:?}");
    None
}
