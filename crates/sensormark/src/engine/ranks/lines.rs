//! What ranks say to each other: lines of JSON that each appends to a file of its own, which others read as it grows.
//!
//! A file that grows is read again from where the reader was, by opening it anew. So what was said shows over NFS too, which brings a file up to date when it
//! is opened. A line without its end is not read yet.

use crate::engine::outcome::PhaseOutcome;
use crate::engine::trial::protocol::Report;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

/// What a rank says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "word", content = "data")]
pub enum Word {
    /// It is here, and this is what it is about to do.
    Came(BTreeMap<String, Value>),
    /// Rank 0: all are here.
    Welcome(Welcome),
    /// It runs.
    Alive,
    /// It has come to a point of its way, and waits for rank 0.
    Reached(String),
    /// Rank 0: all have come to this point.
    Go {
        /// The point.
        point: String,
        /// When clients start, in ns since 1970 by the clock of rank 0; absent where none do.
        start_unix_ns: Option<u64>,
    },
    /// What its clients have done in a phase.
    Share {
        /// The phase's end.
        point: String,
        /// What they did.
        share: Box<Share>,
    },
    /// Rank 0: what the clients of all ranks have written in a phase.
    Whole {
        /// The phase's end.
        point: String,
        /// Which operations were issued, and which of them were not acknowledged.
        outcome: Box<PhaseOutcome>,
    },
    /// It broke a trial off, and goes on with the next.
    BrokenOff {
        /// The trial or case.
        scope: String,
        /// Why.
        why: String,
    },
    /// It does not go on.
    Left(String),
    /// It has come to its end.
    Ended,
}

/// What every rank has to know of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// The run's name.
    pub run: String,
    /// The owner's mark in databases.
    pub owner: String,
}

/// What the clients of one rank have done in a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// When they started, in ns since 1970 by their host's clock.
    pub started_unix_ns: u64,
    /// What they did; absent where all clients of the phase are other ranks'.
    pub report: Option<Report>,
}

/// A rank's own file.
pub struct Speaker {
    path: PathBuf,
    /// A line is written as a whole, whoever says it.
    order: Mutex<()>,
}

impl Speaker {
    /// A rank that says all in this file.
    pub const fn new(path: PathBuf) -> Self {
        Self { path, order: Mutex::new(()) }
    }

    /// Says a word: it is in the file when this returns.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn say(&self, word: &Word) -> io::Result<()> {
        let mut line = serde_json::to_vec(word)?;
        line.push(b'\n');
        let _order = self.order.lock();
        let mut file = OpenOptions::new().append(true).create(true).open(&self.path)?;
        file.write_all(&line)
    }
}

/// Another rank's file.
pub struct Listener {
    /// The rank.
    pub rank: u32,
    path: PathBuf,
    read_bytes: u64,
    /// What it said and nobody took yet.
    pub waiting: VecDeque<Word>,
    /// When it last said something; none before its first word.
    pub heard: Option<Instant>,
}

impl Listener {
    /// A rank that says all in this file.
    pub const fn new(rank: u32, path: PathBuf) -> Self {
        Self { rank, path, read_bytes: 0, waiting: VecDeque::new(), heard: None }
    }

    /// Takes in what it has said since.
    ///
    /// # Errors
    /// When the file cannot be read or holds something else. A file that is not there yet is no error.
    pub fn listen(&mut self) -> io::Result<()> {
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            opened => opened?,
        };
        file.seek(SeekFrom::Start(self.read_bytes))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let Some(end) = whole.map(|last| last + 1) else {
            return Ok(());
        };
        self.read_bytes += end as u64;
        self.heard = Some(Instant::now());
        for line in bytes[..end].split(|byte| *byte == b'\n') {
            if line.is_empty() {
                continue;
            }
            match serde_json::from_slice(line)? {
                Word::Alive => {}
                word => self.waiting.push_back(word),
            }
        }
        Ok(())
    }

    /// The first waiting word that passes.
    pub fn take<T>(&mut self, passes: impl Fn(&Word) -> Option<T>) -> Option<T> {
        let found = self.waiting.iter().enumerate();
        let (place, found) = found.filter_map(|(place, word)| Some((place, passes(word)?))).next()?;
        self.waiting.remove(place);
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_heard_once_and_a_half_line_not_yet() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let path = scratch.path().join("said.jsonl");
        let mut listener = Listener::new(1, path.clone());
        listener.listen().expect("no file yet is no error");
        assert!(listener.heard.is_none());
        let speaker = Speaker::new(path.clone());
        for word in [Word::Alive, Word::Reached("here".into()), Word::Ended] {
            speaker.say(&word).expect("it can be written");
        }
        let half = |text: &str| {
            let mut file = OpenOptions::new().append(true).open(&path).expect("open");
            file.write_all(text.as_bytes()).expect("written");
        };
        half("{\"word\":\"reached\",");
        listener.listen().expect("it can be read");
        assert_eq!(listener.waiting.len(), 2);
        let reached = |word: &Word| matches!(word, Word::Reached(_)).then_some(());
        assert!(listener.take(reached).is_some() && listener.take(reached).is_none());
        half("\"data\":\"there\"}\n");
        listener.listen().expect("it can be read");
        let second = listener.take(|word| match word {
            Word::Reached(point) => Some(point.clone()),
            _ => None,
        });
        assert_eq!(second.as_deref(), Some("there"));
        half("nonsense\n");
        assert!(listener.listen().is_err());
    }
}
