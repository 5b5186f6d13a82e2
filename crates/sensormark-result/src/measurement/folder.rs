//! A run's folder on disk: written so that a run that is broken off keeps what it has.
//!
//! `run.json` holds the [`RunRecord`], `trials/NAME.json` a [`TrialRecord`] each, and `samples/NAME.json` its one-second samples. `SHA256SUMS` lists the
//! trials with their checksums, and `run.json` of a finished run names them too. So a trial that was changed, removed or copied is noticed.
//! Every file is written beside its place and renamed into it. A result is never overwritten: meeting a file of its name is an error. The run's own
//! record, and what is derived from results (the page, figures), are replaced. Nothing here interprets the records.

use crate::measurement::checksums::{self, Checksums, Fit};
use crate::measurement::migration::migrate;
use crate::measurement::record::{RunRecord, SCHEMA_VERSION, TrialRecord};
use crate::measurement::unbroken;
use crate::probe::Recording;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The largest file of results that is read, in bytes: a gibibyte. The largest that was seen has some ten million.
const LARGEST_BYTES: u64 = 1 << 30;

/// What can go wrong with a results folder.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file or folder cannot be read or written.
    #[error("cannot {action} {}: {source}{hint}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// What to try, with a leading "; ", or nothing.
        hint: &'static str,
        /// Why not.
        source: std::io::Error,
    },
    /// A result of this name is there.
    #[error("{} is there already, and a result is never overwritten: give each server a name (--on STORE#NAME=URL), or report this as an error of sensormark's", .0.display())]
    Exists(PathBuf),
    /// There is nothing here.
    #[error("there is no folder {}; give the folder that a run printed at its end", .0.display())]
    Nowhere(PathBuf),
    /// There is no run here.
    #[error("{} is not a results folder: it has no run.json; give the folder that a run printed at its end", .0.display())]
    NotARun(PathBuf),
    /// It is one part of a run of an earlier version.
    #[error("{} is part {rank} of {of} of a run, which several hosts measured with `run --shard`: its figures are of one host alone; join the parts with the sensormark that made them ({version}) and its command `merge`, and give the folder that it prints", path.display())]
    Part {
        /// The folder.
        path: PathBuf,
        /// The part's number.
        rank: u32,
        /// How many there are.
        of: u32,
        /// The program that made it.
        version: String,
    },
    /// A file is not what it should be.
    #[error("{} is damaged: {problem}; restore it, or leave the trial out by removing the file, its line in SHA256SUMS, and its name in run.json", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A trial is not here.
    #[error("{} is missing, and the run measured it: restore it, or leave the trial out by removing its line in SHA256SUMS and its name in run.json", .0.display())]
    Missing(PathBuf),
    /// A file was written by a newer sensormark.
    #[error("{} has result format {found}, and this sensormark reads up to {SCHEMA_VERSION}: use a newer sensormark", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
    },
}

/// The folder of one run.
#[derive(Debug, Clone)]
pub struct ResultsFolder {
    root: PathBuf,
}

impl ResultsFolder {
    /// Makes the folder of a new run below `parent`.
    ///
    /// # Errors
    /// When it cannot be made or written.
    pub fn create(parent: &Path, name: &str) -> Result<Self, FolderError> {
        let folder = Self { root: parent.join(name) };
        let failed = |path: &Path, source: io::Error| FolderError::Io {
            action: "make the results folder",
            path: path.to_path_buf(),
            hint: "; choose another with --results FOLDER",
            source,
        };
        fs::create_dir_all(parent).map_err(|source| failed(parent, source))?;
        for path in [folder.root.clone(), folder.root.join("trials"), folder.root.join("samples")] {
            fs::create_dir(&path).map_err(|source| match source.kind() {
                io::ErrorKind::AlreadyExists => FolderError::Exists(path.clone()),
                _ => failed(&path, source),
            })?;
        }
        Ok(folder)
    }

    /// Writes the run's first record. Where that fails, the empty folder goes again, which takes no descriptor.
    ///
    /// # Errors
    /// As of [`Self::write_run`].
    pub fn begin(&self, run: &RunRecord) -> Result<(), FolderError> {
        self.write_run(run).inspect_err(|_| {
            for folder in [self.root.join("samples"), self.root.join("trials"), self.root.clone()] {
                let _ = fs::remove_dir(folder);
            }
        })
    }

    /// Opens the folder of an earlier run.
    ///
    /// # Errors
    /// When there is no run in it.
    pub fn open(root: &Path) -> Result<Self, FolderError> {
        if !root.is_dir() {
            return Err(FolderError::Nowhere(root.to_path_buf()));
        }
        if !root.join("run.json").is_file() {
            return Err(FolderError::NotARun(root.to_path_buf()));
        }
        Ok(Self { root: root.to_path_buf() })
    }

