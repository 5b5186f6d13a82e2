//! What can be exported: a schema, and readings in batches, all of them or a shard's.
//!
//! How a batch is written is not known here.

use super::*;

/// Readings in a batch that is made for writing, about.
pub(crate) const BATCH: u32 = 4_096;

/// What gives the readings of a shard's series, in the data set's order, from the first on.
type Readings = dyn Fn(Shard, &mut BatchSink<'_>) -> io::Result<()>;

/// A data set that can be exported.
pub struct DataSet {
    /// What the readings look like, all series included.
    pub schema: Arc<Schema>,
    readings: Box<Readings>,
}

/// Takes batches, and uses the memory of each again.
pub struct BatchSink<'t> {
    /// One a table.
    batches: Vec<Batch>,
    take: &'t mut dyn FnMut(&Batch) -> io::Result<()>,
}

impl DataSet {
    /// A data set of this schema. What gives its readings is called for each shard, and gives the same each time.
    pub fn new(
        schema: impl Into<Arc<Schema>>,
        readings: impl Fn(Shard, &mut BatchSink) -> io::Result<()> + 'static,
    ) -> Self {
        Self { schema: schema.into(), readings: Box::new(readings) }
    }

    /// Gives the readings of a shard, batch by batch.
    ///
    /// # Errors
    /// That of `take`, which ends it.
    pub fn each_batch(&self, shard: Shard, mut take: impl FnMut(&Batch) -> io::Result<()>) -> io::Result<()> {
        let batches =
            self.schema.tables.iter().enumerate().map(|(number, table)| Batch::new(number, table)).collect();
        (self.readings)(shard, &mut BatchSink { batches, take: &mut take })
    }
}

impl BatchSink<'_> {
    /// Hands on batches of a table, each filled from a stretch of 0 to `end` that is so long.
    ///
    /// # Errors
    /// That of what takes the batches.
    pub fn put_all(
        &mut self,
        table: usize,
        end: u64,
        length: u32,
        fill: impl Fn(Range<u64>, &mut Batch),
    ) -> io::Result<()> {
        let mut firsts = (0..end).step_by(length as usize);
        firsts
            .try_for_each(|first| self.put(table, |batch| fill(first..end.min(first + length as u64), batch)))
    }

    /// Hands on a batch of a table as `fill` fills it, unless it stays empty.
    ///
    /// # Errors
    /// That of what takes the batches.
    pub fn put(&mut self, table: usize, fill: impl FnOnce(&mut Batch)) -> io::Result<()> {
        let batch = &mut self.batches[table];
        batch.clear();
        fill(batch);
        if batch.is_empty() { Ok(()) } else { (self.take)(batch) }
    }
}
