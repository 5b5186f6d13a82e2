//! What is said about a name that there is not: the nearest right one, and all that there are.

use strsim::osa_distance;

/// A message about a name that there is not: the nearest right one, and all there are.
pub fn unknown(kind: &str, name: &str, known: impl IntoIterator<Item = String>) -> String {
    let known: Vec<String> = known.into_iter().collect();
    let nearest = known
        .iter()
        .min_by_key(|candidate| osa_distance(name, candidate))
        .filter(|candidate| is_near(name, candidate));
    let hint = nearest.map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default();
    format!("there is no {kind} {name:?}{hint} (there are: {})", known.join(", "))
}

/// Whether the words differ in three letters at most, and in a third of them: "oracle" is no "strace".
fn is_near(name: &str, candidate: &str) -> bool {
    let differing = osa_distance(name, candidate);
    let letters = name.chars().count().max(candidate.chars().count());
    differing <= letters.div_ceil(3).min(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_gets_the_nearest_right_one() {
        let known = || ["sqlite", "postgresql"].map(str::to_owned);
        assert!(unknown("store", "postgres", known()).contains("did you mean postgresql?"));
        assert!(!unknown("store", "oracle-database", known()).contains("did you mean"));
        let servers = || ["mongodb", "strace"].map(str::to_owned);
        assert!(!unknown("server", "oracle", servers()).contains("did you mean"));
        let keys = || ["load", "tags"].map(str::to_owned);
        assert!(unknown("key", "lode", keys()).contains("did you mean load?"));
        let commands = || ["run", "man"].map(str::to_owned);
        assert!(unknown("command", "runn", commands()).contains("did you mean run?"));
        assert!(unknown("command", "rnu", commands()).contains("did you mean run?"));
    }
}
