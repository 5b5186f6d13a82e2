//! Space that a folder takes on its disk: allocated blocks, not lengths, so that sparse and preallocated files are
//! counted as what they take. It does not wait for anything to be written (bring the database to rest first), and
//! what is deleted but still open is not in it.

use std::collections::HashSet;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::ProbeError;

/// The unit of `st_blocks`, whatever the filesystem's own block size is.
const BLOCK_BYTES: u64 = 512;

/// Space of a folder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskUsage {
    /// Allocated bytes of everything below the folder, itself included.
    pub allocated_bytes: u64,
    /// The part of `allocated_bytes` in the paths set apart (logs, say).
    pub apart_bytes: u64,
    /// Lengths of the files, holes included. They serve only as a comparison.
    pub length_bytes: u64,
    /// Files, hard links once.
    pub files: u64,
}

impl DiskUsage {
    /// Takes in another folder's space.
    pub const fn add(&mut self, other: &Self) {
        self.allocated_bytes += other.allocated_bytes;
        self.apart_bytes += other.apart_bytes;
        self.length_bytes += other.length_bytes;
        self.files += other.files;
    }
}

/// What is free on the disk of a folder for this user, in bytes.
///
/// # Errors
/// When the folder cannot be looked at.
pub fn free_bytes(folder: &Path) -> Result<u64, ProbeError> {
    let found = rustix::fs::statvfs(folder)
        .map_err(|error| ProbeError::File { path: folder.to_path_buf(), source: error.into() })?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Adds up what `folder` takes. Paths (relative to `folder`) for which `is_apart` holds are summed a second time as
/// `apart_bytes`. Symbolic links are not followed. Hard-linked files count once, at the first path met. Files that
/// vanish meanwhile are left out.
///
/// # Errors
/// When the folder, or one below it, cannot be read.
pub fn usage(folder: &Path, is_apart: impl Fn(&Path) -> bool) -> Result<DiskUsage, ProbeError> {
    let mut total = DiskUsage::default();
    let mut linked = HashSet::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(relative) = waiting.pop() {
        let path = folder.join(&relative);
        let Some(metadata) = present(&path, path.symlink_metadata())? else {
            if relative.as_os_str().is_empty() {
                let source = std::io::ErrorKind::NotFound.into();
                return Err(ProbeError::File { path, source });
            }
            continue;
        };
        if metadata.nlink() > 1 && !metadata.is_dir() && !linked.insert((metadata.dev(), metadata.ino())) {
            continue;
        }
        count(&mut total, &metadata, is_apart(&relative));
        if metadata.is_dir()
            && let Some(listing) = present(&path, std::fs::read_dir(&path))?
        {
            waiting.extend(listing.flatten().map(|entry| relative.join(entry.file_name())));
        }
    }
    Ok(total)
}

fn count(total: &mut DiskUsage, metadata: &Metadata, is_apart: bool) {
    let allocated = metadata.blocks() * BLOCK_BYTES;
    total.allocated_bytes += allocated;
    if is_apart {
        total.apart_bytes += allocated;
    }
    if metadata.is_file() {
        total.files += 1;
        total.length_bytes += metadata.len();
    }
}

fn present<T>(path: &Path, result: std::io::Result<T>) -> Result<Option<T>, ProbeError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ProbeError::File { path: path.to_path_buf(), source }),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::FileExt;

    use super::*;

    const MEGABYTE: u64 = 1_000_000;

    #[test]
    fn sparse_files_hard_links_and_logs_count_for_what_they_take() {
        let folder = tempfile::tempdir().expect("folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("log")).expect("folder");
        std::fs::write(at("data"), vec![1; 2_000_000]).expect("write");
        std::fs::hard_link(at("data"), at("log/same")).expect("link");
        std::fs::write(at("log/journal"), vec![1; 1_000_000]).expect("write");
        let sparse = File::create(at("sparse")).expect("create");
        sparse.write_all_at(&[1; 4096], 100 * MEGABYTE).expect("write");
        let used = usage(folder.path(), |path| path.ends_with("journal")).expect("usage");
        assert!((3 * MEGABYTE..3 * MEGABYTE + 150_000).contains(&used.allocated_bytes), "{used:?}");
        assert!((MEGABYTE..MEGABYTE + 10_000).contains(&used.apart_bytes), "{used:?}");
        assert_eq!(used.length_bytes, 103 * MEGABYTE + 4096);
        assert_eq!(used.files, 3);
    }

    #[test]
    fn a_missing_folder_is_an_error() {
        assert!(usage(Path::new("/no/such/folder"), |_| false).is_err());
    }
}
