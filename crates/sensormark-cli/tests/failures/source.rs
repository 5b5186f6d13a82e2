//! The machine-tool source dies or falls silent in mid-load. The writer sleeps in the kernel until a sample comes. It must not be left waiting, and the program
//! must print the reason.

use crate::Outcome;
use crate::stores::{Server, processes, signal};
use crate::support::{Place, errors, read_folder};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// How long a writer may wait for a source that was killed. The coordinator looks every 20 ms, but a busy disk delays the writer's end. It is less than what a
/// source that fell silent is given.
const NOTICE: Duration = Duration::from_secs(9);
/// How long for one that only fell silent: the coordinator's 10 s, and what it takes to see to the second that they are over.
const SILENCE: Duration = Duration::from_secs(14);

/// The source is killed (SIGKILL).
pub fn killed(server: &Server) -> Outcome {
    broken_off(server, "KILL", NOTICE, "machine-tool-source process ended early (signal: 9")
}

/// The source is stopped (SIGSTOP), and so lives on without a word.
pub fn stopped(server: &Server) -> Outcome {
    broken_off(server, "STOP", SILENCE, "machine-tool-source process said nothing for 10 s")
}

fn broken_off(server: &Server, with: &str, limit: Duration, reason: &str) -> Outcome {
    let place = Place::new();
    let on = format!("{}/bulk", server.on());
    let mut program = place.command(&["run", "machine-tool", "--on", &on, "--results", "results"]);
    program.args(["--progress=plain", "--tolerate-disturbance"]);
    for number in ["warmup_seconds=0", "measured_seconds=60", "reads=1", "history_seconds=0"] {
        program.args(["--set", number]);
    }
    let program =
        program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    let role = |name: &str| wait(Duration::from_secs(60), || role(program.id(), name));
    let (source, writer) = (role("machine-tool-source"), role("machine-tool-writer"));
    let (source, writer) = source.zip(writer).ok_or("no source and writer were started")?;
    // Into the load.
    std::thread::sleep(Duration::from_secs(2));
    let since = Instant::now();
    signal(with, &[source]);
    let is_gone = || (!Path::new(&format!("/proc/{writer}")).exists()).then_some(());
    let gone = wait(limit, is_gone);
    let took = since.elapsed();
    let state = if gone.is_none() { state(writer) } else { String::new() };
    let output = program.wait_with_output().map_err(|error| error.to_string())?;
    ensure!(gone.is_some(), "the writer still waits after {took:?}: {state}: {}", errors(&output));
    let trials = place.trials();
    let write = trials.iter().find(|trial| trial["side"] == "write");
    let verdict = write.map(|trial| trial["verdict"].to_string());
    ensure!(
        verdict.as_ref().is_some_and(|verdict| verdict.contains(reason)),
        "{verdict:?}: {}",
        errors(&output)
    );
    println!("the writer ended {took:?} after the source got a {with}");
    let left = place.leftovers();
    ensure!(left.is_empty(), "left behind: {left:?}");
    Ok(None)
}

/// The process of a role, below this one.
fn role(root: u32, name: &str) -> Option<u32> {
    let is_role = |pid: &u32| {
        std::fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(name))
    };
    processes(root).into_iter().find(is_role)
}

/// What a process is and waits for in the kernel, thread by thread.
fn state(process: u32) -> String {
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    let folder = format!("/proc/{process}");
    let line = read(&Path::new(&folder).join("cmdline")).replace('\0', " ");
    let threads = read_folder(&Path::new(&folder).join("task"));
    let threads = threads.iter().map(|thread| {
        let (name, waits) = (read(&thread.join("comm")), read(&thread.join("wchan")));
        format!("{} {waits}", name.trim_end())
    });
    format!("{line}: {}", threads.collect::<Vec<_>>().join(", "))
}

/// What comes within the time, looked for every 5 ms.
fn wait<T>(limit: Duration, mut found: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + limit;
    loop {
        match found() {
            None if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            result => return result,
        }
    }
}
