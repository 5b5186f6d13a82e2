//! A control group of the kernel's around one server. It limits the memory of all the server's processes together, with the page cache of the files that they
//! read and write.
//!
//! Where it is made is decided in `control_group`; that a server's first process is in it is `spawn`'s.

use super::control_group::{Parent, kills};
use super::group_files::{Version, event};
use super::shortage::Shortage;
use rustix::io::Errno;
use sensormark_store::error::{ErrorKind, StoreError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the kernel may take to empty a group whose processes have ended.
const EMPTY_LIMIT: Duration = Duration::from_secs(10);

/// What the limit of memory and swap together is above that of memory (version 1), in bytes: more than the kernel charges at once.
const SWAP_BYTES: u64 = 1 << 20;

/// What a server's control group says about its memory: of all processes and of the page cache of their files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryUse {
    /// The limit, in bytes.
    pub limit_bytes: u64,
    /// The most that was in use at once since the server was made, in bytes; none where the kernel does not keep it.
    pub peak_bytes: Option<u64>,
    /// How often the limit was reached, so that the kernel had to take pages back.
    pub limit_reached: Option<u64>,
    /// How many processes the kernel ended because it could not take enough back.
    pub killed_processes: u64,
}

/// The group of one server.
#[derive(Debug)]
pub(super) struct MemoryGroup {
    pub(super) version: Version,
    folder: PathBuf,
    limit_bytes: u64,
}

impl MemoryGroup {
    /// What a message about groups is about.
    const OPERATION: &str = "hold the server to a memory limit";

    /// Where the group of a run will be.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] with the reason why no group can be made here.
    pub(super) fn planned(run: &str, limit_bytes: u64) -> Result<Self, StoreError> {
        let parent = Parent::of_this_process().map_err(refused)?;
        Ok(Self {
            version: parent.version,
            folder: parent.folder.join(format!("sensormark-{run}")),
            limit_bytes,
        })
    }

    /// The group's folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file that a process is put into the group with.
    pub(super) fn processes_file(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }

    /// Makes the group and sets its limit. Nothing is left after a failure.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] with what the kernel said.
    pub(super) fn make(&self) -> Result<(), StoreError> {
        let failed =
            |what: &Path, error: &io::Error| refused(format!("cannot write {}: {error}", what.display()));
        std::fs::create_dir(&self.folder).map_err(|error| failed(&self.folder, &error))?;
        let limit = self.limit_bytes.to_string();
        // The second is memory and swap together (version 1) or swap alone (2): no way out to the swap. Not every kernel has it. In version 1
        // it is a little more: were it reached first, kernels such as 6.18 would not count that the limit was reached.
        let with_swap = self.limit_bytes.saturating_add(SWAP_BYTES).to_string();
        let (first, second) = match self.version {
            Version::One => ("limit_in_bytes", ("memsw.limit_in_bytes", with_swap.as_str())),
            Version::Two => ("max", ("swap.max", "0")),
        };
        let file = |name: &str| self.folder.join(format!("memory.{name}"));
        let set = |name: &str, value: &str| {
            let path = file(name);
            std::fs::write(&path, value).map_err(|error| failed(&path, &error))
        };
        let set_all = || {
            set(first, &limit)?;
            let (name, value) = second;
            if file(name).exists() {
                set(name, value)?;
            }
            Ok(())
        };
        set_all().inspect_err(|_: &StoreError| drop(std::fs::remove_dir(&self.folder)))
    }

    /// What the group says now.
    pub(super) fn memory_use(&self) -> MemoryUse {
        let text = |name: &str| std::fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        let number = |name: &str| text(name).trim().parse::<u64>().ok();
        let (peak, limit, reached) = match self.version {
            Version::One => (
                number("memory.max_usage_in_bytes"),
                number("memory.limit_in_bytes"),
                number("memory.failcnt"),
            ),
            Version::Two => {
                (number("memory.peak"), number("memory.max"), event(&text("memory.events"), "max"))
            }
        };
        MemoryUse {
            limit_bytes: limit.unwrap_or(self.limit_bytes),
            peak_bytes: peak,
            limit_reached: reached,
            killed_processes: self.killed_processes(),
        }
    }

