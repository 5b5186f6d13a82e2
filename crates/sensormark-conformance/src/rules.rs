//! All rules, in the order of `CONTRACT.md`, one module a topic.

use super::rule::Rule;

mod administration;
mod aggregate;
mod capability;
mod derived;
mod entity;
mod errors;
mod growth;
mod layout;
mod measurement;
mod outage;
mod query;
mod random;
mod schema;
mod search;
mod write;

#[cfg(test)]
pub(super) use capability::one_of_each;

/// All rules.
pub(super) fn all() -> Vec<Rule> {
    [
        schema::rules(),
        layout::rules(),
        write::rules(),
        entity::rules(),
        query::rules(),
        search::rules(),
        aggregate::rules(),
        derived::rules(),
        errors::rules(),
        outage::rules(),
        administration::rules(),
        capability::rules(),
        measurement::rules(),
        growth::rules(),
        random::rules(),
    ]
    .concat()
}
