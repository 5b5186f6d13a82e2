//! Three hosts with an sshd each: one has source and writer, one reads, and one has the server. The hub has the coordinator.

use crate::launchers::{AHEAD, no_clock_ahead};
use crate::network::Network;
use crate::support::{Place, SHORT, held_against, said};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_sensormark");

/// What the server's user has to say.
const PASSWORD: &str = "not-to-be-seen-19";

/// The program as the hosts start it, under this name: with a state folder of their own, and with these words before it.
pub fn program_of_hosts(folder: &Path, name: &str, further: &str) -> String {
    let program = folder.join(name);
    let state = folder.join("state");
    let lines =
        format!("#!/bin/sh\nexec env SENSORMARK_STATE={} {further} {PROGRAM} \"$@\"\n", state.display());
    fs::write(&program, lines).expect("room");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("ours");
    program.to_str().expect("UTF-8").to_owned()
}

/// What a role used in the measured phase, and the trial's totals there.
fn used<'a>(trial: &'a Value, role: &str) -> (&'a Value, &'a Value) {
    let totals = &phase(trial)["totals"];
    (&totals["roles"][role], totals)
}

fn phase(trial: &Value) -> &Value {
    let mut phases = trial["phases"].as_array().expect("phases").iter();
    phases.find(|phase| phase["name"] == "measured").expect("measured")
}

fn client_of(trial: &Value) -> (&str, &str) {
    match trial["side"].as_str() {
        Some("write") => ("writer", "pi1"),
        _ => ("reader", "pi2"),
    }
}

/// Every column of the server is there.
pub fn check_server_columns(trial: &Value) {
    check_role(trial, "server");
}

fn check_role(trial: &Value, role: &str) {
    let (role, _) = used(trial, role);
    for name in [
        "cpu_ns",
        "peak_resident_bytes",
        "end_proportional_bytes",
        "sent_wire_bytes",
        "received_wire_bytes",
        "mean_round_trip_ns",
    ] {
        assert!(role[name].as_u64() > Some(0), "{name} of {role}");
    }
    assert!(role["retransmitted_segments"].is_u64(), "{role}");
    assert!(role["storage_written_bytes"].is_u64(), "{role}");
}

/// Every column of server and client is there, and each host's own figures.
fn check_columns(place: &Place, trial: &Value) {
    let (client, host) = client_of(trial);
    check_role(trial, client);
    check_server_columns(trial);
    let (_, totals) = used(trial, client);
    let hosts = totals["client_hosts"].as_array().expect("other hosts");
    assert_eq!(hosts.len(), 1, "{hosts:?}");
    assert_eq!(hosts[0]["name"], host);
    assert!(hosts[0]["host"]["processors"].as_u64() > Some(0));
    assert_eq!(hosts[0]["roles"][client], totals["roles"][client]);
    assert!(totals["server_host"]["span_ns"].as_u64() > Some(0));
    let probe = &trial["client_probes"][0];
    assert_eq!(probe["role"], client);
    assert_eq!(probe["probe"]["host"], host);
    assert_eq!(probe["probe"]["missing"], Value::Array(Vec::new()), "{probe}");
    assert!(probe["probe"]["memory_bytes"].as_u64() > Some(0));
    let server = &trial["server"]["probe"];
    assert_eq!(server["missing"], Value::Array(Vec::new()), "{server}");
    let name = trial["name"].as_str().expect("a name");
    let samples = format!("samples/{name}.{client}-{host}.json");
    assert!(place.run_folder().join(samples).is_file());
}