    /// Where the folder is.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Writes the run's record, replacing an earlier one.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_run(&self, run: &RunRecord) -> Result<(), FolderError> {
        self.replace_bytes("run.json", &as_json(run))
    }

    /// Writes a trial's record.
    ///
    /// # Errors
    /// When the file cannot be written, and when there is a trial of this name.
    pub fn write_trial(&self, trial: &TrialRecord) -> Result<(), FolderError> {
        let _unbroken = unbroken::begin();
        let (name, bytes) = (trial_file(&trial.name), as_json(trial));
        let mut sums = self.checksums()?.unwrap_or_default();
        if sums.fit(&name, &bytes) != Fit::NotListed {
            return Err(FolderError::Exists(self.root.join(name)));
        }
        // Listed first: a run that ends between the two misses a trial, and nothing is here that it does not list.
        sums.add(&name, &bytes);
        self.replace_bytes(checksums::FILE, sums.text().as_bytes())?;
        self.write_bytes(&name, &bytes)
    }

    /// The names of the trials that were written, in their order.
    ///
    /// # Errors
    /// When the list of checksums is damaged.
    pub fn written(&self) -> Result<Vec<String>, FolderError> {
        let sums = self.checksums()?.unwrap_or_default();
        let trial = |file: &str| Some(file.strip_prefix("trials/")?.strip_suffix(".json")?.to_owned());
        Ok(sums.names().filter_map(trial).collect())
    }

    /// The list of the trials' checksums; none in a folder of before there were any.
    fn checksums(&self) -> Result<Option<Checksums>, FolderError> {
        let path = self.root.join(checksums::FILE);
        if path.symlink_metadata().is_err() {
            return Ok(None);
        }
        let bytes = read_regular(&path)?;
        let problem = |problem| FolderError::Damaged { path: path.clone(), problem };
        let text = String::from_utf8(bytes).map_err(|error| problem(error.to_string()))?;
        Checksums::parse(&text).map(Some).map_err(problem)
    }

    /// Writes another result of the run (samples, say) as JSON.
    ///
    /// # Errors
    /// When the file cannot be written, and when it is there already.
    pub fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), FolderError> {
        self.write_bytes(name, &as_json(value))
    }

    /// Makes a folder in the run's, where it is not there yet.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make(&self, name: &str) -> Result<(), FolderError> {
        let path = self.root.join(name);
        fs::create_dir_all(&path).map_err(|source| FolderError::Io {
            action: "make the folder",
            path,
            hint: "; is the disk full or the folder not yours to write?",
            source,
        })
    }

    /// Writes a result of the run: beside its place first, then renamed into it.
    ///
    /// # Errors
    /// When the file cannot be written, and when it is there already, which leaves it as it was; nothing half-written is left in its place.
    pub fn write_bytes(&self, name: &str, bytes: &[u8]) -> Result<(), FolderError> {
        write(&self.root.join(name), bytes, Existing::Stays)
    }

    /// Writes what is derived from results, in the place of an earlier one.
    ///
    /// # Errors
    /// When the file cannot be written; nothing half-written is left in its place.
    pub fn replace_bytes(&self, name: &str, bytes: &[u8]) -> Result<(), FolderError> {
        write_beside(&self.root.join(name), bytes)
    }

    /// The run's record.
    ///
    /// # Errors
    /// When it is missing, damaged or of a newer format, and when the folder is a part of a run.
    pub fn run(&self) -> Result<RunRecord, FolderError> {
        let run = self.record()?;
        if run.is_part() {
            let (rank, of) = run.shard;
            let path = self.root.clone();
            return Err(FolderError::Part { path, rank, of, version: run.sensormark });
        }
        Ok(run)
    }

    fn record(&self) -> Result<RunRecord, FolderError> {
        read_versioned(&self.root.join("run.json"))
    }

    /// The one-second samples of a trial. None where they are not there or cannot be read, because figures do not rest on them.
    pub fn samples(&self, trial: &str) -> Option<Recording> {
        let path = self.root.join("samples").join(format!("{trial}.json"));
        let recording: Recording = serde_json::from_slice(&read_regular(&path).ok()?).ok()?;
        recording.is_whole().then_some(recording)
    }

    /// All trials, in the order of repetition and turn.
    ///
    /// # Errors
    /// When one is damaged, of a newer format, or does not fit the list of checksums, and when one is missing that a finished run measured.
    pub fn trials(&self) -> Result<Vec<TrialRecord>, FolderError> {
        // While a run begins it has no record yet.
        let recorded = self.root.join("run.json").is_file();
        let run = recorded.then(|| self.record()).transpose()?;
        let finished = run.filter(|run| run.finished.is_some());
        let sums = self.checksums()?;
        if finished.as_ref().is_some_and(|run| run.checksums) && sums.is_none() {
            return Err(FolderError::Missing(self.root.join(checksums::FILE)));
        }
        let mut trials = Vec::new();
        for file in self.trial_files()? {
            trials.push(self.trial(&file, sums.as_ref())?);
        }
        if let Some(run) = &finished {
            let listed = sums.iter().flat_map(Checksums::names).map(str::to_owned);
            let measured = run.trials.iter().map(|name| trial_file(name));
            let is_here = |name: &str| trials.iter().any(|one| trial_file(&one.name) == name);
            if let Some(missing) = listed.chain(measured).find(|name| !is_here(name)) {
                return Err(FolderError::Missing(self.root.join(missing)));
            }
        }
        trials.sort_by(|a, b| {
            (a.repetition, a.turn, a.attempt, &a.name).cmp(&(b.repetition, b.turn, b.attempt, &b.name))
        });
        Ok(trials)
    }

    /// The trial in this file, which is as it was written.
    fn trial(&self, file: &Path, sums: Option<&Checksums>) -> Result<TrialRecord, FolderError> {
        let damaged =
            |problem: &str| FolderError::Damaged { path: file.to_path_buf(), problem: problem.to_owned() };
        let bytes = read_regular(file)?;
        let record: TrialRecord = versioned(file, &bytes)?;
        let is_its_name = file.file_stem().is_some_and(|stem| *stem == *record.name);
        if !is_its_name {
            let problem = format!("it is a copy of the trial {} under another name", record.name);
            return Err(damaged(&problem));
        }
        let fit = sums.map_or(Fit::Same, |sums| sums.fit(&trial_file(&record.name), &bytes));
        match fit {
            Fit::Same => Ok(record),
            Fit::Changed => {
                Err(damaged("it was changed after it was written (its checksum in SHA256SUMS is another)"))
            }
            Fit::NotListed => Err(damaged("SHA256SUMS does not list it, so the run did not write it")),
        }
    }

    fn trial_files(&self) -> Result<Vec<PathBuf>, FolderError> {
        let path = self.root.join("trials");
        let io = |source| FolderError::Io { action: "read", path: path.clone(), hint: "", source };
        let mut files = Vec::new();
        for entry in fs::read_dir(&path).map_err(io)? {
            let file = entry.map_err(io)?.path();
            if file.extension().is_some_and(|ending| ending == "json") {
                files.push(file);
            }
        }
        files.sort();
        Ok(files)
    }
}

