//! The program with databases' servers, which it starts itself or reaches by URL. A server that is not installed makes its tests ignored, with the reason;
//! so does a host on which nothing can be decided.

#![allow(
    dead_code,
    unused_macros,
    unused_imports,
    reason = "files of tests/cli are shared, which use all of it"
)]

mod clean;
#[path = "../cli/clean.rs"]
mod cleaning;
mod cluster;
#[path = "../cli/cold.rs"]
mod cold;
mod compare;
mod connections;
mod descriptors;
#[path = "../cli/dry_run.rs"]
mod dry_run;
mod encrypted;
mod estimate;
mod existing_server;
mod explain;
mod heap;
#[path = "../cli/in_seconds.rs"]
mod in_seconds;
#[path = "../cli/interruption.rs"]
mod interruption;
mod last_screen;
#[path = "../cli/life.rs"]
mod life;
#[path = "../cli/maintenance.rs"]
mod maintained;
mod maintenance;
mod one_process;
mod ordinary_user;
#[path = "../cli/own/mod.rs"]
mod own;
mod probe;
mod probe_places;
mod probe_refused;
mod questions;
mod recordings;
#[path = "../cli/refused.rs"]
mod refused;
mod requirements;
#[path = "../cli/searched.rs"]
mod searched;
mod several_servers;
#[path = "../cli/explain.rs"]
mod shown;
mod starting;
mod studies;
#[path = "../cli/support.rs"]
mod support;
#[path = "../cli/terminal.rs"]
mod terminal;
mod threads;
mod unprivileged;
mod warm_up;

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
    let tests = tests()
        .into_iter()
        .chain(answers())
        .chain(clusters_and_encryption())
        .chain(rights_and_warm_up())
        .chain(limits())
        .chain(probes())
        .chain(last_screens());
    let trials = tests.map(|(name, server, test)| {
        Trial::ignorable_test(name, move || {
            let reason = server.and_then(support::missing).or_else(test);
            Ok(reason.map_or(Completion::Completed, Completion::ignored_with))
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

fn tests() -> Vec<Named> {
    vec![
        ("compare::runs_against_each_other", None, compare::runs_against_each_other),
        (
            "estimate::the_announced_time_of_a_server_is_true",
            Some("PostgreSQL"),
            estimate::the_announced_time_of_a_server_is_true,
        ),
        test!("PostgreSQL", estimate::a_plan_starts_no_server),
        test!("PostgreSQL", cold::queries_of_a_server_begin_cold),
        test!("PostgreSQL", interruption::a_killed_server_costs_its_trial_alone),
        test!("PostgreSQL", own::ledger::the_same_file_and_seed_leave_the_same_on_sqlite_and_postgresql),
        test!("PostgreSQL", maintenance::postgresql_goes_through_all),
        test!("PostgreSQL", maintenance::postgresql_lives_a_year),
        test!("PostgreSQL", maintenance::a_life_of_postgresql_may_end_within_a_round),
        test!("QuestDB", maintenance::questdb_drops_what_it_compressed),
        test!("QuestDB", maintenance::questdb_goes_through_all),
        test!("Cassandra", maintenance::cassandra_goes_through_all),
        test!("MariaDB", maintenance::mariadb_lives_a_year),
        test!("MariaDB", maintenance::a_life_of_mariadb_may_end_within_a_round),
        test!("PostgreSQL", starting::a_signal_while_a_server_starts_leaves_nothing),
        test!("PostgreSQL", existing_server::a_database_with_foreign_tables_is_refused_and_left_alone),
        test!("PostgreSQL", clean::postgresql_by_url),
        test!("MongoDB", clean::mongodb_by_url),
        test!("PostgreSQL", several_servers::two_servers_of_one_database_keep_all_their_trials),
        test!("PostgreSQL", studies::logs_lie_on_the_disk_that_the_user_names),
        test!("MariaDB", studies::a_machine_tool_run_follows_its_study),
        test!("MongoDB", studies::sensor_operations_as_its_study_says_that_mongodb_acknowledges_here),
        test!("DuckDB", one_process::clients_that_processes_would_share_are_in_one),
    ]
}

/// Those of the rights of a database's user, and of servers that warm up.
fn rights_and_warm_up() -> Vec<Named> {
    vec![
        test!("PostgreSQL", ordinary_user::of_postgresql),
        test!("MariaDB", ordinary_user::of_mariadb),
        test!("MongoDB", ordinary_user::of_mongodb),
        test!("InfluxDB", ordinary_user::of_influxdb),
        test!("PostgreSQL", recordings::names_and_tags_on_postgresql),
        test!("InfluxDB", recordings::bounds_on_influxdb),
        test!("MongoDB", recordings::bounds_on_mongodb),
        test!("InfluxDB", recordings::a_text_that_fits_no_datagram),
        test!("PostgreSQL", ordinary_user::an_unmarked_database_is_cleaned),
        test!("PostgreSQL", ordinary_user::a_server_that_flushes_nothing_is_not_durable),
        test!("QuestDB", warm_up::questdb_writes_a_second_in_one_request),
        test!("QuestDB", warm_up::questdb_is_warm_and_nothing_of_it_stays),
        test!("Cassandra", warm_up::cassandra_is_warm_before_anything_counts),
        test!("QuestDB", warm_up::control_c_while_it_warms_up_leaves_nothing),
    ]
}

/// Those of what is short: privileges, descriptors, threads, a heap.
fn limits() -> Vec<Named> {
    vec![
        test!("PostgreSQL", descriptors::a_run_by_url_with_few_descriptors),
        (
            "threads::an_embedded_database_with_few_threads",
            None,
            threads::an_embedded_database_with_few_threads,
        ),
        (
            "threads::a_run_by_url_with_few_threads",
            Some("PostgreSQL"),
            threads::a_run_by_url_with_few_threads,
        ),
        test!("QuestDB", heap::questdb),
        test!("Cassandra", heap::cassandra),
        (
            "unprivileged::another_user_finds_what_root_installed",
            None,
            unprivileged::another_user_finds_what_root_installed,
        ),
        (
            "unprivileged::a_user_without_privileges_measures",
            None,
            unprivileged::a_user_without_privileges_measures,
        ),
    ]
}

/// Those of statements that are shown, and of requirements.
fn answers() -> Vec<Named> {
    vec![
        test!("PostgreSQL", explain::postgresql_shows_what_its_own_log_saw),
        test!("PostgreSQL", explain::a_file_says_memory_and_durability),
        test!("DuckDB", explain::duckdb_shows_all),
        test!("MariaDB", explain::mariadb_shows_all),
        test!("MongoDB", explain::mongodb_shows_all),
        test!("InfluxDB", explain::influxdb_shows_all),
        test!("Cassandra", explain::cassandra_shows_all_but_plans),
        test!("GridDB", explain::griddb_shows_all),
        test!("QuestDB", explain::questdb_shows_all),
        test!("PostgreSQL", requirements::a_requirement_that_both_meet),
        test!("PostgreSQL", requirements::a_requirement_that_one_of_them_meets),
        test!("PostgreSQL", requirements::a_requirement_that_nobody_can_meet),
        test!(
            "PostgreSQL",
            questions::a_file_that_a_person_answered_for_runs_on_an_embedded_database_and_a_server
        ),
    ]
}

/// Those of clusters, and of connections that are encrypted.
fn clusters_and_encryption() -> Vec<Named> {
    vec![
        test!("PostgreSQL", cluster::postgresql_by_url_asks_its_replica_and_waits_for_it),
        test!("Cassandra", cluster::three_of_cassandra_by_url_are_one_valid_server),
        test!("MariaDB", connections::mariadb_by_a_socket),
        test!("PostgreSQL", connections::postgresql_by_a_socket),
        test!("QuestDB", connections::questdb_with_two_pairs),
        ("connections::pgbouncer", Some("PostgreSQL"), connections::pgbouncer),
        ("encrypted::postgresql", None, encrypted::postgresql),
        ("encrypted::mariadb", None, encrypted::mariadb),
        ("encrypted::mongodb", None, encrypted::mongodb),
        ("encrypted::influxdb", None, encrypted::influxdb),
        ("encrypted::cassandra", None, encrypted::cassandra),
    ]
}

/// Those of what a run of two databases ends with.
fn last_screens() -> Vec<Named> {
    vec![
        test!("DuckDB", last_screen::of_machine_tool),
        test!("DuckDB", last_screen::of_sensor_operations),
        test!("DuckDB", last_screen::of_devops),
        test!("DuckDB", last_screen::of_iot_platform),
        test!("DuckDB", last_screen::of_billing),
    ]
}

/// Those of probes beside servers that run already.
fn probes() -> Vec<Named> {
    vec![
        test!("PostgreSQL", probe::the_probe_sees_what_the_recorder_sees),
        test!("PostgreSQL", probe::a_server_by_url_has_all_columns_with_a_probe),
        test!("PostgreSQL", probe::a_probe_that_dies_ends_the_trial_with_the_reason),
        (
            "probe::without_privilege_the_probe_says_what_is_missing",
            Some("PostgreSQL"),
            probe::without_privilege_the_probe_says_what_is_missing,
        ),
        ("probe_refused::wrong_input_is_refused", None, || {
            probe_refused::wrong_input_is_refused();
            None
        }),
        (
            "probe_places::a_unit_and_a_container_are_their_control_groups",
            None,
            probe_places::a_unit_and_a_container_are_their_control_groups,
        ),
        (
            "probe_places::connections_of_a_network_of_its_own_are_seen",
            None,
            probe_places::connections_of_a_network_of_its_own_are_seen,
        ),
        ("probe::the_probe_ends_with_its_server", None, || {
            probe::the_probe_ends_with_its_server();
            None
        }),
    ]
}
