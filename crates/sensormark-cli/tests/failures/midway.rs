//! What happens in mid-load: the network falls silent, the server stops answering, the server is killed.

use crate::program::{ENDLESS, Ended, Program};
use crate::proxy::Proxy;
use crate::stores::{MEMORY, Server, Shared, processes, signal};
use crate::support::{Place, numbers, reasons};
use crate::{Outcome, takes_minutes};
use serde_json::Value;
use std::time::{Duration, Instant};

/// An operation's time limit in these tests, in seconds.
const TIMEOUT: &str = "1";
/// The longest that a trial may go on after nothing is answered any more: some time limits, and a server's stop in good order.
const LIMIT: Duration = Duration::from_secs(90);
/// The longest until a killed server is noticed.
const NOTICE: Duration = Duration::from_secs(2);
/// The longest that a run may wait for a database to be dropped, a server's start and stop with it.
const GIVES_UP: Duration = Duration::from_secs(240);
/// A workload that is over in a moment.
const BRIEF: &str = concat!(
    r#"
layouts = ["individual"]
[series]
count = 8
interval = "1s"
duration = "60s"
[[tags]]
name = "sensor"
"#,
    numbers!(),
    "[load]\nclients = 2\nbatch = 5\n"
);

/// Behind a proxy that holds everything back.
pub fn silent_network(shared: &Shared) -> Outcome {
    if let Some(reason) = shared.server.past_proxies() {
        return Ok(Some(reason));
    }
    shared.with(|server, running| {
        let proxy = Proxy::before(running.port())?;
        let place = Place::new();
        let on = format!("{}={}", server.on(), running.with_port(proxy.port));
        let mut program = Program::run(&place, ENDLESS, &["--on", &on, "--timeout", TIMEOUT])?;
        program.wait_for_load(50)?;
        proxy.fall_silent();
        given_up(&place, program, Instant::now())?;
        Ok(None)
    })
}

/// All processes of the server are stopped (SIGSTOP).
pub fn stopped_server(server: &Server) -> Outcome {
    let place = Place::new();
    let (on, memory) = (server.on(), ["--server-memory", MEMORY]);
    let options = [&["--on", &on, "--timeout", TIMEOUT][..], &memory].concat();
    let mut program = Program::run(&place, ENDLESS, &options)?;
    let root = program.server()?;
    program.wait_for_load(50)?;
    signal("STOP", &processes(root));
    given_up(&place, program, Instant::now())?;
    ensure!(processes(root).is_empty(), "processes are left");
    Ok(None)
}

/// All processes of the server stop when the trial has ended, before its database is dropped. The run gives that up, and keeps the trial.
pub fn stopped_at_the_end(server: &Server) -> Outcome {
    if let Some(reason) = takes_minutes() {
        return Ok(Some(reason));
    }
    let place = Place::new();
    let (on, memory) = (server.on(), ["--server-memory", MEMORY]);
    let options = [&["--on", &on, "--timeout", TIMEOUT][..], &memory].concat();
    let mut program = Program::run(&place, BRIEF, &options)?;
    let root = program.server()?;
    program.wait_for("the trial", GIVES_UP, |name, _| name == "trial_finished")?;
    signal("STOP", &processes(root));
    let ended = program.end(GIVES_UP)?;
    ensure!(matches!(ended.code, Some(0 | 1)), "exit code {:?}: {}", ended.code, ended.said);
    only(&place, &ended)?;
    ensure!(processes(root).is_empty(), "processes are left");
    let left = place.leftovers();
    ensure!(left.is_empty(), "left behind: {left:?}");
    Ok(None)
}

/// The trial ends in good time, as one whose operations did not come back, and leaves nothing behind.
fn given_up(place: &Place, program: Program<'_>, since: Instant) -> Result<(), String> {
    let ended = program.end(LIMIT)?;
    let took = ended.at.duration_since(since).as_secs();
    ensure!(matches!(ended.code, Some(1 | 3)), "exit code {:?} after {took} s: {}", ended.code, ended.said);
    let trial = only(place, &ended)?;
    let kinds = reasons(&trial);
    ensure!(
        kinds.iter().any(|kind| kind == "hung" || kind == "unreachable"),
        "{kinds:?} after {took} s: {}",
        ended.said
    );
    ensure!(!ended.said.contains("panicked"), "{}", ended.said);
    let left = place.leftovers();
    ensure!(left.is_empty(), "left behind: {left:?}");
    Ok(())
}

fn only(place: &Place, ended: &Ended) -> Result<Value, String> {
    let mut trials = place.trials();
    ensure!(trials.len() == 1, "{} trials: {}", trials.len(), ended.said);
    Ok(trials.remove(0))
}

/// The root process is killed (SIGKILL), as the kernel does when memory is short.
pub fn killed_server(server: &Server) -> Outcome {
    let place = Place::new();
    let on = server.on();
    let options = ["--on", &on, "--server-memory", MEMORY];
    let mut program = Program::run(&place, ENDLESS, &options)?;
    let root = program.server()?;
    program.wait_for_load(100)?;
    let killed = Instant::now();
    signal("KILL", &[root]);
    let stopped = |name: &str, data: &Value| {
        name == "note" && data.as_str().is_some_and(|text| text.contains("signal 9"))
    };
    let noticed = program.wait_for("the end of the server", NOTICE * 5, stopped)?;
    let took = noticed.duration_since(killed);
    ensure!(took < NOTICE, "noticed after {} ms", took.as_millis());
    let ended = program.end(Duration::from_secs(300))?;
    ensure!(ended.code == Some(1), "{:?}: {}", ended.code, ended.said);
    let trial = only(&place, &ended)?;
    let texts = trial["verdict"]["reasons"].as_array().cloned();
    let crashed = texts.unwrap_or_default().into_iter();
    let crash = crashed.filter(|reason| reason["kind"] == "server_crashed");
    let text: String = crash.filter_map(|reason| reason["text"].as_str().map(str::to_owned)).collect();
    ensure!(text.contains("signal 9"), "{text:?}: {}", ended.said);
    ensure!(
        text.contains("last lines of its log") || text.contains("It printed nothing"),
        "no word of its log: {text}"
    );
    let ledger = &trial["ledger"];
    let count = |name: &str| ledger[name].as_u64().unwrap_or(0);
    ensure!(count("acknowledged") >= 100, "{ledger}: {}", ended.said);
    let survived = trial["figures"]["survived"]["value"].as_f64();
    let kept = (count("acknowledged") - count("lost")) as f64;
    ensure!(survived == Some(kept), "{survived:?} is not {kept}: {ledger}");
    ensure!(count("altered") == 0 && count("duplicated") == 0, "{ledger}");
    ensure!(processes(root).is_empty(), "processes are left");
    let left = place.leftovers();
    ensure!(left.is_empty(), "left behind: {left:?}");
    Ok(None)
}
