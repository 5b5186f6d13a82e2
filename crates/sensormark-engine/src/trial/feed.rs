//! What feeds a load: a source in a process of its own, the line from it to the client, and the journal of what the client wrote.
//!
//! The coordinator opens the line, starts the source when the client is connected, and looks after both. The client, which sleeps in the kernel until a
//! reading comes, is never left waiting: when the source dies or falls silent, the line is ended. What a source sends, and how, is a workload's
//! ([`Source`], [`Line`]).

use crate::failure::TrialFailure;
use crate::intake::Feed;
use crate::launcher::Launcher;
use crate::outcome::LoadOutcome;
use crate::role::{Event, RoleError, RoleProcess};
use sensormark_result::ledger::journal::{self, Entry, JournalWriter, Standing};
use sensormark_result::ledger::reconcile::Written;
use sensormark_result::measurement::record::Figure;
use sensormark_result::measurement::verdict::Reason;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The role of a source's process.
pub const SOURCE: &str = "source";
/// How long a source's process has to get ready for the common start, in ns.
pub const LEAD_NS: u64 = 200_000_000;
/// How long a source's process may take to be there: another host has to be reached.
const LONGEST_LAUNCH: Duration = Duration::from_secs(30);
/// How often the coordinator looks whether the source still sends.
const LOOK_AT_LINE: Duration = Duration::from_secs(1);
/// How long an empty line may be silent before the trial is broken off.
pub const LONGEST_SILENCE: Duration = Duration::from_secs(10);

/// A source, as the coordinator knows it.
pub trait Source: Send + Sync {
    /// Makes the line from the source to its client. It ends with this process.
    ///
    /// # Errors
    /// Why it cannot be made, in words.
    fn open(&self) -> Result<Box<dyn Line>, String>;

    /// The readings that a journal tells of, made again.
    fn written(&self, entries: Vec<Entry>) -> Box<dyn Written>;

    /// What the source's report comes to, with what its client did.
    ///
    /// # Errors
    /// When the report cannot be understood, in words.
    fn came_to(&self, report: Value, client: &LoadOutcome) -> Result<Brought, String>;
}

/// The line from a source to its client. Dropping it removes it.
pub trait Line: Send {
    /// Where the client finds it.
    fn address(&self) -> Value;

    /// What the source's process gets to know. Its first reading is due at this instant of CLOCK_MONOTONIC.
    fn source(&self, start_ns: u64) -> Value;

    /// For how long nothing has come over it, while nothing waits on it either.
    ///
    /// # Errors
    /// When it is gone, in words.
    fn silence(&self) -> Result<Option<Duration>, String>;

    /// Tells the client that nothing will follow, if there is room for that.
    fn end(&self);
}

/// What a source brought.
#[derive(Debug, Default)]
pub struct Brought {
    /// Readings that it made, lost ones included.
    pub produced: u64,
    /// How late it was with a reading, 99th percentile, in ns.
    pub pacing_p99_ns: Option<u64>,
    /// Figures for the trial's record.
    pub figures: BTreeMap<String, Figure>,
    /// What a reader should know.
    pub warnings: Vec<String>,
    /// What speaks against the trial.
    pub reasons: Vec<Reason>,
}

/// A source at work, and its line.
pub struct Feeding {
    /// None where the client's process has opened the line, on another host.
    line: Option<Box<dyn Line>>,
    source: Option<RoleProcess>,
    looked: Instant,
}

impl Feeding {
    /// A line whose source is yet to be started; none where the client's process has opened it.
    pub fn new(line: Option<Box<dyn Line>>) -> Self {
        Self { line, source: None, looked: Instant::now() }
    }

    /// Starts the source's process by its name, and waits until it is there.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn launch(&mut self, launcher: &Launcher, name: &str) -> Result<(), TrialFailure> {
        let mut source = RoleProcess::launch(launcher, name)?;
        source.wait_here(LONGEST_LAUNCH)?;
        self.source = Some(source);
        Ok(())
    }

    /// What the source gets to know of a line on this host, whose common start is at this instant.
    pub fn told(&self, start_ns: u64) -> Option<Value> {
        self.line.as_ref().map(|line| line.source(start_ns))
    }

    /// Tells the source what it has to know. It begins at the common start.
    ///
    /// # Errors
    /// When it is gone, or was not launched.
    pub fn start(&mut self, told: &Value) -> Result<&RoleProcess, TrialFailure> {
        self.looked = Instant::now();
        let Some(source) = &mut self.source else {
            return Err(TrialFailure::System("the source was not started".to_owned()));
        };
        source.send(told)?;
        Ok(source)
    }

    /// Looks after the source: one that ends early is noticed at once, one that only falls silent after [`LONGEST_SILENCE`].
    ///
    /// # Errors
    /// When it ended without a report, or sends nothing any more.
    pub fn look(&mut self) -> Result<(), TrialFailure> {
        let Some(source) = &mut self.source else {
            return Ok(());
        };
        source.listen(Instant::now())?;
        if source.has_reported() || self.looked.elapsed() < LOOK_AT_LINE {
            return Ok(());
        }
        self.looked = Instant::now();
        let silence = self.line.as_ref().map_or(Ok(None), |line| line.silence());
        let silence = silence.map_err(TrialFailure::System)?;
        if silence.is_some_and(|long| long >= LONGEST_SILENCE) {
            return Err(source.silent(LONGEST_SILENCE).into());
        }
        Ok(())
    }

    /// The source's report, once it is there.
    pub fn report(&mut self) -> Option<Value> {
        let source = self.source.as_mut()?;
        match source.take(|event| matches!(event, Event::Report(_)))? {
            Event::Report(report) => Some(report),
            _ => None,
        }
    }

    /// That nothing came from the source for as long as this.
    pub fn silent(&self, limit: Duration) -> RoleError {
        let unstarted =
            || RoleError::Silent { role: SOURCE.to_owned(), place: String::new(), seconds: limit.as_secs() };
        let source = self.source.as_ref();
        source.map_or_else(unstarted, |source| source.silent(limit))
    }

    /// Ends the source, and has the client end where its line is on this host.
    pub fn end(&mut self) {
        if let Some(source) = &mut self.source {
            source.kill();
        }
        if let Some(line) = &self.line {
            line.end();
        }
    }
}

