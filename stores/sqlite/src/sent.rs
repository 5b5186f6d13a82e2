//! What a session's connection ran, noted by SQLite's own trace and shown by [`crate::shown`]. So what is shown is what SQLite ran, not what somebody meant to run.

use crate::error;
use rusqlite::Connection;
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use sensormark_store::StoreError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Statements of different texts that are kept of one operation: texts that hold their values differ reading by reading.
const MOST: usize = 32;

/// Statements that ran since they are kept.
pub struct Kept(pub(crate) Arc<Mutex<Vec<Ran>>>);

/// A statement that ran, so many times.
pub(crate) struct Ran {
    pub(crate) text: String,
    /// The text with the values of the first run in place of its placeholders.
    pub(crate) with_values: Option<String>,
    pub(crate) times: u64,
}

impl Kept {
    /// Keeps what this connection runs from now on.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn start(connection: &mut Connection) -> Result<Self, StoreError> {
        let ran = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&ran);
        let note = move |event: TraceEvent<'_>| {
            if let TraceEvent::Stmt(statement, text) = event {
                let mut ran = lock(&noted);
                if let Some(known) = ran.iter_mut().find(|one| one.text == text) {
                    known.times += 1;
                } else if ran.len() < MOST {
                    ran.push(Ran { text: text.to_owned(), with_values: statement.expanded_sql(), times: 1 });
                }
            }
        };
        connection
            .trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(note))
            .map_err(|cause| error::native("show statements", cause))?;
        Ok(Self(ran))
    }
}

/// Takes the lock of what ran.
pub(crate) fn lock(ran: &Mutex<Vec<Ran>>) -> MutexGuard<'_, Vec<Ran>> {
    ran.lock().unwrap_or_else(PoisonError::into_inner)
}
