//! The program with databases' servers, which it starts itself or reaches by URL. A server that is not installed makes its tests ignored, with the reason;
//! so does a host on which nothing can be decided.

#![allow(
    dead_code,
    unused_macros,
    unused_imports,
    reason = "files of tests/cli are shared, which use all of it"
)]

#[path = "../cli/cold.rs"]
mod cold;
mod compare;
#[path = "../cli/dry_run.rs"]
mod dry_run;
mod estimate;
mod existing_server;
mod explain;
#[path = "../cli/interruption.rs"]
mod interruption;
mod one_process;
#[path = "../cli/own/mod.rs"]
mod own;
mod several_servers;
#[path = "../cli/explain.rs"]
mod shown;
mod studies;
#[path = "../cli/support.rs"]
mod support;

use libtest_mimic::{Arguments, Completion, Trial};

/// A failure panics; `Some` is why nothing can be decided here.
type Test = fn() -> Option<String>;

/// A test's name, the database that it needs, and what it does.
type Named = (&'static str, Option<&'static str>, Test);

/// A test that decides wherever its server is.
macro_rules! test {
    ($server:literal, $module:ident :: $($name:ident)::+) => {
        (
            concat!(stringify!($module), "::", stringify!($($name)::+)),
            Some($server),
            (|| {
                $module::$($name)::+();
                None
            }) as Test,
        )
    };
}

fn main() {
    let mut arguments = Arguments::from_args();
    // Each starts a server: more at once would only try the machine.
    arguments.test_threads.get_or_insert(2);
    let trials = tests().into_iter().map(|(name, server, test)| {
        Trial::ignorable_test(name, move || {
            let reason = server.and_then(support::missing).or_else(test);
            Ok(reason.map_or(Completion::Completed, Completion::ignored_with))
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

fn tests() -> Vec<Named> {
    vec![
        (
            "compare::runs_against_each_other",
            None,
            compare::runs_against_each_other,
        ),
        (
            "estimate::the_announced_time_of_a_server_is_true",
            Some("PostgreSQL"),
            estimate::the_announced_time_of_a_server_is_true,
        ),
        test!("PostgreSQL", estimate::a_plan_starts_no_server),
        test!("PostgreSQL", cold::queries_of_a_server_begin_cold),
        test!(
            "PostgreSQL",
            interruption::a_killed_server_costs_its_trial_alone
        ),
        test!(
            "PostgreSQL",
            own::ledger::the_same_file_and_seed_leave_the_same_on_sqlite_and_postgresql
        ),
        test!(
            "PostgreSQL",
            existing_server::a_database_with_foreign_tables_is_refused_and_left_alone
        ),
        test!(
            "PostgreSQL",
            several_servers::two_servers_of_one_database_keep_all_their_trials
        ),
        test!(
            "PostgreSQL",
            studies::logs_lie_on_the_disk_that_the_user_names
        ),
        test!("MariaDB", studies::a_machine_tool_run_follows_its_study),
        test!("PostgreSQL", explain::postgresql_shows_what_its_own_log_saw),
        test!("DuckDB", explain::duckdb_shows_all),
        test!(
            "DuckDB",
            one_process::clients_that_processes_would_share_are_in_one
        ),
        test!("MariaDB", explain::mariadb_shows_all),
        test!("MongoDB", explain::mongodb_shows_all),
        test!("InfluxDB", explain::influxdb_shows_all),
        test!("Cassandra", explain::cassandra_shows_all_but_plans),
        test!("GridDB", explain::griddb_shows_all),
        test!("QuestDB", explain::questdb_shows_all),
    ]
}
