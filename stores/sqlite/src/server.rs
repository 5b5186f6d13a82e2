//! The library in the place of a server: it is bundled, and there is nothing to find, configure or start.

use sensormark_store::{Installation, Typical};

/// Measured on 2026-11-23 with two processors, at the scale `quick`.
pub const TYPICAL: Typical = Typical {
    // billing: 23,808 commits in 1.02 s.
    write_us: 43.0,
    // devops: 427,680 values in 0.114 s.
    value_us: 0.27,
    // devops: 200 maxima of one host in 7 ms.
    question_us: 30.0,
    // devops: 200 means, each over 2,700 readings, in 0.41 s.
    scan_us: 0.75,
    // machine-tool: 51 bytes a reading of five numbers, 10 of them values.
    reading_bytes: 64,
    ..Typical::EMBEDDED
};

/// The bundled library.
pub fn installation() -> Installation {
    Installation::bundled(rusqlite::version())
}
