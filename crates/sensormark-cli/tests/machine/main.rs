//! What needs more than any machine has: a control group of one's own, a second processor, the rights of root. Where that is
//! missing the test is shown as ignored, with the reason. And what takes the whole machine.

mod busy;
mod limited;
mod memory;
mod memory_limit;
mod pinned;
#[path = "../cli/support.rs"]
#[allow(dead_code, unused_macros, unused_imports, reason = "shared with other tests, which use all of it")]
mod support;

use libtest_mimic::{Arguments, Completion, Trial};

/// Why it cannot be tried here, if it cannot; a failure panics.
type Outcome = Option<&'static str>;
type Test = fn() -> Outcome;

const TESTS: [(&str, Test); 15] = [
    (
        "a busy machine gets a rough ranking in the announced time",
        busy::a_busy_machine_gets_a_rough_ranking_in_the_announced_time,
    ),
    ("a server on a busy machine is ranked too", busy::a_server_on_a_busy_machine_is_ranked_too),
    ("a strict run on a busy machine ranks nobody", busy::a_strict_run_on_a_busy_machine_ranks_nobody),
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
    (
        "servers are held to the limit and pay for the page cache",
        memory_limit::servers_are_held_to_the_limit_and_pay_for_the_page_cache,
    ),
    (
        "an embedded database is held together with its client",
        memory_limit::an_embedded_database_is_held_together_with_its_client,
    ),
    ("a server gets the cores that it is held to", memory_limit::a_server_gets_the_cores_that_it_is_held_to),
    (
        "the group of a killed run is removed by the next",
        memory_limit::the_group_of_a_killed_run_is_removed_by_the_next,
    ),
    (
        "a server that the limit ended is named in the verdict",
        memory_limit::a_server_that_the_limit_ended_is_named_in_the_verdict,
    ),
    (
        "servers by hand and of explain are held to the limit",
        memory_limit::servers_by_hand_and_of_explain_are_held_to_the_limit,
    ),
    (
        "servers by hand and explain refuse as a run does",
        memory_limit::servers_by_hand_and_explain_refuse_as_a_run_does,
    ),
    ("a group too small for a server is named", memory_limit::a_group_too_small_for_a_server_is_named),
    ("what cannot be held to a limit is refused", memory_limit::what_cannot_be_held_to_a_limit_is_refused),
];

fn main() {
    let mut arguments = Arguments::from_args();
    // They measure: one after another.
    arguments.test_threads.get_or_insert(1);
    let trials = TESTS.map(|(name, test)| {
        Trial::ignorable_test(name, move || {
            let reason = support::missing("PostgreSQL").or_else(|| test().map(str::to_owned));
            Ok(reason.map_or(Completion::Completed, Completion::ignored_with))
        })
    });
    libtest_mimic::run(&arguments, trials.into()).exit();
}
