//! InfluxDB's line protocol: `table,tag=value field=1i,other=2.5,text="x" time`, times in ns.
//!
//! Tags are in the order of their names, as InfluxDB's manual advises. Empty ones are left out, because the protocol has none. Whole numbers bear the suffix i.
//! A tag's value that the protocol cannot carry (a line break, a backslash at its end) is an error.

use sensormark_store::lines::{IN_KEYS, Lines};
use sensormark_store::text::Page;
use sensormark_store::{Batch, Schema, Table};

use super::prepared::{Starts, Writer, by_table};

/// What is escaped in a table's name.
const IN_TABLES: &[u8] = b", ";

/// Writes line protocol.
pub struct LineProtocol {
    tables: Vec<Option<(Starts, Lines)>>,
}

impl LineProtocol {
    pub fn new(schema: &Schema, chosen: Option<usize>) -> Result<Self, String> {
        let table = |table: &Table| {
            let starts = Starts::new(table, |series, page| put_start(table, series, page))?;
            let lines = Lines::new(table.fields.iter().map(|field| &field.name), false);
            Ok::<_, String>((starts, lines))
        };
        Ok(Self { tables: by_table(schema, chosen, table)? })
    }
}

/// Writes a series' name and tags, and the blank before the first field.
fn put_start(table: &Table, series: u32, page: &mut Page) -> Result<(), String> {
    page.put_escaped(&table.name, IN_TABLES);
    let mut tags: Vec<usize> = (0..table.tags.len()).collect();
    tags.sort_by_key(|&tag| &table.tags[tag].name);
    for tag in tags {
        let value = table.series.columns()[tag].text(series);
        if value.is_empty() {
            continue;
        }
        if let Some(reason) = unfit(&value) {
            return Err(format!(
                "line protocol cannot carry the value {value:?} of tag {}: {reason}; write csv or json",
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
        let Some((starts, lines)) = &self.tables[batch.table] else {
            return 0;
        };
        let mut lines = lines.of(batch);
        let rows = 0..batch.len();
        rows.map(|row| lines.put(row, starts.of(batch.series[row]), page)).sum()
    }
}
