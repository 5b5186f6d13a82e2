//! The databases that are files: a folder each, and the driver of its protocol. A new one is a folder and a function here.

use sensormark_drivers::Driver;
use sensormark_statements::FileStore;
use std::sync::Arc;

/// `store.toml` and the statements of a folder.
macro_rules! files {
    ($folder:literal) => {
        (include_str!(concat!($folder, "/store.toml")), include_str!(concat!($folder, "/statements.sql")))
    };
}

/// SQLite, embedded.
#[cfg(feature = "sqlite")]
pub fn sqlite() -> FileStore {
    built_in(&[files!("sqlite")], sensormark_drivers::sqlite::Sqlite)
}

/// DuckDB 2.0 or later, embedded.
#[cfg(feature = "duckdb")]
pub fn duckdb() -> FileStore {
    built_in(&[files!("duckdb")], sensormark_drivers::duckdb::Duckdb)
}

/// PostgreSQL 14 or later.
#[cfg(feature = "postgresql")]
pub fn postgresql() -> FileStore {
    built_in(&[files!("postgresql")], sensormark_drivers::postgres::Postgres)
}

/// TimescaleDB, which extends PostgreSQL.
#[cfg(feature = "timescaledb")]
pub fn timescaledb() -> FileStore {
    built_in(&[files!("postgresql"), files!("timescaledb")], sensormark_drivers::postgres::Postgres)
}

/// MariaDB 10.6 or later.
#[cfg(feature = "mariadb")]
pub fn mariadb() -> FileStore {
    built_in(&[files!("mariadb")], sensormark_drivers::mysql::Mysql::default())
}

/// What is wrong with files that are built in is seen by the first test that runs.
fn built_in(layers: &[(&str, &str)], driver: impl Driver + 'static) -> FileStore {
    FileStore::new(layers, Arc::new(driver)).unwrap_or_else(|cause| panic!("{cause}"))
}

#[cfg(test)]
mod tests {
    use super::{duckdb, mariadb, postgresql, sqlite};
    use sensormark_drivers::Fault;
    use sensormark_statements::{config::Config, meaning::failure};
    use sensormark_store::{DatabaseName, Durability, Endpoint, ErrorKind, Plan, Secret, Store};

    /// A write looked for a chunk that `drop_chunks` took: "server stopped", and "the server's data is damaged", was said of it.
    #[test]
    fn a_chunk_that_was_dropped_is_no_damage() {
        let layers = [include_str!("postgresql/store.toml"), include_str!("timescaledb/store.toml")];
        let config = Config::read(layers.into_iter()).unwrap();
        let of = |text: &str| {
            let (codes, source) = (["XX000", "XX"].map(str::to_owned).to_vec(), text.into());
            failure(&config, "write readings", Fault::Refused { codes, text: text.to_owned(), source }).kind()
        };
        assert_eq!(of("could not open relation with OID 17399 (SQLSTATE XX000)"), ErrorKind::Overload);
        assert_eq!(of("invalid page in block 7 (SQLSTATE XX001)"), ErrorKind::Crashed);
    }

    /// Compares with `tests/pins/schema.txt` of each store.
    #[test]
    fn tables_and_indexes_are_as_they_were() {
        for store in [sqlite(), duckdb(), postgresql(), mariadb()] {
            let name = store.description().name;
            sensormark_conformance::pins::pin(
                &format!("{}/{name}", env!("CARGO_MANIFEST_DIR")),
                |schema, family| store.layouts(schema, family),
                |schema, offer| {
                    let endpoint = Endpoint {
                        url: Secret::new(""),
                        label: String::new(),
                        managed: false,
                        ports: Vec::new(),
                    };
                    let plan = Plan {
                        endpoint,
                        database: DatabaseName::new("pins").unwrap(),
                        owner: String::new(),
                        schema: schema.clone(),
                        layout: offer.layout,
                        durability: Durability::Default,
                        clients: 1,
                        timeout_ms: 1,
                    };
                    store.physical(&plan).unwrap().made().unwrap()
                },
            );
        }
    }
}
