//! The iot-platform workload: a home's devices send messages of typed values, and the platform charts and averages them.
//!
//! After the fifth study (M. Skalický 2022). An implementation goes through two parts, each beginning with an empty database:
//!
//! 1. Messages are written one by one, as devices send them.
//! 2. Everything is loaded in batches. The database comes to rest. Then each query is asked over each span of time, in a phase of its own.
//!
//! Most queries are about the weather station's temperature. Question i is a pure function of (seed, query, span, i), and asks about another stretch of that
//! span each time. Queries over the same span with the same alignment ask about the same stretches, so that they compare. Every answer is compared with the one
//! that the generator gives.
//!
//! It is not where data comes from (`dataset::iot_platform`), nor where operations are issued (`engine`).

mod factory;
mod parameters;
mod query;
mod questions;
mod writes;

#[cfg(test)]
mod tests;

pub use factory::IotPlatformWorkload;
pub use parameters::Parameters;
pub use query::PlatformQuery;

/// The workload's name.
pub const NAME: &str = "iot-platform";
/// The label of a phase that says what is done in it.
pub const OPERATION: &str = "operation";
/// The label of an asking phase that says over how many days.
pub const DAYS: &str = "days";
/// The operation of messages written one by one.
pub const MESSAGES: &str = "messages";
/// The operation of everything loaded in batches.
pub const LOAD: &str = "load";
/// The phase in which the database comes to rest.
pub const SETTLED: &str = "settled";
