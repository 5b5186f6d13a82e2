//! What writes share: what sends them, a command with its documents, and how large it may be.

use crate::connection::Link;
use crate::error::coded;
use crate::schema::PhysicalSchema;
use crate::topology::Topology;
use crate::unacknowledged::Silent;
use mongodb::bson::{Bson, Document, RawDocumentBuf};
use sensormark_store::{Durability, ErrorKind, StoreError};
use tokio::sync::Mutex;

pub(super) const OPERATION: &str = "write readings to MongoDB";

/// The largest document that is sent: 16 MiB, less what the server adds.
pub(super) const LARGEST_DOCUMENT: usize = (16 << 20) - 64;
/// The size that a command with several documents stays under.
pub(super) const LARGEST_COMMAND: usize = 15 << 20;

/// What sends writes to a database.
pub(crate) struct Writer<'a> {
    /// The client.
    pub(crate) link: &'a Link,
    /// The plan's collections.
    pub(crate) physical: &'a PhysicalSchema,
    /// What an acknowledgement promises.
    pub(crate) durability: Durability,
    /// The kind of deployment.
    pub(crate) topology: Topology,
    /// Where writes go out that nobody acknowledges.
    pub(crate) silent: Option<&'a Mutex<Silent>>,
}

/// A command, and how the documents in it stand to the batch's readings.
pub(super) struct Prepared {
    pub(super) command: RawDocumentBuf,
    /// How many readings of the batch it carries, from where the last one ended.
    pub(super) readings: usize,
    /// For each document, how many of these readings, from the first, are stored when it and all before it are;
    /// empty where each reading is a document.
    pub(super) covered: Vec<usize>,
}

/// Why no command can be made.
pub(super) struct TooLarge {
    pub(super) bytes: usize,
}

impl From<TooLarge> for StoreError {
    fn from(error: TooLarge) -> Self {
        let why = format!(
            "a document of {} bytes; MongoDB takes at most 16 MiB: use smaller readings or records",
            error.bytes
        );
        Self::new(ErrorKind::TooLarge, OPERATION, why)
    }
}

/// What an answer refuses, if it does: the first document's place, where it is about a document, and why.
pub(super) fn refusal(operation: &str, answer: &Document) -> Option<(Option<usize>, StoreError)> {
    if let Ok(errors) = answer.get_array("writeErrors") {
        let first = errors
            .iter()
            .filter_map(Bson::as_document)
            .min_by_key(|error| error.get_i32("index").unwrap_or(i32::MAX))?;
        let place = usize::try_from(first.get_i32("index").unwrap_or(0)).unwrap_or(0);
        return Some((Some(place), native(operation, first)));
    }
    let error = answer.get_document("writeConcernError").ok()?;
    Some((None, native(operation, error).with_doubt(true)))
}

fn native(operation: &str, error: &Document) -> StoreError {
    let code = error.get_i32("code").unwrap_or(0);
    let message = error.get_str("errmsg").unwrap_or("no words");
    coded(operation, code, message)
}
