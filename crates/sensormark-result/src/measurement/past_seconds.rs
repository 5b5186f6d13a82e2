//! Seconds of latencies that are over, packed. Hours of them go to a file.

use crate::spool::Spool;
use std::io;

/// When so many bytes of past seconds are together, they go to a file. There are recorders for each class of each thread.
const BLOCK: usize = 8 << 10;

/// Counts of seconds that are over, packed end to end.
#[derive(Debug)]
pub(super) struct PastSeconds {
    packed: Spool,
    /// Those of other recorders.
    others: Vec<Spool>,
}

/// A second, the buckets that were hit in it, and how often.
pub(super) type PastSecond = (u64, Vec<(u16, u32)>);

impl PastSeconds {
    /// None yet.
    pub const fn new() -> Self {
        Self { packed: Spool::new(BLOCK), others: Vec::new() }
    }

    /// Keeps a second that is over.
    pub fn push(&mut self, second: &PastSecond) {
        self.packed.put(second);
    }

    /// Takes over those of another recorder.
    pub fn append(&mut self, other: Self) {
        self.others.push(other.packed);
        self.others.extend(other.others);
    }

    /// Each second in the order of time; several may be the same second.
    ///
    /// # Errors
    /// When the file that they were put into cannot be read.
    pub fn sorted(&self) -> io::Result<Vec<PastSecond>> {
        let mut seconds = self.packed.values()?;
        for other in &self.others {
            seconds.extend(other.values::<PastSecond>()?);
        }
        seconds.sort_by_key(|(second, _): &PastSecond| *second);
        Ok(seconds)
    }

    /// How many bytes they take, in memory and in the file.
    #[cfg(any(test, feature = "tests"))]
    pub fn bytes(&self) -> usize {
        self.packed.bytes()
    }
}
