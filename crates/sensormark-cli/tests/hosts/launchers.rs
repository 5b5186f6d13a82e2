//! Launchers of this machine: `env` in front of the program. Roles then take the ways that they take on other hosts: the line, the journal, the clocks.

use crate::support::{Place, SHORT, errors, held_against, said};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_sensormark");
/// What stands before the folder when a server was started.
const FOLDER: &str = "its folder, with its URL and password in endpoint.json: ";
/// Source and writer on one host, where this program is.
const WRITER_ON_PI1: [&str; 6] = ["--host-program", PROGRAM, "--host", "source=pi1", "--host", "writer=pi1"];
/// Small numbers of devops: a second or two.
const SMALL: [&str; 10] = [
    "hosts=8",
    "hours=0.25",
    "more_hours=0.5",
    "workers=4",
    "clients=4",
    "queries=8",
    "batch=60",
    "several_hosts=3",
    "query_seconds=0",
    "live_seconds=0",
];

/// A PostgreSQL server on this machine, stopped at the end.
pub struct Server<'a> {
    place: &'a Place,
    pub url: String,
}

impl<'a> Server<'a> {
    pub fn start(place: &'a Place) -> Self {
        let started = place.run(&["servers", "start", "postgresql", "--server-memory", "256"]);
        assert!(started.status.success(), "{}", errors(&started));
        let said = String::from_utf8_lossy(&started.stdout).into_owned();
        let folder = said.lines().find_map(|line| line.strip_prefix(FOLDER));
        let file = Path::new(folder.expect("its folder is told")).join("endpoint.json");
        let text = fs::read_to_string(file).expect("it can be read");
        let endpoint: Value = serde_json::from_str(&text).expect("JSON");
        let url = endpoint["url"].as_str().expect("a URL").to_owned();
        Self { place, url }
    }

    /// A probe of it, with the folder of its data.
    fn probe(&self) -> String {
        let asked = ["-AtqX", "-c", "SHOW data_directory", "-d", &self.url];
        let output = Command::new("psql").args(asked).output();
        let said = output.expect("psql is there").stdout;
        let folder = String::from_utf8(said).expect("UTF-8");
        format!("server=port,disk={}", folder.trim())
    }

    pub fn on(&self, layout: &str) -> String {
        let server = self.url.splitn(4, '/').take(3).collect::<Vec<_>>();
        format!("postgresql:{layout}={}/", server.join("/"))
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        self.place.run(&["servers", "stop", "postgresql"]);
    }
}

/// Refused with exit code 2 and all of these words, before anything is begun.
fn refuses(arguments: &[&str], words: &[&str]) {
    let place = Place::new();
    let output = place.run(&[&["run"], arguments].concat());
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
    for word in words {
        assert!(text.contains(word), "{arguments:?}: {word:?} is not in: {text}");
    }
    assert!(!place.results().exists(), "{arguments:?}: something was begun");
}

pub fn refused() -> Option<String> {
    let url = "postgresql:bulk=postgresql://u:hunter2@127.0.0.1:1/";
    let tool = ["machine-tool", "--on", "sqlite:bulk"];
    refuses(
        &[&tool[..], &["--host", "reader=ssh:a"]].concat(),
        &["SQLite works inside its client's process"],
    );
    refuses(
        &["machine-tool", "--on", "postgresql:bulk", "--host", "reader=ssh:a"],
        &["127.0.0.1", "--on postgresql=URL"],
    );
    refuses(&["machine-tool", "--on", "sqlite:bulk", "--host", "raeder=ssh:a"], &["did you mean reader?"]);
    refuses(&["devops", "--on", "sqlite", "--host", "load=a"], &["\"a\" names a host", "ssh:a"]);
    let _ = url;
    None
}

/// The value of a load of a trial, by the names of its fields.
fn operations(trial: &Value, side: &str) -> u64 {
    let loads = trial["loads"].as_array().expect("loads");
    let writes = side == "write";
    let mine = loads.iter().filter(|load| load["writes"] == writes && load["warm_up"] == false);
    let classes = mine.flat_map(|load| load["classes"].as_object().expect("classes").values());
    classes.map(|class| class["operations"].as_u64().expect("a count")).sum()
}

/// What a role used in the phase of this name, as figures of its columns.
fn used(trial: &Value, phase: &str, role: &str) -> Value {
    let mut phases = trial["phases"].as_array().expect("phases").iter();
    let phase = phases.find(|one| one["name"] == phase);
    phase.expect("the phase")["totals"]["roles"][role].clone()
}

