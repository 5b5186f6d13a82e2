//! A server that gets too little memory need not be ended by the kernel: it may only wait, and read its programs' pages from the disk again and again.
//!
//! The kernel counts both for a control group. These counts tell a start that memory held up from one that something else did.

use super::group_files::{Version, event};
use std::path::Path;

/// A start in which the limit held memory back fewer times was not held up by it. A group whose page cache is full comes to some thousands a second.
const HELD_BACK: u64 = 100_000;

/// A start that read fewer pages back had enough for its programs. A server's programs and libraries have some thousands.
const READ_BACK: u64 = 10_000;

/// What the kernel has counted of a control group so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shortage {
    /// How often the group's limit held memory back.
    held_back: u64,
    /// How many pages were read from a disk because a process touched them (major faults).
    read_back: u64,
}

impl Shortage {
    /// The counts of a group; none without its files.
    pub(super) fn of(version: Version, folder: &Path) -> Option<Self> {
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
        let held_back = match version {
            Version::One => text("memory.failcnt")?.trim().parse().ok()?,
            Version::Two => event(&text("memory.events")?, "max")?,
        };
        let read_back = event(&text("memory.stat")?, "pgmajfault")?;
        Some(Self { held_back, read_back })
    }

    /// Whether the group's processes did little but wait for memory since `before`.
    pub(super) fn is_standstill_since(self, before: Self) -> bool {
        self.held_back.saturating_sub(before.held_back) >= HELD_BACK
            && self.read_back.saturating_sub(before.read_back) >= READ_BACK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_read_as_the_kernel_writes_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
        write("memory.failcnt", "42\n").unwrap();
        write("memory.events", "low 0\nhigh 0\nmax 42\noom 4\n").unwrap();
        write("memory.stat", "cache 5\npgfault 9\npgmajfault 7\n").unwrap();
        let read = Some(Shortage { held_back: 42, read_back: 7 });
        assert_eq!(Shortage::of(Version::One, folder.path()), read);
        assert_eq!(Shortage::of(Version::Two, folder.path()), read);
        assert_eq!(Shortage::of(Version::Two, Path::new("/not/there")), None);
    }

    /// QuestDB in a group of 80 MB came to 17,614,600 and 24,326 in two minutes, and did not answer.
    #[test]
    fn a_full_page_cache_is_no_standstill() {
        let count = |held_back, read_back| Shortage { held_back, read_back };
        let before = count(5, 5);
        assert!(count(17_614_600, 24_326).is_standstill_since(before));
        assert!(!count(17_614_600, 2_000).is_standstill_since(before));
        assert!(!count(9_000, 24_326).is_standstill_since(before));
    }
}
