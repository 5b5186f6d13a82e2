//! A recording again and again, as further series, where it has fewer readings than tell what a database does.

use crate::own::sizes::FIRST_READINGS;
use sensormark_result::measurement::sizes::TIMES;
use sensormark_store::{Series, Shape, Table, Tag, TagColumn};
use std::iter::{repeat_n, successors};
use std::ops::Range;

/// The tag that tells copies apart.
const COPY: &str = "copy";
/// The most series that copies may make: what many more do to a database is another question (the workload cardinality).
const MOST_SERIES: u64 = 10_000;
/// A record of the layouts that keep readings by spans holds about so many readings.
pub const READINGS_PER_RECORD: u16 = 1_000;

/// How many copies each size has: one, then so many that a size tells something, then four times as many each, until there are so many readings.
pub fn sizes(readings: usize, series: u32, wanted: u64) -> Vec<u32> {
    let readings = readings as u64;
    let next = |copies: &u64| {
        let more = copies * TIMES;
        let is_short = copies * readings < wanted && more * u64::from(series) <= MOST_SERIES;
        is_short.then_some(more)
    };
    let all: Vec<u64> = successors(Some(1), next).collect();
    let tells = |&copies: &u64| {
        copies == 1 || Some(&copies) == all.last() || (copies * readings) as f64 >= FIRST_READINGS
    };
    all.iter().copied().filter(tells).filter_map(|copies| u32::try_from(copies).ok()).collect()
}

/// The table with so many copies of its series, one copy after the other. A further tag says which copy a series is of.
pub fn copied(table: &Table, copies: u32) -> Table {
    if copies == 1 {
        return table.clone();
    }
    let own = &table.series;
    let again = |column: &TagColumn| match column {
        TagColumn::Text(values) => {
            TagColumn::Text(repeat_n(values, copies as usize).flatten().cloned().collect())
        }
        TagColumn::Integer(values) => TagColumn::Integer(values.repeat(copies as usize)),
    };
    let numbers = (1..=i64::from(copies)).flat_map(|copy| repeat_n(copy, own.len() as usize));
    let mut columns: Vec<TagColumn> = own.columns().iter().map(again).collect();
    columns.push(TagColumn::Integer(numbers.collect()));
    let is_free = |name: &String| table.tag(name).is_none() && table.field(name).is_none();
    let names = (2..).map(|number| format!("{COPY}_{number}"));
    let name = std::iter::once(COPY.to_owned()).chain(names).find(is_free).unwrap_or_default();
    let mut tags = table.tags.clone();
    tags.push(Tag { name });
    Table { tags, series: Series::new(columns).every(own.interval_ns().unwrap_or_default()), ..table.clone() }
}

/// The order in which copies are written: all go on side by side, as more sensors would.
#[derive(Debug, Clone)]
pub struct Order {
    /// Which copies are written, from 0 on.
    pub copies: Range<u32>,
    /// So many readings of a copy follow each other.
    pub together: usize,
}

impl Order {
    /// Of a layout of this shape: a record for a span is written at once.
    pub fn new(copies: Range<u32>, shape: Shape) -> Self {
        let is_by_span = matches!(shape, Shape::RecordPerSpan { .. } | Shape::Bucketed { .. });
        Self { copies, together: if is_by_span { READINGS_PER_RECORD.into() } else { 1 } }
    }

    /// How many readings are written, of a recording with so many rows.
    pub fn len(&self, rows: usize) -> usize {
        rows * self.copies.len()
    }

    /// The copy and the row of the reading that is written as this one.
    pub fn at(&self, place: usize, rows: usize) -> (u32, usize) {
        let of_all = self.together * self.copies.len();
        let start = place / of_all * self.together;
        let within = place % of_all;
        let together = self.together.min(rows - start);
        let copy = u32::try_from(within / together).unwrap_or(u32::MAX);
        (self.copies.start + copy, start + within % together)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::{Schema, TimeResolution};

    #[test]
    fn every_reading_of_every_copy_is_written_once() {
        for (together, rows) in [(1, 7), (3, 7), (3, 9), (10, 7)] {
            let order = Order { copies: 4..16, together };
            let mut all: Vec<_> = (0..order.len(rows)).map(|place| order.at(place, rows)).collect();
            let first = [(4, 0), if together == 1 { (5, 0) } else { (4, 1) }];
            assert_eq!(all[..2], first, "{together} of {rows}");
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), 12 * rows, "{together} of {rows}");
        }
    }

    #[test]
    fn sizes_grow_until_there_are_enough_readings_or_too_many_series() {
        assert_eq!(sizes(429, 1, 1_000_000), [1, 256, 1_024, 4_096]);
        assert_eq!(sizes(429, 1, 5_000), [1, 16]);
        assert_eq!(sizes(429, 1_000, 1_000_000), [1, 4]);
        assert_eq!(sizes(2_000_000, 1, 1_000_000), [1]);
        assert_eq!(sizes(429, 1, 0), [1]);
    }

    #[test]
    fn a_copy_has_the_tags_of_its_recording_and_a_number() {
        let table = &Schema::of_sensors([7, 9], TimeResolution::Seconds).tables[0];
        assert_eq!(copied(table, 1), *table);
        let four = copied(table, 4);
        assert_eq!((four.series.len(), four.tags[1].name.as_str()), (8, "copy"));
        let tags =
            |series: u32| [four.series.tag(series, 0), four.series.tag(series, 1)].map(|tag| tag.to_string());
        assert_eq!([tags(0), tags(1), tags(3)], [["7", "1"], ["9", "1"], ["9", "2"]]);
    }
}
