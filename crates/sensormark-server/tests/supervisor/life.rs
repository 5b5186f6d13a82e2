//! From start to stop in one process, and every way in which a start can fail.

use crate::support::{
    Behaviour, TestStore, ask_within, comes_true, is_alive, names_in, processes_with, reachable_folder,
};
use sensormark_server::{StartWishes, Supervisor};
use sensormark_store::{ErrorKind, ServerOptions};
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(1);

pub fn supervisor(home: &Path) -> Supervisor {
    Supervisor::new(Some(home.to_owned())).unwrap()
}

/// Starts a server that cannot come up; gives the error's kind and text, and checks that nothing is left.
pub fn failing_start(store: &TestStore, data: Option<&Path>) -> (ErrorKind, String) {
    let home = reachable_folder();
    let error = supervisor(home.path())
        .start(store, &ServerOptions::default(), data)
        .err()
        .expect("this start fails");
    assert_eq!(names_in(home.path()), Vec::<String>::new(), "{error}");
    let marker = home.path().display().to_string();
    assert_eq!(processes_with(&marker), Vec::<u32>::new(), "{error}");
    (error.kind(), error.to_string())
}

#[test]
fn a_stopped_server_leaves_nothing() {
    let (home, disk) = (reachable_folder(), reachable_folder());
    std::fs::write(disk.path().join("mine.txt"), "keep").unwrap();
    let supervisor = supervisor(home.path());
    let store = TestStore::new(Behaviour::Family);
    let server = supervisor.start(&store, &ServerOptions::default(), Some(disk.path())).unwrap();
    assert_eq!(server.version(), "tiny 1.0");
    assert_eq!(server.notes(), ["small"]);
    assert!(server.start_duration() > Duration::ZERO);
    assert!(server.data_folder().starts_with(disk.path().canonicalize().unwrap()));
    assert!(server.data_folder().join("after").exists());
    server.check().unwrap();
    let marker = format!("SENSORMARK_RUN={}", server.run());
    let tree = processes_with(&marker);
    assert_eq!(tree.len(), 3, "the server, its child, and the one that left the session");
    assert!(tree.contains(&server.process_id()));
    server.stop().unwrap();
    assert_eq!(processes_with(&marker), Vec::<u32>::new());
    assert_eq!(names_in(home.path()), Vec::<String>::new());
    assert_eq!(names_in(disk.path()), ["mine.txt"]);
    assert_eq!(server.check().unwrap_err().kind(), ErrorKind::Unavailable);
    server.stop().unwrap();
}

#[test]
fn dropping_stops() {
    let home = reachable_folder();
    let store = TestStore::new(Behaviour::Normal);
    let server = supervisor(home.path()).start(&store, &ServerOptions::default(), None).unwrap();
    let pid = server.process_id();
    assert!(is_alive(pid));
    drop(server);
    assert!(!is_alive(pid));
    assert_eq!(names_in(home.path()), Vec::<String>::new());
}

#[test]
fn a_server_runs_apart_and_with_few_rights() {
    let home = reachable_folder();
    let store = TestStore::new(Behaviour::Normal);
    let server = supervisor(home.path()).start(&store, &ServerOptions::default(), None).unwrap();
    let pid = server.process_id();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    assert!(status.contains("NoNewPrivs:\t1"));
    let own = std::fs::read_to_string("/proc/self/status").unwrap();
    if own.contains("Uid:\t0\t0\t0\t0") {
        assert!(!status.contains("Uid:\t0"), "as root, servers run as an unprivileged user");
        assert!(status.contains("CapEff:\t0000000000000000"));
    }
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let pid = pid.to_string();
    assert_eq!((fields[2], fields[3]), (pid.as_str(), pid.as_str()), "group and session of its own");
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let mut names: Vec<String> = environment
        .split(|byte| *byte == 0)
        .filter(|variable| !variable.is_empty())
        .map(|variable| String::from_utf8_lossy(variable).split('=').next().unwrap().to_owned())
        .collect();
    names.sort();
    let wanted = [
        "ADDRESS",
        "BEHAVIOUR",
        "DATA",
        "HOME",
        "LANG",
        "PASSWORD",
        "PATH",
        "PORT",
        "SENSORMARK_RUN",
        "SENSORMARK_TEST_ROLE",
        "TMPDIR",
    ];
    assert_eq!(names, wanted);
}

#[test]
fn a_kill_is_noticed_within_a_second() {
    let home = reachable_folder();
    let store = TestStore::new(Behaviour::Normal);
    let server = supervisor(home.path()).start(&store, &ServerOptions::default(), None).unwrap();
    let (sender, noticed) = channel();
    server.on_exit(Box::new(move |text| sender.send(text.to_owned()).unwrap()));
    std::process::Command::new("kill").args(["-9", &server.process_id().to_string()]).status().unwrap();
    let text = noticed.recv_timeout(SOON).expect("noticed within a second");
    assert!(text.contains("SIGKILL"), "{text}");
    assert!(server.has_crashed());
    let error = server.check().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Crashed);
    assert!(error.to_string().contains("tiny server: the password is …"), "{error}");
    let (sender, late) = channel();
    server.on_exit(Box::new(move |text| sender.send(text.to_owned()).unwrap()));
    assert!(late.try_recv().unwrap().contains("SIGKILL"), "a late listener hears it at once");
    server.restart(&store).unwrap();
    server.check().unwrap();
    server.stop().unwrap();
    assert_eq!(names_in(home.path()), Vec::<String>::new());
}

