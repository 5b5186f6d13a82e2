//! Runs the suite as a test program.

use crate::check::{Broken, Check, Verdict};
use crate::client::block_on;
use crate::place::{self, Place};
use crate::rule::{self, Kind, Rule, Task};
use crate::statements::{self, Pinned};
use crate::suite::{Case, Subject, Suite, lock};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use sensormark_store::error::ErrorKind;
use sensormark_store::store::Store;
use std::path::Path;
use std::sync::{Arc, PoisonError};

#[cfg(test)]
mod tests;

/// How long an operation may take, in ms.
const TIMEOUT_MS: u64 = 30_000;

/// Runs all of a suite that runs in part unasked.
const SLOW_VARIABLE: &str = "SENSORMARK_SLOW";

/// Runs the suite on a store, with the arguments of `cargo test`, and ends the process.
pub fn main(store: Arc<dyn Store>) -> ! {
    conclude(store, false, None)
}

/// As [`main`], where the whole suite takes longer than `make test` may. Every rule is tried on one layout of each family
/// and one data set, and every named question on every layout and data set. The rest is shown as ignored, with the reason, and runs where `SENSORMARK_SLOW` is set.
pub fn main_in_part(store: Arc<dyn Store>) -> ! {
    conclude(store, !is_whole(), None)
}

/// As [`main_in_part`]. These layouts (their variants' names) are ignored, with the reason, where the server has not what they need and says so
/// when a database is made: [`ErrorKind::Unsupported`].
pub fn main_in_part_unless_refused(store: Arc<dyn Store>, layouts: &'static [&'static str]) -> ! {
    conclude_with(store, !is_whole(), None, layouts)
}

/// As [`main_in_part`]. It also compares the statements of every layout, question and write with the text in `tests/statements` below
/// `crate_folder`. `SENSORMARK_WRITE_PINS=1` writes the text anew. Review the difference like any other.
pub fn main_in_part_with_pins(store: Arc<dyn Store>, crate_folder: &str) -> ! {
    conclude(store, !is_whole(), Some(Path::new(crate_folder)))
}

fn is_whole() -> bool {
    std::env::var_os(SLOW_VARIABLE).is_some()
}

fn conclude(store: Arc<dyn Store>, in_part: bool, pins: Option<&Path>) -> ! {
    conclude_with(store, in_part, pins, &[])
}

fn conclude_with(
    store: Arc<dyn Store>,
    in_part: bool,
    pins: Option<&Path>,
    refusable: &'static [&'static str],
) -> ! {
    let mut arguments = Arguments::from_args();
    let threads = std::thread::available_parallelism().map_or(2, |count| count.get().min(4));
    arguments.test_threads.get_or_insert(threads);
    let tasks = rule::tasks(&store, crate::rules::all());
    let pinned = pins.map_or(Vec::new(), |_| statements::all());
    let names = tasks.iter().map(Task::name);
    let names = names.chain(pinned.iter().map(Pinned::title));
    println!("conformance of {}", store.description().title);
    let missing = match store.installation() {
        _ if std::env::var_os(place::URL_VARIABLE).is_some() => None,
        Ok(_) => None,
        Err(error) if error.kind() == ErrorKind::NotInstalled => Some(error.to_string()),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    };
    if let Some(reason) = missing {
        println!("{reason}");
        let ignored = |name: String| {
            let reason = reason.clone();
            Trial::ignorable_test(name, move || Ok(Completion::ignored_with(reason)))
        };
        libtest_mimic::run(&arguments, names.map(ignored).collect()).exit();
    }
    if arguments.list {
        let listed = |name: String| Trial::test(name, || Ok(()));
        libtest_mimic::run(&arguments, names.map(listed).collect()).exit();
    }
    let place = Place::find(&store).unwrap_or_else(|Broken(text)| {
        eprintln!("{text}");
        std::process::exit(2);
    });
    let suite = Arc::new(Suite::new(store, place, TIMEOUT_MS, refusable));
    let mut all = trials(&suite, tasks, in_part);
    if let Some(folder) = pins {
        all.extend(pinned.into_iter().map(|one| pin_trial(&suite, one, folder)));
    }
    let conclusion = libtest_mimic::run(&arguments, all);
    if let Err(Broken(text)) = block_on(suite.drop_all()) {
        eprintln!("{text}");
    }
    drop(suite);
    conclusion.exit()
}

fn pin_trial(suite: &Arc<Suite>, pinned: Pinned, crate_folder: &Path) -> Trial {
    let (suite, folder) = (Arc::clone(suite), crate_folder.to_path_buf());
    Trial::test(pinned.title(), move || {
        let together = suite.undisturbed.read();
        let _together = together.unwrap_or_else(PoisonError::into_inner);
        let checked = block_on(pinned.check(&suite, &folder));
        checked.map_err(|Broken(text)| Failed::from(text))
    })
}

fn trials(suite: &Arc<Suite>, tasks: Vec<Task>, in_part: bool) -> Vec<Trial> {
    let part = rule::part(&tasks);
    let trial = |(task, is_chosen): (Task, bool)| {
        let suite = Arc::clone(suite);
        Trial::ignorable_test(task.name(), move || {
            let verdict = if in_part && !is_chosen {
                Ok(Verdict::Ignored(format!("takes minutes: part of make verify; {SLOW_VARIABLE}=1 runs it")))
            } else {
                run(&suite, &task)
            };
            match verdict {
                Ok(Verdict::Kept) => Ok(Completion::Completed),
                Ok(Verdict::Ignored(reason)) => Ok(Completion::ignored_with(reason)),
                Err(Broken(text)) => Err(Failed::from(text)),
            }
        })
    };
    tasks.into_iter().zip(part).map(trial).collect()
}

/// Tries one rule on one subject.
fn run(suite: &Suite, task: &Task) -> Check<Verdict> {
    let together;
    let alone;
    if matches!(task.rule.kind, Kind::Alone(_)) {
        alone = suite.undisturbed.write().unwrap_or_else(PoisonError::into_inner);
        let _ = &alone;
    } else {
        together = suite.undisturbed.read().unwrap_or_else(PoisonError::into_inner);
        let _ = &together;
    }
    let datagrams = task.subject.as_ref().is_some_and(Subject::sends_datagrams);
    let _one = datagrams.then(|| lock(&suite.datagrams));
    if let Some(Subject { offer, data, .. }) = &task.subject
        && let Some(reason) = block_on(suite.refusal(&offer.variant, &data.schema, offer.layout))?
    {
        return Ok(Verdict::Ignored(reason));
    }
    let case = Case::new(suite, task.subject.clone());
    let verdict = match task.rule.kind {
        Kind::Queries(_) => {
            let subject = case.subject();
            let loaded = suite.loaded(subject)?;
            let questions = task.rule.questions(&subject.data).unwrap_or_default();
            block_on(rule::check_queries(&case, &loaded, questions))
        }
        Kind::Loaded(check) => {
            let loaded = suite.loaded(case.subject())?;
            block_on(check(&case, &loaded))
        }
        Kind::Own(check) | Kind::Alone(check) => block_on(check(&case)),
    };
    let clean = block_on(case.clean_up());
    verdict.and_then(|verdict| clean.map(|()| verdict))
}

/// The rules' numbers and titles, in their order.
pub fn rules() -> Vec<(&'static str, &'static str)> {
    let pair = |rule: Rule| (rule.number, rule.title);
    crate::rules::all().into_iter().map(pair).collect()
}
