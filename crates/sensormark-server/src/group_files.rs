//! Files of a control group: which version of the kernel's interface they are of, and how their counts are read.

/// The version of the kernel's interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// `memory.limit_in_bytes` and its like.
    One,
    /// `memory.max` and its like.
    Two,
}

/// A number of a file with a name and a number a line.
pub(super) fn event(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(key, _)| *key == name)?.1.trim().parse().ok()
}
