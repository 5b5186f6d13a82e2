//! InfluxDB's line protocol: `table,tag=value field=1i,other=2.5,text="x" time`, times in ns.
//!
//! Tags are in the order of their names, as InfluxDB's manual advises. Empty ones are left out, because the protocol has none. Whole numbers bear the suffix i.
//! A tag's value that the protocol cannot carry (a line break, a backslash at its end) is an error.

use super::*;
use sensormark_store::lines::{IN_KEYS, Lines};

/// What writes line protocol.
pub fn writer(table: &Table) -> Result<Writer, String> {
    let lines = Lines::new(table.fields.iter().map(|field| &field.name), false);
    // A series' name and tags, and the blank before the first field.
    let starts = starts(table, |series, page| {
        page.put_escaped(&table.name, b", ");
        for tag in (0..table.tags.len()).sorted_by_key(|&tag| &table.tags[tag].name) {
            let value = table.series.columns()[tag].text(series);
            if value.is_empty() {
                continue;
            }
            if value.contains(['\n', '\r']) || value.ends_with('\\') {
                return Err(format!(
                    "line protocol cannot carry the value {value:?} of tag {}, for its line break or the backslash at its end; write csv or json",
                    table.tags[tag].name
                ));
            }
            page.put(b",");
            page.put_escaped(&table.tags[tag].name, IN_KEYS);
            page.put(b"=");
            page.put_escaped(&value, IN_KEYS);
        }
        page.put(b" ");
        Ok(())
    })?;
    Ok(Writer {
        head: Box::default(),
        batch: Box::new(move |batch: &Batch, page: &mut Page| {
            let mut lines = lines.of(batch);
            (0..batch.len()).map(|row| lines.put(row, &starts[batch.series[row] as usize], page)).sum()
        }),
    })
}