    /// How many of its processes the kernel ended for want of memory.
    pub(super) fn killed_processes(&self) -> u64 {
        kills(self.version, &self.folder).unwrap_or(0)
    }

    /// How short of memory it is.
    pub(super) fn shortage(&self) -> Option<Shortage> {
        Shortage::of(self.version, &self.folder)
    }

    /// Why a server has lost processes, in words for a message.
    pub(super) fn explanation(&self) -> String {
        self.because("the kernel ended its processes because they")
    }

    /// Why a server does nothing but wait, in words for a message.
    pub(super) fn standstill(&self) -> String {
        self.because("it came to a standstill because its processes")
    }

    fn because(&self, what: &str) -> String {
        format!(
            "{what} needed more than the memory limit of {} MB (--memory-limit); raise it, or lower --server-memory",
            self.limit_bytes >> 20
        )
    }
}

/// Whether a group can be made here.
///
/// # Errors
/// [`ErrorKind::Unsupported`] with the reason.
pub(super) fn check() -> Result<(), StoreError> {
    Parent::of_this_process().map(|_| ()).map_err(refused)
}

pub(super) fn refused(reason: String) -> StoreError {
    let text = format!(
        "{reason}; run sensormark as root, or in a group that is delegated to you (systemd-run --user --scope -p Delegate=yes), or leave --memory-limit out"
    );
    StoreError::unsupported(MemoryGroup::OPERATION, text)
}

/// Removes a group whose processes are gone, and waits while the kernel still empties it. One that is not there is fine.
///
/// # Errors
/// What the kernel said in the end.
pub(super) fn remove(folder: &Path) -> Result<(), StoreError> {
    super::cpu_group::remove(folder);
    let deadline = Instant::now() + EMPTY_LIMIT;
    loop {
        let error = match std::fs::remove_dir(folder) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => error,
        };
        let is_busy = Errno::from_io_error(&error) == Some(Errno::BUSY);
        if !is_busy || Instant::now() > deadline {
            let text = format!(
                "{}: {error}; see which processes are in it (cgroup.procs), and remove it with rmdir",
                folder.display()
            );
            let operation = "remove the server's control group";
            return Err(StoreError::new(ErrorKind::Timeout, operation, text).with_doubt(false));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(version: Version, files: &[(&str, &str)]) -> (tempfile::TempDir, MemoryGroup) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let group = MemoryGroup { version, folder: folder.path().to_owned(), limit_bytes: 5 };
        (folder, group)
    }

    const READ: MemoryUse = MemoryUse {
        limit_bytes: 67_108_864,
        peak_bytes: Some(67_104_768),
        limit_reached: Some(42),
        killed_processes: 3,
    };

    #[test]
    fn both_versions_are_read_as_the_kernel_writes_them() {
        let (_one, one) = group(
            Version::One,
            &[
                ("memory.limit_in_bytes", "67108864\n"),
                ("memory.max_usage_in_bytes", "67104768\n"),
                ("memory.failcnt", "42\n"),
                ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"),
            ],
        );
        assert_eq!(one.memory_use(), READ);
        let (_two, two) = group(
            Version::Two,
            &[
                ("memory.max", "67108864\n"),
                ("memory.peak", "67104768\n"),
                ("memory.events", "low 0\nhigh 0\nmax 42\noom 4\noom_kill 3\noom_group_kill 0\n"),
            ],
        );
        assert_eq!(two.memory_use(), READ);
        // A kernel before 5.19 has no memory.peak.
        std::fs::remove_file(two.folder.join("memory.peak")).unwrap();
        assert_eq!(two.memory_use().peak_bytes, None);
    }

    #[test]
    fn a_group_that_is_gone_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        assert!(remove(&folder.path().join("not-there")).is_ok());
        let full = folder.path().join("full");
        std::fs::create_dir_all(full.join("below")).unwrap();
        assert!(remove(&full).is_err(), "what is no group stays");
    }
}
