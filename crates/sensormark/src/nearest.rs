//! What is said about a name that there is not: the nearest right one, and all that there are.

/// A message about a name that there is not: the nearest right one, and all there are.
pub fn unknown(kind: &str, name: &str, known: impl IntoIterator<Item = String>) -> String {
    let known: Vec<String> = known.into_iter().collect();
    let nearest = known
        .iter()
        .min_by_key(|candidate| distance(name, candidate))
        .filter(|candidate| distance(name, candidate) <= 3);
    let hint = nearest
        .map(|nearest| format!("; did you mean {nearest}?"))
        .unwrap_or_default();
    format!(
        "there is no {kind} {name:?}{hint} (there are: {})",
        known.join(", ")
    )
}

/// The Levenshtein distance of two short words.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &b) in other.iter().enumerate() {
            let substituted = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_gets_the_nearest_right_one() {
        let known = || ["sqlite", "postgresql"].map(str::to_owned);
        assert!(unknown("store", "postgres", known()).contains("did you mean postgresql?"));
        assert!(!unknown("store", "oracle-database", known()).contains("did you mean"));
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