/// The file of a trial, in the folder of its run.
fn trial_file(name: &str) -> String {
    format!("trials/{name}.json")
}

/// Writes a file beside its place and renames it into it, so that a reader sees the old or the new one, never a half.
///
/// # Errors
/// When the file cannot be written.
pub fn write_beside(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    write(path, bytes, Existing::Goes)
}

/// What becomes of a file that is there already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Existing {
    /// It stays, and nothing is written.
    Stays,
    /// The new one takes its place.
    Goes,
}

fn as_json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec_pretty(value).expect("records have string keys and finite numbers")
}

fn write(path: &Path, bytes: &[u8], existing: Existing) -> Result<(), FolderError> {
    let _unbroken = unbroken::begin();
    let failed = |source| FolderError::Io {
        action: "write",
        path: path.to_path_buf(),
        hint: "; is the disk full or the folder not yours to write?",
        source,
    };
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    let opened = match existing {
        Existing::Goes => fs::File::create(&beside),
        // Who has made this file is the only one to write this name until it is renamed.
        Existing::Stays => fs::File::create_new(&beside),
    };
    let mut file = opened.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => FolderError::Exists(beside.clone()),
        _ => failed(source),
    })?;
    if existing == Existing::Stays && path.symlink_metadata().is_ok() {
        let _ = fs::remove_file(&beside);
        return Err(FolderError::Exists(path.to_path_buf()));
    }
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if let Err(source) = written.and_then(|()| fs::rename(&beside, path)) {
        let _ = fs::remove_file(&beside);
        return Err(failed(source));
    }
    // Where the machine crashes, the list of checksums is there before its trial. Some file systems cannot do this.
    if let Some(folder) = path.parent() {
        let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

/// Reads a regular file of a size that results have: a pipe or an endless device in its place would hold the reader up for ever.
fn read_regular(path: &Path) -> Result<Vec<u8>, FolderError> {
    let failed = |source| FolderError::Io { action: "read", path: path.to_path_buf(), hint: "", source };
    let damaged =
        |problem: &str| FolderError::Damaged { path: path.to_path_buf(), problem: problem.to_owned() };
    let about = fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(damaged("it is not a regular file"));
    }
    if about.len() > LARGEST_BYTES {
        return Err(damaged("it is larger than 1 GiB, which no result is"));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(failed)?;
    file.take(LARGEST_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

fn read_versioned<T: DeserializeOwned>(path: &Path) -> Result<T, FolderError> {
    versioned(path, &read_regular(path)?)
}

/// What a file's bytes say, brought to the current format.
fn versioned<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, FolderError> {
    let damaged = |problem: String| FolderError::Damaged { path: path.to_path_buf(), problem };
    let mut value: serde_json::Value =
        serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
    let version = value.get("schema_version").and_then(serde_json::Value::as_u64);
    match version {
        None => Err(damaged("it states no schema_version".to_owned())),
        Some(found) if found > u64::from(SCHEMA_VERSION) => {
            Err(FolderError::Newer { path: path.to_path_buf(), found })
        }
        Some(found) => {
            migrate(&mut value, found).map_err(damaged)?;
            serde_json::from_value(value).map_err(|error| damaged(error.to_string()))
        }
    }
}

#[cfg(test)]
mod tests;
