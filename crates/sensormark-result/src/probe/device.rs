//! What lies beneath a folder: the filesystem and the block device. It reads mounts and sysfs, and measures nothing.

use std::path::{Path, PathBuf};

use procfs::process::Process;
use rustix::fs::{major, minor, stat};
use serde::{Deserialize, Serialize};

use super::error::ProbeError;

/// How a block device stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKind {
    /// Flash, as the kernel sees it. A virtual disk says what its host chose to say.
    SolidState,
    /// Turning platters.
    Rotational,
    /// No block device of its own: memory, network or an overlay.
    None,
}

/// Filesystem and device of a folder. No path is in it, so that it can be published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderDevice {
    /// The kernel's name of the filesystem: ext4, xfs, tmpfs, overlay, …
    pub filesystem: String,
    /// Mount options that change speed or durability (barriers, journal mode, access times, discard, …).
    pub mount_options: Vec<String>,
    /// Name of the whole disk in `/proc/diskstats`; `None` when there is no block device.
    pub device: Option<String>,
    /// Name of the partition or volume that the filesystem is on, when it is not the whole disk.
    pub volume: Option<String>,
    /// Solid state, rotational or none.
    pub kind: DeviceKind,
    /// The model that the disk gives, if any.
    pub model: Option<String>,
    /// `write back` (flushes matter) or `write through`, as the kernel sees the disk's cache.
    pub write_cache: Option<String>,
}

/// Options of a mount that say something about speed or durability; others may hold names and paths.
const TELLING_OPTIONS: [&str; 16] = [
    "ro",
    "rw",
    "noatime",
    "relatime",
    "nodiratime",
    "sync",
    "dirsync",
    "lazytime",
    "discard",
    "barrier",
    "nobarrier",
    "data",
    "commit",
    "compress",
    "nodatacow",
    "journal_async_commit",
];

/// Finds filesystem and device of `folder`.
///
/// # Errors
/// When the folder is not there, or the mounts cannot be read.
pub fn of_folder(folder: &Path) -> Result<FolderDevice, ProbeError> {
    let file_error = |source| ProbeError::File { path: folder.to_path_buf(), source };
    let folder_path = folder.canonicalize().map_err(file_error)?;
    let status = stat(&folder_path).map_err(|error| file_error(error.into()))?;
    let mounts = Process::myself().and_then(|own| own.mountinfo()).map_err(ProbeError::proc("mounts"))?;
    // The longest mount point above the folder; of equals the later one, which covers the earlier.
    let mount = mounts
        .iter()
        .filter(|mount| folder_path.starts_with(&mount.mount_point))
        .max_by_key(|mount| mount.mount_point.as_os_str().len());
    let number = format!("{}:{}", major(status.st_dev), minor(status.st_dev));
    let block = block_folder(&number)
        .or_else(|| mount.and_then(|mount| block_by_source(mount.mount_source.as_deref()?)));
    let mut found = FolderDevice {
        filesystem: mount.map_or_else(|| "unknown".to_owned(), |mount| mount.fs_type.clone()),
        mount_options: mount.map(telling_options).unwrap_or_default(),
        device: None,
        volume: None,
        kind: DeviceKind::None,
        model: None,
        write_cache: None,
    };
    if let Some(block) = block {
        describe_block(&block, &mut found);
    }
    Ok(found)
}

fn telling_options(mount: &procfs::process::MountInfo) -> Vec<String> {
    let mut options: Vec<String> = mount
        .mount_options
        .iter()
        .chain(&mount.super_options)
        .filter(|(name, _)| TELLING_OPTIONS.contains(&name.as_str()))
        .map(|(name, value)| match value {
            Some(value) => format!("{name}={value}"),
            None => name.clone(),
        })
        .collect();
    options.sort();
    options.dedup();
    options
}

/// The sysfs folder of a block device by its `major:minor`.
fn block_folder(number: &str) -> Option<PathBuf> {
    Path::new("/sys/dev/block").join(number).canonicalize().ok()
}

/// For filesystems with device numbers of their own (btrfs): by the device that is mounted.
fn block_by_source(source: &str) -> Option<PathBuf> {
    let device = Path::new(source).canonicalize().ok()?;
    let name = device.strip_prefix("/dev").ok()?.file_name()?;
    Path::new("/sys/class/block").join(name).canonicalize().ok()
}

fn describe_block(block: &Path, found: &mut FolderDevice) {
    let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    // Flushes are counted for the whole disk only, and the queue's attributes are there too.
    let is_partition = block.join("partition").exists();
    let disk = match block.parent() {
        Some(parent) if is_partition => parent,
        _ => block,
    };
    found.device = name(disk);
    found.volume = is_partition.then(|| name(block)).flatten();
    found.kind = match attribute(disk, "queue/rotational").as_deref() {
        Some("0") => DeviceKind::SolidState,
        Some(_) => DeviceKind::Rotational,
        None => DeviceKind::None,
    };
    found.model = attribute(disk, "device/model");
    found.write_cache = attribute(disk, "queue/write_cache");
}

/// A one-line file, trimmed; `None` when it is not there or empty.
pub(crate) fn attribute(folder: &Path, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(folder.join(name)).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_has_no_device_and_is_named() {
        let found = of_folder(Path::new("/proc")).expect("proc");
        assert_eq!((found.filesystem.as_str(), found.kind), ("proc", DeviceKind::None));
        assert_eq!(found.device, None);
    }

    #[test]
    fn a_missing_folder_is_an_error_that_names_it() {
        let error = of_folder(Path::new("/no/such/folder")).expect_err("missing");
        assert!(error.to_string().contains("/no/such/folder"));
    }
}
