//! The names of the databases that sensormark makes, and of no others.

use crate::error::{ErrorKind, StoreError};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The name of a database, keyspace or bucket (or the prefix of containers) that sensormark makes: `sensormark_` and up to 20
/// lower case letters, digits and underscores. Names of this form need no quoting anywhere.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DatabaseName(String);

impl DatabaseName {
    /// What every name starts with.
    pub const PREFIX: &'static str = "sensormark_";

    /// A name with this ending.
    ///
    /// # Errors
    /// [`ErrorKind::Configuration`] when the ending is empty, over 20 bytes or has other characters.
    pub fn new(ending: &str) -> Result<Self, StoreError> {
        let fits = (1..=20).contains(&ending.len())
            && ending
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        if fits {
            return Ok(Self(format!("{}{ending}", Self::PREFIX)));
        }
        Err(StoreError::new(
            ErrorKind::Configuration,
            "name a database",
            format!("{ending:?} is not 1 to 20 lower case letters, digits and underscores"),
        ))
    }

    /// The whole name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for DatabaseName {
    type Error = StoreError;

    fn try_from(name: String) -> Result<Self, StoreError> {
        Self::new(name.strip_prefix(Self::PREFIX).unwrap_or_default())
    }
}

impl From<DatabaseName> for String {
    fn from(name: DatabaseName) -> Self {
        name.0
    }
}

impl fmt::Display for DatabaseName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_need_no_quoting() {
        assert_eq!(
            DatabaseName::new("a1_b").unwrap().as_str(),
            "sensormark_a1_b"
        );
        for bad in [
            "",
            "A",
            "a-b",
            "a b",
            "a;drop",
            "ä",
            "aaaaaaaaaaaaaaaaaaaaa",
        ] {
            assert!(DatabaseName::new(bad).is_err(), "{bad}");
        }
    }
}
