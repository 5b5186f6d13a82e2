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
        Self {
            packed: Spool::new(BLOCK),
            others: Vec::new(),
        }
    }

    /// Keeps a second that is over.
    pub fn push(&mut self, second: &PastSecond) {
        self.packed.append(|bytes| {
            postcard::to_io(second, bytes).expect("memory takes all that is written");
        });
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
        let mut seconds = Vec::new();
        for spool in [&self.packed].into_iter().chain(&self.others) {
            let packed = spool.all()?;
            let mut rest = packed.as_slice();
            while !rest.is_empty() {
                let (second, after) = postcard::take_from_bytes(rest).map_err(io::Error::other)?;
                seconds.push(second);
                rest = after;
            }
        }
        seconds.sort_by_key(|(second, _): &PastSecond| *second);
        Ok(seconds)
    }

    /// How many bytes they take, in memory and in the file.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.packed.all().expect("readable").len()
    }
}
