//! What the user asked to measure: `--on STORE[:LAYOUT[/STRATEGY]][=URL],…`.
//!
//! Names are checked against the registry here; which layouts there are is known only when the workload has spoken.

use crate::engine::connection::Registry;
use sensormark_store::{Secret, Store};
use std::sync::Arc;

/// One store that was asked for.
#[derive(Clone)]
pub struct Choice {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The layout's name, when only one is wanted.
    pub layout: Option<String>,
    /// The reading strategy's name, when only one is wanted.
    pub strategy: Option<String>,
    /// An existing server, or a folder for an embedded store, instead of one that sensormark starts.
    pub url: Option<Secret>,
}

/// Reads the value of `--on`. `all` stands for every store that the registry has.
///
/// A comma ends an item only where a store's name follows, so that a URL may hold commas (several contact points).
///
/// # Errors
/// A store that there is not, with the nearest right name.
pub fn parse(text: &str, registry: &Registry) -> Result<Vec<Choice>, String> {
    let mut items: Vec<String> = Vec::new();
    for piece in text.split(',') {
        let starts_item = items.last().is_none_or(|last| !last.contains('='))
            || store_name(piece, registry).is_some();
        match items.last_mut() {
            Some(last) if !starts_item => {
                last.push(',');
                last.push_str(piece);
            }
            _ => items.push(piece.trim().to_owned()),
        }
    }
    let mut choices = Vec::new();
    for item in items {
        if item == "all" {
            choices.extend(registry.stores().iter().map(|store| Choice {
                store: Arc::clone(store),
                layout: None,
                strategy: None,
                url: None,
            }));
            continue;
        }
        choices.push(parse_item(&item, registry)?);
    }
    Ok(choices)
}

fn store_name<'a>(piece: &'a str, registry: &Registry) -> Option<&'a str> {
    let name = piece.trim().split([':', '=']).next().unwrap_or_default();
    (name == "all" || registry.find(name).is_some()).then_some(name)
}

fn parse_item(item: &str, registry: &Registry) -> Result<Choice, String> {
    let (left, url) = match item.split_once('=') {
        Some((left, url)) => (left, Some(Secret::new(url))),
        None => (item, None),
    };
    let (name, layout) = left
        .split_once(':')
        .map_or((left, None), |(name, layout)| (name, Some(layout)));
    let (layout, strategy) = match layout.map(|layout| layout.split_once('/')) {
        Some(Some((layout, strategy))) => (Some(layout), Some(strategy)),
        Some(None) => (layout, None),
        None => (None, None),
    };
    Ok(Choice {
        store: Arc::clone(find_store(name, registry)?),
        layout: layout
            .filter(|layout| !layout.is_empty())
            .map(str::to_owned),
        strategy: strategy.map(str::to_owned),
        url,
    })
}

/// The store of this name.
///
/// # Errors
/// That there is none, with the nearest right name; or that the program was built without it.
pub fn find_store<'a>(name: &str, registry: &'a Registry) -> Result<&'a Arc<dyn Store>, String> {
    if let Some((name, why)) = registry.left_out().find(|(left_out, _)| *left_out == name) {
        return Err(format!("{name}: {why}"));
    }
    registry.find(name).ok_or_else(|| {
        let known = registry.stores().iter();
        unknown("store", name, known.map(|store| store.description().name))
    })
}

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
    fn a_store_that_was_left_out_of_the_program_is_no_unknown_one() {
        let registry = Registry::default().without(vec!["mongodb".to_owned()]);
        let said = |on| parse(on, &registry).err().unwrap_or_default();
        assert!(said("mongodb:individual").contains("mongodb: this program was built without it"));
        assert!(said("mongo").contains("there is no store"));
    }

    #[test]
    fn a_wrong_name_gets_the_nearest_right_one() {
        let known = || ["sqlite", "postgresql"].map(str::to_owned);
        assert!(unknown("store", "postgres", known()).contains("did you mean postgresql?"));
        assert!(!unknown("store", "oracle-database", known()).contains("did you mean"));
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
