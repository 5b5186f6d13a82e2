//! CSV after RFC 4180: one table, a header, `time_ns`, tags, fields; lines end with CR LF.
//!
//! An absent value is an empty cell and an empty text a quoted empty one. A cell is quoted where it must be, or where blanks at its ends might be cut.

use sensormark_store::text::{Page, Piece};
use sensormark_store::{Batch, Table, Values};

use super::prepared::{Writer, fields, starts};

/// Writes CSV.
pub struct Csv {
    head: Box<[u8]>,
    starts: Vec<Box<[u8]>>,
    commas: Vec<Piece>,
}

impl Csv {
    pub fn new(table: &Table) -> Result<Self, String> {
        let tags = table.tags.iter().map(|tag| &tag.name);
        let mut head = Page::default();
        head.put(b"time_ns");
        for name in tags.chain(table.fields.iter().map(|field| &field.name)) {
            head.put(b",");
            put_cell(name, &mut head);
        }
        let starts = starts(table, |series, page| {
            for column in table.series.columns() {
                page.put(b",");
                put_cell(&column.text(series), page);
            }
            Ok(())
        })?;
        Ok(Self { head: head.written().into(), starts, commas: fields(table, |_, page| page.put(b",")) })
    }
}

impl Writer for Csv {
    fn head(&self, page: &mut Page) {
        page.put(&self.head);
        page.put(b"\r\n");
    }

    fn batch(&self, batch: &Batch, page: &mut Page) -> u64 {
        let mut written = 0;
        for row in 0..batch.len() {
            page.put_integer(batch.times_ns[row]);
            page.put(&self.starts[batch.series[row] as usize]);
            for (column, comma) in batch.columns.iter().zip(&self.commas) {
                if !column.has(row) {
                    page.put_byte(b',');
                    continue;
                }
                if let Values::Text(values) = &column.values {
                    page.put_byte(b',');
                    put_cell(values.get(row), page);
                } else {
                    page.put_value(comma, |slot| slot.put_plain(&column.values, row));
                }
                written += 1;
            }
            page.put(b"\r\n");
        }
        written
    }
}

/// Writes a text, in quotes where they are needed.
fn put_cell(text: &str, page: &mut Page) {
    let plain = !text.is_empty() && !text.contains(['"', ',', '\r', '\n']) && text.trim().len() == text.len();
    if plain {
        page.put(text.as_bytes());
    } else {
        page.put(format!("\"{}\"", text.replace('"', "\"\"")).as_bytes());
    }
}
