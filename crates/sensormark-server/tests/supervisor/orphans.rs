//! What is left when a coordinator dies, and what is cleaned up of it: ours, and nothing else.

use crate::memory_limit;
use crate::support::{
    Behaviour, ROLE, TestStore, ask_within, comes_true, is_alive, names_in, processes_with, reachable_folder,
};
use sensormark_server::{StartWishes, Supervisor};
use sensormark_store::{ErrorKind, ServerOptions};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The role of a coordinator: starts a server, says its process id and run, and waits to be killed (or detaches and ends).
pub fn coordinate() {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let supervisor = Supervisor::new(Some(variable("STATE").into())).unwrap();
    let mode = variable("MODE");
    let wishes = StartWishes { detachable: mode != "tied", ..StartWishes::default() };
    let store = TestStore::new(Behaviour::of_name(&variable("BEHAVIOUR")).unwrap());
    let options = match mode.as_str() {
        "limited" => memory_limit::limited().expect("a control group"),
        _ => ServerOptions::default(),
    };
    let server = supervisor.start_with(&store, &options, &wishes).unwrap();
    println!("\nstarted {} {}", server.process_id(), server.run());
    if mode == "detached" {
        server.detach().unwrap();
        std::process::exit(0);
    }
    std::thread::sleep(Duration::from_secs(600));
}

/// A coordinator that was started, with its server's process id and run.
struct Coordinator {
    process: Child,
    server: u32,
    run: String,
}

impl Coordinator {
    fn start(home: &Path, mode: &str, behaviour: Behaviour) -> Self {
        // A low soft limit of open files, as many shells have: servers must not inherit it.
        let mut process = Command::new("sh")
            .args(["-c", r#"ulimit -Sn 256; exec "$0" "$@""#])
            .arg(std::env::current_exe().unwrap())
            .args(["role", "--exact", "--ignored", "--nocapture"])
            .env(ROLE, "coordinator")
            .env("MODE", mode)
            .env("STATE", home)
            .env("BEHAVIOUR", behaviour.name())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let line = output
            .lines()
            .map_while(Result::ok)
            .find(|line| line.starts_with("started "))
            .expect("the coordinator starts its server");
        let mut words = line.split(' ').skip(1);
        Self {
            process,
            server: words.next().unwrap().parse().unwrap(),
            run: words.next().unwrap().to_owned(),
        }
    }

    /// SIGKILL for the coordinator alone.
    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn tree(&self) -> Vec<u32> {
        processes_with(&format!("SENSORMARK_RUN={}", self.run))
    }
}

impl Drop for Coordinator {
    /// So that a test that fails leaves nothing behind either.
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
        for pid in self.tree() {
            Command::new("kill").args(["-9", &pid.to_string()]).status().ok();
        }
    }
}

#[test]
fn a_server_dies_with_its_coordinator() {
    let home = reachable_folder();
    let mut coordinator = Coordinator::start(home.path(), "tied", Behaviour::Normal);
    assert!(is_alive(coordinator.server));
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", coordinator.server)).unwrap();
    let limit = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    assert_ne!(limit.split_whitespace().nth(3), Some("256"), "{limit}");
    let supervisor = Supervisor::new(Some(home.path().to_owned())).unwrap();
    assert_eq!(supervisor.clean_orphans(), Vec::<String>::new(), "its coordinator is alive");
    assert!(is_alive(coordinator.server));
    let refused = supervisor.stop_run(&coordinator.run).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    coordinator.kill();
    assert!(comes_true(Duration::from_secs(1), || !is_alive(coordinator.server)));
    assert_eq!(names_in(home.path()).len(), 1, "the folder is left");
    let told = supervisor.clean_orphans();
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("no process was left, removed its folders"), "{told:?}");
    assert_eq!(names_in(home.path()), Vec::<String>::new());
}

#[test]
fn the_control_group_of_an_orphan_is_removed() {
    if memory_limit::limited().is_none() {
        return;
    }
    let home = reachable_folder();
    let mut coordinator = Coordinator::start(home.path(), "limited", Behaviour::Family);
    let run = home.path().join(&names_in(home.path())[0]);
    let group = memory_limit::group_of(&run);
    coordinator.kill();
    assert!(group.is_dir(), "nobody has removed it yet");
    let supervisor = Supervisor::new(Some(home.path().to_owned())).unwrap();
    let told = supervisor.clean_orphans();
    assert!(told[0].contains("removed its folders"), "{told:?}");
    assert!(!group.exists() && names_in(home.path()).is_empty());
}

