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

/// Each database in each class that it has, the strongest first.
pub fn in_each_class(choices: Vec<Choice>) -> Vec<Choice> {
    let mut each = Vec::new();
    for choice in choices {
        let classes = choice.store.description().durability;
        each.extend(
            classes.into_iter().map(|(class, _)| Choice { durability: Some(class), ..choice.clone() }),
        );
    }
    each
}

/// Leaves out what no setting makes: datagrams that are acknowledged, and, of a database that has datagrams, other writes that are not.
pub fn keep_possible(cases: &mut Vec<BenchmarkCase>) {
    let is_datagram = |case: &BenchmarkCase| case.layout.write == WriteMethod::Datagram;
    let store = |case: &BenchmarkCase| case.choice.store.description().name;
    let with_datagrams: Vec<String> = cases.iter().filter(|case| is_datagram(case)).map(store).collect();
    cases.retain(|case| {
        let is_unacknowledged = case.durability == Durability::Unacknowledged;
        !with_datagrams.contains(&store(case)) || is_datagram(case) == is_unacknowledged
    });
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
