//! The memory limit that servers were held to (`--memory-limit`), and what came of it.

use crate::prelude::*;

/// Each server's limit with the most that it came to in any trial; none where no server had a limit.
pub fn table(field: &Field) -> Table {
    let mut limits: BTreeMap<(&str, u64), MemoryLimitRecord> = BTreeMap::new();
    for (trial, seen) in
        field.by_arm().filter_map(|trial| Some((trial, trial.server.as_ref()?.memory_limit?)))
    {
        let most = limits.entry((&trial.implementation.title, seen.limit_bytes)).or_insert(seen);
        most.peak_bytes = most.peak_bytes.max(seen.peak_bytes);
        most.limit_reached = most.limit_reached.max(seen.limit_reached);
        most.killed_processes = most.killed_processes.max(seen.killed_processes);
    }
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    let rows = limits.into_iter().map(|((title, limit), most)| {
        row![
            title,
            megabytes(limit),
            Cell::maybe(most.peak_bytes.map(megabytes), "not kept by this kernel"),
            Cell::count(most.limit_reached, "not kept by this kernel"),
            most.killed_processes,
        ]
    });
    Table::new("memory_limits", "Memory limit of servers: processes and page cache together", "database; limit [MB]; most in use [MB]; limit reached; processes ended by it").with(rows).noted("The most of any trial, since its server was made. A server whose files are larger than what is left fills its limit with page cache: reaching it is ordinary, and the kernel then takes pages back. Huge pages are not counted by the kernel.")
}

/// The limits of a run's servers in words that can be compared: "2048 MB", or "none".
pub fn in_words(field: &Field, of: fn(&ServerRecord) -> Option<String>) -> String {
    let words = field
        .by_arm()
        .filter_map(|trial| trial.server.as_ref())
        .map(|server| of(server).unwrap_or_else(|| "none".to_owned()))
        .sorted()
        .dedup()
        .join(" and ");
    if words.is_empty() { "none".to_owned() } else { words }
}
