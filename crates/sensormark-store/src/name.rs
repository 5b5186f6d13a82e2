//! Names: of the databases that sensormark makes, and those of tables and columns that a database keeps for itself.
//!
//! Which names a database reserves is written here and nowhere else. A schema has none of them, so that all databases have the same one.

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
            && ending.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        if fits {
            return Ok(Self(format!("{}{ending}", Self::PREFIX)));
        }
        Err(StoreError::new(
            ErrorKind::Configuration,
            "name a database",
            format!("{ending:?} is not 1 to 20 lower case letters, digits and underscores"),
        ))
    }

    /// Digits of a run's mark, which ends the names of its databases.
    pub const MARK_DIGITS: usize = 19;

    /// The mark of the run that gave this name to a database; none where no run of sensormark's gives such a name.
    pub fn mark(name: &str) -> Option<&str> {
        let mark = name.strip_prefix(Self::PREFIX)?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (mark.len() == Self::MARK_DIGITS && mark.bytes().all(is_digit)).then_some(mark)
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

/// Columns that no table may have, quoted or not, and the database that keeps their names.
const COLUMNS: [(&str, &str); 10] = [
    ("cmax", "PostgreSQL"),
    ("cmin", "PostgreSQL"),
    ("ctid", "PostgreSQL"),
    ("tableoid", "PostgreSQL"),
    ("xmax", "PostgreSQL"),
    ("xmin", "PostgreSQL"),
    ("db_roll_ptr", "MariaDB"),
    ("db_row_id", "MariaDB"),
    ("db_trx_id", "MariaDB"),
    ("fts_doc_id", "MariaDB"),
];

/// How the names of tables begin that are a database's own, and whose they are.
const TABLES: [(&str, &str); 3] =
    [("pg_", "PostgreSQL"), ("sensormark_", "sensormark"), ("sqlite_", "SQLite")];

/// The longest name of a table or column, in bytes.
pub const LONGEST_NAME: usize = 40;

/// The name of a column that is wanted under this one, and what is to be said where it is another.
pub fn column_name(wanted: &str) -> (String, Option<String>) {
    let mut columns = COLUMNS.iter();
    apart(wanted, columns.find(|(name, _)| *name == wanted))
}

/// The name of a table that is wanted under this one, and what is to be said where it is another.
pub fn table_name(wanted: &str) -> (String, Option<String>) {
    let mut tables = TABLES.iter();
    apart(wanted, tables.find(|(name, _)| wanted.starts_with(name)))
}

/// The one rule for a name that is kept: `named_` stands before it, in every database.
fn apart(wanted: &str, keeper: Option<&(&str, &str)>) -> (String, Option<String>) {
    let Some((_, keeper)) = keeper else {
        return (wanted.to_owned(), None);
    };
    let mut name = format!("named_{wanted}");
    name.truncate(LONGEST_NAME);
    let note = format!("{wanted} is called {name} in every database, because {keeper} keeps that name");
    (name, Some(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_database_keeps_are_changed_by_one_rule_and_others_are_not() {
        for (wanted, name, keeper) in [
            ("xmin", "named_xmin", "PostgreSQL"),
            ("tableoid", "named_tableoid", "PostgreSQL"),
            ("db_row_id", "named_db_row_id", "MariaDB"),
        ] {
            let (changed, note) = column_name(wanted);
            assert_eq!(changed, name);
            assert!(note.unwrap().contains(keeper));
        }
        for (wanted, name) in [("sqlite_log", "named_sqlite_log"), ("pg_class", "named_pg_class")] {
            assert_eq!(table_name(wanted).0, name);
        }
        let long = format!("sqlite_{}", "x".repeat(33));
        assert_eq!(table_name(&long).0.len(), LONGEST_NAME);
        for plain in ["temperature", "order", "rowid", "x", "pgx", "sqlite"] {
            assert_eq!(column_name(plain), (plain.to_owned(), None));
            assert_eq!(table_name(plain), (plain.to_owned(), None));
        }
    }

    #[test]
    fn a_name_that_a_run_gave_tells_its_mark() {
        let mark = "6608b016112403fffff";
        let name = DatabaseName::new(mark).unwrap();
        assert_eq!(DatabaseName::mark(name.as_str()), Some(mark));
        for other in ["sensormark_foreign", "plant", "6608b016112403fffff", "sensormark_6608b016112403fffff0"]
        {
            assert_eq!(DatabaseName::mark(other), None, "{other}");
        }
    }

    #[test]
    fn names_need_no_quoting() {
        assert_eq!(DatabaseName::new("a1_b").unwrap().as_str(), "sensormark_a1_b");
        for bad in ["", "A", "a-b", "a b", "a;drop", "ä", "aaaaaaaaaaaaaaaaaaaaa"] {
            assert!(DatabaseName::new(bad).is_err(), "{bad}");
        }
    }
}
