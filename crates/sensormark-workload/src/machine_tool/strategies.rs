//! Which reading strategies are measured on a layout.
//!
//! What cannot be measured is said with its reason, never left out. Nothing is measured here.

use super::is_in_seconds;
use super::read_cycle::Strategy;
use sensormark_data::machine_tool::schema;
use sensormark_data::nearest::unknown;
use sensormark_engine::selection::Choice;
use sensormark_result::measurement::record::NotMeasured;
use sensormark_store::{Capability, LayoutOption, Shape, TimeResolution};

/// The reading strategies that are measured on this layout, and those that it does not support, with the reason. What a store can only
/// do in the client is measured when it is named. What is written in seconds is stored as what is written sample by sample, so it is read in the first
/// way alone unless another is named.
///
/// # Errors
/// A strategy that there is not, with the nearest right name.
pub fn strategies(
    choice: &Choice,
    name: &str,
    offer: &LayoutOption,
) -> Result<(Vec<String>, Vec<NotMeasured>), String> {
    let (mut possible, mut not_measured) = (Vec::new(), Vec::new());
    let named =
        |strategy: Strategy| choice.strategy.as_deref().is_some_and(|wanted| wanted == strategy.name());
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
        let is_enough = is_in_seconds(name) && !possible.is_empty();
        if !named && (choice.strategy.is_some() || strategy.is_on_request() || is_enough) {
            continue;
        }
        let missing = match support(choice, strategy, offer) {
            Support::Usual => None,
            Support::Possible(_) if named => None,
            // Searching inside a record is a variant that nobody chose: it is there, and measured when it is asked for.
            Support::Possible(reason) => {
                Some(format!("only when named (:{name}/{}): {reason}", strategy.name()))
            }
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
    if spans && matches!(strategy, Strategy::Individual | Strategy::IndividualUnbounded) {
        return Support::Possible("the searches look into whole records on the server".to_owned());
    }
    Support::Usual
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine_tool::MachineToolWorkload;
    use sensormark_conformance::memory::MemoryStore;
    use sensormark_engine::trial::cases::cases;
    use sensormark_engine::trial::{Subject, WorkloadFactory};
    use sensormark_store::{Durability, RepeatedWrite};
    use std::sync::Arc;

    #[test]
    fn every_store_is_written_in_seconds_too_and_read_in_one_way() {
        let store = Arc::new(MemoryStore::new(RepeatedWrite::KeepsBoth));
        let mut choice = Choice::of(store);
        let numbers = MachineToolWorkload.preset(sensormark_engine::scale::Scale::Quick);
        let numbers = numbers.expect("numbers");
        let of = |choice: &Choice| {
            let choices = [choice.clone()];
            let found = cases(&MachineToolWorkload, &numbers, &choices, Durability::Default);
            found.expect("its layouts").0
        };
        let all = of(&choice);
        let is = |name: &str| all.iter().find(|case| case.layout_name == name);
        let (alone, in_seconds) = (is("individual"), is("individual-in-seconds"));
        let (alone, in_seconds) = (alone.expect("one"), in_seconds.expect("the other"));
        assert_eq!(in_seconds.layout, alone.layout, "stored alike");
        assert_eq!(alone.strategies, ["individual", "bulk", "bulk-1"]);
        assert_eq!(in_seconds.strategies, ["individual"]);
        let samples_per_write = |name: &str| {
            let subject = Subject { store: choice.store.as_ref(), layout: &alone.layout, layout_name: name };
            let workload = MachineToolWorkload.build(&numbers, 1, subject);
            let steps = workload.expect("a workload").steps();
            let mut phases = sensormark_engine::trial::script::phases(&steps);
            let fed = phases.find(|phase| phase.loads[0].source.is_some());
            let writes = fed.expect("it writes").loads[0].operations.extent();
            writes.readings
        };
        assert!((samples_per_write("individual") - 1.0).abs() < f64::EPSILON);
        assert!((samples_per_write("individual-in-seconds") - 1_000.0).abs() < f64::EPSILON);
        choice.layout = Some("individual-in-seconds".to_owned());
        choice.strategy = Some("bulk".to_owned());
        assert_eq!(of(&choice)[0].strategies, ["bulk"]);
    }
}
