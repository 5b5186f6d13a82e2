//! What workloads that grow have in common: their sizes, and how long a question is asked at each.

use sensormark_result::measurement::sizes::TIMES;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::num::NonZeroU64;
use std::time::Duration;

/// One of so many answers is compared in full where there is no end to them.
pub const CHECK_ONE_IN: NonZeroU64 = NonZeroU64::new(20).unwrap();
/// A trial has about so many phases of questions: they take half of its budget at most.
const QUESTION_PHASES: u32 = 60;
/// The shortest of them, in seconds.
const LEAST_QUESTION_SECONDS: f64 = 0.5;

/// The sizes after the first, up to the most.
pub fn sizes(first: u32, most: u32) -> Vec<u32> {
    let next = |size: &u32| u32::try_from(TIMES).ok()?.checked_mul(*size);
    std::iter::successors(next(&first), next).take_while(|size| *size <= most).collect()
}

/// The most seconds that a trial's budget has for a question at one size.
pub fn most_question_seconds(budget: Duration) -> f64 {
    (budget / QUESTION_PHASES).as_secs_f64().max(LEAST_QUESTION_SECONDS)
}

/// The parameters after a change; as they are where they are of another form, which is told elsewhere.
pub fn changed<P: DeserializeOwned + Serialize>(parameters: Value, change: impl FnOnce(&mut P)) -> Value {
    let Ok(mut own) = serde_json::from_value::<P>(parameters.clone()) else { return parameters };
    change(&mut own);
    serde_json::to_value(own).unwrap_or(parameters)
}
