//! InfluxDB's line protocol: `table,tag=value field=1i,other=2.5,text="x" time`, times in ns.
//!
//! Tags are in the order of their names, as InfluxDB's manual advises; empty ones are left out, for the protocol has none.
//! Whole numbers bear the suffix i. A tag's value that the protocol cannot carry (a line break, a backslash at its end) is an error.

use sensormark_store::{Batch, Schema, Table, Values};

use super::ExportError;
use super::prepared::{Prepared, Writer, by_table};
use super::text::{Page, Piece};

/// What is escaped in a table's name.
const IN_TABLES: &[u8] = b", ";
/// What is escaped in names and values of tags, and in names of fields.
const IN_TAGS: &[u8] = b",= ";
/// What is escaped in a text.
const IN_TEXTS: &[u8] = b"\"\\";

/// Writes line protocol.
pub(super) struct LineProtocol {
    tables: Vec<Option<Prepared>>,
    /// Between fields and time.
    blank: Piece,
}

impl LineProtocol {
    pub(super) fn new(schema: &Schema, chosen: Option<usize>) -> Result<Self, ExportError> {
        let table = |table: &Table| {
            Prepared::new(
                table,
                |series, page| put_start(table, series, page),
                |name, page| {
                    page.put_escaped(name, IN_TAGS);
                    page.put_byte(b'=');
                },
            )
        };
        Ok(Self {
            tables: by_table(schema, chosen, table)?,
            blank: Piece::new(b" "),
        })
    }
}

/// Writes a series' name and tags, and the blank before the first field.
fn put_start(table: &Table, series: u32, page: &mut Page) -> Result<(), ExportError> {
    page.put_escaped(&table.name, IN_TABLES);
    let mut tags: Vec<usize> = (0..table.tags.len()).collect();
    tags.sort_by_key(|&tag| &table.tags[tag].name);
    for tag in tags {
        let value = table.series.columns()[tag].text(series);
        if value.is_empty() {
            continue;
        }
        if let Some(reason) = unfit(&value) {
            return Err(ExportError::TagValue {
                tag: table.tags[tag].name.clone(),
                value,
                reason,
            });
        }
        page.put(b",");
        page.put_escaped(&table.tags[tag].name, IN_TAGS);
        page.put(b"=");
        page.put_escaped(&value, IN_TAGS);
    }
    page.put(b" ");
    Ok(())
}

/// Why a tag's value cannot be carried.
fn unfit(value: &str) -> Option<&'static str> {
    if value.contains(['\n', '\r']) {
        Some("it holds a line break")
    } else if value.ends_with('\\') {
        Some("it ends with a backslash")
    } else {
        None
    }
}

impl Writer for LineProtocol {
    fn head(&self, _page: &mut Page) {}

    fn batch(&self, batch: &Batch, page: &mut Page) -> u64 {
        let Some(prepared) = &self.tables[batch.table] else {
            return 0;
        };
        let mut values = 0;
        for row in 0..batch.len() {
            let begin = page.len();
            page.put(prepared.start(batch.series[row]));
            let written = put_fields(batch, row, prepared, page);
            debug_assert!(written > 0, "a reading has at least one of its fields");
            if written == 0 {
                page.cut(begin);
                continue;
            }
            values += written;
            // In the place of the last field's comma.
            page.cut_byte();
            page.put_value(&self.blank, |slot| {
                slot.put_integer(batch.times_ns[row]);
                slot.put_byte(b'\n');
            });
        }
        values
    }
}

/// Writes the fields that a reading has, a comma after each, and says how many.
#[inline]
fn put_fields(batch: &Batch, row: usize, prepared: &Prepared, page: &mut Page) -> u64 {
    let mut written = 0;
    for (column, name) in batch.columns.iter().zip(&prepared.fields) {
        if !column.has(row) {
            continue;
        }
        match &column.values {
            Values::U16(values) => page.put_value(name, |slot| {
                slot.put_small(values[row]);
                slot.put_two(*b"i,");
            }),
            Values::I64(values) => page.put_value(name, |slot| {
                slot.put_integer(values[row]);
                slot.put_two(*b"i,");
            }),
            Values::F64(values) => page.put_value(name, |slot| {
                slot.put_float(values[row]);
                slot.put_byte(b',');
            }),
            Values::Bool(values) => page.put_value(name, |slot| {
                slot.put_truth(values[row]);
                slot.put_byte(b',');
            }),
            Values::Text(values) => {
                page.put_value(name, |slot| slot.put_byte(b'"'));
                page.put_escaped(values.get(row), IN_TEXTS);
                page.put(b"\",");
            }
        }
        written += 1;
    }
    written
}
