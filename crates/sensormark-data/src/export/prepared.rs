//! What is the same in every reading of a series or of a field: written once, copied ever after.

use sensormark_store::text::{Page, Piece};
use sensormark_store::{Batch, Schema, Table};

/// What precedes the readings of each series of a table.
#[derive(Debug)]
pub struct Starts {
    bytes: Vec<u8>,
    /// Where each series' start ends.
    ends: Vec<usize>,
}

impl Starts {
    /// Prepares a table: `start` writes what precedes a series' readings.
    pub fn new<E>(table: &Table, mut start: impl FnMut(u32, &mut Page) -> Result<(), E>) -> Result<Self, E> {
        let mut page = Page::default();
        let mut ends = Vec::with_capacity(table.series.len() as usize);
        for series in 0..table.series.len() {
            start(series, &mut page)?;
            ends.push(page.len());
        }
        Ok(Self { bytes: page.written().to_vec(), ends })
    }

    /// What precedes the readings of a series.
    #[inline]
    pub fn of(&self, series: u32) -> &[u8] {
        let series = series as usize;
        let begin = if series == 0 { 0 } else { self.ends[series - 1] };
        &self.bytes[begin..self.ends[series]]
    }
}

/// What precedes each field's value, as `field` writes it.
pub fn fields(table: &Table, field: impl Fn(&str, &mut Page)) -> Vec<Piece> {
    let piece = |name: &str| {
        let mut page = Page::default();
        field(name, &mut page);
        Piece::new(page.written())
    };
    let fields = table.fields.iter();
    fields.map(|field| piece(&field.name)).collect()
}

/// What writes batches in one format.
pub trait Writer {
    /// Writes what comes before all readings.
    fn head(&self, page: &mut Page);

    /// Writes a batch and says how many values it holds.
    fn batch(&self, batch: &Batch, page: &mut Page) -> u64;
}

/// One value a table, where only a chosen table has one.
pub fn by_table<T, E>(
    schema: &Schema,
    chosen: Option<usize>,
    mut make: impl FnMut(&Table) -> Result<T, E>,
) -> Result<Vec<Option<T>>, E> {
    let one = |(number, table): (usize, &Table)| {
        let is_wanted = chosen.is_none_or(|chosen| chosen == number);
        is_wanted.then(|| make(table)).transpose()
    };
    schema.tables.iter().enumerate().map(one).collect()
}
