//! What stood in files at their last flush, so that a cut can bring it back.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// The piece of a file that is kept as a whole, in bytes.
const BLOCK: u64 = 4096;

/// What a cut took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// Files with something that was not flushed.
    pub files: u64,
    /// Bytes written over or behind the end.
    pub bytes: u64,
}

/// All files that changed since their last flush.
#[derive(Debug, Default)]
pub(crate) struct Unflushed {
    /// Changes hold it for reading, commands for writing.
    power: RwLock<Power>,
}

#[derive(Debug, Default)]
struct Power {
    /// Whether a cut is to come; before, nothing need be kept.
    may_be_cut: bool,
    /// By inode. One that was flushed stays, with nothing in it.
    files: Mutex<HashMap<u64, Arc<Mutex<Option<Changed>>>>>,
}

/// A file that changed since its last flush.
#[derive(Debug)]
struct Changed {
    /// Held open, so that its inode is nobody else's.
    file: File,
    /// Its size at the last flush.
    size: u64,
    /// The blocks that were written over, by number, as they were.
    blocks: BTreeMap<u64, Vec<u8>>,
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Unflushed {
    /// Changes these bytes of a file, which is open for reading too. `flushes` says that the change is flushed with it.
    pub(crate) fn change<T>(
        &self,
        file: &File,
        bytes: Range<u64>,
        flushes: bool,
        act: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let power = self.power.read().unwrap_or_else(PoisonError::into_inner);
        if !power.may_be_cut {
            return act();
        }
        let entry = power.entry(file)?;
        let mut changed = held(&entry);
        Changed::keep(&mut changed, file, bytes)?;
        let done = act();
        if flushes {
            *changed = None;
        }
        done
    }

    /// A file was flushed.
    pub(crate) fn flush(&self, file: &File) -> io::Result<()> {
        let power = self.power.read().unwrap_or_else(PoisonError::into_inner);
        *held(&*power.entry(file)?) = None;
        Ok(())
    }

    /// Takes everything that is there as flushed. From now on the power may be cut.
    pub(crate) fn keep(&self) {
        let mut power = self.power.write().unwrap_or_else(PoisonError::into_inner);
        *power = Power { may_be_cut: true, ..Power::default() };
    }

    /// Makes every file again what it was at its last flush.
    pub(crate) fn cut(&self) -> io::Result<Lost> {
        let mut power = self.power.write().unwrap_or_else(PoisonError::into_inner);
        let mut lost = Lost::default();
        for entry in held(&std::mem::take(&mut *power).files).values() {
            if let Some(changed) = held(entry).take() {
                lost.files += 1;
                lost.bytes += changed.undo()?;
            }
        }
        Ok(lost)
    }
}

impl Power {
    fn entry(&self, file: &File) -> io::Result<Arc<Mutex<Option<Changed>>>> {
        Ok(Arc::clone(held(&self.files).entry(file.metadata()?.ino()).or_default()))
    }
}

impl Changed {
    /// Keeps what stands in these bytes, unless it is kept already. What is behind the size at the last flush was not there.
    fn keep(changed: &mut Option<Self>, file: &File, bytes: Range<u64>) -> io::Result<()> {
        let this = match changed {
            Some(this) => this,
            None => changed.insert(Self {
                file: file.try_clone()?,
                size: file.metadata()?.len(),
                blocks: BTreeMap::new(),
            }),
        };
        for block in bytes.start / BLOCK..bytes.end.min(this.size).div_ceil(BLOCK) {
            if !this.blocks.contains_key(&block) {
                let length = BLOCK.min(this.size - block * BLOCK);
                let mut was = vec![0; usize::try_from(length).unwrap_or_default()];
                file.read_exact_at(&mut was, block * BLOCK)?;
                this.blocks.insert(block, was);
            }
        }
        Ok(())
    }

    /// Writes back what was kept, and says how many bytes are lost.
    fn undo(&self) -> io::Result<u64> {
        let mut lost = self.file.metadata()?.len().saturating_sub(self.size);
        self.file.set_len(self.size)?;
        for (block, was) in &self.blocks {
            self.file.write_all_at(was, block * BLOCK)?;
            lost += was.len() as u64;
        }
        Ok(lost)
    }
}
