//! JSON lines: `{"table":…,"tags":{…},"time_ns":…,"fields":{…}}`, an object a reading, without absent fields.

use std::convert::Infallible;

use sensormark_store::text::{Page, Piece};
use sensormark_store::{Batch, Schema, Table, TagColumn, Values};

use super::prepared::{Starts, Writer, by_table, fields};

/// Writes JSON lines.
pub struct JsonLines {
    tables: Vec<Option<Prepared>>,
}

/// A table's prepared pieces.
struct Prepared {
    starts: Starts,
    names: Vec<Piece>,
}

impl JsonLines {
    pub fn new(schema: &Schema, chosen: Option<usize>) -> Self {
        let table = |table: &Table| {
            let starts = Starts::new(table, |series, page| {
                put_start(table, series, page);
                Ok::<(), Infallible>(())
            })?;
            let names = fields(table, |name, page| {
                page.put_json(name);
                page.put_byte(b':');
            });
            Ok::<_, Infallible>(Prepared { starts, names })
        };
        let Ok(tables) = by_table(schema, chosen, table);
        Self { tables }
    }
}

fn put_start(table: &Table, series: u32, page: &mut Page) {
    page.put(b"{\"table\":");
    page.put_json(&table.name);
    page.put(b",\"tags\":{");
    for (number, (tag, column)) in table.tags.iter().zip(table.series.columns()).enumerate() {
        if number > 0 {
            page.put(b",");
        }
        page.put_json(&tag.name);
        page.put(b":");
        match column {
            TagColumn::Text(values) => page.put_json(&values[series as usize]),
            TagColumn::Integer(values) => page.put_integer(values[series as usize]),
        }
    }
    page.put(b"},\"time_ns\":");
}

impl Writer for JsonLines {
    fn head(&self, _page: &mut Page) {}

    fn batch(&self, batch: &Batch, page: &mut Page) -> u64 {
        let Some(prepared) = &self.tables[batch.table] else {
            return 0;
        };
        let mut written = 0;
        for row in 0..batch.len() {
            page.put(prepared.starts.of(batch.series[row]));
            page.put_integer(batch.times_ns[row]);
            page.put(b",\"fields\":{");
            let fields = put_fields(batch, row, prepared, page);
            if fields > 0 {
                page.cut_byte();
            }
            written += fields;
            page.put(b"}}\n");
        }
        written
    }
}

/// Writes the fields that a reading has, a comma after each, and says how many.
fn put_fields(batch: &Batch, row: usize, prepared: &Prepared, page: &mut Page) -> u64 {
    let mut written = 0;
    for (column, name) in batch.columns.iter().zip(&prepared.names) {
        if !column.has(row) {
            continue;
        }
        page.put_value(name, |slot| slot.put_plain(&column.values, row));
        if let Values::Text(values) = &column.values {
            page.put_json(values.get(row));
        }
        page.put_byte(b',');
        written += 1;
    }
    written
}