/// All trials hold, have all columns, know the clocks of their hosts, and have stored what the source made.
pub fn check(place: &Place, output: &Output, least_offset_ns: i64) -> Vec<Value> {
    let trials = place.trials();
    assert!(trials.len() > 1, "{}", said(output));
    for trial in &trials {
        let held = held_against(trial);
        assert!(held.is_empty(), "{held:?}: {}", said(output));
        check_columns(place, trial);
        let clocks = trial["clocks"].as_array().expect("clocks");
        assert!(!clocks.is_empty(), "{}", said(output));
        for clock in clocks {
            let offset_ns = clock["offset_ns"].as_i64().expect("an offset");
            assert!(offset_ns >= least_offset_ns, "{clock}");
        }
    }
    let ledger = &write_trial(&trials)["ledger"];
    assert_eq!(ledger["produced"], 4_200);
    assert_eq!(ledger["checksum"], ledger["expected_checksum"]);
    let text = said(output);
    for words in ["Other hosts that roles ran on", "server measured by a probe on db1"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(!text.contains("lacks "), "{text}");
    trials
}

fn write_trial(trials: &[Value]) -> &Value {
    let mut all = trials.iter();
    all.find(|trial| trial["side"] == "write").expect("a write trial")
}

/// A clock that is ahead changes no figure by more than its uncertainty. Looked at are the length of the phase and the delay from sensor to acknowledgement.
/// Delays of two runs are as far apart as their own spread.
fn compare(ahead: &[Value], plain: &[Value]) {
    let (ahead, plain) = (write_trial(ahead), write_trial(plain));
    let uncertainty_ns = |trial: &Value| {
        let clocks = trial["clocks"].as_array().expect("clocks").iter();
        let all = clocks.map(|clock| clock["uncertainty_ns"].as_u64().expect("known"));
        all.max().expect("a clock")
    };
    let uncertain_ns = uncertainty_ns(ahead) + uncertainty_ns(plain);
    assert!(uncertain_ns < 100_000_000, "{uncertain_ns}");
    let delay = |trial: &Value, name: &str| {
        let summary = &trial["latencies"]["sensor_delay"]["summary"];
        summary[name].as_u64().expect("a percentile")
    };
    let spread_ns = delay(ahead, "p95_ns").max(delay(plain, "p95_ns"));
    let (one, other) = (delay(ahead, "p50_ns"), delay(plain, "p50_ns"));
    assert!(one.abs_diff(other) <= spread_ns + uncertain_ns, "{one} and {other}");
    // A busy machine delays most samples by seconds; 3 s would delay the fastest too.
    let fastest = delay(ahead, "min_ns").max(delay(plain, "min_ns"));
    assert!(fastest < 2_500_000_000, "{fastest}");
    let seconds = |trial: &Value| phase(trial)["seconds"].as_f64().expect("a length");
    let off = (seconds(ahead) - seconds(plain)).abs();
    assert!(off < 0.5, "{off} s");
    let sent = |trial: &Value| used(trial, "writer").0["sent_wire_bytes"].as_f64();
    let times = sent(ahead).expect("seen") / sent(plain).expect("seen");
    // Six times the bytes were seen on a busy machine; why is not known.
    assert!((0.1..10.0).contains(&times), "{times} times the bytes");
}

/// Where the password shows while the run goes on: on a command line, or in a file of these folders. The user's own command line, the first of ours, is left out.
fn exposed(own: &[u32], folders: &[PathBuf]) -> Option<String> {
    let processes = crate::support::read_folder(Path::new("/proc")).into_iter();
    let ids = processes.filter_map(|path| path.file_name()?.to_str()?.parse::<u32>().ok());
    let users = fs::read(format!("/proc/{}/cmdline", own[0])).unwrap_or_default();
    for id in ids.filter(|id| !own.contains(id)) {
        let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        // Between fork and exec a child has its parent's.
        if line != users && has_password(&line) {
            return Some(String::from_utf8_lossy(&line).replace('\0', " "));
        }
    }
    let mut waiting = folders.to_vec();
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(crate::support::read_folder(&path));
        } else if path.is_file() && has_password(&fs::read(&path).unwrap_or_default()) {
            return Some(path.display().to_string());
        }
    }
    None
}

fn has_password(bytes: &[u8]) -> bool {
    let mut windows = bytes.windows(PASSWORD.len());
    windows.any(|window| window == PASSWORD.as_bytes())
}

/// Runs it to its end, and looks for the password all the time.
fn watched(mut command: Command, folders: &[PathBuf]) -> Output {
    let piped = std::process::Stdio::piped;
    let child = command.stdout(piped()).stderr(piped()).spawn();
    let child = child.expect("it starts");
    let own = [child.id(), std::process::id()];
    let (ended, is_over) = std::sync::mpsc::channel::<()>();
    let (looks, output) = std::thread::scope(|scope| {
        let looking = scope.spawn(move || {
            let mut looks = 0;
            let wait = Duration::from_millis(200);
            while is_over.recv_timeout(wait) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                if let Some(place) = exposed(&own, folders) {
                    return Err(place);
                }
                looks += 1;
            }
            exposed(&own, folders).map_or(Ok(looks), Err)
        });
        let output = child.wait_with_output().expect("it ends");
        drop(ended);
        (looking.join().expect("it looked"), output)
    });
    let looks = looks.unwrap_or_else(|place| panic!("the password shows: {place}"));
    assert!(looks > 5, "it was looked {looks} times");
    assert!(!said(&output).contains(PASSWORD), "the password is told");
    output
}