/// A column of a role, which is there and not 0.
fn figure(role: &Value, name: &str) -> f64 {
    let figure = role[name].as_f64().filter(|figure| *figure > 0.0);
    figure.unwrap_or_else(|| panic!("no {name}: {role}"))
}

/// The phase of a trial's first load that is measured.
fn first_phase(trial: &Value) -> &str {
    let mut loads = trial["loads"].as_array().expect("loads").iter();
    let load = loads.find(|load| load["writes"] == true && load["warm_up"] == false);
    let phase = load.expect("a load")["phase"].as_str();
    phase.expect("a name")
}

/// What processes of a launcher used is what those that were placed here used, within a factor. More processes hold more memory.
fn near(placed: &Value, here: &Value, processes: f64) {
    for (name, factor) in [
        ("cpu_ns", 2.0 * processes),
        ("peak_resident_bytes", 1.5 * processes),
        ("end_proportional_bytes", 1.5 * processes),
        ("sent_wire_bytes", 1.5),
        ("received_wire_bytes", 1.5),
    ] {
        let times = figure(placed, name) / figure(here, name);
        println!("{name}: {times:.2} times that of processes here");
        let least = if name.ends_with("wire_bytes") {
            1.0 / factor
        } else {
            // Processes that are there at once share pages, and each counts its part of them.
            1.0 / 4.0
        };
        assert!((least..factor).contains(&times), "{name}: {placed} {here}");
    }
}

/// The probes of these hosts are told, each with samples of its own, and none of them is another host: all share this kernel.
fn has_probes(place: &Place, trial: &Value, role: &str, hosts: &[&str]) {
    let probes = trial["client_probes"].as_array().expect("probes");
    let told: Vec<_> = probes.iter().map(|one| one["probe"]["host"].as_str()).collect();
    let expected: Vec<_> = hosts.iter().map(|host| Some(*host)).collect();
    assert_eq!(told, expected);
    let name = trial["name"].as_str().expect("a name");
    for (probe, host) in probes.iter().zip(hosts) {
        assert_eq!(probe["role"], role);
        assert!(probe["probe"]["processors"].as_u64() > Some(0), "{probe}");
        let samples = format!("samples/{name}.{role}-{host}.json");
        assert!(place.run_folder().join(samples).is_file(), "{host}");
    }
    for phase in trial["phases"].as_array().expect("phases") {
        assert!(phase["totals"]["client_hosts"].is_null(), "{phase}");
    }
}

/// Writer and reader of a launcher have the columns of those that were placed here.
fn has_columns(placed: &Place, here: &Place) {
    for (there, here) in placed.trials().iter().zip(&here.trials()) {
        assert_eq!(there["name"], here["name"]);
        let (role, host) = match there["side"].as_str() {
            Some("write") => ("writer", "pi1"),
            _ => ("reader", "pi2"),
        };
        let placed_here = used(here, "measured", role);
        let placed_there = used(there, "measured", role);
        if role == "writer" {
            near(&placed_there, &placed_here, 1.0);
        }
        // How many reads there is time for depends on the machine.
        for name in ["cpu_ns", "peak_resident_bytes", "received_wire_bytes"] {
            figure(&placed_there, name);
        }
        has_probes(placed, there, role, &[host]);
    }
}

/// What starts a command whose clock is 3 s ahead: in a time namespace of the kernel.
pub const AHEAD: [&str; 6] = ["unshare", "--time", "--monotonic", "3", "--fork", "--kill-child"];

/// Why no clock can be ahead here; none where one can.
pub fn no_clock_ahead() -> Option<String> {
    let tried = Command::new(AHEAD[0]).args(&AHEAD[1..]).arg("true").output();
    let may = tried.is_ok_and(|output| output.status.success());
    (!may).then(|| "no time namespace can be made here (unshare --time, as root)".to_owned())
}

