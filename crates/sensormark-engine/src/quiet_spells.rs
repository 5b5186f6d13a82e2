//! How long nobody got an answer: the spells in which no operation of a load succeeded.
//!
//! Each thread keeps its own, from one success to the next. Nobody at all had an answer where the spells of all threads and processes overlap. Instants are
//! in ns of CLOCK_MONOTONIC, which processes of one machine share.

use sensormark_result::spool::Spool;
use std::io;

/// Spells shorter than this are not kept, in ns: an outage is longer, and an ordinary operation is not.
const LEAST_NS: u64 = 100_000_000;

/// From when on and until when nothing succeeded; the last one has no end.
pub type Spell = (u64, u64);

/// When so many bytes of spells are together, they go to a file.
const BLOCK: usize = 8 << 10;

/// The spells of one thread, and those of others that are to be quiet at the same time.
#[derive(Debug)]
pub struct QuietSpells {
    /// Those that are over, end to end: how long after the end of the one before, and how long. At low rates there are many.
    packed: Spool,
    /// When the last of them ended.
    packed_until_ns: u64,
    since_ns: u64,
    others: Vec<Self>,
}

impl QuietSpells {
    /// From an instant at which nothing had succeeded yet.
    pub const fn new(start_ns: u64) -> Self {
        Self { packed: Spool::new(BLOCK), packed_until_ns: 0, since_ns: start_ns, others: Vec::new() }
    }

    /// An operation succeeded at this instant.
    #[inline]
    pub fn answered(&mut self, at_ns: u64) {
        if at_ns.saturating_sub(self.since_ns) > LEAST_NS {
            self.push((self.since_ns, at_ns));
        }
        self.since_ns = self.since_ns.max(at_ns);
    }

    fn push(&mut self, (from, until): Spell) {
        self.packed.put(&(from - self.packed_until_ns, until - from));
        self.packed_until_ns = until;
    }

    /// Those that were quiet for all, in order; the last begins with the last success.
    ///
    /// # Errors
    /// When the file that they were put into cannot be read.
    pub fn finish(self) -> io::Result<Vec<Spell>> {
        let (mut all, mut end_ns) = (Vec::new(), 0);
        for (after_ns, length_ns) in self.packed.values::<(u64, u64)>()? {
            let from = end_ns + after_ns;
            end_ns = from + length_ns;
            all.push((from, end_ns));
        }
        all.push((self.since_ns, u64::MAX));
        for other in self.others {
            all = common(&all, &other.finish()?);
        }
        Ok(all)
    }

    /// What was quiet for another thread, too.
    pub fn and(&mut self, other: Self) {
        self.others.push(other);
    }
}

/// Where the spells of both overlap for long enough, and the last of both without an end.
pub fn common(one: &[Spell], other: &[Spell]) -> Vec<Spell> {
    let (mut both, mut i, mut j) = (Vec::new(), 0, 0);
    while let (Some(&(from, until)), Some(&(other_from, other_until))) = (one.get(i), other.get(j)) {
        let overlap = (from.max(other_from), until.min(other_until));
        if overlap.1.saturating_sub(overlap.0) > LEAST_NS {
            both.push(overlap);
        }
        // Both last ones are without an end, and are left behind together.
        if until <= other_until {
            i += 1;
        }
        if other_until <= until {
            j += 1;
        }
    }
    both
}

/// The longest spell, in ns, where everything ended at this instant.
pub fn longest_ns(spells: &[Spell], end_ns: u64) -> u64 {
    let lengths = spells.iter().map(|(from, until)| until.min(&end_ns).saturating_sub(*from));
    lengths.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn spells(answers_ms: &[u64]) -> QuietSpells {
        let mut spells = QuietSpells::new(0);
        for at in answers_ms {
            spells.answered(at * MS);
        }
        spells
    }

    #[test]
    fn nobody_had_an_answer_where_all_had_none() {
        // Quiet from 100 to 900 and from 1,000; and from 300 to 700 and from 800.
        let mut both = spells(&[50, 100, 900, 1_000]);
        both.and(spells(&[90, 180, 270, 300, 700, 800]));
        let all = both.finish().expect("all in memory");
        assert_eq!(all, [(300 * MS, 700 * MS), (1_000 * MS, u64::MAX)]);
        assert_eq!(longest_ns(&all, 1_050 * MS), 400 * MS);
        assert_eq!(longest_ns(&all, 2_000 * MS), 1_000 * MS, "never answered again");
    }

    #[test]
    fn who_issues_nothing_changes_nothing() {
        let (own, mut both) = (spells(&[50, 400]), spells(&[50, 400]));
        both.and(QuietSpells::new(0));
        let [both, own] = [both, own].map(|spells| spells.finish().expect("all in memory"));
        assert_eq!(both, own);
    }
}
