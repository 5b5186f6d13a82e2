//! What is the same in every reading of a series: written once, copied ever after.

use super::*;

/// What precedes the readings of each series of a table, as `start` writes it.
pub fn starts(
    table: &Table,
    start: impl Fn(u32, &mut Page) -> Result<(), String>,
) -> Result<Vec<Box<[u8]>>, String> {
    let mut page = Page::default();
    (0..table.series.len())
        .map(|series| {
            page.clear();
            start(series, &mut page)?;
            Ok(page.written().into())
        })
        .collect()
}

/// Writes a batch and says how many values it holds.
type WriteBatch = dyn Fn(&Batch, &mut Page) -> u64;

/// What writes readings of a table in one format.
pub struct Writer {
    /// What comes before all readings.
    pub head: Box<[u8]>,
    pub batch: Box<WriteBatch>,
}
