//! From series numbers to the values that identify a series in the database, and back.
//!
//! With tags in a table of their own the number itself identifies; inline, the tags of the series' key do, in its order.

use crate::dialect::ColumnType;
use crate::row::{Row, unexpected};
use sensormark_store::{SeriesKey, StoreError, Table, TagColumn};
use std::collections::HashMap;

/// Which tags identify a series, and which series a set of their values is.
#[derive(Debug)]
pub struct SeriesMap {
    identifying: Vec<usize>,
    /// The types of the key's columns.
    kinds: Vec<ColumnType>,
    lookup: Lookup,
    /// How many series there are.
    count: u32,
    /// For each tag, the lowest series with each of its values (as text).
    lowest: Vec<HashMap<String, u32>>,
}

#[derive(Debug)]
enum Lookup {
    /// There is one series and nothing to identify it by.
    Single,
    /// The column holds the series' number.
    Number,
    /// The column holds an integer: a first one and then one more a series.
    Counting(i64),
    /// The column holds an integer.
    Integer(HashMap<i64, u32>),
    /// The columns hold texts and integers, here joined.
    Joined(HashMap<String, u32>),
}

impl SeriesMap {
    /// The map of a table's series.
    pub fn new(table: &Table, own_tags: bool) -> Self {
        let identifying = SeriesKey::of(table).tags().to_vec();
        let columns = table.series.columns();
        let (lookup, kinds) = if table.tags.is_empty() {
            (Lookup::Single, Vec::new())
        } else if own_tags {
            (Lookup::Number, vec![ColumnType::I32])
        } else {
            let kinds = identifying
                .iter()
                .map(|&tag| ColumnType::of_tag(&columns[tag]));
            (lookup_of(table, &identifying), kinds.collect())
        };
        let lowest = columns
            .iter()
            .map(|column| {
                let mut lowest = HashMap::new();
                for series in 0..table.series.len() {
                    lowest.entry(column.text(series)).or_insert(series);
                }
                lowest
            })
            .collect();
        Self {
            identifying,
            kinds,
            lookup,
            count: table.series.len(),
            lowest,
        }
    }

    /// The tags that tell all series apart.
    pub fn identifying(&self) -> &[usize] {
        &self.identifying
    }

    /// How many columns identify a series.
    pub fn width(&self) -> usize {
        self.kinds.len()
    }

    /// The series that a row's key names, in its columns from `first` on. `scratch` is memory that is kept from row to row.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::Protocol`] when the schema has no such series.
    pub fn of_row<R: Row>(
        &self,
        row: &R,
        first: usize,
        scratch: &mut String,
    ) -> Result<u32, StoreError> {
        let found = match &self.lookup {
            Lookup::Single => Some(0),
            Lookup::Number => u32::try_from(row.integer(first)?).ok(),
            Lookup::Counting(start) => row
                .integer(first)?
                .checked_sub(*start)
                .and_then(|number| u32::try_from(number).ok()),
            Lookup::Integer(map) => map.get(&row.integer(first)?).copied(),
            Lookup::Joined(map) => match self.kinds.as_slice() {
                [ColumnType::Text] => map.get(row.text(first)?).copied(),
                kinds => {
                    scratch.clear();
                    for (place, kind) in kinds.iter().enumerate() {
                        match kind {
                            ColumnType::Text => join(scratch, row.text(first + place)?),
                            _ => join(
                                scratch,
                                itoa::Buffer::new().format(row.integer(first + place)?),
                            ),
                        }
                    }
                    map.get(scratch.as_str()).copied()
                }
            },
        };
        found
            .filter(|&series| series < self.count)
            .ok_or_else(|| unexpected("a row is of a series that the schema does not have"))
    }

    /// The lowest series with this value of a tag.
    pub fn lowest_with(&self, tag: usize, value: &str) -> Option<u32> {
        self.lowest.get(tag)?.get(value).copied()
    }
}

/// Appends one more identifying value. (Tags hold no NUL.)
fn join(joined: &mut String, value: &str) {
    if !joined.is_empty() {
        joined.push('\0');
    }
    joined.push_str(value);
}

fn lookup_of(table: &Table, identifying: &[usize]) -> Lookup {
    let columns = table.series.columns();
    if let [tag] = identifying
        && let TagColumn::Integer(values) = &columns[*tag]
    {
        let first = values.first().copied().unwrap_or_default();
        if (first..)
            .zip(values)
            .all(|(expected, &value)| expected == value)
        {
            return Lookup::Counting(first);
        }
        return Lookup::Integer(
            (0_u32..)
                .zip(values)
                .map(|(series, &value)| (value, series))
                .collect(),
        );
    }
    Lookup::Joined(
        (0..table.series.len())
            .map(|series| {
                let mut key = String::new();
                for &tag in identifying {
                    join(&mut key, &columns[tag].text(series));
                }
                (key, series)
            })
            .collect(),
    )
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
        assert_eq!(map.lowest_with(0, "1"), Some(0));
        assert_eq!(map.lowest_with(0, "2"), None);
    }

    #[test]
    fn several_identify_where_no_single_one_does() {
        let rooms = TagColumn::Integer(vec![1, 1, 2]);
        let names = TagColumn::Text(vec!["a".into(), "b".into(), "a".into()]);
        let map = SeriesMap::new(&table(vec![rooms, names]), false);
        assert_eq!((map.identifying().len(), map.width()), (2, 2));
    }
}
