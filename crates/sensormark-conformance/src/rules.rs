//! All rules, in the order of `docs/reference/store-contract.md`, one module a topic.

use super::rule::Rule;

mod administration;
mod aggregate;
mod capability;
mod entity;
mod errors;
mod layout;
mod measurement;
mod outage;
mod query;
mod random;
mod schema;
mod search;
mod write;

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
        errors::rules(),
        outage::rules(),
        administration::rules(),
        capability::rules(),
        measurement::rules(),
        random::rules(),
    ]
    .concat()
}

/// A rule whose questions are asked of a loaded data set.
macro_rules! queries {
    ($number:literal, $title:literal, $datasets:expr, $queries:expr) => {
        $crate::rule::Rule {
            number: $number,
            title: $title,
            over: $crate::rule::Over::Layouts($datasets),
            kind: $crate::rule::Kind::Queries($queries),
        }
    };
}
use queries;

/// A rule with a check of a loaded data set.
macro_rules! loaded {
    ($number:literal, $title:literal, $datasets:expr, $check:path) => {
        $crate::rule::Rule {
            number: $number,
            title: $title,
            over: $crate::rule::Over::Layouts($datasets),
            kind: $crate::rule::Kind::Loaded(|case, loaded| Box::pin($check(case, loaded))),
        }
    };
}
use loaded;

/// A rule with a check of its own.
macro_rules! own {
    ($number:literal, $title:literal, $over:expr, $check:path) => {
        $crate::rule::Rule {
            number: $number,
            title: $title,
            over: $over,
            kind: $crate::rule::Kind::Own(|case| Box::pin($check(case))),
        }
    };
}
use own;

/// A rule whose check disturbs the server, or is disturbed by others on it.
macro_rules! alone {
    ($number:literal, $title:literal, $over:expr, $check:path) => {
        $crate::rule::Rule {
            number: $number,
            title: $title,
            over: $over,
            kind: $crate::rule::Kind::Alone(|case| Box::pin($check(case))),
        }
    };
}
use alone;
