//! What else a store's file says: containers are made, listed, described and dropped, and the administration is asked.
//!
//! The C client cannot make databases, so a database is a prefix of containers' names: `DATABASE-TABLE-SERIES`, `DATABASE-TABLE-tags`, `DATABASE-owner`.

use super::client::Column;
use super::{Session, absent};
use crate::Fault;
use sensormark_kit::unexpected;
use serde_json::Value;

/// Rows of texts.
type Rows = Vec<Vec<String>>;

/// A value as text.
fn printed(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The values below one, by their path.
fn leaves(path: &str, value: &Value, rows: &mut Rows) {
    match value {
        Value::Object(inner) => inner.iter().for_each(|(name, value)| {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            leaves(&path, value, rows);
        }),
        Value::Null => {}
        value => rows.push(vec![path.to_owned(), printed(value)]),
    }
}

impl Session {
    /// Does what a text says that is no question; its rows.
    pub(super) fn tell(&mut self, text: &str) -> Result<Rows, Fault> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match (word, rest) {
            ("GET", path) => {
                let (path, field) = path.split_once(' ').unwrap_or((path, ""));
                let (value, mut rows) = (self.rest().get(path)?, Rows::new());
                if field.is_empty() {
                    leaves("", &value, &mut rows);
                } else {
                    let value = value.pointer(&format!("/{}", field.replace('.', "/")));
                    rows.extend(value.map(|value| vec![printed(value)]));
                }
                Ok(rows)
            }
            ("POST", _) => self.rest().checkpoint().map(|()| Rows::new()),
            ("COMMIT", _) => {
                self.is_durable = true;
                Ok(Rows::new())
            }
            ("SHOW", _) => {
                // What stands before the first dash: databases, or one's tables.
                let mut names = self.all(&self.database)?;
                names.iter_mut().for_each(|name| name.truncate(name.find('-').unwrap_or(name.len())));
                // That of the mark comes with the database.
                names.retain(|name| name != "owner");
                names.dedup();
                Ok(names.into_iter().map(|name| vec![name]).collect())
            }
            ("DROP", rest) => self.drop_database(rest.trim_start_matches("DATABASE ")).map(|()| Rows::new()),
            ("CREATE", rest) => self.create(rest).map(|()| Rows::new()),
            _ => Err(unexpected(&format!("{text:?} is nothing that GridDB is told")).into()),
        }
    }

    /// The containers of a database, without its name; all where it has none.
    fn all(&self, database: &str) -> Result<Vec<String>, Fault> {
        let prefix = if database.is_empty() { String::new() } else { format!("{database}-") };
        let names = self.connection.names(None)?;
        let mut names: Vec<String> =
            names.iter().filter_map(|name| name.strip_prefix(&prefix)).map(str::to_owned).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Drops a database's containers, that of the mark last, so that what a crash leaves still bears it.
    fn drop_database(&self, database: &str) -> Result<(), Fault> {
        let mut all = self.all(database)?;
        all.sort_by_key(|name| name == "owner");
        all.iter().try_for_each(|name| self.connection.drop_container(&format!("{database}-{name}")))
    }

    /// Makes containers: `TIMESERIES "cpu" * 100 ("_time" TIMESTAMP PRIMARY KEY, "usage" DOUBLE, "note" STRING NULL)`, or an index: `INDEX "cpu" * 100 ("_span")`.
    fn create(&self, text: &str) -> Result<(), Fault> {
        let (head, columns) = text.split_once(" (").unwrap_or((text, ""));
        let head: Vec<&str> = head.split(' ').map(|word| word.trim_matches('"')).collect();
        let columns: Vec<Column<'_>> =
            columns.trim_end_matches(')').split(", ").map(|column| column.split(' ').collect()).collect();
        let count = head.get(3).and_then(|count| count.parse().ok()).unwrap_or(1);
        for number in 0..count {
            let mut name = format!("{}-{}", self.database, head[1]);
            if head.len() > 3 {
                name.push_str(&format!("-{number}"));
            }
            if head[0] == "INDEX" {
                let container = self.connection.container(&name)?.ok_or_else(|| absent(&name))?;
                columns.iter().try_for_each(|column| self.connection.index(&container, column[0]))?;
            } else {
                self.connection.make(&name, head[0] == "TIMESERIES", &columns)?;
            }
        }
        Ok(())
    }
}
