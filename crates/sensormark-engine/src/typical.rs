//! What databases typically take of time and disk: for plans and for the time left, before anything of them is measured.
//!
//! One rule for all databases of a kind. The figures are of a machine with two processors, and no result depends on them: a run corrects them by what its
//! trials really take.

use sensormark_store::Store;

/// What a database typically takes, with one client where nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Typical {
    /// From the first command until a new server answers, its empty data folder made, in seconds.
    pub start_seconds: f64,
    /// Until a server answers again whose data are there, in seconds.
    pub restart_seconds: f64,
    /// From the request to stop until its folders are gone, in seconds.
    pub stop_seconds: f64,
    /// To bring a database to rest after a load, in seconds.
    pub settle_seconds: f64,
    /// To drop a database and make it again, in seconds.
    pub reset_seconds: f64,
    /// A write of one reading, until it is acknowledged, in µs.
    pub write_us: f64,
    /// Each further value of a write, the time and the series of a reading counted as values, in µs.
    pub value_us: f64,
    /// A question about one reading that an index finds, in µs.
    pub question_us: f64,
    /// Each reading that a question looks at besides, in µs.
    pub scan_us: f64,
    /// So many clients at most are served at the same time: more of them make nothing faster.
    pub clients_served: f64,
    /// What a server occupies before anything is written, logs of fixed size included, in bytes.
    pub empty_bytes: u64,
    /// What a stored reading occupies besides its values, indexes included, in bytes.
    pub reading_bytes: u64,
}

impl Typical {
    /// A database inside the client's process: SQLite at `quick`, 2026-11-23.
    const EMBEDDED: Self = Self {
        start_seconds: 0.0,
        restart_seconds: 0.0,
        stop_seconds: 0.02,
        settle_seconds: 0.05,
        reset_seconds: 0.02,
        write_us: 43.0,
        value_us: 0.27,
        question_us: 30.0,
        scan_us: 0.75,
        clients_served: 1.0,
        empty_bytes: 0,
        reading_bytes: 64,
    };

    /// A server: between PostgreSQL, MariaDB, MongoDB and InfluxDB at `quick`, 2026-11-23.
    pub const SERVER: Self = Self {
        start_seconds: 1.2,
        restart_seconds: 0.5,
        stop_seconds: 0.3,
        settle_seconds: 1.0,
        reset_seconds: 0.05,
        write_us: 150.0,
        value_us: 0.8,
        question_us: 100.0,
        scan_us: 3.0,
        clients_served: 3.0,
        empty_bytes: 100 << 20,
        reading_bytes: 100,
    };

    /// A server on a Java virtual machine: between Cassandra and QuestDB at `quick`, 2026-11-23.
    const ON_JAVA: Self = Self {
        start_seconds: 5.5,
        restart_seconds: 4.5,
        stop_seconds: 1.0,
        settle_seconds: 3.0,
        reset_seconds: 0.3,
        ..Self::SERVER
    };

    /// What a store's database takes.
    pub fn of(store: &dyn Store) -> Self {
        match store.description().embedded {
            true => Self::EMBEDDED,
            false if store.runs_on_java() => Self::ON_JAVA,
            false => Self::SERVER,
        }
    }
}
