//! From series numbers to the values that identify a series in the database, and back.
//!
//! With tags in a table of their own the number itself identifies; inline, the tags of the series' key do, in its order.

use crate::row::{Row, unexpected};
use sensormark_store::{Schema, SeriesKey, StoreError, Table, TagColumn};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// A column that identifies series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// The series' number.
    Number,
    /// The value of this tag.
    Tag(usize),
}

/// Which series a row's key names. What grows with the number of series is made when it is first needed: not every session needs it.
#[derive(Debug)]
pub struct SeriesMap {
    schema: Arc<Schema>,
    number: usize,
    keys: Vec<Key>,
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
        let tags = || SeriesKey::of(&schema.tables[number]).tags().iter().map(|&tag| Key::Tag(tag)).collect();
        Self {
            schema: Arc::clone(schema),
            number,
            keys: if own_tags { vec![Key::Number] } else { tags() },
            lookup: OnceLock::new(),
            lowest: OnceLock::new(),
        }
    }

    fn table(&self) -> &Table {
        &self.schema.tables[self.number]
    }

    /// The columns that identify a series.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The series that a row's key names, in its columns from `first` on. `scratch` is memory that is kept from row to row.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::Protocol`] when the schema has no such series.
    pub fn of_row<R: Row + ?Sized>(
        &self,
        row: &R,
        first: usize,
        scratch: &mut String,
    ) -> Result<u32, StoreError> {
        let found = match self.lookup.get_or_init(|| self.make_lookup()) {
            Lookup::Single => Some(0),
            Lookup::Number => u32::try_from(row.integer(first)?).ok(),
            Lookup::Counting(start) => {
                row.integer(first)?.checked_sub(*start).and_then(|number| u32::try_from(number).ok())
            }
            Lookup::Integer(map) => map.get(&row.integer(first)?).copied(),
            Lookup::Joined(map) => {
                scratch.clear();
                for (place, key) in (first..).zip(&self.keys) {
                    match key {
                        Key::Tag(tag) if self.is_text(*tag) => join(scratch, row.text(place)?),
                        _ => join(scratch, itoa::Buffer::new().format(row.integer(place)?)),
                    }
                }
                map.get(scratch.as_str()).copied()
            }
        };
        found
            .filter(|&series| series < self.table().series.len())
            .ok_or_else(|| unexpected("a row is of a series that the schema does not have"))
    }

    fn is_text(&self, tag: usize) -> bool {
        matches!(self.table().series.columns()[tag], TagColumn::Text(_))
    }

    /// The lowest series with the value of a tag that a row begins with.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::Protocol`] when the schema has no such value.
    pub fn lowest_of_row<R: Row + ?Sized>(&self, row: &R, tag: usize) -> Result<u32, StoreError> {
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
        let found = match self.is_text(tag) {
            true => lowest[tag].get(row.text(0)?),
            false => lowest[tag].get(itoa::Buffer::new().format(row.integer(0)?)),
        };
        found.copied().ok_or_else(|| unexpected("a row has a tag that the schema does not have"))
    }

    fn make_lookup(&self) -> Lookup {
        let columns = self.table().series.columns();
        let tag = |key: &Key| if let Key::Tag(tag) = key { Some(*tag) } else { None };
        let tags: Vec<usize> = match self.keys.as_slice() {
            [] => return Lookup::Single,
            [Key::Number] => return Lookup::Number,
            keys => keys.iter().filter_map(tag).collect(),
        };
        if let [tag] = tags.as_slice()
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
        let joined = |series: u32| {
            let mut key = String::new();
            tags.iter().for_each(|&tag| join(&mut key, &columns[tag].text(series)));
            (key, series)
        };
        Lookup::Joined((0..self.table().series.len()).map(joined).collect())
    }
}

/// Appends one more identifying value. (Tags hold no NUL.)
fn join(joined: &mut String, value: &str) {
    if !joined.is_empty() {
        joined.push('\0');
    }
    joined.push_str(value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Document;
    use sensormark_store::{Column, FieldType, Series, Tag, TimeResolution, Value};

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

    struct Sent(&'static [&'static str]);

    impl Row for Sent {
        fn push(&self, _: usize, _: &mut Column) -> Result<(), StoreError> {
            Err(unexpected("no column"))
        }

        fn integer(&self, place: usize) -> Result<i64, StoreError> {
            self.0[place].parse().map_err(|_| unexpected("no number"))
        }

        fn text(&self, place: usize) -> Result<&str, StoreError> {
            Ok(self.0[place])
        }

        fn truth(&self, _: usize) -> Result<bool, StoreError> {
            Err(unexpected("no truth value"))
        }

        fn value(&self, _: usize, _: FieldType) -> Result<Value, StoreError> {
            Err(unexpected("no value"))
        }

        fn is_null(&self, _: usize) -> Result<bool, StoreError> {
            Ok(false)
        }

        fn document(&self, _: usize) -> Result<Document<'_>, StoreError> {
            Err(unexpected("no document"))
        }
    }

    fn series(map: &SeriesMap, row: &'static [&'static str]) -> Option<u32> {
        map.of_row(&Sent(row), 0, &mut String::new()).ok()
    }

    #[test]
    fn one_tag_identifies_where_one_is_enough() {
        let same = TagColumn::Integer(vec![1, 1, 1]);
        let names = TagColumn::Text(vec!["a".into(), "b".into(), "c".into()]);
        let map = map(vec![same, names]);
        assert_eq!(map.keys(), [Key::Tag(1)]);
        assert_eq!((series(&map, &["c"]), series(&map, &["d"])), (Some(2), None));
        assert_eq!(map.lowest_of_row(&Sent(&["1"]), 0).ok(), Some(0));
        assert_eq!(map.lowest_of_row(&Sent(&["2"]), 0).ok(), None);
    }

    #[test]
    fn several_identify_where_no_single_one_does() {
        let rooms = TagColumn::Integer(vec![1, 1, 2]);
        let names = TagColumn::Text(vec!["a".into(), "b".into(), "a".into()]);
        let map = map(vec![rooms, names]);
        assert_eq!(map.keys().len(), 2);
        let both = |row| map.of_row(&Sent(row), 0, &mut String::new()).ok();
        let wanted = if map.keys()[0] == Key::Tag(0) { both(&["2", "a"]) } else { both(&["a", "2"]) };
        assert_eq!(wanted, Some(2));
    }

    #[test]
    fn numbers_that_count_are_not_looked_up() {
        let map = map(vec![TagColumn::Integer(vec![7, 8, 9])]);
        assert!(matches!(map.make_lookup(), Lookup::Counting(7)));
        assert_eq!(
            (series(&map, &["9"]), series(&map, &["10"]), series(&map, &["6"])),
            (Some(2), None, None)
        );
    }
}
