//! The power of a run's disk: a folder that loses what was not flushed, and when it does.

use crate::failure::TrialFailure;
use sensormark_power::{Lost, PowerFolder};
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{Figure, TrialRecord};
use sensormark_server::{ScratchFolder, Supervisor};
use sensormark_store::{ErrorKind, StoreError};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The role of the process that serves the folder.
pub const POWER: &str = "power";

/// A folder whose power can be cut; all databases of the run are in it.
#[derive(Debug)]
pub struct Power {
    state: Mutex<State>,
    path: PathBuf,
    _scratch: ScratchFolder,
}

#[derive(Debug)]
struct State {
    folder: PowerFolder,
    /// Whether something was acknowledged in the present phase, before the cut.
    is_written: bool,
}

impl Power {
    /// Makes it in `data` (a folder on the disk that the user chose) if given. `program` is this one; it serves the folder in a process of its own.
    ///
    /// # Errors
    /// When it cannot be made or mounted; nothing is left behind.
    pub fn make(supervisor: &Supervisor, program: &Path, data: Option<&Path>) -> Result<Self, StoreError> {
        let scratch = supervisor.scratch(POWER, data)?;
        scratch.let_others_through()?;
        let mut serves = Command::new(program);
        // Ctrl-C is for the run, whose servers still end in good order then.
        serves.args(["role", POWER]).arg(scratch.path()).process_group(0);
        let folder = PowerFolder::make(scratch.path(), &mut serves).map_err(|error| {
            StoreError::new(ErrorKind::Configuration, "mount a folder that can lose power", error.to_string())
        })?;
        let path = folder.path().to_owned();
        Ok(Self { state: Mutex::new(State { folder, is_written: false }), path, _scratch: scratch })
    }

    /// Where databases go.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A phase begins in which the power is to be cut: whatever the trial before it wrote says nothing about this one.
    pub(crate) fn begin(&self) {
        self.state().is_written = false;
    }

    /// Readings are acknowledged. With the first of a phase, what is there counts as flushed, because a system flushes it within half a minute.
    pub(crate) fn note_written(&self) -> Result<(), TrialFailure> {
        let mut state = self.state();
        if !state.is_written {
            state.folder.keep().map_err(|error| failed(&error))?;
            state.is_written = true;
        }
        Ok(())
    }

    /// Cuts the power. Nobody who writes may live any more.
    pub(crate) fn cut(&self) -> Result<Lost, TrialFailure> {
        let mut state = self.state();
        if !std::mem::take(&mut state.is_written) {
            let text = "nothing was acknowledged before the power was cut: give the clients longer with --set kill_after_seconds=…";
            return Err(TrialFailure::System(text.to_owned()));
        }
        state.folder.cut().map_err(|error| failed(&error))
    }
}

/// Puts down what the disk lost, where its power was cut.
pub(crate) fn note(lost: Option<Lost>, record: &mut TrialRecord) {
    let Some(lost) = lost else { return };
    for (name, value, unit) in
        [(names::DISK_LOST_FILES, lost.files, "files"), (names::DISK_LOST_BYTES, lost.bytes, "bytes")]
    {
        record.figures.insert(name.to_owned(), Figure::new(value as f64, unit));
    }
}

fn failed(error: &io::Error) -> TrialFailure {
    TrialFailure::System(format!("the power of the disk: {error}"))
}
