//! A run by URL that was killed: its database stays on the server, is named by the next run, and `clean` drops it and nothing else.

use crate::cleaning::a_killed_run_is_named_and_cleaned;
use crate::existing_server::Running;
use crate::support::Place;

pub fn postgresql_by_url() {
    let place = Place::new();
    let server = Running::start(&place);
    for database in ["sensormark_foreign", "plant"] {
        server.sql("postgres", &format!("CREATE DATABASE {database}"));
    }
    a_killed_run_is_named_and_cleaned(&place, "postgresql", &server.url_of(""));
    let left = "SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database WHERE NOT datistemplate";
    assert_eq!(server.sql("postgres", left), "plant postgres sensormark_foreign\n");
}

pub fn mongodb_by_url() {
    let place = Place::new();
    let server = Running::start_of(&place, "mongodb");
    a_killed_run_is_named_and_cleaned(&place, "mongodb", &server.url);
}
