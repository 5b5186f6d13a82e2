//! What else a store's file says: containers are made, listed, described and dropped, and the administration is asked.
//!
//! The C client cannot make databases, so a database is a prefix of containers' names: `DATABASE-TABLE-SERIES`, `DATABASE-TABLE-tags`, `DATABASE-owner`.

use super::Session;
use crate::Fault;
use sensormark_kit::unexpected;
use serde_json::Value;

/// Rows of texts.
type Rows = Vec<Vec<String>>;

/// What stands in quotes after a word, and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    text.split_once('"')?.1.split_once('"')
}

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
            ("SHOW", "DATABASES") => Ok(self.first_parts("")?.into_iter().map(|(name, _)| vec![name]).collect()),
            ("SHOW", "CONTAINERS") => {
                Ok(self.first_parts(&self.database)?.into_iter().map(|(name, _)| vec![name]).collect())
            }
            ("SHOW", _) => self.described(),
            ("DROP", rest) => self.drop_database(rest.trim_start_matches("DATABASE ")).map(|()| Rows::new()),
            ("CREATE", rest) => self.create(rest).map(|()| Rows::new()),
            _ => Err(unexpected(&format!("{text:?} is nothing that GridDB is told")).into()),
        }
    }

    /// The containers of a database, without its name; all where it has none.
    fn all(&self, database: &str) -> Result<Vec<String>, Fault> {
        let of_it = |name: &String| match database {
            "" => Some(name.clone()),
            database => Some(name.strip_prefix(database)?.strip_prefix('-')?.to_owned()),
        };
        let mut names: Vec<String> = self.connection.names(None)?.iter().filter_map(of_it).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// What their names begin with, up to the dash, and how many there are of each.
    fn first_parts(&self, database: &str) -> Result<Vec<(String, usize)>, Fault> {
        let mut parts: Vec<(String, usize)> = Vec::new();
        for name in self.all(database)? {
            let part = name.split('-').next().unwrap_or_default();
            match parts.last_mut() {
                Some((last, count)) if last == part => *count += 1,
                _ => parts.push((part.to_owned(), 1)),
            }
        }
        Ok(parts)
    }

    /// The server's description of a container of each kind.
    fn described(&self) -> Result<Rows, Fault> {
        let (all, mut texts) = (self.all(&self.database)?, Rows::new());
        let number = |name: &String| name.rsplit_once('-').is_some_and(|(_, end)| end.parse::<u32>().is_ok());
        for (table, _) in self.first_parts(&self.database)?.into_iter().filter(|(table, _)| table != "owner") {
            let (series, others): (Vec<_>, Vec<_>) =
                all.iter().filter(|name| name.split('-').next() == Some(&table)).partition(|name| number(name));
            let first = series.iter().min_by_key(|name| (name.len(), name.as_str()));
            for name in first.into_iter().chain(&others) {
                let mut text = self.connection.described(&format!("{}-{name}", self.database))?;
                if series.len() > 1 && number(name) {
                    text += &format!("\n  and {} more like it, one a series", series.len() - 1);
                }
                texts.push(vec![text]);
            }
        }
        Ok(texts)
    }

    /// Drops a database's containers, that of the mark last, so that what a crash leaves still bears it.
    fn drop_database(&self, database: &str) -> Result<(), Fault> {
        let mut all = self.all(database)?;
        all.sort_by_key(|name| name == "owner");
        all.iter().try_for_each(|name| self.connection.drop_container(&format!("{database}-{name}")))
    }

    /// Makes containers: `TIMESERIES "cpu" * 100 ("_time" TIMESTAMP PRIMARY KEY, "usage" DOUBLE, "note" STRING NULL)`, or an index: `INDEX "cpu" * 100 ("_span")`.
    fn create(&self, text: &str) -> Result<(), Fault> {
        let odd = || unexpected(&format!("{text:?} makes no container"));
        let (name, rest) = quoted(text).ok_or_else(odd)?;
        let (count, columns) = rest.split_once('(').ok_or_else(odd)?;
        let count: Option<u32> = count.trim().trim_start_matches("* ").parse().ok();
        let mut described = Vec::new();
        for column in columns.trim_end_matches(')').split(", ") {
            let (column, kind) = quoted(column).ok_or_else(odd)?;
            let kind = kind.trim();
            described.push((column, kind.split(' ').next().unwrap_or_default(), kind.ends_with(" NULL")));
        }
        let is_keyed = columns.contains(" PRIMARY KEY");
        for number in 0..count.unwrap_or(1) {
            let series = count.map_or_else(String::new, |_| format!("-{number}"));
            let name = format!("{}-{name}{series}", self.database);
            if text.starts_with("INDEX") {
                let container = self.connection.container(&name)?.ok_or_else(odd)?;
                described.iter().try_for_each(|column| container.index(column.0))?;
            } else {
                self.connection.make(&name, text.starts_with("TIMESERIES"), is_keyed, &described)?;
            }
        }
        Ok(())
    }
}
