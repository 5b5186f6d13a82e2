//! `--cpu-limit`: the share of the processors that a server gets, as a quota of the kernel's. In version 2 it stands in the group that bounds the memory, in
//! version 1 in a group of the same name below this process's own.

use super::control_group::mounted;
use super::group_files::Version;
use super::memory_group::{MemoryGroup, refused};
use sensormark_store::ServerOptions;
use sensormark_store::error::StoreError;
use std::fs;
use std::io::{self, ErrorKind::NotFound};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The period of a quota, in µs: the kernel's own.
const PERIOD_US: u64 = 100_000;
/// How often a group that the kernel still empties is tried to be removed, ten milliseconds apart.
const ATTEMPTS: u32 = 1_000;

/// The group of version 1 beside this group; none where processors are not in such groups.
fn beside(group: &Path) -> Option<PathBuf> {
    let read = |path| fs::read_to_string(path).ok();
    let has_cpu = |list: &str| list.split(',').any(|name| name == "cpu");
    let (groups, mounts) = (read("/proc/self/cgroup")?, read("/proc/self/mountinfo")?);
    let mut own = groups.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    let (_, path) = own.find(|(controllers, _)| has_cpu(controllers))?;
    let (_, folder) = mounted(&mounts, path, |kind, options| kind == "cgroup" && has_cpu(options))?;
    Some(folder.join(group.file_name()?))
}

/// Holds the processes of this group, which is there, to the cores that were asked for.
///
/// # Errors
/// What cannot be written, and what to do.
pub(super) fn hold(group: &MemoryGroup, options: &ServerOptions) -> Result<(), StoreError> {
    let Some(millicores) = options.cpu_millicores else { return Ok(()) };
    let quota_us = u64::from(millicores) * PERIOD_US / 1_000;
    let failed = |path: &Path, error: &io::Error| {
        refused(format!("--cpu-limit: cannot write {}: {error}", path.display()))
    };
    let (file, text) = match group.version {
        Version::Two => (group.folder().join("cpu.max"), format!("{quota_us} {PERIOD_US}")),
        Version::One => {
            let folder = beside(group.folder())
                .ok_or_else(|| refused("the kernel has no control groups for processors".to_owned()))?;
            fs::create_dir(&folder).map_err(|error| failed(&folder, &error))?;
            (folder.join("cpu.cfs_quota_us"), quota_us.to_string())
        }
    };
    fs::write(&file, text).map_err(|error| failed(&file, &error))
}

/// The files by which a process gets into this group, and into that of version 1 beside it.
pub(super) fn files(group: Option<&MemoryGroup>) -> Vec<PathBuf> {
    let Some(group) = group else { return Vec::new() };
    let cpu = beside(group.folder()).map(|folder| folder.join("cgroup.procs")).filter(|file| file.exists());
    cpu.into_iter().chain([group.processes_file()]).collect()
}

/// Removes the group of version 1, if there is one, once its processes are gone.
pub(super) fn remove(group: &Path) {
    let Some(folder) = beside(group) else { return };
    for _ in 0..ATTEMPTS {
        match fs::remove_dir(&folder) {
            Err(error) if error.kind() != NotFound => std::thread::sleep(Duration::from_millis(10)),
            _ => return,
        }
    }
}
