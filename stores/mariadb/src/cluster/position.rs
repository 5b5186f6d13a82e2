//! How far a member's data goes, as Galera writes it: the cluster's identity, a colon, and the number of the last change.
//!
//! It reads texts alone.

/// The identity of no cluster: a member with it has no data.
const NONE: &str = "00000000-0000-0000-0000-000000000000";

/// The position that `mariadbd --wsrep-recover` found, by its log; none where it has no data.
pub(super) fn recovered(log: &str) -> Option<&str> {
    let mut lines = log.lines().rev();
    let found = lines.find_map(|line| line.split_once("WSREP: Recovered position:"))?;
    let text = found.1.trim();
    let word = text.split([',', ' ']).next()?;
    position(word).map(|_| word)
}

/// A position's two parts; none where it is that of no data.
pub(super) fn position(text: &str) -> Option<(&str, u64)> {
    let (cluster, number) = text.split_once(':')?;
    let number: u64 = number.parse().ok()?;
    (cluster.len() == NONE.len() && cluster != NONE).then_some((cluster, number))
}

/// The file `grastate.dat` of a member that is to make the cluster again, as the documentation has it done by hand.
pub(super) fn grants_first_start(kept: &str) -> String {
    let lines = kept.lines().map(|line| {
        if line.starts_with("safe_to_bootstrap:") {
            "safe_to_bootstrap: 1\n".to_owned()
        } else {
            format!("{line}\n")
        }
    });
    lines.collect()
}
