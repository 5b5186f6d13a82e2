//! Shards: parts of a data set's series.

use super::*;

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
