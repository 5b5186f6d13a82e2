//! Roles on other hosts. Launchers of this machine stand for hosts where that is enough; else hosts are network namespaces with an sshd each, which a test makes
//! itself. Where namespaces are not allowed, or a program is missing, a test is ignored, with the reason.

#[path = "../servers/existing_server.rs"]
#[allow(dead_code, reason = "shared with other tests, which use all of it")]
mod existing_server;
mod launchers;
mod namespaces;
mod network;
mod programs;
mod server;
mod slurm;
#[path = "../cli/support.rs"]
#[allow(dead_code, unused_macros, unused_imports, reason = "shared with other tests, which use all of it")]
mod support;

use libtest_mimic::{Arguments, Completion, Trial};

/// A failure panics; `Some` is why nothing can be decided here.
type Test = fn() -> Option<String>;

fn main() {
    let mut arguments = Arguments::from_args();
    // Each has a server: more at once would only try the machine.
    arguments.test_threads.get_or_insert(2);
    let tests: [(&str, Test); 12] = [
        ("launchers::what_cannot_be_is_refused", launchers::refused),
        ("programs::hosts_that_cannot_be_used_are_told", programs::unusable),
        ("programs::probes_have_the_same_version", programs::of_probes),
        ("launchers::clocks_that_differ_change_no_figure", launchers::clocks),
        ("launchers::load_hosts_write_what_one_writes", launchers::load_hosts),
        ("launchers::a_lost_host_ends_the_trial", launchers::lost),
        ("namespaces::three_hosts_by_ssh", namespaces::three_hosts),
        ("server::on_a_host_of_its_own", server::on_a_host_of_its_own),
        ("server::by_a_launcher", server::by_a_launcher),
        ("server::what_cannot_be_is_refused", server::refused),
        ("slurm::four_load_hosts_by_srun", slurm::four_load_hosts),
        ("slurm::a_lost_node_ends_the_trial", slurm::a_lost_node),
    ];
    let trials = tests.into_iter().map(|(name, test)| {
        Trial::ignorable_test(name, move || {
            let reason = support::missing("PostgreSQL").or_else(test);
            Ok(reason.map_or(Completion::Completed, Completion::ignored_with))
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}
