//! The class of durability that layouts are ranked in.

use crate::failure::Failure;
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

/// The cases of each class that a database has, the strongest first, and what cannot be measured. What no setting makes is left out: datagrams that are
/// acknowledged, and, of a database that has datagrams, other writes that are not.
///
/// # Errors
/// As [`cases`].
pub fn cases_in_each_class(
    factory: &dyn WorkloadFactory,
    parameters: &Value,
    choices: &[Choice],
) -> Result<(Vec<BenchmarkCase>, Vec<NotMeasured>), Failure> {
    let each = choices.iter().flat_map(|choice| {
        let classes = choice.store.description().durability.into_iter();
        classes.map(|(class, _)| Choice { durability: Some(class), ..choice.clone() })
    });
    let each: Vec<Choice> = each.collect();
    let (mut found, missing) =
        cases(factory, parameters, &each, Durability::Default).map_err(Failure::usage)?;
    let is_datagram = |case: &BenchmarkCase| case.layout.write == WriteMethod::Datagram;
    let store = |case: &BenchmarkCase| case.choice.store.description().name;
    let with_datagrams: Vec<String> = found.iter().filter(|case| is_datagram(case)).map(store).collect();
    found.retain(|case| {
        let is_unacknowledged = case.durability == Durability::Unacknowledged;
        !with_datagrams.contains(&store(case)) || is_datagram(case) == is_unacknowledged
    });
    Ok((found, missing))
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
) -> Result<(Vec<BenchmarkCase>, Vec<NotMeasured>), Failure> {
    let is_durable = class == Durability::Durable;
    let asked = if is_durable { Durability::Default } else { class };
    let mut found = cases(factory, parameters, choices, asked).map_err(Failure::usage)?;
    for case in found.0.iter_mut().filter(|case| is_durable && case.choice.durability.is_none()) {
        let mut classes = case.choice.store.description().durability.into_iter();
        // Nobody acknowledges datagrams.
        if case.layout.write != WriteMethod::Datagram && classes.any(|(own, _)| own == class) {
            case.durability = class;
        }
    }
    Ok(found)
}
