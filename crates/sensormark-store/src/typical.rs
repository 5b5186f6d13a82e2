//! What a database typically takes of time and disk: for plans and for the time left, before anything of it is measured.
//!
//! No result depends on these figures. Each store states its own, in its file `server.rs`, and says there where they come from. They are of a machine with two
//! processors, so a run corrects them by what its trials really take. The engine makes the length of a trial of them.

use serde::Deserialize;

/// What a database typically takes, with one client where nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default = "Typical::embedded", deny_unknown_fields)]
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
    const fn embedded() -> Self {
        Self::EMBEDDED
    }

    /// A database inside the client's process of which nothing more is known.
    pub const EMBEDDED: Self = Self {
        start_seconds: 0.0,
        restart_seconds: 0.0,
        stop_seconds: 0.02,
        settle_seconds: 0.05,
        reset_seconds: 0.02,
        write_us: 50.0,
        value_us: 0.3,
        question_us: 30.0,
        scan_us: 0.8,
        clients_served: 1.0,
        empty_bytes: 0,
        reading_bytes: 100,
    };

    /// A server of which nothing more is known.
    pub const SERVER: Self = Self {
        start_seconds: 2.0,
        restart_seconds: 1.0,
        stop_seconds: 0.5,
        settle_seconds: 1.0,
        reset_seconds: 0.1,
        write_us: 200.0,
        value_us: 1.0,
        question_us: 200.0,
        scan_us: 1.0,
        clients_served: 3.0,
        empty_bytes: 100 << 20,
        reading_bytes: 100,
    };

    /// What is supposed of a store that states nothing itself.
    pub const fn unknown(embedded: bool) -> Self {
        if embedded { Self::EMBEDDED } else { Self::SERVER }
    }
}
