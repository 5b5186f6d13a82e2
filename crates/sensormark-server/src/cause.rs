//! Why a server ends or does not start, where the fault is not its own: no room on a disk, no memory, a heap that is too small.
//!
//! It is read from the file system, from the kernel's counters and from the words of a log. Who says it, and of which server, is decided in `failure`.

use super::{control_group, group_files};
use std::path::Path;

/// What a log says of a full disk: the words of the C library, of Java and of databases, in lower case.
const DISK_WORDS: [&str; 8] = [
    "no space left",
    "disk quota exceeded",
    "disk full",
    "disk is full",
    "enospc",
    "insufficient disk space",
    "errcode: 28",
    "with error 28",
];

/// What a log says of want of memory, in lower case.
const MEMORY_WORDS: [&str; 5] = [
    "cannot allocate memory",
    "out of memory",
    "java.lang.outofmemoryerror",
    "there is insufficient memory",
    "errcode: 12",
];

/// What a log says of a Java server whose heap is full, in lower case. Java says it of other memory, too, which is not the heap's.
const HEAP_WORDS: [&str; 2] =
    ["outofmemoryerror: java heap space", "outofmemoryerror: gc overhead limit exceeded"];

/// The longest line that is quoted, in characters: some servers log whole stacks in one.
const QUOTED: usize = 200;

/// The last line of a log that says that the disk is full.
pub(super) fn full_disk_line(log: &str) -> Option<String> {
    last_line(log, &DISK_WORDS)
}

/// The last line of a log that says that there is no memory.
pub(super) fn no_memory_line(log: &str) -> Option<String> {
    last_line(log, &MEMORY_WORDS)
}

/// What a log says of a heap that was too small, in words, with its size where the command line states one. More memory on the machine helps nothing then: the
/// server has to be allowed more.
pub(super) fn full_heap(log: &str, arguments: &[String]) -> Option<String> {
    let line = last_line(log, &HEAP_WORDS)?;
    let size = heap_megabytes(arguments).map_or_else(String::new, |size| format!(" of {size} MB"));
    Some(format!("the server ran out of its heap{size} ({line}); allow it more with --server-memory"))
}

/// The largest heap that Java's options allow, in MB. The last of them counts, as for Java.
fn heap_megabytes(arguments: &[String]) -> Option<u64> {
    let options = arguments.iter().rev();
    let mut sizes = options.filter_map(|option| option.strip_prefix("-Xmx"));
    let size = sizes.next()?;
    let digits = size.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let number: u64 = digits.parse().ok()?;
    match size[digits.len()..].to_ascii_lowercase().as_str() {
        "g" => number.checked_mul(1 << 10),
        "m" => Some(number),
        "k" => Some(number >> 10),
        "" => Some(number >> 20),
        _ => None,
    }
}

fn last_line(log: &str, words: &[&str]) -> Option<String> {
    let tells = |line: &&str| {
        let line = line.to_ascii_lowercase();
        words.iter().any(|words| line.contains(words))
    };
    let line = log.lines().rev().find(tells)?.trim();
    Some(line.chars().take(QUOTED).collect())
}

/// Whether the disk of a folder has less room than any server writes at once.
pub(super) fn is_full(folder: &Path) -> bool {
    const ROOM_BYTES: u64 = 1 << 20;
    rustix::fs::statvfs(folder).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < ROOM_BYTES)
}

/// Why a server does nothing but wait for memory in sensormark's own group, in words.
pub(super) fn standstill() -> String {
    own_group("the server came to a standstill", control_group::own_limit_bytes())
}

fn own_group(what: &str, limit_bytes: Option<u64>) -> String {
    let limit = limit_bytes.map_or_else(String::new, |limit| format!(", which may use {} MB", limit >> 20));
    format!(
        "{what} for want of memory in the control group that sensormark runs in{limit}; give the group more, or lower --server-memory"
    )
}

/// How often the kernel ended a process for want of memory: within the control group of sensormark, and on the whole machine.
///
/// A server without a memory limit of its own is in sensormark's group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KernelKills {
    group: Option<u64>,
    machine: Option<u64>,
}

impl KernelKills {
    /// The counts of now.
    pub(super) fn now() -> Self {
        let machine = std::fs::read_to_string("/proc/vmstat").unwrap_or_default();
        Self { group: control_group::own_kills(), machine: group_files::event(&machine, "oom_kill") }
    }

