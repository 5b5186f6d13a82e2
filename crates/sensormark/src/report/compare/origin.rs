//! Where the servers of two runs came from. What a server uses can only be compared where both were measured in the same way.

use super::figures::name;
use crate::measurement::record::Implementation;
use crate::report::field::{Arm, Field};
use std::fmt;

/// Where an implementation's server came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    managed: bool,
    servers: usize,
}

impl fmt::Display for Origin {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.managed, self.servers) {
            (true, _) => text.write_str("a server that sensormark started"),
            (false, 1) => text.write_str("an existing server"),
            (false, several) => write!(text, "{several} existing servers"),
        }
    }
}

/// The origins of an implementation's server in both runs, where they are not alike.
pub fn unlike(first: &Field, second: &Field, implementation: &str) -> Option<(Origin, Origin)> {
    let (one, other) = (
        origin(first, implementation)?,
        origin(second, implementation)?,
    );
    (one != other).then_some((one, other))
}

/// Implementations that both runs measured on servers of unlike origin, each with these.
pub fn all_unlike(first: &Field, second: &Field) -> Vec<(String, Origin, Origin)> {
    let names = first.all().map(|(side, arm)| name(side, arm));
    names
        .filter_map(|name| {
            let (one, other) = unlike(first, second, &name)?;
            Some((name, one, other))
        })
        .collect()
}

/// None for an embedded database, and where nothing was measured.
fn origin(field: &Field, implementation: &str) -> Option<Origin> {
    let (side, arm) = field
        .all()
        .find(|(side, arm)| name(side, arm) == implementation)?;
    let mut servers = field
        .valid_of(arm)
        .filter_map(|trial| trial.server.as_ref());
    let managed = servers.next()?.managed;
    let same = |(other_side, other): &(&str, &Arm)| {
        *other_side == side && is_twin(&arm.implementation, &other.implementation)
    };
    Some(Origin {
        managed,
        servers: field.all().filter(same).count(),
    })
}

/// Whether they are the same but for the server.
fn is_twin(one: &Implementation, other: &Implementation) -> bool {
    one.store == other.store
        && one.layout_name == other.layout_name
        && one.layout == other.layout
        && one.strategy == other.strategy
        && one.durability == other.durability
        && one.cache == other.cache
}
