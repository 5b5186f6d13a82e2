//! The size of a write: how many readings a load hands over at a time, and why.
//!
//! Each store states what its database's documentation advises ([`WriteSize`]), in a file `write_size.rs` of its own. The rule that makes
//! readings of it is here and nowhere else ([`WriteSize::readings_per_write`]); a workload adds no bound of its own.

use crate::schema::{FieldType, Table};
use serde::Serialize;

/// So many series are looked at to estimate how long the values of tags are.
const SERIES: u32 = 64;

/// The size of write that a database's documentation advises, with one layout and one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct WriteSize {
    /// Readings in a write, at most.
    pub readings: usize,
    /// Bytes in a write, at most, as the store sends it.
    pub bytes: usize,
    /// About how many bytes a reading takes as the store sends it.
    pub reading_bytes: usize,
    /// What the documentation advises, in a sentence; where it gives no number, where ours is from.
    pub advice: &'static str,
    /// Where it says so.
    pub link: &'static str,
}

impl WriteSize {
    /// The same, with no more readings than one statement takes.
    #[must_use]
    pub fn within(self, readings_per_statement: usize) -> Self {
        Self { readings: self.readings.min(readings_per_statement), ..self }
    }

    /// Readings in a write: as many as `readings` and `bytes` both allow, and at least one.
    pub fn readings_per_write(&self) -> usize {
        let fit = self.bytes / self.reading_bytes.max(1);
        fit.min(self.readings).max(1)
    }
}

/// About how many bytes the values of a series' tags take as text: the mean of the first series.
pub fn tag_value_bytes(table: &Table) -> usize {
    let count = table.series.len().min(SERIES);
    let columns = table.series.columns().iter();
    let all: usize = columns
        .map(|column| {
            let texts = (0..count).map(|series| column.text(series).len());
            texts.sum::<usize>()
        })
        .sum();
    all.div_ceil(usize::try_from(count).unwrap_or(1).max(1))
}

/// About how many bytes a reading's values take, each as many as its type does.
pub fn field_value_bytes(table: &Table, of: impl Fn(FieldType) -> usize) -> usize {
    table.fields.iter().map(|field| of(field.kind)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Field, Series, Tag, TagColumn, TimeResolution};

    fn size(readings: usize, bytes: usize, reading_bytes: usize) -> usize {
        let size = WriteSize { readings, bytes, reading_bytes, advice: "", link: "" };
        size.readings_per_write()
    }

    #[test]
    fn a_write_is_no_larger_than_a_statement() {
        let advised = WriteSize { readings: 5_000, bytes: 1 << 20, reading_bytes: 1, advice: "", link: "" };
        assert_eq!(advised.within(700).readings_per_write(), 700);
        assert_eq!(advised.within(70_000), advised);
    }

    #[test]
    fn a_write_keeps_to_the_smaller_of_lines_and_bytes() {
        assert_eq!(size(5_000, 1_000_000, 100), 5_000);
        assert_eq!(size(5_000, 1_000_000, 1_000), 1_000);
        assert_eq!(size(5_000, 1_000, 10_000), 1, "one reading is sent anyway");
        assert_eq!(size(0, 1_000, 0), 1);
    }

    #[test]
    fn tags_are_as_long_as_those_of_the_first_series() {
        let field = |kind| Field { name: "abc".to_owned(), kind, nullable: false };
        let table = Table {
            name: "t".to_owned(),
            tags: vec![Tag { name: "n".into() }, Tag { name: "host".into() }],
            fields: vec![field(FieldType::F64), field(FieldType::Bool)],
            entity: None,
            time_resolution: TimeResolution::Seconds,
            series: Series::new(vec![
                TagColumn::Integer(vec![7, 77]),
                TagColumn::Text(vec!["four".into(), "sixsix".into()]),
            ]),
        };
        assert_eq!(tag_value_bytes(&table), 7); // (1 + 4 + 2 + 6) / 2, rounded up
        let of = |kind| if kind == FieldType::F64 { 8 } else { 1 };
        assert_eq!(field_value_bytes(&table, of), 9);
    }
}
