//! Which cases a run of phases has: the layouts of the stores that were asked for.
//!
//! What cannot be measured is said with its reason, never left out.

use super::WorkloadFactory;
use crate::benchmark_case::{BenchmarkCase, distinct};
use crate::selection::Choice;
use sensormark_data::nearest::unknown;
use sensormark_result::measurement::record::NotMeasured;
use sensormark_store::{DefaultSelection, Durability, Family, Layout, LayoutOption, Schema, WriteMethod};
use serde_json::Value;

/// The cases of the stores that were asked for, and what cannot be measured. The class of durability holds for choices without one of their own.
///
/// # Errors
/// A layout that there is not, with the nearest right name; wrong parameters.
pub fn cases(
    factory: &dyn WorkloadFactory,
    parameters: &Value,
    choices: &[Choice],
    durability: Durability,
) -> Result<(Vec<BenchmarkCase>, Vec<NotMeasured>), String> {
    let families = factory.families(parameters)?;
    let (mut cases, mut not_measured) = (Vec::new(), Vec::new());
    let mut lacking = Vec::new();
    for choice in choices {
        let offers = layout_options(factory, parameters, choice)?;
        let chosen = match chosen(choice, &offers) {
            Err(why) if choice.optional => {
                not_measured.push(NotMeasured {
                    implementation: without(choice),
                    reason: format!("not supported: {why}"),
                });
                lacking.push((choice, offers));
                continue;
            }
            chosen => chosen?,
        };
        for (name, offer) in chosen {
            let durability = choice.durability.unwrap_or(durability);
            let missing = missing_durability(choice, durability)
                .or_else(|| unseen(factory.asks_while_writing(parameters), &offer.layout));
            match missing {
                Some(reason) => not_measured
                    .push(NotMeasured { implementation: format!("{} {name}", choice.title()), reason }),
                None => {
                    let (strategies, missing) = factory.strategies(choice, name, offer)?;
                    not_measured.extend(missing);
                    cases.push(BenchmarkCase {
                        choice: choice.clone(),
                        layout_name: name.clone(),
                        layout: offer.layout,
                        durability,
                        strategies,
                    });
                }
            }
        }
        if choice.layout.is_none() {
            let title = choice.title();
            not_measured.extend(without_offer(&families, &offers).map(|family| NotMeasured {
                implementation: format!("{title} {family}"),
                reason: "not supported: it has no layout of this kind".to_owned(),
            }));
        }
    }
    match lacking.first() {
        Some((choice, _)) if lacking.len() == choices.len() => {
            let offers: Vec<_> = lacking.iter().flat_map(|(_, offers)| offers).collect();
            Err(no_layout("layout", choice, &offers))
        }
        _ => Ok((distinct(cases), not_measured)),
    }
}

/// A store and a layout that it does not have.
fn without(choice: &Choice) -> String {
    let layout = choice.layout.as_deref().unwrap_or_default();
    format!("{} {layout}", choice.title())
}

/// All layouts that a store offers for the workload's families, by their names here: the family's, and the store's variant.
///
/// # Errors
/// Wrong parameters.
pub fn layout_options(
    factory: &dyn WorkloadFactory,
    parameters: &Value,
    choice: &Choice,
) -> Result<Vec<(String, LayoutOption)>, String> {
    let schema = factory.schema(parameters)?;
    let families = factory.families(parameters)?;
    let choose = |family: &str, offers: &mut [LayoutOption]| factory.choose(parameters, family, offers);
    Ok(named_options(choice, &schema, families, choose))
}

/// All layouts that a store offers for these families, by their names: the family's, and the store's variant. `choose` says which are usual.
fn named_options(
    choice: &Choice,
    schema: &Schema,
    families: impl IntoIterator<Item = (String, Family)>,
    choose: impl Fn(&str, &mut [LayoutOption]),
) -> Vec<(String, LayoutOption)> {
    let mut named = Vec::new();
    for (name, family) in families {
        let mut offers = choice.store.layouts(schema, family);
        choose(&name, &mut offers);
        named.extend(offers.into_iter().map(|offer| {
            let full =
                if offer.variant.is_empty() { name.clone() } else { format!("{name}-{}", offer.variant) };
            (full, offer)
        }));
    }
    named
}

/// The layouts that are measured: the one that was named, or all whose names begin as is said, or all that are not kept for special requests.
///
/// # Errors
/// A layout that there is not, with the nearest right name.
fn chosen<'a>(
    choice: &Choice,
    offers: &'a [(String, LayoutOption)],
) -> Result<Vec<&'a (String, LayoutOption)>, String> {
    let usual = |offer: &LayoutOption| offer.default_selection != DefaultSelection::OnRequest;
    if choice.layout.is_none() {
        return Ok(offers.iter().filter(|(_, offer)| usual(offer)).collect());
    }
    let named = offers.iter().filter(|(name, _)| choice.names(name));
    let chosen: Vec<_> = named.collect();
    if chosen.is_empty() {
        let offers: Vec<_> = offers.iter().collect();
        return Err(no_layout(&format!("layout of {}", choice.title()), choice, &offers));
    }
    Ok(chosen)
}

/// That there is no layout as it was named: the nearest, those that there are, and how several are named.
fn no_layout(kind: &str, choice: &Choice, offers: &[&(String, LayoutOption)]) -> String {
    let wanted = choice.layout.as_deref().unwrap_or_default();
    let mut names: Vec<String> = Vec::new();
    for (name, _) in offers {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let begins = names.iter().any(|name| name.starts_with(wanted));
    let message = match wanted.strip_suffix('*') {
        Some(beginning) => unknown(&format!("{kind} that begins with"), beginning, names),
        None => unknown(kind, wanted, names),
    };
    if begins { format!("{message}; {wanted}* is every layout whose name begins so") } else { message }
}

/// Why answers about a layout cannot be checked while it is written: a datagram may be on its way, and nobody says when it has arrived.
fn unseen(asks_meanwhile: bool, layout: &Layout) -> Option<String> {
    (asks_meanwhile && layout.write == WriteMethod::Datagram).then(|| {
        "not supported: it writes datagrams, and nothing says when they can be seen, so answers about them could not be checked".to_owned()
    })
}

/// Why nothing of a store can be measured in this class of durability, if it has none.
fn missing_durability(choice: &Choice, durability: Durability) -> Option<String> {
    let classes = choice.store.description().durability;
    let has = classes.iter().any(|(class, _)| *class == durability);
    (!has && durability != Durability::Default)
        .then(|| format!("not supported: it has no durability class {:?}", durability.text()))
}

fn without_offer<'a>(
    families: &'a [(String, Family)],
    offers: &'a [(String, LayoutOption)],
) -> impl Iterator<Item = &'a str> {
    let offered = |family: &str| {
        let prefix = format!("{family}-");
        offers.iter().any(|(name, _)| name == family || name.starts_with(&prefix))
    };
    families.iter().map(|(name, _)| name.as_str()).filter(move |name| !offered(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_asked_about_datagrams_while_they_are_sent() {
        let usual = Layout::row_per_reading();
        let datagrams = usual.with_write(WriteMethod::Datagram);
        assert_eq!(unseen(true, &usual), None);
        assert_eq!(unseen(false, &datagrams), None);
        let why = unseen(true, &datagrams).expect("a reason");
        assert!(why.contains("datagrams"), "{why}");
    }
}