    /// Why the server lost processes since these counts, in words, where the kernel says so. `is_killed` says that its first process ended by SIGKILL.
    /// Nobody but the kernel or a person sends that.
    pub(super) fn since(self, is_killed: bool) -> Option<String> {
        self.compared(Self::now(), is_killed, control_group::own_limit_bytes())
    }

    fn compared(self, now: Self, is_killed: bool, limit_bytes: Option<u64>) -> Option<String> {
        let grew = |before: Option<u64>, now: Option<u64>| match (before, now) {
            (Some(before), Some(now)) => now > before,
            _ => false,
        };
        if grew(self.group, now.group) {
            return Some(own_group("the kernel ended processes", limit_bytes));
        }
        // Elsewhere on the machine it may have been another program's process.
        (is_killed && grew(self.machine, now.machine)).then(|| {
            "the kernel ended it for want of memory on this machine; end other programs, or lower --server-memory".to_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file system of the kernel's own has no room at all.
    #[test]
    fn a_full_disk_is_seen() {
        assert!(is_full(Path::new("/proc")));
        assert!(!is_full(&std::env::temp_dir()));
        assert!(!is_full(Path::new("/not/there")));
    }

    #[test]
    fn logs_tell_of_disks_and_memory() {
        let log =
            "LOG:  starting\nERROR:  could not write to file \"x\": No space left on device\nLOG:  done";
        let line = full_disk_line(log).expect("it says so");
        assert!(line.starts_with("ERROR:  could not write"), "{line}");
        for log in [
            "lvl=error msg=\"write /data/wal/_00001.wal: no space left on device\"",
            "[ERROR] InnoDB: preallocating 100663296 bytes for file ./ib_logfile101 failed with error 28",
            "mariadbd: Error writing file 'aria_log' (Errcode: 28 \"No space left on device\")",
            "Insufficient disk space to write 526 bytes into the system keyspace",
            "CairoException: [28] No space left [size=16777216, fd=96636764210]",
        ] {
            assert_eq!(full_disk_line(log).as_deref(), Some(log));
        }
        assert_eq!(full_disk_line("LOG:  checkpoint complete"), None);
        for log in [
            "FATAL:  could not map anonymous shared memory: Cannot allocate memory",
            "java.lang.OutOfMemoryError: Java heap space",
        ] {
            assert_eq!(no_memory_line(log).as_deref(), Some(log));
        }
        assert_eq!(no_memory_line("JVM Arguments: [-XX:+CrashOnOutOfMemoryError]"), None);
    }

    #[test]
    fn a_full_heap_is_told_with_its_size() {
        let arguments = |text: &str| -> Vec<String> {
            let words = text.split_whitespace();
            words.map(str::to_owned).collect()
        };
        let log = "starting\nTerminating due to java.lang.OutOfMemoryError: Java heap space\n";
        let told = full_heap(log, &arguments("-Xmx64m -Xms512M -Xmx512M -cp x")).unwrap();
        assert!(told.contains("its heap of 512 MB ("), "{told}");
        assert!(told.contains("more with --server-memory"), "{told}");
        assert!(!told.contains("free some"), "{told}");
        for (option, size) in [
            ("-Xmx2g", Some(2_048)),
            ("-Xmx65536k", Some(64)),
            ("-Xmx16777216", Some(16)),
            ("-Xmxlarge", None),
            ("-Xms64m", None),
        ] {
            assert_eq!(heap_megabytes(&arguments(option)), size, "{option}");
        }
        let told = full_heap(log, &[]).unwrap();
        assert!(told.contains("its heap ("), "{told}");
        for log in [
            "java.lang.OutOfMemoryError: Metaspace",
            "Terminating due to java.lang.OutOfMemoryError: unable to create native thread",
            "a heap of 512 MB",
        ] {
            assert_eq!(full_heap(log, &[]), None, "{log}");
        }
    }

    #[test]
    fn a_kill_by_the_kernel_is_told_from_others() {
        let count = |group, machine| KernelKills { group: Some(group), machine: Some(machine) };
        let before = count(1, 5);
        assert_eq!(before.compared(before, true, None), None, "a person did it");
        let group = before.compared(count(2, 6), false, Some(60 << 20));
        assert!(group.is_some_and(|why| why.contains("which may use 60 MB")));
        assert_eq!(before.compared(count(1, 6), false, None), None);
        let machine = before.compared(count(1, 6), true, None);
        assert!(machine.is_some_and(|why| why.contains("on this machine")));
    }
}
