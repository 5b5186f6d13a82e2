//! The line of a fed load on a host that is not the coordinator's: the client's own process opens it, keeps the journal, and looks after the source's silence.
//!
//! On the coordinator's host the coordinator does all of this (`feed`). A queue is a kernel's, and a file is a disk's, so here the client's process has to. What
//! it holds ends with the process, however that ends.

use super::feed::{Journal, LONGEST_SILENCE, Line, Source};
use crate::intake::Feed;
use crate::role::Event;
use crate::role_line::tell;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

/// How often it is looked whether the source still sends.
const LOOK: Duration = Duration::from_secs(1);

/// What this process holds on its host.
static HELD: Mutex<Held> = Mutex::new(Held { line: None, journal: None, stored: None });

struct Held {
    line: Option<Box<dyn Line>>,
    journal: Option<Journal>,
    /// What earlier trials stored.
    stored: Option<Journal>,
}

fn held<T>(work: impl FnOnce(&mut Held) -> T) -> T {
    let mut held = HELD.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    work(&mut held)
}

/// Opens the line of a source with a new journal.
///
/// # Errors
/// Why it cannot be made, in words.
pub fn open(source: &dyn Source) -> Result<Feed, String> {
    let line = source.open()?;
    let journal = Journal::create().map_err(|error| error.to_string())?;
    let feed = Feed { address: line.address(), journal: journal.path() };
    held(|held| {
        held.line = Some(line);
        held.journal = Some(journal);
    });
    match thread::Builder::new().spawn(watch) {
        Ok(_) => Ok(feed),
        Err(error) => Err(format!("cannot start a thread: {error}")),
    }
}

/// What the source gets to know, if there is a line.
pub fn told(start_ns: u64) -> Option<Value> {
    held(|held| held.line.as_ref().map(|line| line.source(start_ns)))
}

/// Tells the client that nothing will follow.
pub fn end() {
    held(|held| {
        if let Some(line) = &held.line {
            line.end();
        }
    });
}

/// Closes the line; what was written over it, in a form that can be sent. None where there was none.
///
/// # Errors
/// When the journal cannot be read, in words.
pub fn close() -> Result<Option<String>, String> {
    let journal = held(|held| {
        held.line = None;
        held.journal.take()
    });
    let Some(journal) = journal else {
        return Ok(None);
    };
    let bytes = journal.bytes().map_err(|error| error.to_string())?;
    Ok(Some(encode(&bytes)))
}

/// Looks once a second whether the source still sends, until the line is closed.
fn watch() {
    loop {
        thread::sleep(LOOK);
        let silence = held(|held| held.line.as_ref().map(|line| line.silence()));
        match silence {
            None => return,
            Some(Ok(Some(long))) if long >= LONGEST_SILENCE => {
                let seconds = LONGEST_SILENCE.as_secs();
                tell(&Event::Failed {
                    unreachable: false,
                    message: format!("the source has sent nothing for {seconds} s"),
                });
                return end();
            }
            Some(_) => {}
        }
    }
}

/// Keeps what earlier trials stored, as it came from the coordinator. Gives the file.
///
/// # Errors
/// When it cannot be kept, in words.
pub fn keep_stored(encoded: &str) -> Result<PathBuf, String> {
    let journal = Journal::of_bytes(&decode(encoded)?).map_err(|error| error.to_string())?;
    let path = journal.path();
    held(|held| held.stored = Some(journal));
    Ok(path)
}

/// Bytes in a form that can be sent.
pub fn encode(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// The bytes again.
///
/// # Errors
/// When they were not sent by [`encode`], in words.
pub fn decode(encoded: &str) -> Result<Vec<u8>, String> {
    let bytes = BASE64_STANDARD.decode(encoded);
    bytes.map_err(|error| format!("a journal came over the line damaged: {error}"))
}
