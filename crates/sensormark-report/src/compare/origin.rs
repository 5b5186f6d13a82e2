//! Which servers two runs had: where they came from, how many, of which version. What a server uses can only be compared where both were measured in
//! the same way; another version may be what is compared, and is named.

use super::figures::name;
use crate::{field::same_layout, prelude::*};
use std::fmt;

/// Where an implementation's server came from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Whether sensormark started it.
    pub managed: bool,
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
    let (one, other) = (origin(first, implementation)?, origin(second, implementation)?);
    (one != other).then_some((one, other))
}

/// Implementations that both runs measured on servers of unlike origin, each with these.
pub fn all_unlike(first: &Field, second: &Field) -> Vec<(String, Origin, Origin)> {
    first
        .all()
        .map(|(side, arm)| name(side, arm))
        .filter_map(|name| unlike(first, second, &name).map(|(one, other)| (name, one, other)))
        .collect()
}

/// In what else the servers of an implementation differ that both runs measured: version, program, memory allowed; a line each.
pub fn otherwise_unlike(first: &Field, second: &Field) -> Vec<String> {
    let mut lines = vec![];
    for (side, arm) in first.all() {
        let own = name(side, arm);
        let (Some(one), Some(other)) = (server(first, &own), server(second, &own)) else {
            continue;
        };
        let budget = |server: &ServerRecord| match server.memory_budget_bytes {
            Some(bytes) => format!("{} MB", bytes >> 20),
            None => "the server's own choice".to_owned(),
        };
        let mut differ = |what: &str, one: String, other: String| {
            if one != other {
                lines.push(format!("{own}, {what}: {one} in the first, {other} in the second"));
            }
        };
        differ("server's version", one.version.clone(), other.version.clone());
        if one.managed && other.managed {
            differ("server's program", one.origin.clone(), other.origin.clone());
            differ("memory allowed", budget(one), budget(other));
        }
    }
    lines
}

/// The server of an implementation's first valid trial; none for an embedded database.
fn server<'a>(field: &'a Field, implementation: &str) -> Option<&'a ServerRecord> {
    let (_, arm) = arm_of(field, implementation)?;
    field.valid_of(arm).find_map(|trial| trial.server.as_ref())
}

/// An implementation's side and arm.
fn arm_of<'a>(field: &'a Field, implementation: &str) -> Option<(&'static str, &'a Arm)> {
    field.all().find(|(side, arm)| name(side, arm) == implementation)
}

/// None for an embedded database, and where nothing was measured.
pub fn origin(field: &Field, implementation: &str) -> Option<Origin> {
    let (side, arm) = arm_of(field, implementation)?;
    let managed = server(field, implementation)?.managed;
    let same = |(other_side, other): &(&str, &Arm)| {
        let [one, other] = [arm, *other].map(|arm| &arm.implementation);
        let is_twin = same_layout(one, other) && one.strategy == other.strategy && one.cache == other.cache;
        *other_side == side && is_twin
    };
    Some(Origin { managed, servers: field.all().filter(same).count() })
}
