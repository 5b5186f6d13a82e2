//! From series numbers to the values that identify a series in the database, and back.
//!
//! With tags in a table of their own the series' number identifies it; inline, the tags of the series' key do, in its order. It knows no
//! statements.

use crate::connection::cell;
use mysql_async::{Row, Value};
use sensormark_store::{ErrorKind, SeriesKey, StoreError, Table, TagColumn};
use std::collections::HashMap;

/// Which tags identify a series, and which series their values are.
#[derive(Debug)]
pub(crate) struct SeriesMap {
    identifying: Vec<usize>,
    lookup: Lookup,
    /// For each tag, the lowest series with each of its values, as text.
    lowest: Vec<HashMap<String, u32>>,
}

#[derive(Debug)]
enum Lookup {
    /// There is one series, and nothing that identifies it.
    Single,
    /// A column with the series' number.
    Number,
    /// A column with an integer tag.
    Integer(HashMap<i64, u32>),
    /// A column with a text tag.
    Text(HashMap<String, u32>),
    /// Several columns, joined.
    Several(HashMap<String, u32>),
}

impl SeriesMap {
    /// The map of a table's series.
    pub(crate) fn new(table: &Table, own_tags: bool) -> Self {
        let identifying = SeriesKey::of(table).tags().to_vec();
        let lookup = if table.tags.is_empty() {
            Lookup::Single
        } else if own_tags {
            Lookup::Number
        } else {
            inline_lookup(table, &identifying)
        };
        let lowest = table.series.columns().iter().map(|column| {
            let mut lowest = HashMap::new();
            for series in 0..table.series.len() {
                lowest.entry(column.text(series)).or_insert(series);
            }
            lowest
        });
        Self {
            lowest: lowest.collect(),
            identifying,
            lookup,
        }
    }

    /// The tags that tell all series apart.
    pub(crate) fn identifying(&self) -> &[usize] {
        &self.identifying
    }

    /// How many columns identify a series.
    pub(crate) fn width(&self) -> usize {
        match self.lookup {
            Lookup::Single => 0,
            Lookup::Several(_) => self.identifying.len(),
            _ => 1,
        }
    }

    /// The series that the identifying columns of a row name, the first of which is column number `first`.
    pub(crate) fn of_row(&self, row: &Row, first: usize) -> Result<u32, StoreError> {
        match &self.lookup {
            Lookup::Single => Some(0),
            Lookup::Number => u32::try_from(cell::integer(row, first)?).ok(),
            Lookup::Integer(map) => map.get(&cell::integer(row, first)?).copied(),
            Lookup::Text(map) => map.get(cell::text(row, first)?).copied(),
            Lookup::Several(map) => {
                let mut joined = String::new();
                for column in first..first + self.identifying.len() {
                    match cell::value(row, column) {
                        Some(Value::Bytes(_)) => join(&mut joined, cell::text(row, column)?),
                        _ => join(&mut joined, &cell::integer(row, column)?.to_string()),
                    }
                }
                map.get(&joined).copied()
            }
        }
        .ok_or_else(unknown_series)
    }

    /// The lowest series with this value of a tag, as text.
    pub(crate) fn lowest_with(&self, tag: usize, value: &str) -> Result<u32, StoreError> {
        let lowest = self.lowest.get(tag).and_then(|map| map.get(value));
        lowest.copied().ok_or_else(unknown_series)
    }
}

fn unknown_series() -> StoreError {
    StoreError::new(
        ErrorKind::Protocol,
        "read an answer of MariaDB",
        "it names a series that the schema does not have; was the database created with another schema?",
    )
}

/// The value of a tag of a series, as a parameter.
pub(crate) fn tag_value(table: &Table, series: u32, tag: usize) -> Value {
    match &table.series.columns()[tag] {
        TagColumn::Text(values) => Value::Bytes(values[series as usize].clone().into_bytes()),
        TagColumn::Integer(values) => Value::Int(values[series as usize]),
    }
}

/// Appends one more identifying value. (Tags hold no NUL.)
fn join(joined: &mut String, value: &str) {
    joined.push_str(value);
    joined.push('\0');
}

fn inline_lookup(table: &Table, identifying: &[usize]) -> Lookup {
    let columns = table.series.columns();
    match identifying {
        [tag] => match &columns[*tag] {
            TagColumn::Text(values) => Lookup::Text(values.iter().cloned().zip(0..).collect()),
            TagColumn::Integer(values) => {
                Lookup::Integer(values.iter().copied().zip(0..).collect())
            }
        },
        tags => {
            let joined = |series: u32| {
                let mut joined = String::new();
                for &tag in tags {
                    join(&mut joined, &columns[tag].text(series));
                }
                (joined, series)
            };
            Lookup::Several((0..table.series.len()).map(joined).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::{Series, Tag, TimeResolution};

    fn table(columns: Vec<TagColumn>) -> Table {
        let tags = (0..columns.len()).map(|tag| Tag {
            name: format!("t{tag}"),
        });
        Table {
            name: "r".to_owned(),
            tags: tags.collect(),
            fields: Vec::new(),
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::new(columns),
        }
    }

    #[test]
    fn one_tag_identifies_where_one_is_enough() {
        let same = TagColumn::Integer(vec![1, 1, 1]);
        let names = TagColumn::Text(vec!["a".into(), "b".into(), "c".into()]);
        let map = SeriesMap::new(&table(vec![same, names]), false);
        assert_eq!(map.identifying(), [1]);
        assert_eq!(map.lowest_with(0, "1").unwrap(), 0);
        assert!(map.lowest_with(0, "2").is_err());
    }

    #[test]
    fn several_identify_where_no_single_one_does() {
        let rooms = TagColumn::Integer(vec![1, 1, 2]);
        let names = TagColumn::Text(vec!["a".into(), "b".into(), "a".into()]);
        let map = SeriesMap::new(&table(vec![rooms, names]), false);
        assert_eq!((map.identifying().len(), map.width()), (2, 2));
    }
}
