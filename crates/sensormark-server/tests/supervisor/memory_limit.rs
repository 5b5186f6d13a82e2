//! A memory limit: a control group around the whole tree of a server, from its first process on until nothing is left of it.
//!
//! Where no control group can be made the tests print why, and try nothing else.

use crate::support::{
    Behaviour, EAT, HAVE_A_CHILD_EAT, TestStore, comes_true, processes_with, reachable_folder,
};
use sensormark_server::{ManagedServer, Supervisor, check_memory_limit};
use sensormark_store::{ErrorKind, ServerOptions};
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The limit of these tests, in bytes; a multiple of every page's size.
const LIMIT: u64 = 96 << 20;

/// The options of a limited server; none where no group can be made here.
pub fn limited() -> Option<ServerOptions> {
    if let Err(reason) = check_memory_limit() {
        eprintln!("ignored: {reason}");
        return None;
    }
    Some(ServerOptions { memory_limit_bytes: Some(LIMIT), ..ServerOptions::default() })
}

/// The group that is written down in a run's folder.
pub fn group_of(run: &Path) -> PathBuf {
    let text = std::fs::read(run.join("sensormark-owner.json")).unwrap();
    let owner: serde_json::Value = serde_json::from_slice(&text).unwrap();
    PathBuf::from(owner["memory_group"].as_str().expect("a group"))
}

fn start(home: &Path, behaviour: Behaviour, options: &ServerOptions) -> ManagedServer {
    Supervisor::new(Some(home.to_owned())).unwrap().start(&TestStore::new(behaviour), options, None).unwrap()
}

/// The processes of a group, sorted.
fn inside(group: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(group.join("cgroup.procs")).unwrap();
    let mut pids: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
    pids.sort_unstable();
    pids
}

/// An embedded database runs in the client's process, which gets a group of its own. The kernel kills one that takes too much, and the error says so.
#[test]
fn the_process_of_an_embedded_database_is_killed_by_the_limit_and_that_is_told() {
    let Some(options) = limited() else { return };
    let home = reachable_folder();
    let supervisor = Supervisor::new(Some(home.path().to_owned())).unwrap();
    let folder = supervisor.scratch("test", None).unwrap();
    let held = folder.hold("Test", &options).unwrap().expect("a group");
    let run = folder.path().ancestors().find(|path| path.join("sensormark-owner.json").exists());
    let group = group_of(run.unwrap());
    // It begins to eat when it is told to, as a role waits for its configuration.
    let mut eater = std::process::Command::new("sh");
    eater.args(["-c", "read line; head -c 300000000 /dev/zero | tail -c 300000000 | wc -c"]);
    let mut child =
        eater.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).spawn().unwrap();
    held.take_in(child.id()).unwrap();
    assert_eq!(inside(&group), [child.id()]);
    assert!(held.lost().is_none());
    assert!(held.note(&options).contains("Test and its client are held to 96 MB together"));
    child.stdin.take().unwrap().write_all(b"eat\n").unwrap();
    child.wait().unwrap();
    let lost = held.lost().expect("it was killed");
    assert_eq!(lost.kind(), ErrorKind::Crashed);
    assert!(lost.to_string().contains("killed by the limit: "), "{lost}");
    drop(held);
    assert!(!group.exists(), "nothing is left of it");
}

#[test]
fn the_whole_tree_is_in_a_group_with_the_limit_until_it_is_gone() {
    let Some(options) = limited() else { return };
    let home = reachable_folder();
    let server = start(home.path(), Behaviour::Family, &options);
    let group = group_of(server.run_folder());
    let limit = ["memory.limit_in_bytes", "memory.max"]
        .iter()
        .find_map(|file| std::fs::read_to_string(group.join(file)).ok());
    assert_eq!(limit.expect("a limit").trim(), LIMIT.to_string());
    let tree = processes_with(&format!("SENSORMARK_RUN={}", server.run()));
    assert_eq!(tree.len(), 3, "server, child and the one that left");
    assert!(comes_true(Duration::from_secs(5), || {
        let mut tree = processes_with(&format!("SENSORMARK_RUN={}", server.run()));
        tree.sort_unstable();
        tree == inside(&group)
    }));
    let seen = server.memory_use().expect("a group");
    assert_eq!((seen.limit_bytes, seen.killed_processes), (LIMIT, 0));
    assert!(seen.peak_bytes.is_some_and(|peak| peak > 0 && peak <= LIMIT));
    server.restart(&TestStore::new(Behaviour::Family)).unwrap();
    assert!(inside(&group).contains(&server.process_id()));
    server.stop().unwrap();
    assert!(!group.exists());
}

#[test]
fn a_server_without_a_limit_has_no_group() {
    let home = reachable_folder();
    let server = start(home.path(), Behaviour::Normal, &ServerOptions::default());
    assert_eq!(server.memory_use(), None);
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    let its = std::fs::read_to_string(format!("/proc/{}/cgroup", server.process_id())).unwrap();
    assert_eq!(its, own);
}

/// Says something to the server, which takes memory then, and waits for the error of the next look at it.
fn error_after(server: &ManagedServer, words: &str) -> sensormark_store::StoreError {
    let address = ("127.0.0.1", server.endpoint().ports[0]);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(format!("{words}\n").as_bytes()).unwrap();
    assert!(comes_true(Duration::from_secs(20), || server.check().is_err()));
    server.check().unwrap_err()
}

#[test]
fn a_server_that_the_limit_ended_is_named_as_such() {
    let Some(options) = limited() else { return };
    let home = reachable_folder();
    let server = start(home.path(), Behaviour::Normal, &options);
    let error = error_after(&server, EAT);
    assert_eq!(error.kind(), ErrorKind::Crashed);
    for words in ["SIGKILL", "memory limit of 96 MB (--memory-limit)"] {
        assert!(error.to_string().contains(words), "{error}");
    }
    let seen = server.memory_use().unwrap();
    assert!(seen.killed_processes > 0 && seen.limit_reached > Some(0));
    server.restart(&TestStore::new(Behaviour::Normal)).unwrap();
    assert!(server.check().is_ok(), "what was before does not count");
}

/// PostgreSQL goes on when one of its processes is killed: its clients lose their connections, and nothing ends.
#[test]
fn a_server_that_lost_a_child_to_the_limit_is_named_too() {
    let Some(options) = limited() else { return };
    let home = reachable_folder();
    let server = start(home.path(), Behaviour::Normal, &options);
    let error = error_after(&server, HAVE_A_CHILD_EAT);
    assert_eq!(error.kind(), ErrorKind::Crashed);
    for words in ["lost processes", "memory limit of 96 MB (--memory-limit)"] {
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_ne!(server.process_id(), 0, "the server itself goes on");
}
