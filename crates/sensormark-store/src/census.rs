//! Exact counts and order-free checksums of what is stored, by series.
//!
//! The checksum of a series is the wrapping sum of hashes over its readings and their present fields. Each hash has 64 bits and covers series, time, field
//! number, type and bits of the value. A rounded timestamp, two swapped values or a lost reading change it; the order of reading does not. It says that
//! something differs, not what: the ledger finds out what.

use crate::batch::{Batch, Column, Values};
use crate::schema::Schema;
use serde::{Deserialize, Serialize};

/// Counts and checksums of all series of all tables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Census {
    /// One list a table, one entry a series.
    pub tables: Vec<Vec<SeriesCensus>>,
}

/// Count and checksum of one series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SeriesCensus {
    /// How many readings.
    pub readings: u64,
    /// How many values (present fields of readings).
    pub values: u64,
    /// The order-free checksum.
    pub checksum: u64,
}

impl Census {
    /// A census that has counted nothing yet.
    pub fn new(schema: &Schema) -> Self {
        Self {
            tables: schema
                .tables
                .iter()
                .map(|table| vec![SeriesCensus::default(); table.series.len() as usize])
                .collect(),
        }
    }

    /// Counts the readings of a batch.
    ///
    /// # Panics
    /// When the batch's table or a series number is out of range.
    pub fn add(&mut self, batch: &Batch) {
        let table = &mut self.tables[batch.table];
        for &series in &batch.series {
            table[series as usize].readings += 1;
        }
        for (field, column) in batch.columns.iter().enumerate() {
            if !column.values.is_empty() {
                add_column(table, batch, field as u64, column);
            }
        }
    }

    /// The hash of one reading with all its present fields: what it adds to its series' checksum.
    pub fn reading_hash(batch: &Batch, row: usize) -> u64 {
        let mut sum = 0_u64;
        for (field, column) in batch.columns.iter().enumerate() {
            if column.has(row) {
                let hash = hash(
                    batch.series[row],
                    batch.times_ns[row],
                    field as u64,
                    hash_value(&column.values, row),
                );
                sum = sum.wrapping_add(hash);
            }
        }
        sum
    }

    /// How many readings there are in all.
    pub fn readings(&self) -> u64 {
        self.tables.iter().flatten().map(|series| series.readings).sum()
    }

    /// How many values there are in all.
    pub fn values(&self) -> u64 {
        self.tables.iter().flatten().map(|series| series.values).sum()
    }

    /// One checksum of everything, in which tables and series have their places.
    pub fn checksum(&self) -> u64 {
        let mut sum = 0_u64;
        for (table, list) in self.tables.iter().enumerate() {
            for (series, census) in list.iter().enumerate() {
                sum = sum
                    .wrapping_add(mix(census.checksum
                        ^ mix(((table as u64) << 32) ^ series as u64 ^ (census.readings << 1))));
            }
        }
        sum
    }
}

fn add_column(table: &mut [SeriesCensus], batch: &Batch, field: u64, column: &Column) {
    for row in 0..batch.len() {
        if !column.has(row) {
            continue;
        }
        let value = hash_value(&column.values, row);
        let entry = &mut table[batch.series[row] as usize];
        entry.values += 1;
        entry.checksum =
            entry.checksum.wrapping_add(hash(batch.series[row], batch.times_ns[row], field, value));
    }
}

fn hash_value(values: &Values, row: usize) -> u64 {
    match values {
        Values::Bool(values) => mix(1 ^ (u64::from(values[row]) << 8)),
        Values::I64(values) => mix(2).wrapping_add(values[row].cast_unsigned()),
        Values::U16(values) => mix(3).wrapping_add(u64::from(values[row])),
        // Adding zero makes the two zeros one: not every database keeps the sign.
        Values::F64(values) => mix(4).wrapping_add((values[row] + 0.0).to_bits()),
        Values::Text(values) => hash_text(values.get(row)),
    }
}

fn hash(series: u32, time_ns: i64, field: u64, value: u64) -> u64 {
    mix(mix(mix((u64::from(series) << 8) ^ field).wrapping_add(time_ns.cast_unsigned())).wrapping_add(value))
}

fn hash_text(text: &str) -> u64 {
    let mut state = mix(5 ^ ((text.len() as u64) << 8));
    for chunk in text.as_bytes().chunks(8) {
        let mut word = [0_u8; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = mix(state.wrapping_add(u64::from_le_bytes(word)));
    }
    state
}

/// The finaliser of the SplitMix64 generator (Steele, Lea and Flood, OOPSLA 2014), over a shifted input so that 0 is not a fixed point.
const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Field, FieldType, Series, Table, Tag, TagColumn, TimeResolution};

    fn schema() -> Schema {
        let field = |name: &str, kind| Field { name: name.into(), kind, nullable: true };
        Schema {
            tables: vec![Table {
                name: "t".into(),
                tags: vec![Tag { name: "sensor".into() }],
                fields: vec![field("a", FieldType::F64), field("b", FieldType::F64)],
                entity: None,
                time_resolution: TimeResolution::Nanoseconds,
                series: Series::new(vec![TagColumn::Integer(vec![1, 2])]),
            }],
        }
    }

    fn batch(rows: &[(i64, u32, f64, f64)]) -> Batch {
        Batch {
            table: 0,
            times_ns: rows.iter().map(|row| row.0).collect(),
            series: rows.iter().map(|row| row.1).collect(),
            columns: vec![
                Column { values: Values::F64(rows.iter().map(|row| row.2).collect()), present: None },
                Column { values: Values::F64(rows.iter().map(|row| row.3).collect()), present: None },
            ],
        }
    }

    fn checksum(rows: &[(i64, u32, f64, f64)]) -> u64 {
        let mut census = Census::new(&schema());
        census.add(&batch(rows));
        census.checksum()
    }

    #[test]
    fn order_does_not_matter_and_everything_else_does() {
        let rows = [(1_000_001, 0, 1.0, 2.0), (2_000_002, 1, 3.0, 4.0)];
        let expected = checksum(&rows);
        assert_eq!(expected, checksum(&[rows[1], rows[0]]));
        for changed in [
            [(1_000_000, 0, 1.0, 2.0), rows[1]],
            [(1_000_001, 1, 1.0, 2.0), rows[1]],
            [(1_000_001, 0, 2.0, 1.0), rows[1]],
            [(1_000_001, 0, 3.0, 2.0), (2_000_002, 1, 1.0, 4.0)],
            [rows[0], rows[0]],
        ] {
            assert_ne!(expected, checksum(&changed), "{changed:?}");
        }
        assert_ne!(expected, checksum(&rows[..1]));
    }
}
