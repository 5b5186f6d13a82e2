//! The power of a run's disk: a folder that loses what was not flushed, and when it does.

use crate::failure::TrialFailure;
use sensormark_power::{Lost, PowerFolder};
use sensormark_server::{ScratchFolder, Supervisor};
use sensormark_store::{ErrorKind, StoreError};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The role of the process that serves the folder.
pub const POWER: &str = "power";

/// A folder whose power can be cut; all databases of the run are in it.
#[derive(Debug)]
pub struct Power {
    folder: PowerFolder,
    _scratch: ScratchFolder,
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
        Ok(Self { folder, _scratch: scratch })
    }

    /// Where databases go.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Takes what is there as flushed, because a system flushes it within half a minute.
    pub(crate) fn keep(&self) -> Result<(), TrialFailure> {
        self.folder.keep().map_err(|error| failed(&error))
    }

    /// Cuts the power. Nobody who writes may live any more.
    pub(crate) fn cut(&self) -> Result<Lost, TrialFailure> {
        self.folder.cut().map_err(|error| failed(&error))
    }
}

fn failed(error: &io::Error) -> TrialFailure {
    TrialFailure::System(format!("the power of the disk: {error}"))
}
