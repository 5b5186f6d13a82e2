//! Hosts of a data centre that report nine measurements of themselves every ten seconds, 101 values a host and tick.
//!
//! Source: study 002 (product.md's *devops*) and the data generator that it publishes; which fields there are and how each moves is in
//! [`fields`], what tags a host has in [`hosts`]. Field values are *walks*: each starts somewhere and takes a normally distributed step from tick to
//! tick ([`steps`]). Counters climb; bounded walks stay at a bound that they run against ([`Walk::Clamped`], as published) or turn back at it
//! ([`Walk::Reflected`]).
//!
//! Value k of a field is a pure function of (seed, host, field, k): the step to tick k is word k of the field's own stream. A walk is a sum, so a [`Cursor`]
//! reads it from tick to tick. It can be set to any [`Position`] that was kept; keeping some makes every tick near.
//!
//! `workload::own` writes the readings and asks about them, as `shipped/devops.toml` says.

pub mod cursor;
pub mod fields;
pub mod hosts;
pub mod steps;

mod mover;

#[cfg(test)]
mod tests;

use crate::prelude::*;
pub use cursor::{Cursor, Position, Track};
use {
    cursor::ticks,
    fields::{Rule::*, *},
    mover::*,
    steps::*,
};

/// From tick to tick, in ns.
pub const INTERVAL_NS: i64 = 10_000_000_000;
/// Ticks in an hour.
pub const TICKS_AN_HOUR: u64 = 360;
/// The first tick: 2016-01-01T00:00:00Z, as in the study's example, in ns since the Unix epoch.
pub const START_NS: i64 = 1_451_606_400_000_000_000;

/// What a bounded walk does at its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Walk {
    /// It stays at the bound until a step leads back: the published behaviour. Walks that only climb reach their bound within minutes and stay.
    #[default]
    Clamped,
    /// It turns back: what lies beyond the bound is folded inwards, and the walk's drift goes the other way until the next bound.
    Reflected,
}

/// The hosts under a seed.
#[derive(Debug, Clone, Copy)]
pub struct Devops {
    /// The seed.
    pub seed: u64,
    /// How many hosts there are.
    pub hosts: u32,
    /// What bounded walks do at their bounds.
    pub walk: Walk,
}

/// The time of a tick, in ns since the Unix epoch; of the last one before 2262 where it would be later.
#[inline]
pub fn time_ns(tick: u64) -> i64 {
    START_NS.saturating_add(signed(tick).saturating_mul(INTERVAL_NS))
}
