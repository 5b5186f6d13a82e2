//! JSON lines: `{"table":…,"tags":{…},"time_ns":…,"fields":{…}}`, an object a reading, without absent fields.

use super::*;

/// What writes JSON lines.
pub fn writer(table: &Table) -> Result<Writer, String> {
    // The contract's names need no escapes.
    let names =
        table.fields.iter().map(|field| Piece::new(format!("\"{}\":", field.name).as_bytes())).collect_vec();
    let starts = starts(table, |series, page| {
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
        Ok(())
    })?;
    let batch = move |batch: &Batch, page: &mut Page| {
        let mut written = 0;
        for row in 0..batch.len() {
            page.put(&starts[batch.series[row] as usize]);
            page.put_integer(batch.times_ns[row]);
            page.put(b",\"fields\":{");
            let before = written;
            for (column, name) in batch.columns.iter().zip(&names).filter(|(column, _)| column.has(row)) {
                page.put_value(name, |slot| slot.put_plain(&column.values, row));
                if let Values::Text(values) = &column.values {
                    page.put_json(values.get(row));
                }
                page.put_byte(b',');
                written += 1;
            }
            if written > before {
                page.cut_byte();
            }
            page.put(b"}}\n");
        }
        written
    };
    Ok(Writer { head: Box::default(), batch: Box::new(batch) })
}