#[test]
fn a_killed_server_comes_back_with_its_data() {
    let home = reachable_folder();
    let store = TestStore::new(Behaviour::Family);
    let server = supervisor(home.path()).start(&store, &ServerOptions::default(), None).unwrap();
    let (sender, crashes) = channel();
    server.on_exit(Box::new(move |text| sender.send(text.to_owned()).unwrap()));
    let (first, ports) = (server.process_id(), server.endpoint().ports.clone());
    std::fs::write(server.data_folder().join("row"), "1").unwrap();
    std::fs::remove_file(server.data_folder().join("after")).unwrap();
    server.kill().unwrap();
    assert_eq!(processes_with(&format!("SENSORMARK_RUN={}", server.run())), Vec::<u32>::new());
    assert_eq!(server.process_id(), 0);
    assert_eq!(server.check().unwrap_err().kind(), ErrorKind::Unavailable);
    server.restart(&store).unwrap();
    server.check().unwrap();
    assert_ne!(server.process_id(), first);
    assert_eq!(server.endpoint().ports, ports);
    assert_eq!(std::fs::read_to_string(server.data_folder().join("row")).unwrap(), "1");
    assert!(!server.data_folder().join("after").exists(), "commands after the start run once");
    let second = server.process_id();
    server.restart(&store).unwrap();
    assert!(!is_alive(second), "a running server is stopped first");
    assert!(crashes.try_recv().is_err(), "none of this was a crash");
}

#[test]
fn a_paused_server_is_silent_until_it_is_resumed() {
    let home = reachable_folder();
    let store = TestStore::new(Behaviour::Normal);
    let server = supervisor(home.path()).start(&store, &ServerOptions::default(), None).unwrap();
    server.pause();
    for process in server.processes() {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid)).unwrap();
        let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
        assert_eq!(state, Some('T'), "it still runs: {stat}");
    }
    assert_eq!(ask_within(server.endpoint(), Duration::from_millis(400)), None);
    server.check().unwrap();
    server.resume();
    assert_eq!(ask_within(server.endpoint(), Duration::from_secs(10)).as_deref(), Some("tiny 1.0"));
    server.pause();
    let begun = Instant::now();
    server.stop().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10), "a paused server can be stopped");
}

#[test]
fn the_password_does_not_show() {
    let home = reachable_folder();
    let store = TestStore::new(Behaviour::Normal);
    let server = supervisor(home.path()).start(&store, &ServerOptions::default(), None).unwrap();
    let password = server.folder().password.expose().to_owned();
    for process in server.processes() {
        let arguments = std::fs::read(format!("/proc/{}/cmdline", process.pid)).unwrap();
        assert!(!arguments.is_empty());
        assert!(!String::from_utf8_lossy(&arguments).contains(&password));
    }
    let run = home.path().join(format!("tiny-{}", server.run()));
    let raw = std::fs::read_to_string(run.join("server.log")).unwrap();
    assert!(raw.contains(&password), "this server prints its password, which makes the next line a test");
    let tail = server.log_tail(50);
    assert!(tail.contains("the password is …") && !tail.contains(&password), "{tail}");
    let owner = std::fs::read_to_string(run.join("sensormark-owner.json")).unwrap();
    assert!(!owner.contains(&password));
}

#[test]
fn a_mute_server_times_out() {
    let begun = Instant::now();
    let mut store = TestStore::new(Behaviour::Mute);
    store.start_seconds = 2;
    let (kind, text) = failing_start(&store, None);
    assert_eq!(kind, ErrorKind::Timeout);
    assert!(text.contains("did not answer within 2 s"), "{text}");
    assert!(begun.elapsed() < Duration::from_secs(15));
}

#[test]
fn an_early_exit_shows_the_log() {
    let begun = Instant::now();
    let (kind, text) = failing_start(&TestStore::new(Behaviour::Broken), None);
    assert_eq!(kind, ErrorKind::Crashed);
    assert!(text.contains("exit status 3"), "{text}");
    assert!(text.contains("option frobnicate is unknown"), "{text}");
    assert!(text.contains("the password is …"), "{text}");
    assert!(begun.elapsed() < Duration::from_secs(15), "it does not wait for the time limit");
}

#[test]
fn a_missing_program_is_named() {
    let (kind, text) = failing_start(&TestStore::new(Behaviour::Missing), None);
    assert_eq!(kind, ErrorKind::NotInstalled);
    assert!(text.contains("no-such-program"), "{text}");
}

