//! What needs more than any machine has: a control group of one's own, a second processor, the rights of root. Where that is
//! missing the test is shown as ignored, with the reason.

mod limited;
mod memory;
mod pinned;
#[path = "../cli/support.rs"]
#[allow(
    dead_code,
    unused_macros,
    unused_imports,
    reason = "shared with other tests, which use all of it"
)]
mod support;

use libtest_mimic::{Arguments, Completion, Trial};

/// Why it cannot be tried here, if it cannot; a failure panics.
type Outcome = Option<&'static str>;
type Test = fn() -> Outcome;

fn main() {
    let mut arguments = Arguments::from_args();
    // They measure: one after another.
    arguments.test_threads.get_or_insert(1);
    let tests: [(&str, Test); 3] = [
        (
            "clients of a fraction of a core are client-bound",
            limited::clients_of_a_fraction_of_a_core_are_client_bound,
        ),
        (
            "shared buffers of many sessions are counted once",
            memory::shared_buffers_of_many_sessions_are_counted_once,
        ),
        (
            "server and client have processors of their own",
            pinned::server_and_client_have_processors_of_their_own,
        ),
    ];
    let trials = tests.map(|(name, test)| {
        Trial::ignorable_test(name, move || {
            let reason = support::missing("PostgreSQL").or_else(|| test().map(str::to_owned));
            Ok(reason.map_or(Completion::Completed, Completion::ignored_with))
        })
    });
    libtest_mimic::run(&arguments, trials.into()).exit();
}
