//! Who owns a queue: a record on disk beside it, so that a queue whose owner died can be found and removed.
//!
//! Kernel queues outlive processes. The record is written before its queue is made, under a key that only the two share. So whenever the owner dies, either
//! there is no queue, or there is a record of it. Nothing without a record of ours and a creator of our own user is ever removed.
//!
//! It is not the supervisor of server processes, which belongs to the contract's crate.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use libc::key_t;
use serde::{Deserialize, Serialize};

use super::error::{QueueError, ignore_gone};
use super::kernel;
use sensormark_data::random::finalise;
use sensormark_result::probe::boot_id;
use sensormark_server::ProcessIdentity;

/// Who a queue belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The process.
    pub process: ProcessIdentity,
    /// The boot that it belongs to.
    pub boot_id: String,
}

/// What is kept on disk of a queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The queue's key; the kernel knows the queue by it.
    pub key: key_t,
    /// Who removes the queue.
    pub owner: Owner,
}

/// A queue of sensormark whose owner is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// Its record.
    pub record: PathBuf,
    /// Its key.
    pub key: i32,
    /// Who it belonged to.
    pub owner: Owner,
    /// The kernel's number of the queue, where it still exists.
    pub queue: Option<i32>,
}

impl Owner {
    /// The calling process.
    pub(super) fn this_process() -> Result<Self, QueueError> {
        let path = PathBuf::from("/proc/self/stat");
        let gone = || QueueError::Record { path, source: ErrorKind::NotFound.into() };
        let process = ProcessIdentity::of(std::process::id()).ok_or_else(gone)?;
        Ok(Self { process, boot_id: boot_id() })
    }

    fn is_alive(&self) -> bool {
        self.boot_id == boot_id() && self.process.is_alive()
    }
}

/// Queues recorded in a folder whose owners are gone. A folder that is not there holds none.
///
/// # Errors
///
/// When the folder or the boot's number cannot be read. Files that are not records are passed over.
pub fn orphans(records: &Path) -> Result<Vec<Orphan>, QueueError> {
    recorded(records, |owner| !owner.is_alive())
}

/// Queues recorded in a folder whose owners are wanted.
fn recorded(records: &Path, is_wanted: impl Fn(&Owner) -> bool) -> Result<Vec<Orphan>, QueueError> {
    let at = |source| QueueError::Record { path: records.to_owned(), source };
    let entries = match fs::read_dir(records) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(at)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(at)?.path();
        let Some(record) = read_record(&path) else {
            continue;
        };
        if !is_wanted(&record.owner) {
            continue;
        }
        let same_boot = record.owner.boot_id == boot_id();
        let queue = if same_boot { our_queue(record.key)? } else { None };
        found.push(Orphan { record: path, key: record.key, owner: record.owner, queue });
    }
    Ok(found)
}

/// Removes the queues recorded in a folder whose owners are gone, with their records, and tells which.
///
/// # Errors
///
/// As [`orphans`], and when a queue or record cannot be removed; what was removed before then stays so.
pub fn remove_orphans(records: &Path) -> Result<Vec<Orphan>, QueueError> {
    let orphans = orphans(records)?;
    orphans.iter().try_for_each(remove)?;
    Ok(orphans)
}

/// Removes the queues that this process made and recorded in a folder: before it ends without dropping them.
///
/// # Errors
///
/// As [`remove_orphans`].
pub fn remove_own(records: &Path) -> Result<(), QueueError> {
    let own = Owner::this_process()?;
    let found = recorded(records, |owner| *owner == own)?;
    found.iter().try_for_each(remove)
}

fn remove(found: &Orphan) -> Result<(), QueueError> {
    if let Some(queue) = found.queue {
        ignore_gone(kernel::remove(queue))?;
    }
    remove_record(&found.record)
}

/// Writes a record under a key that no other record has; the queue may be made then.
pub(super) fn write_record(records: &Path, owner: &Owner) -> Result<(Record, PathBuf), QueueError> {
    fs::create_dir_all(records).map_err(|source| QueueError::Record { path: records.to_owned(), source })?;
    loop {
        let record = Record { key: fresh_key(owner), owner: owner.clone() };
        let path = records.join(format!("queue-{:08x}.json", record.key));
        let written = fs::File::create_new(&path).and_then(|mut file| {
            file.write_all(&serde_json::to_vec(&record)?)?;
            file.sync_all()
        });
        match written {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(source) => return Err(QueueError::Record { path, source }),
            Ok(()) => return Ok((record, path)),
        }
    }
}

pub(super) fn remove_record(path: &Path) -> Result<(), QueueError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result.map_err(|source| QueueError::Record { path: path.to_owned(), source }),
    }
}

fn read_record(path: &Path) -> Option<Record> {
    let name = path.file_name()?.to_str()?;
    if !name.starts_with("queue-") || !name.ends_with(".json") {
        return None;
    }
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// The queue under a key, where there is one and this user made it.
fn our_queue(key: key_t) -> Result<Option<i32>, QueueError> {
    let queue = match kernel::find(key) {
        Ok(queue) => queue,
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EACCES)) => {
            return Ok(None);
        }
        Err(source) => {
            return Err(QueueError::System { operation: "msgget", source });
        }
    };
    let status = ignore_gone(kernel::status(queue))?;
    let own = rustix::process::geteuid().as_raw();
    Ok(status.filter(|status| status.creator_uid == own).map(|_| queue))
}

/// A positive key that is hardly anyone's: mixed from the owner, the clock and a counter.
fn fresh_key(owner: &Owner) -> key_t {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    let process = finalise(owner.process.start_ticks ^ finalise(owner.process.pid.into()));
    let drawn = DRAWN.fetch_add(1, Ordering::Relaxed);
    let word = finalise(process ^ finalise(sensormark_engine::pacing::monotonic_ns() ^ finalise(drawn)));
    let [a, b, c, d, ..] = word.to_le_bytes();
    // 0 is IPC_PRIVATE, which has no key.
    key_t::from_le_bytes([a | 1, b, c, d & 0x7f])
}
