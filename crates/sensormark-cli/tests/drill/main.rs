//! Drills: the program is interrupted at random moments by signals and shortages, on every store and workload, and everything must hold afterwards.
//!
//! Steps follow from a seed, so a violation can be shown again. `SENSORMARK_DRILL` says how many there are, `SENSORMARK_DRILL_SEED` which. `make drill` does many; a few are part of the tests.
//! The faults are real: signals, a full file system, limits of descriptors and memory, a proxy that falls silent, a wall clock that steps.

#[path = "../failures/ensure.rs"]
#[macro_use]
mod ensure;
mod attempt;
mod check;
mod databases;
mod faults;
#[path = "../failures/proxy.rs"]
mod proxy;
mod random;
mod running;
mod step;
#[path = "../failures/stores.rs"]
#[allow(dead_code, reason = "shared with other tests, which use all of it")]
mod stores;
mod summary;
#[path = "../cli/support.rs"]
#[allow(dead_code, reason = "shared with other tests, which use all of it")]
mod support;
mod work;

use attempt::{Outcome, attempt};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::collections::HashMap;
use std::sync::Arc;
use step::{Reach, Step};
use stores::{Server, Shared};
use summary::Summary;

/// Steps of an ordinary test: they take less than a minute.
const STEPS: usize = 12;

fn main() {
    let mut arguments = Arguments::from_args();
    // More at once would only try the machine.
    arguments.test_threads.get_or_insert(2);
    let count = number("SENSORMARK_DRILL").unwrap_or(STEPS);
    let seed = number("SENSORMARK_DRILL_SEED").unwrap_or(1) as u64;
    let summary = Arc::new(Summary::default());
    let shared: HashMap<&str, Arc<Shared>> =
        Server::all().into_iter().map(|server| (server.name, Arc::new(Shared::new(server)))).collect();
    let steps = (0..count).map(|number| Step::new(seed, number));
    let trials = steps.map(|step| trial(step, &shared, &summary)).collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    // Before the process ends: servers are stopped.
    drop(shared);
    if count > STEPS {
        println!("{}", summary.tables());
    }
    conclusion.exit();
}

fn trial(step: Step, shared: &HashMap<&str, Arc<Shared>>, summary: &Arc<Summary>) -> Trial {
    let (shared, summary) = (shared.get(step.store).cloned(), Arc::clone(summary));
    Trial::ignorable_test(step.to_string(), move || {
        let missing = shared.as_ref().and_then(|shared| shared.server.missing());
        if let Some(reason) = missing {
            return Ok(Completion::ignored_with(reason));
        }
        let reached = shared.as_deref().filter(|_| step.reach != Reach::Own);
        let outcome = attempt(&step, reached).inspect_err(|text| eprintln!("{text}"));
        match outcome.map_err(Failed::from)? {
            Outcome::Ignored(reason) => Ok(Completion::ignored_with(reason)),
            Outcome::Done(entry) => {
                summary.add(entry);
                Ok(Completion::Completed)
            }
        }
    })
}

/// A number that the user gives by a variable. The drill says when it is not one.
fn number(variable: &str) -> Option<usize> {
    let text = std::env::var(variable).ok()?;
    match text.parse() {
        Ok(number) => Some(number),
        Err(error) => {
            eprintln!("{variable}={text}: {error}; give a number");
            std::process::exit(2);
        }
    }
}