/// A clock that is 3 s ahead is seen, and figures stay what they are. All columns are there, as of roles on this machine.
pub fn clocks() -> Option<String> {
    let missing = no_clock_ahead();
    if missing.is_some() {
        return missing;
    }
    let (place, other) = (Place::new(), Place::new());
    let server = Server::start(&place);
    let (on, probe) = (server.on("individual"), server.probe());
    let launcher = format!("{} env HOST={{host}}", AHEAD.join(" "));
    let common = ["--on", &on, "--probe", &probe];
    let hosts = ["--launcher", &launcher, "--host", "reader=pi2"];
    let output = place.run(&[&SHORT[..], &common, &hosts, &WRITER_ON_PI1].concat());
    let here = other.short(&common);
    has_columns(&place, &other);
    for text in [said(&output), said(&here)] {
        assert!(!text.contains("lacks "), "{text}");
    }
    let trials = place.trials();
    assert!(!trials.is_empty(), "{}", said(&output));
    for trial in &trials {
        let held = held_against(trial);
        assert!(held.is_empty(), "{held:?}: {}", said(&output));
        for clock in trial["clocks"].as_array().expect("clocks") {
            let offset_ns = clock["offset_ns"].as_i64().expect("an offset");
            let uncertainty_ns = clock["uncertainty_ns"].as_u64().expect("an uncertainty");
            let drift_ppm = clock["drift_ppm"].as_f64().expect("a drift");
            assert!(offset_ns.abs_diff(3_000_000_000) <= uncertainty_ns, "{clock}");
            assert!(uncertainty_ns < 20_000_000, "{clock}");
            let phases = trial["phases"].as_array().expect("phases");
            let phase = phases.iter().find(|phase| phase["name"] == clock["phase"]);
            let seconds = phase.and_then(|phase| phase["seconds"].as_f64());
            let seconds = seconds.expect("the phase's");
            let known_ppm = 2.0 * uncertainty_ns as f64 / seconds / 1e3;
            assert!(drift_ppm.abs() <= known_ppm.max(1.0), "{clock}");
        }
        let hosts = trial["clocks"].as_array().expect("clocks").iter();
        let host = if trial["side"] == "write" { "pi1" } else { "pi2" };
        assert!(hosts.clone().count() > 0 && hosts.clone().all(|clock| clock["host"] == host));
    }
    let write = trials.iter().find(|trial| trial["side"] == "write").expect("a write trial");
    let ledger = &write["ledger"];
    assert_eq!(ledger["produced"], 4_200, "{}", said(&output));
    assert_eq!(ledger["lost"], 0);
    assert_eq!(ledger["checksum"], ledger["expected_checksum"]);
    // A start that was off by these 3 s would show in the fastest delay too. A busy machine delays most of them.
    let delay = &write["latencies"]["sensor_delay"]["summary"];
    let fastest_ns = delay["min_ns"].as_u64().expect("the fastest");
    assert!(fastest_ns < 2_500_000_000, "{delay}");
    assert!(place.leftovers().is_empty() || place.leftovers().len() == 1, "{:?}", place.leftovers());
    None
}

/// Four load hosts leave what one leaves.
pub fn load_hosts() -> Option<String> {
    let (one, four) = (Place::new(), Place::new());
    let server = Server::start(&one);
    let (on, probe) = (server.on("individual"), server.probe());
    // Time enough for both sizes on a busy machine.
    let alone = one.measure("devops", &SMALL, &["--budget", "10m", "--on", &on, "--probe", &probe]);
    let hosts = [
        "--budget",
        "10m",
        "--on",
        &on,
        "--probe",
        &probe,
        "--launcher",
        "env HOST={host}",
        "--host-program",
        PROGRAM,
        "--load-hosts",
        "a,b,c,d",
    ];
    let spread = four.measure("devops", &SMALL, &hosts);
    let (first, second) = (one.trials(), four.trials());
    assert_eq!((first.len(), second.len()), (1, 1), "{}{}", said(&alone), said(&spread));
    let (first, second) = (&first[0], &second[0]);
    assert_eq!(first["ledger"], second["ledger"], "{}", said(&spread));
    let answers = |trial: &Value| (trial["answers"]["checked"].clone(), trial["answers"]["wrong"].clone());
    assert_eq!(answers(first), answers(second), "{}", said(&spread));
    assert_eq!(operations(first, "write"), operations(second, "write"));
    let loads = second["loads"].as_array().expect("loads");
    assert!(loads.iter().any(|load| load["processes"] == 4), "{}", said(&spread));
    shared_windows(first, second, &said(&spread));
    let clocks = second["clocks"].as_array().expect("clocks");
    near(&used(second, first_phase(first), "trial"), &used(first, first_phase(first), "trial"), 4.0);
    has_probes(&four, second, "load", &["a", "b", "c", "d"]);
    assert!(!said(&spread).contains("lacks "), "{}", said(&spread));
    for host in ["a", "b", "c", "d"] {
        assert!(clocks.iter().any(|clock| clock["host"] == host), "{host}");
    }
    counts_over_the_window(&hosts);
    None
}