pub fn three_hosts() -> Option<String> {
    let missing = no_clock_ahead();
    if missing.is_some() {
        return missing;
    }
    let (place, other) = (Place::new(), Place::new());
    let folder = place.path().join("network");
    fs::create_dir(&folder).expect("room");
    let mut network = match Network::new(&folder, &["pi1", "pi2", "db1"]) {
        Ok(network) => network,
        Err(why) => return Some(why),
    };
    let (url, data) = network.postgresql("db1", PASSWORD);
    let ahead = program_of_hosts(&folder, "sensormark", &AHEAD.join(" "));
    let plain = program_of_hosts(&folder, "plain", "");
    let launcher = network.launcher();
    let on = format!("postgresql:individual={url}");
    let db1 = launcher.replace("{host}", "db1");
    let probe = format!("server=port,disk={data},host={db1},program={plain}");
    let of_program = |program: &str| arguments_of(&on, &launcher, &probe, program);
    let run_in = |place: &Place, arguments: &[&str]| {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", network.hub(), PROGRAM])
            .args(arguments)
            .current_dir(place.path())
            .env("SENSORMARK_STATE", place.path().join("state"));
        command
    };
    let state = folder.join("state");
    let measured = |place: &Place, program: &str, least_offset_ns: i64| {
        let arguments = of_program(program);
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let folders = [place.path().join("state"), place.results(), state.clone()];
        let output = watched(run_in(place, &words), &folders);
        check(place, &output, least_offset_ns)
    };
    let trials = measured(&place, &ahead, 3_000_000_000 - 10_000_000);
    compare(&trials, &measured(&other, &plain, -10_000_000));
    let arguments = of_program(&ahead);
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let run_there = |words: &[&str]| run_in(&place, words);
    cut_off(&run_there, &words, ("writer", "pi1"), (&state, 3));
    None
}

/// The command of a run whose source and writer are on one host and whose reader is on another.
fn arguments_of(on: &str, launcher: &str, probe: &str, program: &str) -> Vec<String> {
    let places = ["--on", on, "--launcher", launcher, "--probe", probe, "--host-program", program];
    let hosts = ["--host", "source=pi1", "--host", "writer=pi1", "--host", "reader=pi2"];
    let all = SHORT.iter().chain(&places).chain(&hosts);
    all.map(|&word| word.to_owned()).collect()
}

/// The processes of this program's roles and of the probes beside them, by their command line. Only those of hosts with this state folder count: other tests
/// run at the same time.
fn roles(state: &Path) -> Vec<u32> {
    let state = format!("SENSORMARK_STATE={}", state.display());
    let folders = fs::read_dir("/proc").expect("processes").flatten();
    let ids = folders.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_role = |id: &u32| {
        let line = fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let is_probe = line.contains("\0probe\0--pid\0");
        let is_role = line.starts_with(PROGRAM) && (line.contains("\0elsewhere") || is_probe);
        let environment = fs::read_to_string(format!("/proc/{id}/environ")).unwrap_or_default();
        is_role && environment.split('\0').any(|one| one == state)
    };
    ids.filter(is_role).collect()
}

/// So many processes, once they have stayed the same for two seconds. A busy machine starts them one after the other, with short-lived ones between.
fn settled(now: &dyn Fn() -> Vec<u32>, count: usize) -> Vec<u32> {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut last = Vec::new();
    while Instant::now() < deadline {
        let before = std::mem::replace(&mut last, now());
        if last.len() == count && last == before {
            return last;
        }
        std::thread::sleep(Duration::from_secs(2));
    }
    let line = |id: &u32| fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let lines: Vec<String> = last.iter().map(line).collect();
    panic!("{count} roles and probes are not at work, but {lines:?}");
}

/// Kills the ssh session of this role in mid-load, when so many processes of roles and probes with this state folder work. The message names role and host, and nothing is left running.
pub fn cut_off(
    run: &dyn Fn(&[&str]) -> Command,
    arguments: &[&str],
    (role, host): (&str, &str),
    (state, processes): (&Path, usize),
) {
    let further = ["--set", "measured_seconds=30", "--results", "cut"];
    let changed: Vec<&str> =
        arguments.iter().map(|word| if *word == "results" { "cut" } else { *word }).collect();
    let changed = [&changed[..], &further[..2]].concat();
    let child = run(&changed)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let ours = settled(&|| roles(state), processes);
    // The coordinator's ssh clients are its children.
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let children = fs::read_to_string(children).unwrap_or_default();
    let is_its = |id: &&str| {
        let line = fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
        line.starts_with("ssh") && line.contains(&format!("{role}\0elsewhere"))
    };
    let session = children.split_whitespace().find(is_its).expect("its ssh client");
    assert!(Command::new("kill").args(["-9", session]).status().expect("kill").success());
    let output = child.wait_with_output().expect("it ends");
    assert!(said(&output).contains(&format!("{role} process on {host} ended early")), "{}", said(&output));
    let gone = Instant::now() + Duration::from_secs(15);
    while ours.iter().any(|id| roles(state).contains(id)) && Instant::now() < gone {
        std::thread::sleep(Duration::from_millis(50));
    }
    let left: Vec<u32> = ours.into_iter().filter(|id| roles(state).contains(id)).collect();
    assert!(left.is_empty(), "left running there: {left:?}");
}
