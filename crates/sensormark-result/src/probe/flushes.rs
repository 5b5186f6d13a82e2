//! How many flushes a second the disk beneath a folder does: what a database that flushes each commit can do at most, one commit after another.
//!
//! A block of 8 kB is written over itself at the start of a file that is there already, and flushed (fdatasync), again and again for a moment. A log that
//! is written over does the same. The filesystem's own work when a file grows is not in it. It measures nothing of a database.

use super::error::ProbeError;
use serde::{Deserialize, Serialize};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// What is written before each flush, in bytes.
const BLOCK_BYTES: usize = 8_192;
/// The file's length, in blocks.
const BLOCKS: usize = 128;
/// How long flushes are counted.
const LONGEST: Duration = Duration::from_secs(1);
/// More of them say nothing more.
const MOST: u64 = 2_000;
/// Flushes before those that are counted.
const WARM_UP: u64 = 3;

/// Flushes of the disk beneath a folder.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FlushRate {
    /// Flushes a second, one after another.
    pub per_second: f64,
    /// How many were counted.
    pub flushes: u64,
    /// The longest of them, in ns.
    pub longest_ns: u64,
}

impl FlushRate {
    /// Writes and flushes a small file in this folder for a second at most, and removes it.
    ///
    /// # Errors
    /// When it cannot be made, written or flushed.
    pub fn measure(folder: &Path) -> Result<Self, ProbeError> {
        let wrong = |source| ProbeError::File { path: folder.to_path_buf(), source };
        Self::measured(folder).map_err(wrong)
    }

    fn measured(folder: &Path) -> std::io::Result<Self> {
        // Without a name, so that nothing is left behind, however this ends.
        let mut file = tempfile::tempfile_in(folder)?;
        let mut block = [0_u8; BLOCK_BYTES];
        for _ in 0..BLOCKS {
            file.write_all(&block)?;
        }
        file.sync_all()?;
        let mut flush = |number: u64| {
            block.fill(number.to_le_bytes()[0]);
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&block)?;
            file.sync_data()
        };
        for number in 0..WARM_UP {
            flush(number)?;
        }
        let start = Instant::now();
        let (mut flushes, mut longest, mut before) = (0, Duration::ZERO, Duration::ZERO);
        while flushes < MOST && before < LONGEST {
            flush(flushes)?;
            let now = start.elapsed();
            longest = longest.max(now.saturating_sub(before));
            before = now;
            flushes += 1;
        }
        Ok(Self {
            per_second: flushes as f64 / before.as_secs_f64().max(1e-9),
            flushes,
            longest_ns: u64::try_from(longest.as_nanos()).unwrap_or(u64::MAX),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flushes_are_counted_and_nothing_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let rate = FlushRate::measure(folder.path()).expect("a rate");
        assert!(rate.flushes > 0 && rate.per_second > 0.0, "{rate:?}");
        let mean_ns = 1e9 / rate.per_second;
        assert!(rate.longest_ns as f64 >= mean_ns * 0.999, "{rate:?}");
        let left = std::fs::read_dir(folder.path()).expect("the folder");
        assert_eq!(left.count(), 0);
        let error = FlushRate::measure(Path::new("/no/such/folder")).expect_err("missing");
        assert!(error.to_string().contains("/no/such/folder"));
    }
}
