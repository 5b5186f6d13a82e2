//! CSV after RFC 4180: one table, a header, `time_ns`, tags, fields; lines end with CR LF.
//!
//! An absent value is an empty cell and an empty text a quoted empty one. A cell is quoted where it must be, or where blanks at its ends might be cut.

use super::*;

/// What writes CSV.
pub fn writer(table: &Table) -> Result<Writer, String> {
    let tags = table.tags.iter().map(|tag| &tag.name);
    let mut head = Page::default();
    head.put(b"time_ns");
    for name in tags.chain(table.fields.iter().map(|field| &field.name)) {
        head.put(b",");
        put_cell(name, &mut head);
    }
    head.put(b"\r\n");
    let starts = starts(table, |series, page| {
        for column in table.series.columns() {
            page.put(b",");
            put_cell(&column.text(series), page);
        }
        Ok(())
    })?;
    let comma = Piece::new(b",");
    let batch = move |batch: &Batch, page: &mut Page| {
        let mut written = 0;
        for row in 0..batch.len() {
            page.put_integer(batch.times_ns[row]);
            page.put(&starts[batch.series[row] as usize]);
            for column in &batch.columns {
                if !column.has(row) {
                    page.put_byte(b',');
                    continue;
                }
                written += 1;
                page.put_value(&comma, |slot| slot.put_plain(&column.values, row));
                if let Values::Text(values) = &column.values {
                    put_cell(values.get(row), page);
                }
            }
            page.put(b"\r\n");
        }
        written
    };
    Ok(Writer { head: head.written().into(), batch: Box::new(batch) })
}

/// Writes a text, in quotes where they are needed.
fn put_cell(text: &str, page: &mut Page) {
    if !text.is_empty() && !text.contains(['"', ',', '\r', '\n']) && text.trim().len() == text.len() {
        page.put(text.as_bytes());
    } else {
        page.put(format!("\"{}\"", text.replace('"', "\"\"")).as_bytes());
    }
}
