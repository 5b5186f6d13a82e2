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

/// One part of a data set's series. The parts of one number of shards make the whole, without overlap.
#[derive(Debug, Clone, Copy)]
pub struct Shard {
    pub(super) number: u32,
    pub(super) count: u32,
}

impl Shard {
    /// Everything.
    pub const WHOLE: Self = Self { number: 0, count: 1 };

    /// Shard `number` (from 0) of `count`; none when there is no such shard.
    pub fn new(number: u32, count: u32) -> Option<Self> {
        (number < count).then_some(Self { number, count })
    }

    /// The shard's series of a table with this many: a contiguous part, as equal as can be.
    pub fn series(self, of: u32) -> Range<u32> {
        let bound = |number: u32| {
            u32::try_from(of as u64 * number as u64 / self.count as u64)
                .expect("not over the number of series")
        };
        bound(self.number)..bound(self.number + 1)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split_once('/')
            .and_then(|(number, count)| Self::new(number.trim().parse().ok()?, count.trim().parse().ok()?))
            .ok_or_else(|| format!("{text:?} is no shard; the shards of four are 0/4, 1/4, 2/4 and 3/4"))
    }
}
