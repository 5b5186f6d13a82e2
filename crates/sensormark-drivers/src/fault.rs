//! What a driver fails with: the database's own code and words, or a failure whose meaning the driver knows itself.

use sensormark_store::StoreError;
use std::error::Error;

/// A failure of a connection.
#[derive(Debug)]
pub enum Fault {
    /// The database refused, in its own words. What its codes mean is in the store's `[errors]`.
    Refused {
        /// Its codes, the most exact first, then its class ("23505", "23").
        codes: Vec<String>,
        /// Its words, without path, host or secret.
        text: String,
        /// The native error.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A block went out in parts, and one failed.
    Partly {
        /// Its failure.
        fault: Box<Self>,
        /// Readings of the block, from its start, that are acknowledged.
        acknowledged: u64,
        /// Whether more of them are stored behind what was refused.
        goes_on: bool,
    },
    /// The database would take longer than the client, which answers the question from its readings.
    FromReadings,
    /// What it means is known: a broken connection, a time-out, an answer that cannot be read.
    Known(StoreError),
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Known(error)
    }
}
