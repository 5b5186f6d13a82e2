//! Which cells a machine-tool run has: the layouts of the stores that were asked for, and the reading strategies of each.
//!
//! What cannot be measured is said with its reason, never left out. Nothing is measured here.

use super::read_cycle::Strategy;
use super::{SPAN_NS, schema};
use crate::engine::context::{Cell, distinct};
use crate::engine::selection::Choice;
use crate::engine::trial::cells::{chosen, missing_durability, named_offers};
use crate::measurement::record::NotMeasured;
use crate::nearest::unknown;
use sensormark_store::{
    Capability, Durability, Family, LayoutOffer, Operation, Shape, TimeResolution,
};

/// The cells of the stores that were asked for, and what cannot be measured.
///
/// # Errors
/// A layout or strategy that there is not, with the nearest right name.
pub fn cells(
    choices: &[Choice],
    durability: Durability,
) -> Result<(Vec<Cell>, Vec<NotMeasured>), String> {
    let (mut cells, mut not_measured) = (Vec::new(), Vec::new());
    for choice in choices {
        for (name, offer) in chosen(choice, &offers(choice))? {
            let (strategies, missing) = strategies(choice, name, offer)?;
            not_measured.extend(missing);
            match missing_durability(choice, durability) {
                Some(reason) => not_measured.push(NotMeasured {
                    implementation: format!("{} {name}", choice.title()),
                    reason,
                }),
                None => cells.push(Cell {
                    choice: choice.clone(),
                    layout_name: name.clone(),
                    layout: offer.layout,
                    durability,
                    strategies,
                }),
            }
        }
    }
    Ok((distinct(cells), not_measured))
}

/// All layouts that a store offers for this workload, by their names here: the family, and the store's variant.
pub fn offers(choice: &Choice) -> Vec<(String, LayoutOffer)> {
    let families = [
        ("individual".to_owned(), Family::PerReading),
        ("bulk".to_owned(), Family::PerSpan { span_ns: SPAN_NS }),
    ];
    let schema = schema(TimeResolution::Nanoseconds);
    named_offers(choice, &schema, families, |_| {})
}

/// The reading strategies that are measured on this layout, and those that it does not support, with the reason. What a store can only
/// do in the client is measured when it is named.
fn strategies(
    choice: &Choice,
    name: &str,
    offer: &LayoutOffer,
) -> Result<(Vec<String>, Vec<NotMeasured>), String> {
    let (mut possible, mut not_measured) = (Vec::new(), Vec::new());
    let named = |strategy: Strategy| {
        choice
            .strategy
            .as_deref()
            .is_some_and(|wanted| wanted == strategy.name())
    };
    if let Some(wanted) = &choice.strategy
        && !Strategy::ALL.into_iter().any(named)
    {
        return Err(unknown(
            "reading strategy",
            wanted,
            Strategy::ALL.map(|strategy| strategy.name().to_owned()),
        ));
    }
    for strategy in Strategy::ALL {
        let named = named(strategy);
        if !named && (choice.strategy.is_some() || strategy.is_on_request()) {
            continue;
        }
        let missing = match support(choice, strategy, offer) {
            Support::Usual => None,
            Support::Possible(_) if named => None,
            // Searching inside a record is a variant that nobody chose: it is there, and measured when it is asked for.
            Support::Possible(reason) => Some(format!(
                "only when named (:{name}/{}): {reason}",
                strategy.name()
            )),
            Support::Not(reason) => Some(format!("not supported: {reason}")),
        };
        match missing {
            None => possible.push(strategy.name().to_owned()),
            Some(reason) => not_measured.push(NotMeasured {
                implementation: format!("{} {name}, read {}", choice.title(), strategy.name()),
                reason,
            }),
        }
    }
    Ok((possible, not_measured))
}

enum Support {
    Usual,
    Possible(String),
    Not(String),
}

fn support(choice: &Choice, strategy: Strategy, offer: &LayoutOffer) -> Support {
    let table = &schema(TimeResolution::Nanoseconds).tables[0];
    let spans = matches!(offer.layout.shape, Shape::RecordPerSpan { .. });
    let needed: &[Operation] = match strategy {
        Strategy::Individual => &[Operation::Search, Operation::Minimum, Operation::Range],
        Strategy::IndividualUnbounded => &[
            Operation::Search,
            Operation::SearchWithoutBound,
            Operation::Minimum,
            Operation::Range,
        ],
        Strategy::Bulk => &[Operation::Range],
        Strategy::BulkOne => &[Operation::RangeOfSomeFields],
    };
    for &operation in needed {
        match choice.store.capability(operation, &offer.layout, table) {
            Capability::Native => {}
            Capability::ClientSide(reason) if spans && strategy == Strategy::BulkOne => {
                return Support::Not(reason);
            }
            Capability::ClientSide(reason) => return Support::Possible(reason),
            Capability::Unsupported(reason) => return Support::Not(reason),
        }
    }
    if spans
        && matches!(
            strategy,
            Strategy::Individual | Strategy::IndividualUnbounded
        )
    {
        return Support::Possible("the searches look into whole records on the server".to_owned());
    }
    Support::Usual
}