#[test]
fn folders_that_cannot_be_used_are_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let below_a_file = file.path().join("state");
    let error = Supervisor::new(Some(below_a_file)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    let store = TestStore::new(Behaviour::Normal);
    let (kind, text) = failing_start(&store, Some(Path::new("/no/such/folder")));
    assert_eq!(kind, ErrorKind::Configuration);
    assert!(text.contains("/no/such/folder"), "{text}");
    let closed = tempfile::tempdir().unwrap();
    std::fs::set_permissions(closed.path(), std::os::unix::fs::PermissionsExt::from_mode(0o500)).unwrap();
    if rustix::process::geteuid().is_root() {
        let (kind, text) = failing_start(&store, Some(closed.path()));
        assert_eq!(kind, ErrorKind::Configuration);
        assert!(text.contains("the user nobody cannot reach"), "{text}");
    } else {
        let (kind, text) = failing_start(&store, Some(closed.path()));
        assert_eq!(kind, ErrorKind::Configuration);
        assert!(text.contains("Permission denied"), "{text}");
    }
    assert_eq!(names_in(closed.path()), Vec::<String>::new());
}

#[test]
fn a_taken_port_is_replaced() {
    let home = reachable_folder();
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut store = TestStore::new(Behaviour::Normal);
    store.insist_on = Some(holder.local_addr().unwrap().port());
    let server = supervisor(home.path()).start(&store, &ServerOptions::default(), None).unwrap();
    assert_eq!(store.launches.load(Ordering::SeqCst), 2);
    assert_ne!(Some(server.endpoint().ports[0]), store.insist_on);
    assert_eq!(names_in(home.path()).len(), 1, "the first attempt left nothing");
}

#[test]
fn a_full_disk_is_told_apart() {
    let (kind, text) = failing_start(&TestStore::new(Behaviour::Full), None);
    assert_eq!(kind, ErrorKind::DiskFull, "{text}");
    assert!(text.contains("choose a folder on another disk"), "{text}");
}

/// A file system of 2 MB, unmounted with the value; `None` where this user may not mount one.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = reachable_folder();
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=2m,mode=755", "tmpfs"])
            .arg(folder.path())
            .stderr(std::process::Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        mounted.then(|| Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        std::process::Command::new("umount").arg("--lazy").arg(self.0.path()).status().ok();
    }
}

#[test]
fn a_disk_that_fills_up_is_cleared_again() {
    let Some(disk) = SmallDisk::mount() else {
        // Written past the test harness, which would keep it to itself.
        let reason = "not tried: a disk that fills up, since this user may not mount a small one";
        writeln!(std::io::stderr(), "{reason}").unwrap();
        return;
    };
    let data = disk.0.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let (kind, text) = failing_start(&TestStore::new(Behaviour::Filling), Some(&data));
    assert_eq!(kind, ErrorKind::DiskFull, "{text}");
    assert_eq!(names_in(&data), Vec::<String>::new());
    std::fs::write(disk.0.path().join("rest"), vec![1; 3 << 20]).unwrap_err();
    let store = TestStore::new(Behaviour::Normal);
    let full = Supervisor::new(Some(data))
        .and_then(|supervisor| supervisor.start(&store, &ServerOptions::default(), None).map(drop));
    assert_eq!(full.unwrap_err().kind(), ErrorKind::DiskFull);
    assert_eq!(names_in(&disk.0.path().join("data")), Vec::<String>::new());
}

#[test]
fn stop_all_ends_servers_and_starts() {
    let home = reachable_folder();
    let supervisor = supervisor(home.path());
    let store = TestStore::new(Behaviour::Stubborn);
    let server = supervisor.start(&store, &ServerOptions::default(), None).unwrap();
    let pid = server.process_id();
    let begun = Instant::now();
    let failed = std::thread::scope(|scope| {
        let starting = scope.spawn(|| {
            supervisor.start(&TestStore::new(Behaviour::Mute), &ServerOptions::default(), None).map(drop)
        });
        assert!(comes_true(Duration::from_secs(10), || supervisor.status().len() == 2));
        let handler = supervisor.clone();
        scope.spawn(move || handler.stop_all());
        starting.join().unwrap().unwrap_err()
    });
    assert_eq!(failed.kind(), ErrorKind::Unavailable, "{failed}");
    assert!(begun.elapsed() < Duration::from_secs(18), "a stubborn server is killed in the end");
    assert!(!is_alive(pid));
    assert_eq!(names_in(home.path()), Vec::<String>::new());
    let refused = supervisor.start(&store, &ServerOptions::default(), None).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::Unavailable);
    assert_eq!(names_in(home.path()), Vec::<String>::new());
    server.stop().unwrap();
}

#[test]
fn two_servers_do_not_meet() {
    let home = reachable_folder();
    let supervisor = supervisor(home.path());
    let store = TestStore::new(Behaviour::Normal);
    let one = supervisor.start(&store, &ServerOptions::default(), None).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let wishes = StartWishes::default();
    let two = runtime
        .block_on(async { supervisor.start_with(&store, &ServerOptions::default(), &wishes).unwrap() });
    assert_ne!(one.endpoint().ports, two.endpoint().ports);
    assert_ne!(one.folder().password, two.folder().password);
    assert_eq!(supervisor.status().len(), 2);
    assert_eq!(supervisor.clean_orphans(), Vec::<String>::new(), "our own are no orphans");
    one.check().unwrap();
    two.check().unwrap();
}