/// A load of some seconds: its rate is what its hosts did in the window that they shared, over that window's length.
fn counts_over_the_window(hosts: &[&str]) {
    let place = Place::new();
    let hours = ["--set", "hours=24", "--set", "more_hours=24.25"];
    let output = place.measure("devops", &SMALL, &[hosts, &hours].concat());
    let (trial, text) = (&place.trials()[0], said(&output));
    let mut loads = trial["loads"].as_array().expect("loads").iter();
    let load = loads.find(|load| load["phase"] == "load-4").expect("it");
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{load} {text}"));
    let window = &load["shared"];
    let [seconds, readings] = ["seconds", "readings"].map(|name| number(&window[name]));
    assert!(seconds >= 1.0, "the load is too short for this test: {load}");
    let rate = number(&trial["figures"]["values_per_second/load-4"]["value"]);
    // Nine readings, one a table, hold 101 values.
    let expected = readings * 101.0 / 9.0 / seconds;
    assert!((rate / expected - 1.0).abs() < 1e-9, "{rate} {expected}");
    // What each host did by itself adds up to nearly that.
    let figures = trial["figures"].as_object().expect("figures").iter();
    let own = figures.filter(|(name, _)| name.starts_with("host_operations_per_second/load-4/"));
    let sum: f64 = own.map(|(_, figure)| number(&figure["value"])).sum();
    let together = number(&window["operations"]) / seconds;
    assert!((0.7..1.4).contains(&(sum / together)), "{sum} {together}");
}

/// Each load of several hosts has the window that they shared, within its own time, and what they did in it. One host's loads have none.
fn shared_windows(alone: &Value, spread: &Value, text: &str) {
    let loads = |trial: &Value| trial["loads"].as_array().expect("loads").clone();
    assert!(loads(alone).iter().all(|load| load["shared"].is_null()));
    for load in loads(spread) {
        let (window, several) = (&load["shared"], load["processes"] == 4);
        assert_eq!(window.is_object(), several, "{load}");
        if several {
            let number = |name: &str| window[name].as_f64().expect("a number");
            assert_eq!(window["hosts"], 4, "{load}");
            let whole = load["seconds"].as_f64().expect("a length");
            assert!((0.0..=whole).contains(&number("seconds")), "{load}");
            let classes = load["classes"].as_object().expect("classes").values();
            let all: f64 = classes.filter_map(|class| class["operations"].as_f64()).sum();
            assert!((0.0..=all).contains(&number("operations")), "{load}");
            assert_eq!(number("operations") > 0.0, number("seconds") > 0.0, "{load}");
        }
    }
    assert!(text.contains("The window that all hosts of a load shared"), "{text}");
}

/// Process ids whose environment has this mark.
fn marked(mark: &str) -> Vec<u32> {
    let folders = fs::read_dir("/proc").expect("processes").flatten();
    let ids = folders.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has = |id: &u32| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|one| one == mark.as_bytes())
    };
    ids.filter(has).collect()
}

/// A run whose source and writer are at work for 20 s, placed by this launcher.
fn long_run(place: &Place, on: &str, launcher: &str) -> Command {
    let run = [
        "run",
        "machine-tool",
        "--results",
        "results",
        "--progress=quiet",
        "--tolerate-disturbance",
        "--set",
        "warmup_seconds=0.5",
        "--set",
        "measured_seconds=20",
        "--set",
        "history_seconds=2",
        "--on",
        on,
        "--launcher",
        launcher,
    ];
    place.command(&[&run[..], &WRITER_ON_PI1].concat())
}

/// A host whose process is killed in mid-load ends the trial, with its name; nothing is left there.
pub fn lost() -> Option<String> {
    let place = Place::new();
    let server = Server::start(&place);
    let on = server.on("individual");
    let mark = format!("LOST-{}", std::process::id());
    let launcher = format!("env {mark}={{host}}");
    let running = long_run(&place, &on, &launcher)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mark = format!("{mark}=pi1");
    let deadline = Instant::now() + Duration::from_secs(60);
    // Writer, its probe and source.
    while marked(&mark).len() < 3 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_secs(2));
    let found = marked(&mark);
    assert_eq!(found.len(), 3, "writer, its probe and source are at work");
    let name = |id: &u32| fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let writer = found.iter().find(|id| name(id).contains("writer")).expect("a writer");
    let killed = Command::new("kill").args(["-9", &writer.to_string()]).status();
    assert!(killed.expect("kill").success());
    let output: Output = running.wait_with_output().expect("it ends");
    let trials = place.trials();
    let write = trials.iter().find(|trial| trial["side"] == "write").expect("a write trial");
    let text = write["verdict"].to_string();
    assert!(text.contains("writer process on pi1 ended early"), "{text} {}", said(&output));
    let gone = Instant::now() + Duration::from_secs(5);
    while !marked(&mark).is_empty() && Instant::now() < gone {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(marked(&mark).is_empty(), "processes are left");
    None
}
