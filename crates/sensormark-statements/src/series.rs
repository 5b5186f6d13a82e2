//! From series numbers to the values that identify a series in the database, and back.
//!
//! With tags in a table of their own the number itself identifies; inline, the tags of the series' key do, in its order.

use sensormark_drivers::{Cell, Row, unexpected};
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

/// Which series a row's key names. What grows with the number of series is made when it is first needed.
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

    /// The value of a key column of a series.
    pub fn cell(&self, key: usize, series: u32) -> Cell<'_> {
        match self.keys[key] {
            Key::Number => Cell::I64(series.into()),
            Key::Tag(tag) => Cell::tag(self.table(), tag, series),
        }
    }

    /// The series that a row's key names, in its columns from `first` on. `scratch` is memory that is kept from row to row.
    ///
    /// # Errors
    /// [`sensormark_store::ErrorKind::Protocol`] when the schema has no such series.
    pub fn of_row(&self, row: &dyn Row, first: usize, scratch: &mut String) -> Result<u32, StoreError> {
        let found = match self.lookup.get_or_init(|| self.make_lookup()) {
            Lookup::Single => Some(0),
            Lookup::Number => u32::try_from(row.integer(first)?).ok(),
            Lookup::Counting(start) => {
                row.integer(first)?.checked_sub(*start).and_then(|number| u32::try_from(number).ok())
            }
            Lookup::Integer(map) => map.get(&row.integer(first)?).copied(),
            Lookup::Joined(map) => {
                scratch.clear();
                for (place, &key) in self.keys.iter().enumerate() {
                    if self.is_text(key) {
                        join(scratch, row.text(first + place)?);
                    } else {
                        join(scratch, itoa::Buffer::new().format(row.integer(first + place)?));
                    }
                }
                map.get(scratch.as_str()).copied()
            }
        };
        found
            .filter(|&series| series < self.table().series.len())
            .ok_or_else(|| unexpected("a row is of a series that the schema does not have"))
    }

    fn is_text(&self, key: Key) -> bool {
        match key {
            Key::Number => false,
            Key::Tag(tag) => matches!(self.table().series.columns()[tag], TagColumn::Text(_)),
        }
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

    fn make_lookup(&self) -> Lookup {
        let columns = self.table().series.columns();
        let tags: Vec<usize> = match self.keys.as_slice() {
            [] => return Lookup::Single,
            [Key::Number] => return Lookup::Number,
            keys => keys
                .iter()
                .filter_map(|key| if let Key::Tag(tag) = key { Some(*tag) } else { None })
                .collect(),
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
