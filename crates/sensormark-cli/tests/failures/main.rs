//! What goes wrong with a database, tried through the program on every store that is here. The faults are a wrong password, nobody who listens, a server that
//! is not ready, and one that accepts connections and answers nothing. The others are a full disk and a server killed in mid-load. What was acknowledged must
//! still be there afterwards.
//!
//! Each is to end in bounded time, with the exit code of its kind, a message that says what happened, and nothing left behind. Real servers, real signals, a
//! real file system that is full. A store whose server is not installed is shown as ignored, with the reason.

#[macro_use]
mod ensure;
mod disk;
mod durability;
mod flush;
mod midway;
mod program;
mod proxy;
mod reach;
mod same;
mod source;
mod stores;
mod study;
#[path = "../cli/support.rs"]
#[allow(dead_code, reason = "shared with other tests, which use all of it")]
mod support;

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::sync::Arc;
use stores::{Server, Shared};

/// What a test comes to: an error is a failure, in words; `Some` is why it cannot be tried here.
type Outcome = Result<Option<String>, String>;

fn main() {
    let mut arguments = Arguments::from_args();
    // Each test has a server, and some have deadlines: more at once would only try the machine.
    arguments.test_threads.get_or_insert(2);
    let mut trials = Vec::new();
    let mut kept = Vec::new();
    for server in Server::all() {
        let shared = Arc::new(Shared::new(server.clone()));
        kept.push(Arc::clone(&shared));
        for (name, test) in on_shared() {
            let shared = Arc::clone(&shared);
            trials.push(trial(&server, name, move |_| test(&shared)));
        }
        for (name, test) in on_its_own() {
            trials.push(trial(&server, name, test));
        }
    }
    for server in Server::embedded() {
        for (name, test) in without_server() {
            trials.push(trial(&server, name, test));
        }
    }
    // It starts every server, the slow ones too.
    let same = "all: the same seed leaves one checksum on every store, by the same operations";
    trials.push(Trial::ignorable_test(same, || match slow(SLOW[0]) {
        Some(reason) => Ok(Completion::ignored_with(reason)),
        None => completed(same::one_checksum()),
    }));
    let told = "results: a trial is told once its file is on the disk, and a full disk ends the run";
    let told = Trial::ignorable_test(told, || completed(disk::results_full()));
    trials.push(told);
    let conclusion = libtest_mimic::run(&arguments, trials);
    // Before the process ends: servers are stopped.
    drop(kept);
    conclusion.exit();
}

type OnShared = fn(&Shared) -> Outcome;
type OnItsOwn = fn(&Server) -> Outcome;

/// Tests on one server that is there for all of them, reached by its URL.
fn on_shared() -> Vec<(&'static str, OnShared)> {
    vec![
        ("a wrong password is told as that, and does not show", reach::wrong_password),
        ("nobody who listens is told at once", reach::refused),
        ("a server that answers nothing is given up", reach::silent),
        ("a network that falls silent in mid-load ends the trial", midway::silent_network),
        ("a durable acknowledgement follows a flush", flush::each_write_is_flushed),
    ]
}

/// Tests with servers that the program starts itself.
fn on_its_own() -> Vec<(&'static str, OnItsOwn)> {
    vec![
        ("a server that is not ready is given up", reach::not_ready),
        ("a server that stops answering in mid-load ends the trial", midway::stopped_server),
        ("a server killed in mid-load is noticed, reported and cleaned up", midway::killed_server),
        ("a server that stops answering when the run ends does not hold it", midway::stopped_at_the_end),
        ("a full disk is named", disk::full),
        ("a disk too small for the server is named", disk::too_small),
        ("every durable reading survives a kill", durability::durable),
        ("what other classes lose is counted", durability::other_classes),
        ("a power cut takes what was not flushed, and nothing that was durable", durability::power_cut),
        ("searches without a bound are answered rightly, or refused with the reason", study::unbounded),
        ("a server's layout as study 000 had it is read rightly", study::as_published),
        ("after a server lost datagrams what is stored is read", study::lost_datagrams),
    ]
}

/// Those of them that an embedded database can be put to, and those that no database has a part in.
fn without_server() -> Vec<(&'static str, OnItsOwn)> {
    let mut tests = on_its_own();
    tests.retain(|(name, _)| !name.contains("server"));
    tests.push(("a source that is killed ends the writer's wait", source::killed));
    tests.push(("a source that falls silent ends the writer's wait", source::stopped));
    tests
}

fn trial(server: &Server, name: &str, test: impl FnOnce(&Server) -> Outcome + Send + 'static) -> Trial {
    let server = server.clone();
    let title = format!("{}: {name}", server.name);
    let aside = slow(server.name);
    Trial::ignorable_test(title, move || match server.missing().or(aside) {
        Some(reason) => Ok(Completion::ignored_with(reason)),
        None => completed(test(&server)),
    })
}

/// Servers whose tests are part of `make verify` alone, which sets the variable: the others try each kind of failure.
const SLOW: [&str; 5] = ["cassandra", "influxdb", "mariadb", "mongodb", "questdb"];

/// Runs the slow servers' tests, too.
const SLOW_VARIABLE: &str = "SENSORMARK_SLOW";

fn slow(name: &str) -> Option<String> {
    SLOW.contains(&name).then(takes_minutes).flatten()
}

/// Why a test that takes minutes is left out, unless slow ones are asked for.
fn takes_minutes() -> Option<String> {
    let is_left_out = std::env::var_os(SLOW_VARIABLE).is_none();
    is_left_out.then(|| format!("takes minutes: part of make verify; {SLOW_VARIABLE}=1 runs it"))
}

fn completed(outcome: Outcome) -> Result<Completion, Failed> {
    match outcome {
        Ok(None) => Ok(Completion::Completed),
        Ok(Some(reason)) => Ok(Completion::ignored_with(reason)),
        Err(text) => Err(Failed::from(text)),
    }
}
