//! `--memory-limit` on real servers: a control group around each, gone with it; what it came to in the result; refusals.

use crate::Outcome;
use crate::support::{Place, errors, read_folder, reasons, said};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/page/own.toml");

/// What the servers have: --server-memory and the least limit beside it, in MB.
const MEMORY: [&str; 4] = ["--server-memory", "128", "--memory-limit", "704"];

/// Why no control group can be made here, if none can.
fn missing() -> Outcome {
    let possible = sensormark_server::check_memory_limit();
    possible.err().map(|_| "no control group that bounds memory can be made here")
}

fn start(place: &Place, store: &str, further: &[&str]) -> Child {
    let on = format!("--on={store}:individual");
    let mut arguments = vec!["run", OWN, "--results", "results", "--progress=plain", "--full"];
    arguments.extend(["--tolerate-disturbance", "--set", "repetitions=1"]);
    arguments.extend(["--set", "mixed.duration=6s", &on]);
    arguments.extend(MEMORY);
    arguments.extend(further);
    place
        .command(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// What is written down about the one server in a place, once it is ready.
fn server(place: &Place) -> (PathBuf, u32) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let owners = read_folder(&place.path().join("state"))
            .into_iter()
            .filter_map(|run| std::fs::read(run.join("sensormark-owner.json")).ok())
            .filter_map(|text| serde_json::from_slice::<Value>(&text).ok());
        for owner in owners {
            let group = owner["memory_group"].as_str().map(PathBuf::from);
            let process = owner["server"]["pid"].as_u64();
            if let (Some(group), Some(process)) = (group, process) {
                return (group, u32::try_from(process).expect("a process"));
            }
        }
        assert!(Instant::now() < deadline, "no server with a group");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn limit(group: &Path) -> Option<u64> {
    let files = ["memory.limit_in_bytes", "memory.max"];
    let mut texts = files.iter().filter_map(|file| std::fs::read_to_string(group.join(file)).ok());
    texts.next()?.trim().parse().ok()
}

fn inside(group: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// A server's root process and its children. (PostgreSQL's lead sessions of their own.)
fn family(root: u32) -> Vec<u32> {
    let output = Command::new("ps").args(["-o", "pid=", "--ppid", &root.to_string()]).output();
    let text = String::from_utf8_lossy(&output.expect("ps").stdout).into_owned();
    let children = text.split_whitespace().filter_map(|pid| pid.parse().ok());
    std::iter::once(root).chain(children).collect()
}

/// Waits until this holds, at most a minute.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The folder of the group that bounds the processors of a process, and what it may use: a quota in µs of each tenth of a second.
fn quota(group: &Path, process: u32) -> (PathBuf, Option<u64>) {
    let two = std::fs::read_to_string(group.join("cpu.max"));
    if let Ok(text) = two {
        return (group.to_owned(), text.split(' ').next().and_then(|quota| quota.parse().ok()));
    }
    let groups = std::fs::read_to_string(format!("/proc/{process}/cgroup")).unwrap_or_default();
    let own = groups.lines().find_map(|line| line.split_once(":cpu:").or(line.split_once(":cpu,cpuacct:")));
    let folder = Path::new("/sys/fs/cgroup/cpu").join(own.expect("it has one").1.trim_start_matches('/'));
    let text = std::fs::read_to_string(folder.join("cpu.cfs_quota_us")).unwrap_or_default();
    (folder, text.trim().parse().ok())
}

pub fn a_server_gets_the_cores_that_it_is_held_to() -> Outcome {
    if missing().is_some() {
        return missing();
    }
    let place = Place::new();
    let running = start(&place, "postgresql", &["--cpu-limit", "0.5"]);
    let (group, process) = server(&place);
    wait_until("the server is in its group", || inside(&group).contains(&process));
    let (folder, half) = quota(&group, process);
    assert_eq!(half, Some(50_000), "{}", folder.display());
    for pid in family(process) {
        let gone = !Path::new(&format!("/proc/{pid}")).exists();
        assert!(gone || inside(&folder).contains(&pid), "{pid}");
    }
    let output = running.wait_with_output().expect("it ends");
    assert!(!folder.exists() && !group.exists(), "{}", folder.display());
    let trials = place.trials();
    assert!(!trials.is_empty(), "{}", errors(&output));
    for trial in trials {
        let notes = &trial["server"]["notes"];
        assert!(notes.to_string().contains("held to 0.5 cores (--cpu-limit)"), "{notes}");
    }
    None
}

/// On half a gigabyte and half a core: the process that has the database is in a group that bounds both, and the trial says so.
pub fn an_embedded_database_is_held_together_with_its_client() -> Outcome {
    if missing().is_some() {
        return missing();
    }
    for store in ["sqlite", "duckdb"] {
        let place = Place::new();
        let on = format!("--on={store}:individual");
        let limits = ["--memory-limit=512MB", "--cpu-limit=0.5"];
        let mut arguments = vec!["run", OWN, "--results", "results", "--tolerate-disturbance", &on];
        arguments.extend(["--set", "repetitions=1"].into_iter().chain(limits));
        let output = place.run(&arguments);
        let trials = place.trials();
        assert!(!trials.is_empty(), "{}", errors(&output));
        for trial in &trials {
            let told = trial["warnings"].to_string();
            assert!(told.contains("and its client are held to 488 MB together (--memory-limit)"), "{told}");
            assert!(told.contains("held to 0.5 cores (--cpu-limit)"), "{told}");
            let peak = told.split("of which ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
            assert!(peak.is_some_and(|peak: u64| (1..=488).contains(&peak)), "{told}");
            assert_eq!((&trial["answers"]["wrong"], &trial["ledger"]["lost"]), (&0.into(), &0.into()));
        }
        assert!(place.leftovers().is_empty(), "{:?}", place.leftovers());
    }
    None
}

pub fn servers_are_held_to_the_limit_and_pay_for_the_page_cache() -> Outcome {
    if missing().is_some() {
        return missing();
    }
    for store in ["postgresql", "mariadb"] {
        let place = Place::new();
        let running = start(&place, store, &[]);
        let (group, process) = server(&place);
        assert_eq!(limit(&group), Some(704 << 20), "{store}");
        // A shell joins the group and becomes the server.
        wait_until("the server is in its group", || inside(&group).contains(&process));
        for pid in family(process) {
            let gone = !Path::new(&format!("/proc/{pid}")).exists();
            assert!(gone || inside(&group).contains(&pid), "{store}: {pid}");
        }
        let output = running.wait_with_output().expect("it ends");
        assert!(!group.exists(), "{store}: {}", group.display());
        let trials = place.trials();
        assert!(!trials.is_empty(), "{}", errors(&output));
        for trial in trials {
            let seen = &trial["server"]["memory_limit"];
            assert_eq!(seen["limit_bytes"], 704_u64 << 20, "{trial}");
            let peak = seen["peak_bytes"].as_u64().expect("a peak");
            assert!((16 << 20..=704 << 20).contains(&peak), "{store}: {peak}");
            assert!(seen["limit_reached"].is_u64(), "{seen}");
            assert_eq!(seen["killed_processes"], 0, "{seen}");
        }
        let text = said(&output);
        assert!(text.contains("Memory limit of servers"), "{text}");
        let left = place.leftovers();
        assert!(left.is_empty(), "{store}: {left:?}");
    }
    None
}

pub fn the_group_of_a_killed_run_is_removed_by_the_next() -> Outcome {
    if missing().is_some() {
        return missing();
    }
    let place = Place::new();
    let mut running = start(&place, "postgresql", &[]);
    let (group, _) = server(&place);
    running.kill().expect("it is ours");
    running.wait().expect("it ends");
    assert!(group.is_dir(), "nobody has removed it yet");
    let next = place.measured("next", &["--on=sqlite", "--set=repetitions=1"]);
    assert!(next.is_dir() && !group.exists());
    assert!(place.leftovers().is_empty());
    None
}

/// Another process in the group takes its memory. The kernel has to end the server first. On a busy machine it may end that process too,
/// because what the server wrote is not on disk yet. So the process tries again while the server's group is there.
pub fn a_server_that_the_limit_ended_is_named_in_the_verdict() -> Outcome {
    if missing().is_some() {
        return missing();
    }
    let place = Place::new();
    let running = start(&place, "postgresql", &[]);
    let (group, process) = server(&place);
    // Five of the server's own, and those of sessions.
    wait_until("clients have sessions", || family(process).len() > 7);
    for pid in family(process) {
        std::fs::write(format!("/proc/{pid}/oom_score_adj"), "1000").ok();
    }
    // Less than the limit, so that it ends by itself; with the server's it is more.
    let script = r#"echo $$ > "$0" && head -c 720000000 /dev/zero | tail -c 720000000 > /dev/null"#;
    let procs = group.join("cgroup.procs");
    for _ in 0..3 {
        let taker = Command::new("sh").args(["-c", script]).arg(&procs).status();
        if taker.expect("a shell").success() || !procs.exists() {
            break;
        }
    }
    let output = running.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1), "{}", errors(&output));
    let trials = place.trials();
    let words = "memory limit of 704 MB (--memory-limit)";
    for trial in &trials {
        let verdict = &trial["verdict"];
        assert!(verdict.to_string().contains(words), "{verdict}");
        assert!(reasons(trial).contains(&"server_crashed".to_owned()), "{verdict}");
        let killed = &trial["server"]["memory_limit"]["killed_processes"];
        assert!(killed.as_u64().is_some_and(|killed| killed > 0), "{trial}");
    }
    assert!(!trials.is_empty() && !group.exists());
    None
}

pub fn what_cannot_be_held_to_a_limit_is_refused() -> Outcome {
    if missing().is_some() {
        return missing();
    }
    let place = Place::new();
    let started = place.run(&["servers", "start", "postgresql", "--server-memory", "128"]);
    let told = said(&started);
    let mut words = told.split_whitespace();
    let existing = words.find(|word| word.starts_with("postgresql=@"));
    let existing = format!("--on={}", existing.expect("a server"));
    let output = place.run(&["run", "machine-tool", &existing, "--memory-limit=2048"]);
    place.run(&["servers", "stop", "postgresql"]);
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("given by URL") && text.contains("leave out the URL"), "{text}");
    let cases: [(&[&str], &[&str]); 4] = [
        (
            &["--on=postgresql", "--server-memory=1024", "--memory-limit=1500"],
            &["PostgreSQL cannot run in 1500 MB", "--server-memory 1024", "at least 1792 MB"],
        ),
        (&["--on=sqlite", "--memory-limit=256"], &["SQLite cannot run in 256 MB", "at least 384 MB"]),
        (
            &["--on=sqlite,postgresql", "--memory-limit=370MiB"],
            &["SQLite cannot run in 370 MB", "leave SQLite out of --on"],
        ),
        (&["--on=postgresql", "--memory-limit=99999999"], &["would limit nothing"]),
    ];
    for (arguments, words) in cases {
        let place = Place::new();
        let output = place.run(&[&["run", "machine-tool"], arguments].concat());
        let text = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        for word in words {
            assert!(text.contains(word), "{arguments:?}: {text}");
        }
        assert_eq!(text.matches("sensormark: ").count(), 1, "{text}");
        assert!(place.leftovers().is_empty() && !place.results().exists());
    }
    None
}

/// A server that is started by hand is held to it until it is stopped, and `explain` starts its servers in the same way.
pub fn servers_by_hand_and_of_explain_are_held_to_the_limit() -> Outcome {
    if missing().is_some() {
        return missing();
    }
    let place = Place::new();
    let started = place.run(&[&["servers", "start", "postgresql"], &MEMORY[..]].concat());
    assert!(started.status.success(), "{}", errors(&started));
    let (group, process) = server(&place);
    assert_eq!(limit(&group), Some(704 << 20));
    assert!(inside(&group).contains(&process));
    let stopped = place.run(&["servers", "stop", "postgresql"]);
    assert!(stopped.status.success(), "{}", errors(&stopped));
    assert!(!group.exists() && place.leftovers().is_empty());
    let explain = ["explain", "durability", "--on", "postgresql:individual"];
    let running = place
        .command(&[&explain[..], &MEMORY].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let (group, _) = server(&place);
    assert_eq!(limit(&group), Some(704 << 20));
    let output = running.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", errors(&output));
    assert!(!group.exists() && place.leftovers().is_empty());
    None
}

pub fn servers_by_hand_and_explain_refuse_as_a_run_does() -> Outcome {
    if missing().is_some() {
        return missing();
    }
    let too_small = ["PostgreSQL cannot run in 300 MB", "at least 410 MB"];
    let cases: [(&[&str], [&str; 2]); 4] = [
        (&["servers", "start", "postgresql", "--memory-limit=300"], too_small),
        (
            &["servers", "start", "sqlite", "--memory-limit=2048"],
            ["SQLite runs inside the client", "give it a folder"],
        ),
        (&["explain", "devops", "--on=postgresql", "--memory-limit=300"], too_small),
        (
            &["explain", "devops", "--on=sqlite", "--memory-limit=300"],
            ["SQLite cannot run in 300 MB", "at least 384 MB"],
        ),
    ];
    for (arguments, words) in cases {
        let place = Place::new();
        let output = place.run(arguments);
        let text = errors(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        for word in words {
            assert!(text.contains(word), "{arguments:?}: {text}");
        }
        assert!(place.leftovers().is_empty(), "{arguments:?}");
    }
    // What the message says is enough.
    let output = Place::new().run(&["explain", "devops", "--on=postgresql", "--memory-limit=410"]);
    assert!(output.status.success(), "{}", errors(&output));
    None
}

/// The limit is that of the group that the whole program runs in. The kernel ends a server that nobody gave a limit, or lets it wait. The message says so first.
pub fn a_group_too_small_for_a_server_is_named() -> Outcome {
    if missing().is_some() {
        return missing();
    }
    let place = Place::new();
    let started = place.run(&[&["servers", "start", "postgresql"], &MEMORY[..]].concat());
    assert!(started.status.success(), "{}", errors(&started));
    let (beside, _) = server(&place);
    place.run(&["servers", "stop", "postgresql"]);
    let parent = beside.parent().expect("a group is in another");
    // What is too little for the server, and enough for the program beside it. Cassandra, which takes long to start, is like QuestDB: the kernel ends it, or
    // it waits for memory until its time is over.
    let cases = [("postgresql", 36), ("mariadb", 60), ("mongodb", 40), ("influxdb", 24), ("questdb", 80)];
    for (store, megabytes) in cases {
        let place = Place::new();
        let group = Group::make(parent, megabytes << 20);
        // More than the group has is refused before anything starts.
        let memory = megabytes.min(64).to_string();
        let mut shell = group.shell(&place, &["servers", "start", store, "--server-memory", &memory]);
        let output = shell.output().expect("a shell");
        let text = errors(&output);
        if output.status.success() {
            // The assertion below fails then, and nothing is to stay behind.
            place.run(&["servers", "stop", store]);
        }
        // Not installed, or less memory than the store starts with.
        if output.status.code() == Some(3) && text.contains("not installed") {
            continue;
        }
        assert_eq!(output.status.code(), Some(3), "{store}: {text}");
        let first = text.lines().next().unwrap_or_default();
        let words = format!("which may use {megabytes} MB");
        assert!(first.contains("for want of memory") && first.contains(&words), "{store}: {text}");
        assert!(place.leftovers().is_empty(), "{store}");
    }
    None
}

/// A group with a limit, removed when it is dropped.
struct Group(PathBuf);

impl Group {
    fn make(parent: &Path, limit_bytes: u64) -> Self {
        let folder = parent.join(format!("sensormark-test-{}", std::process::id()));
        std::fs::create_dir(&folder).expect("groups can be made");
        let is_there = |file: &&str| folder.join(file).exists();
        let files = ["memory.max", "memory.limit_in_bytes"];
        let file = files.iter().find(|file| is_there(file)).expect("a limit");
        std::fs::write(folder.join(file), limit_bytes.to_string()).expect("a limit");
        // No way out to the swap, where the kernel counts it.
        for (file, limit) in
            [("memory.swap.max", 0), ("memory.memsw.limit_in_bytes", limit_bytes + (1 << 20))]
        {
            std::fs::write(folder.join(file), limit.to_string()).ok();
        }
        Self(folder)
    }

    /// A shell that joins the group and becomes the program.
    fn shell(&self, place: &Place, arguments: &[&str]) -> Command {
        let program = place.command(arguments);
        let mut shell = Command::new("sh");
        shell.args(["-c", r#"echo $$ > "$0/cgroup.procs" && exec "$@""#]).arg(&self.0);
        shell.arg(program.get_program()).args(program.get_args());
        shell.current_dir(place.path());
        for (name, value) in program.get_envs() {
            shell.env(name, value.unwrap_or_default());
        }
        shell
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for _ in 0..100 {
            if std::fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
