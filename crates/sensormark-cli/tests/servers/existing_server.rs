//! An existing PostgreSQL server by its URL: a database of somebody else's is refused and left as it was.

use crate::support::{Place, errors, held_against, read_folder};
use std::path::Path;
use std::process::{Command, Output};

/// What stands before the folder when a server was started.
const FOLDER: &str = "its folder, with its URL and password in endpoint.json: ";

/// A server that was left running for this test, stopped at its end.
pub struct Running<'a> {
    place: &'a Place,
    store: &'a str,
    /// Its URL, with the password.
    pub url: String,
}

impl<'a> Running<'a> {
    /// PostgreSQL.
    pub fn start(place: &'a Place) -> Self {
        Self::start_of(place, "postgresql")
    }

    /// A server of this store.
    pub fn start_of(place: &'a Place, store: &'a str) -> Self {
        let started = place.run(&["servers", "start", store, "--server-memory", "256"]);
        assert!(started.status.success(), "{}", errors(&started));
        let said = String::from_utf8_lossy(&started.stdout).into_owned();
        let folder = said.lines().find_map(|line| line.strip_prefix(FOLDER));
        let file = Path::new(folder.expect("its folder is told")).join("endpoint.json");
        let text = std::fs::read_to_string(file).expect("it can be read");
        let endpoint: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let url = endpoint["url"].as_str().expect("a URL").to_owned();
        Self { place, store, url }
    }

    /// The server's URL with this database.
    pub fn url_of(&self, database: &str) -> String {
        let server = self.url.splitn(4, '/').take(3).collect::<Vec<_>>();
        format!("{}/{database}", server.join("/"))
    }

    pub fn sql(&self, database: &str, statement: &str) -> String {
        let output: Output = Command::new("psql")
            .args(["-AtX", "-d", &self.url_of(database), "-c", statement])
            .output()
            .expect("psql is there");
        assert!(output.status.success(), "{}", errors(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.place.run(&["servers", "stop", self.store]);
    }
}

pub fn a_database_with_foreign_tables_is_refused_and_left_alone() {
    let place = Place::new();
    let server = Running::start(&place);
    server.sql("postgres", "CREATE DATABASE plant");
    server.sql("plant", "CREATE TABLE machines AS SELECT 7 AS number");
    let on = format!("postgresql:bulk={}", server.url_of("plant"));
    let refused = place.run(&["run", "machine-tool", "--on", &on]);
    let text = errors(&refused);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    for word in ["public.machines", "Name the server alone"] {
        assert!(text.contains(word), "{word:?} is not in: {text}");
    }
    let password = server.url.split(['@', ':']).nth(2).expect("a password");
    assert!(!text.contains(password), "the password shows");
    assert!(read_folder(&place.results()).is_empty(), "nothing was begun");
    assert_eq!(server.sql("plant", "SELECT number FROM machines"), "7\n");
    let ours = "SELECT count(*) FROM pg_database WHERE datname LIKE 'sensormark%'";
    assert_eq!(server.sql("postgres", ours), "0\n");

    // Nor is a server of somebody else's started again to read it cold.
    let on = format!("postgresql:bulk/bulk={}", server.url_of(""));
    let refused = place.run(&["run", "machine-tool", "--cache=cold", "--on", &on]);
    let text = errors(&refused);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    for words in ["--cache cold: PostgreSQL is given by URL", "leave out the URL"] {
        assert!(text.contains(words), "{words:?} is not in: {text}");
    }
    assert!(read_folder(&place.results()).is_empty(), "nothing was begun");

    // The same server without a database is measured, and nothing stays behind.
    let measured = place.short(&["--on", &on]);
    let trials = place.trials();
    assert_eq!(trials.len(), 2, "{}", errors(&measured));
    for trial in &trials {
        let against = held_against(trial);
        assert!(against.is_empty(), "{} {against:?}", trial["name"]);
    }
    assert_eq!(server.sql("postgres", ours), "0\n");
}
