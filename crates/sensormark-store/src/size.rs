//! What a database holds and occupies, in its own words.

use serde::{Deserialize, Serialize};
use std::path::Path;

/// A database's logs: what it writes first so as to lose nothing, and uses again or gives up (write-ahead log, redo log, commit log, journal). They are no price
/// of a reading, so their space is counted apart from that of the data.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Logs {
    /// Names of the files and folders that are logs, anywhere below the folder of the data. `*` at one end stands for anything, `#` at the end for a number.
    pub names: Vec<String>,
    /// The setting that bounds them, by its name among those that the administrator reads back; none where no setting does.
    pub bound: Option<String>,
}

impl Logs {
    /// Whether a file, by its path below the folder of the data, is one of them or in one of them.
    pub fn holds(&self, path: &Path) -> bool {
        let parts = path.components().filter_map(|part| part.as_os_str().to_str());
        let mut parts = parts.flat_map(|part| self.names.iter().map(move |name| (name, part)));
        parts.any(|(name, part)| is_named(name, part))
    }

    /// What bounds them, in words: the setting with its value, found by its name.
    pub fn bound_words(&self, value: impl FnOnce(&str) -> Option<String>) -> String {
        match &self.bound {
            None => "no setting bounds them".to_owned(),
            Some(bound) => match value(bound) {
                Some(value) => format!("{bound} = {value}"),
                None => bound.clone(),
            },
        }
    }
}

fn is_named(name: &str, part: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|one| one.is_ascii_digit());
    if let Some(start) = name.strip_suffix('#') {
        return part.strip_prefix(start).is_some_and(is_number);
    }
    match (name.strip_prefix('*'), name.strip_suffix('*')) {
        (Some(end), _) => part.ends_with(end),
        (_, Some(start)) => part.starts_with(start),
        _ => part == name,
    }
}

/// What a database occupies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Size {
    /// Data and indexes, logs included, in bytes.
    pub total_bytes: u64,
    /// The logs' part of it (write-ahead log, commit log, journal), in bytes, where it is known.
    pub log_bytes: Option<u64>,
}

/// What a database counts of its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Documents {
    /// How many there are, readings and entities alike.
    pub count: u64,
    /// Their bytes before compression, without indexes.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_told_from_data() {
        let names = ["pg_wal", "ib_logfile*", "*-wal", "wal#"].map(str::to_owned);
        let logs = Logs { names: names.to_vec(), bound: Some("max_wal_size".to_owned()) };
        for log in [
            "pg_wal",
            "postgresql/pg_wal/0001",
            "ib_logfile0",
            "a/readings.db-wal",
            "db/readings~5/wal1/0/time.d",
            "db/readings~5/wal12",
        ] {
            assert!(logs.holds(Path::new(log)), "{log}");
        }
        for data in ["base/1/pg_wal2", "ib_log", "wal", "wal1.d", "wal1~5/time.d", "a.db", ""] {
            assert!(!logs.holds(Path::new(data)), "{data}");
        }
    }

    #[test]
    fn the_bound_is_the_setting_as_it_was_read_back() {
        let mut logs = Logs { names: Vec::new(), bound: Some("max_wal_size".to_owned()) };
        let value = |name: &str| (name == "max_wal_size").then(|| "1GB".to_owned());
        assert_eq!(logs.bound_words(value), "max_wal_size = 1GB");
        assert_eq!(logs.bound_words(|_| None), "max_wal_size");
        logs.bound = None;
        assert_eq!(logs.bound_words(value), "no setting bounds them");
    }
}
