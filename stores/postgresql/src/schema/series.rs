//! From series numbers to the values that identify a series in the database, and back.
//!
//! With tags in a table of their own the number itself identifies; inline, the tags of the series' key do, in its order.

use sensormark_store::{SeriesKey, Table, TagColumn};
use std::collections::HashMap;

/// Which tags identify a series, and which series a set of their values is.
#[derive(Debug)]
pub(crate) struct SeriesMap {
    identifying: Vec<usize>,
    lookup: Lookup,
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
    pub(crate) fn new(table: &Table, own_tags: bool) -> Self {
        let identifying = SeriesKey::of(table).tags().to_vec();
        let lookup = if table.tags.is_empty() {
            Lookup::Single
        } else if own_tags {
            Lookup::Number
        } else {
            lookup_of(table, &identifying)
        };
        let lowest = table
            .series
            .columns()
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
            lookup,
            lowest,
        }
    }

    /// The tags that tell all series apart.
    pub(crate) fn identifying(&self) -> &[usize] {
        &self.identifying
    }

    /// The series that an integer from the database identifies.
    pub(crate) fn by_integer(&self, value: i64) -> Option<u32> {
        match &self.lookup {
            Lookup::Number => u32::try_from(value).ok(),
            Lookup::Counting(first) => u32::try_from(value.checked_sub(*first)?).ok(),
            Lookup::Integer(map) => map.get(&value).copied(),
            Lookup::Joined(map) => map.get(value.to_string().as_str()).copied(),
            Lookup::Single => Some(0),
        }
    }

    /// The series that identifying values, joined by [`join`], identify.
    pub(crate) fn by_text(&self, joined: &str) -> Option<u32> {
        match &self.lookup {
            Lookup::Joined(map) => map.get(joined).copied(),
            _ => None,
        }
    }

    /// The lowest series with this value of a tag.
    pub(crate) fn lowest_with(&self, tag: usize, value: &str) -> Option<u32> {
        self.lowest.get(tag)?.get(value).copied()
    }
}

/// Appends one more identifying value. (Tags hold no NUL.)
pub(crate) fn join(joined: &mut String, value: &str) {
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