#[test]
fn an_orphan_that_lives_on_is_ended() {
    let home = reachable_folder();
    let mut coordinator = Coordinator::start(home.path(), "untied", Behaviour::Family);
    coordinator.kill();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(coordinator.tree().len(), 3, "without the parent-death signal they live on");
    let supervisor = Supervisor::new(Some(home.path().to_owned())).unwrap();
    let told = supervisor.clean_orphans();
    assert!(told[0].contains("ended 3 processes, removed its folders"), "{told:?}");
    assert_eq!(coordinator.tree(), Vec::<u32>::new());
    assert_eq!(names_in(home.path()), Vec::<String>::new());
}

/// Changes the ownership file of the only run in a state folder.
fn rewrite_owner(home: &Path, change: impl FnOnce(&mut serde_json::Value)) {
    let file = home.join(&names_in(home)[0]).join("sensormark-owner.json");
    let mut owner = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    change(&mut owner);
    std::fs::write(file, owner.to_string()).unwrap();
}

/// A process that is none of ours, ended with the value.
struct Bystander(Child);

impl Bystander {
    fn start() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }

    fn identity(&self) -> serde_json::Value {
        let identity = sensormark_server::ProcessIdentity::of(self.0.id()).unwrap();
        serde_json::to_value(identity).unwrap()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn a_reused_process_id_is_spared() {
    let home = reachable_folder();
    let bystander = Bystander::start();
    let supervisor = Supervisor::new(Some(home.path().to_owned())).unwrap();
    for (other_start, other_boot) in [(true, false), (false, true)] {
        let mut coordinator = Coordinator::start(home.path(), "tied", Behaviour::Normal);
        coordinator.kill();
        assert!(comes_true(Duration::from_secs(1), || !is_alive(coordinator.server)));
        rewrite_owner(home.path(), |owner| {
            let mut identity = bystander.identity();
            if other_start {
                let ticks = identity["start_ticks"].as_u64().unwrap();
                identity["start_ticks"] = (ticks - 1).into();
            }
            if other_boot {
                owner["boot_id"] = "00000000-0000-0000-0000-000000000000".into();
            }
            owner["server"] = identity.clone();
            owner["processes"] = serde_json::Value::Array(vec![identity]);
        });
        let told = supervisor.clean_orphans();
        assert!(told[0].contains("no process was left"), "{told:?}");
        assert!(is_alive(bystander.0.id()));
        assert_eq!(names_in(home.path()), Vec::<String>::new());
    }
}

#[test]
fn the_recorded_process_itself_is_ended() {
    // The counterpart of the test above: with the right start time and boot the same record is acted on.
    let home = reachable_folder();
    let bystander = Bystander::start();
    let mut coordinator = Coordinator::start(home.path(), "tied", Behaviour::Normal);
    coordinator.kill();
    assert!(comes_true(Duration::from_secs(1), || !is_alive(coordinator.server)));
    rewrite_owner(home.path(), |owner| {
        owner["processes"] = serde_json::Value::Array(vec![bystander.identity()]);
    });
    let told = Supervisor::new(Some(home.path().to_owned())).unwrap().clean_orphans();
    assert!(told[0].contains("ended 1 process"), "{told:?}");
    assert!(!is_alive(bystander.0.id()));
}

#[test]
fn a_foreign_folder_is_not_touched() {
    let (home, disk) = (reachable_folder(), reachable_folder());
    let supervisor = Supervisor::new(Some(home.path().to_owned())).unwrap();
    for folder in ["documents", "tiny-0123456789abcdef", "tiny-aaaaaaaaaaaaaaaa"] {
        std::fs::create_dir(home.path().join(folder)).unwrap();
        std::fs::write(home.path().join(folder).join("letter"), "dear").unwrap();
    }
    let foreign = home.path().join("tiny-aaaaaaaaaaaaaaaa/sensormark-owner.json");
    std::fs::write(foreign, r#"{"made_by": "somebody else"}"#).unwrap();
    // An orphan of ours whose record points at a folder on a disk that does not bear its marker.
    let mut coordinator = Coordinator::start(home.path(), "tied", Behaviour::Normal);
    coordinator.kill();
    std::fs::write(disk.path().join("letter"), "dear").unwrap();
    let ours = home.path().join(format!("tiny-{}", coordinator.run)).join("sensormark-owner.json");
    let mut owner: serde_json::Value = serde_json::from_slice(&std::fs::read(&ours).unwrap()).unwrap();
    owner["data_folder"] = disk.path().to_str().unwrap().into();
    std::fs::write(&ours, owner.to_string()).unwrap();
    assert_eq!(supervisor.clean_orphans().len(), 1);
    assert_eq!(names_in(home.path()), ["documents", "tiny-0123456789abcdef", "tiny-aaaaaaaaaaaaaaaa"]);
    assert_eq!(names_in(&home.path().join("documents")), ["letter"]);
    assert_eq!(names_in(disk.path()), ["letter"]);
    assert_eq!(supervisor.status(), Vec::new());
    assert_eq!(supervisor.stop_run("aaaaaaaaaaaaaaaa").unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_detached_server_outlives_its_coordinator() {
    let home = reachable_folder();
    let supervisor = Supervisor::new(Some(home.path().to_owned())).unwrap();
    let mut coordinator = Coordinator::start(home.path(), "detached", Behaviour::Family);
    assert!(coordinator.process.wait().unwrap().success());
    assert!(is_alive(coordinator.server));
    assert_eq!(supervisor.clean_orphans(), Vec::<String>::new(), "left running on purpose");
    let status = supervisor.status();
    assert_eq!(status.len(), 1);
    assert_eq!(status[0].process_id, coordinator.server);
    assert!(status[0].running && status[0].detached && !status[0].coordinator_running);
    assert_eq!(status[0].store, "tiny");
    let endpoint = supervisor.detached_endpoint(&coordinator.run).unwrap();
    assert_eq!(endpoint.ports, status[0].ports);
    assert_eq!(ask_within(&endpoint, Duration::from_secs(10)).as_deref(), Some("tiny 1.0"));
    supervisor.stop_run(&coordinator.run).unwrap();
    assert_eq!(coordinator.tree(), Vec::<u32>::new());
    assert_eq!(names_in(home.path()), Vec::<String>::new());
    let mut second = Coordinator::start(home.path(), "detached", Behaviour::Normal);
    second.process.wait().unwrap();
    Command::new("kill").args(["-9", &second.server.to_string()]).status().unwrap();
    assert!(comes_true(Duration::from_secs(1), || !is_alive(second.server)));
    assert!(!supervisor.status()[0].running);
    assert_eq!(supervisor.clean_orphans().len(), 1, "it is gone, so its folder goes");
    assert_eq!(names_in(home.path()), Vec::<String>::new());
}

#[test]
fn only_a_detachable_server_is_left_running() {
    let home = reachable_folder();
    let supervisor = Supervisor::new(Some(home.path().to_owned())).unwrap();
    let store = TestStore::new(Behaviour::Normal);
    let server = supervisor.start(&store, &ServerOptions::default(), None).unwrap();
    let pid = server.process_id();
    assert_eq!(server.detach().unwrap_err().kind(), ErrorKind::Unsupported);
    assert!(!is_alive(pid));
    assert_eq!(names_in(home.path()), Vec::<String>::new());
}

#[test]
fn folders_of_embedded_databases_go_with_the_value() {
    let (home, disk) = (reachable_folder(), reachable_folder());
    let supervisor = Supervisor::new(Some(home.path().to_owned())).unwrap();
    let scratch = supervisor.scratch("tiny", Some(disk.path())).unwrap();
    std::fs::write(scratch.path().join("database"), "rows").unwrap();
    assert!(scratch.path().starts_with(disk.path().canonicalize().unwrap()));
    assert_eq!(supervisor.clean_orphans(), Vec::<String>::new());
    assert_eq!(supervisor.status(), Vec::new(), "no server");
    drop(scratch);
    assert_eq!(names_in(home.path()), Vec::<String>::new());
    assert_eq!(names_in(disk.path()), Vec::<String>::new());
}

#[test]
fn folders_of_embedded_databases_go_with_all_servers() {
    let home = reachable_folder();
    let supervisor = Supervisor::new(Some(home.path().to_owned())).unwrap();
    let scratch = supervisor.scratch("tiny", None).unwrap();
    std::fs::write(scratch.path().join("database"), "rows").unwrap();
    supervisor.stop_all();
    assert_eq!(names_in(home.path()), Vec::<String>::new());
    let refused = supervisor.scratch("tiny", None).err();
    let text = refused.expect("no folder is made any more").to_string();
    assert!(text.contains("stopping"), "{text}");
    assert_eq!(names_in(home.path()), Vec::<String>::new());
}
