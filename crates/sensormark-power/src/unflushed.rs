//! What stood in files at their last flush, so that a cut can bring it back.

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;

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

/// All files that changed since their last flush, by inode; none where nothing need be kept, because no cut is to come.
#[derive(Debug, Default)]
pub(crate) struct Unflushed(Mutex<Option<HashMap<u64, Changed>>>);

/// A file that changed since its last flush.
#[derive(Debug)]
struct Changed {
    /// Held open, so that its inode is nobody else's.
    file: Arc<File>,
    /// Its size at the last flush.
    size: u64,
    /// The blocks that were written over, by number, as they were.
    blocks: BTreeMap<u64, Vec<u8>>,
}

impl Unflushed {
    /// Changes these bytes of a file, which is open for reading too. `flushes` says that the change is flushed with it.
    pub(crate) fn change(
        &self,
        file: &Arc<File>,
        bytes: Range<u64>,
        flushes: bool,
        act: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let mut unflushed = self.0.lock();
        let Some(files) = unflushed.as_mut() else { return act() };
        let of = file.metadata()?;
        let was = || Changed { file: Arc::clone(file), size: of.len(), blocks: BTreeMap::new() };
        files.entry(of.ino()).or_insert_with(was).keep(bytes)?;
        let done = act();
        if flushes {
            files.remove(&of.ino());
        }
        done
    }

    /// A file was flushed.
    pub(crate) fn flush(&self, file: &File) -> io::Result<()> {
        let number = file.metadata()?.ino();
        self.0.lock().as_mut().and_then(|files| files.remove(&number));
        Ok(())
    }

    /// Takes everything that is there as flushed: nothing is lost. From now on the power may be cut.
    pub(crate) fn keep(&self) -> Lost {
        *self.0.lock() = Some(HashMap::new());
        Lost::default()
    }

    /// Makes every file again what it was at its last flush.
    pub(crate) fn cut(&self) -> io::Result<Lost> {
        let mut lost = Lost::default();
        for changed in self.0.lock().take().unwrap_or_default().values() {
            lost.files += 1;
            lost.bytes += changed.undo()?;
        }
        Ok(lost)
    }
}

impl Changed {
    /// Keeps what stands in these bytes, unless it is kept already. What is behind the size at the last flush was not there.
    fn keep(&mut self, bytes: Range<u64>) -> io::Result<()> {
        for block in bytes.start / BLOCK..bytes.end.min(self.size).div_ceil(BLOCK) {
            if !self.blocks.contains_key(&block) {
                let length = BLOCK.min(self.size - block * BLOCK);
                let mut was = vec![0; usize::try_from(length).unwrap_or_default()];
                self.file.read_exact_at(&mut was, block * BLOCK)?;
                self.blocks.insert(block, was);
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
