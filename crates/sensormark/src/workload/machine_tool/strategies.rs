//! Which reading strategies are measured on a layout.
//!
//! What cannot be measured is said with its reason, never left out. Nothing is measured here.

use super::read_cycle::Strategy;
use super::schema;
use crate::engine::selection::Choice;
use crate::measurement::record::NotMeasured;
use crate::nearest::unknown;
use sensormark_store::{Capability, LayoutOption, Shape, TimeResolution};

/// The reading strategies that are measured on this layout, and those that it does not support, with the reason. What a store can only
/// do in the client is measured when it is named.
///
/// # Errors
/// A strategy that there is not, with the nearest right name.
pub fn strategies(
    choice: &Choice,
    name: &str,
    offer: &LayoutOption,
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

fn support(choice: &Choice, strategy: Strategy, offer: &LayoutOption) -> Support {
    let table = &schema(TimeResolution::Nanoseconds).tables[0];
    let spans = matches!(offer.layout.shape, Shape::RecordPerSpan { .. });
    for &operation in strategy.needed() {
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