/// The journal of a fed load: what its client wrote and what became of it. Its files are in memory where there is such a place, so that they cost the disk
/// nothing. They are in no folder, and end with this process.
pub struct Journal {
    written: File,
    stored: File,
}

/// Where processes of this user open a file that this one has open.
fn path_of(file: &File) -> PathBuf {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()).into()
}

impl Journal {
    /// A new one, empty.
    ///
    /// # Errors
    /// When its files cannot be made.
    pub fn create() -> Result<Self, TrialFailure> {
        let file = || tempfile::tempfile_in("/dev/shm").or_else(|_| tempfile::tempfile());
        let make = || Ok(Self { written: file()?, stored: file()? });
        make().map_err(|error: std::io::Error| {
            TrialFailure::System(format!("cannot make the journal: {error}"))
        })
    }

    /// Its file, for as long as this process has it.
    pub fn path(&self) -> PathBuf {
        path_of(&self.written)
    }

    /// The file of what is stored, which later trials of the case get.
    pub fn stored_path(&self) -> PathBuf {
        path_of(&self.stored)
    }

    /// The one that came from another host.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, TrialFailure> {
        let journal = Self::create()?;
        std::fs::write(journal.path(), bytes)
            .map_err(|error| TrialFailure::System(format!("the journal cannot be kept: {error}")))?;
        Ok(journal)
    }

    /// What a client gets to know of a line.
    pub fn feed(&self, line: &dyn Line) -> Feed {
        Feed { address: line.address(), journal: self.path() }
    }

    /// Its entries.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn entries(&self) -> Result<Vec<Entry>, TrialFailure> {
        let read = File::open(self.path()).and_then(|file| journal::read(&mut BufReader::new(file)));
        read.map_err(|error| TrialFailure::System(format!("the journal cannot be read: {error}")))
    }

    /// Its bytes, which stay with the results: they say what every later read of the same data should find.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn bytes(&self) -> Result<Vec<u8>, TrialFailure> {
        std::fs::read(self.path())
            .map_err(|error| TrialFailure::System(format!("the journal cannot be read: {error}")))
    }

    /// Writes what is stored for later trials, by time: everything that was not refused or, where some of it is missing, what was found at these times.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep_stored(&self, found_ns: Option<Vec<i64>>) -> Result<(), TrialFailure> {
        let mut entries = self.entries()?;
        entries.retain(|entry| entry.standing != Standing::Refused);
        if let Some(mut times_ns) = found_ns {
            times_ns.sort_unstable();
            entries.retain(|entry| times_ns.binary_search(&entry.time_ns).is_ok());
        }
        entries.sort_by_key(|entry| entry.time_ns);
        let path = self.stored_path();
        let write = || {
            File::create(&path)?;
            let mut writer = JournalWriter::open(&path)?;
            entries.iter().try_for_each(|entry| writer.push(*entry))?;
            writer.flush()
        };
        write().map_err(|error: std::io::Error| {
            TrialFailure::System(format!("the journal cannot be kept: {error}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_trials_are_told_what_is_stored_and_not_what_was_refused_or_lost() {
        let journal = Journal::create().expect("a folder");
        let mut writer = JournalWriter::open(&journal.path()).expect("its file");
        let standings = [Standing::Acknowledged, Standing::Refused, Standing::InDoubt];
        for (sequence, standing) in (0..).zip(standings) {
            let time_ns = 1_000 - i64::try_from(sequence).expect("small");
            let entry = Entry { sequence, time_ns, standing };
            writer.push(entry).expect("room");
        }
        writer.flush().expect("room");
        let stored = |found_ns| {
            journal.keep_stored(found_ns).expect("room");
            let mut file = File::open(journal.stored_path()).expect("the file");
            let entries = journal::read(&mut file).expect("entries");
            let sequences = entries.iter().map(|entry| entry.sequence);
            sequences.collect::<Vec<_>>()
        };
        assert_eq!(stored(None), [2, 0], "by time");
        assert_eq!(stored(Some(vec![1_000, 999])), [0]);
    }

    /// A run that was killed left its journal in memory.
    #[test]
    fn no_folder_has_its_files() {
        let journal = Journal::create().expect("files");
        for path in [journal.path(), journal.stored_path()] {
            let file = std::fs::read_link(path).expect("an open file");
            assert!(!file.exists() && file.to_string_lossy().ends_with("(deleted)"), "{}", file.display());
        }
    }
}
