//! The class of durability that layouts are ranked in.

use sensormark_engine::benchmark_case::BenchmarkCase;
use sensormark_engine::selection::Choice;
use sensormark_engine::trial::WorkloadFactory;
use sensormark_engine::trial::cases::cases;
use sensormark_result::measurement::NotMeasured;
use sensormark_store::{Durability, WriteMethod};
use sensormark_workload::durability;
use serde_json::Value;

/// The class of durability that a shipped workload ranks in. A kill ranks nobody.
pub fn of_shipped(workload: &str) -> Durability {
    if workload == durability::NAME { Durability::Default } else { Durability::Durable }
}

/// The cases of a class of durability, and what cannot be measured. A layout that cannot be durable has the strongest class that it has: a report ranks it apart.
///
/// # Errors
/// As [`cases`].
pub fn cases_in_class(
    factory: &dyn WorkloadFactory,
    parameters: &Value,
    choices: &[Choice],
    class: Durability,
) -> Result<(Vec<BenchmarkCase>, Vec<NotMeasured>), String> {
    if class != Durability::Durable {
        return cases(factory, parameters, choices, class);
    }
    let (mut cases, not_measured) = cases(factory, parameters, choices, Durability::Default)?;
    for case in cases.iter_mut().filter(|case| case.choice.durability.is_none()) {
        let classes = case.choice.store.description().durability;
        let has_it = classes.iter().any(|(class, _)| *class == Durability::Durable);
        // Nobody acknowledges datagrams.
        if has_it && case.layout.write != WriteMethod::Datagram {
            case.durability = Durability::Durable;
        }
    }
    Ok((cases, not_measured))
}
