//! From series numbers to the values that identify a series in the database, and back.
//!
//! With tags in a table of their own the number itself identifies; inline, the tags of the series' key do, in its order.

use crate::column_type::ColumnType;
use crate::row::{Row, unexpected};
use sensormark_store::{Schema, SeriesKey, StoreError, Table, TagColumn};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Which tags identify a series, and which series a set of their values is. What grows with the number of series is made when it is first
/// needed: not every session needs it.
#[derive(Debug)]
pub struct SeriesMap {
    schema: Arc<Schema>,
    number: usize,
    own_tags: bool,
    identifying: OnceLock<Vec<usize>>,
    /// The types of the key's columns.
    kinds: Vec<ColumnType>,
    lookup: OnceLock<Lookup>,
    /// For each tag, the lowest series with each of its values (as text).
    lowest: OnceLock<Vec<HashMap<String, u32>>>,
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
    /// The map of the series of a schema's table.
    pub fn new(schema: &Arc<Schema>, number: usize, own_tags: bool) -> Self {
        let mut map = Self {
            schema: Arc::clone(schema),
            number,
            own_tags,
            identifying: OnceLock::new(),
            kinds: Vec::new(),
            lookup: OnceLock::new(),
            lowest: OnceLock::new(),
        };
        map.kinds = if own_tags {
            vec![ColumnType::I32]
        } else {
            let columns = map.table().series.columns();
            let tags = map.identifying().iter();
            tags.map(|&tag| ColumnType::of_tag(&columns[tag])).collect()
        };
        map
    }

    fn table(&self) -> &Table {
        &self.schema.tables[self.number]
    }

    /// The tags that tell all series apart.
    pub fn identifying(&self) -> &[usize] {
        let tags = || SeriesKey::of(self.table()).tags().to_vec();
        self.identifying.get_or_init(tags)
    }

    fn lookup(&self) -> &Lookup {
        self.lookup.get_or_init(|| {
            if self.own_tags { Lookup::Number } else { lookup_of(self.table(), self.identifying()) }
        })
    }

    /// How many columns identify a series.
    pub fn width(&self) -> usize {
        self.kinds.len()
    }

    /// The series that a row's key names, in its columns from `first` on. `scratch` is memory that is kept from row to row.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::Protocol`] when the schema has no such series.
    pub fn of_row<R: Row>(&self, row: &R, first: usize, scratch: &mut String) -> Result<u32, StoreError> {
        let found = match self.lookup() {
            Lookup::Single => Some(0),
            Lookup::Number => u32::try_from(row.integer(first)?).ok(),
            Lookup::Counting(start) => {
                row.integer(first)?.checked_sub(*start).and_then(|number| u32::try_from(number).ok())
            }
            Lookup::Integer(map) => map.get(&row.integer(first)?).copied(),
            Lookup::Joined(map) => match self.kinds.as_slice() {
                [ColumnType::Text] => map.get(row.text(first)?).copied(),
                kinds => {
                    scratch.clear();
                    for (place, kind) in kinds.iter().enumerate() {
                        match kind {
                            ColumnType::Text => join(scratch, row.text(first + place)?),
                            _ => join(scratch, itoa::Buffer::new().format(row.integer(first + place)?)),
                        }
                    }
                    map.get(scratch.as_str()).copied()
                }
            },
        };
        found
            .filter(|&series| series < self.table().series.len())
            .ok_or_else(|| unexpected("a row is of a series that the schema does not have"))
    }

    /// The lowest series with this value of a tag.
    pub fn lowest_with(&self, tag: usize, value: &str) -> Option<u32> {
        let lowest = self.lowest.get_or_init(|| {
            let series = &self.table().series;
            let lowest_of = |column: &TagColumn| {
                let mut lowest = HashMap::new();
                for series in 0..series.len() {
                    lowest.entry(column.text(series)).or_insert(series);
                }
                lowest
            };
            series.columns().iter().map(lowest_of).collect()
        });
        lowest.get(tag)?.get(value).copied()
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
    if identifying.is_empty() {
        return Lookup::Single;
    }
    if let [tag] = identifying
        && let TagColumn::Integer(values) = &columns[*tag]
    {
        let first = values.first().copied().unwrap_or_default();
        // checked: after the largest number comes none
        let counts = |(number, &value): (i64, &i64)| first.checked_add(number) == Some(value);
        if (0..).zip(values).all(counts) {
            return Lookup::Counting(first);
        }
        return Lookup::Integer((0_u32..).zip(values).map(|(series, &value)| (value, series)).collect());
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

    fn map(columns: Vec<TagColumn>) -> SeriesMap {
        let tags = (0..columns.len()).map(|tag| Tag { name: format!("t{tag}") });
        let table = Table {
            name: "r".to_owned(),
            tags: tags.collect(),
            fields: Vec::new(),
            entity: None,
            time_resolution: TimeResolution::Nanoseconds,
            series: Series::new(columns),
        };
        let tables = vec![table];
        SeriesMap::new(&Arc::new(Schema { tables }), 0, false)
    }

    #[test]
    fn one_tag_identifies_where_one_is_enough() {
        let same = TagColumn::Integer(vec![1, 1, 1]);
        let names = TagColumn::Text(vec!["a".into(), "b".into(), "c".into()]);
        let map = map(vec![same, names]);
        assert_eq!(map.identifying(), [1]);
        assert_eq!(map.lowest_with(0, "1"), Some(0));
        assert_eq!(map.lowest_with(0, "2"), None);
    }

    #[test]
    fn several_identify_where_no_single_one_does() {
        let rooms = TagColumn::Integer(vec![1, 1, 2]);
        let names = TagColumn::Text(vec!["a".into(), "b".into(), "a".into()]);
        let map = map(vec![rooms, names]);
        assert_eq!((map.identifying().len(), map.width()), (2, 2));
    }
}
