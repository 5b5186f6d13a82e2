//! In which order series have their turns.

/// So many series side by side, tick by tick, until each of them has had so many ticks. Then as many others follow. After the last ones the first ones go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// How many series there are: a multiple of those side by side.
    pub series: u32,
    /// How many are side by side.
    pub together: u32,
    /// Ticks that each of them has before the next ones.
    pub block: u64,
}

impl Order {
    /// All series side by side: in the order of time.
    pub const fn of_time(series: u32) -> Self {
        Self { series, together: series, block: 1 }
    }

    /// The series of a turn, and its tick.
    pub fn at(self, turn: u64) -> (u32, u64) {
        let (round, lane) = (turn / self.together as u64, turn % self.together as u64);
        let lane = u32::try_from(lane).unwrap_or(0);
        if self.together == self.series {
            return (lane, round);
        }
        let (span, tick) = (round / self.block, round % self.block);
        let groups = (self.series / self.together) as u64;
        let group = u32::try_from(span % groups).unwrap_or(0);
        (group * self.together + lane, span / groups * self.block + tick)
    }

    /// Blocks of series side by side that are over after so many turns, ticks of the one that is not, and turns of its last tick.
    const fn parts(self, turns: u64) -> (u64, u64, u64) {
        let (rounds, rest) = (turns / self.together as u64, turns % self.together as u64);
        (rounds / self.block, rounds % self.block, rest)
    }

    /// How many of the first so many turns a series had.
    pub fn ticks(self, turns: u64, series: u32) -> u64 {
        let (spans, begun, rest) = self.parts(turns);
        let groups = (self.series / self.together) as u64;
        let (group, lane) = ((series / self.together) as u64, (series % self.together) as u64);
        let of_now = if spans % groups == group { begun + (rest > lane) as u64 } else { 0 };
        spans.saturating_sub(group).div_ceil(groups) * self.block + of_now
    }

    /// How many series had more than so many ticks in the first so many turns: the first ones.
    pub fn begun(self, turns: u64, ticks: u64) -> u32 {
        let more = |series: u32| self.ticks(turns, series) > ticks;
        let (mut least, mut most) = (0, self.series);
        while least < most {
            let middle = least.midpoint(most);
            if more(middle) { least = middle + 1 } else { most = middle }
        }
        least
    }

    /// How many of the first so many turns are the last ones of a block.
    pub const fn ends(self, turns: u64) -> u64 {
        let (spans, begun, rest) = self.parts(turns);
        spans * self.together as u64 + if begun + 1 == self.block { rest } else { 0 }
    }

    /// The turn that is the last one of a block for the n-th time, from 0 on.
    pub const fn end(self, number: u64) -> u64 {
        let together = self.together as u64;
        ((number / together + 1) * self.block - 1) * together + number % together
    }

    /// Whether a turn is the last one of a block.
    pub const fn is_end(self, turn: u64) -> bool {
        self.parts(turn).1 + 1 == self.block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counted turn by turn, of several forms.
    #[test]
    fn what_is_computed_is_what_is_counted() {
        for (series, together, block) in [(6, 6, 1), (6, 2, 5), (6, 1, 4), (6, 3, 1), (1, 1, 1)] {
            let order = Order { series, together, block };
            let (mut ticks, mut ends) = (vec![0; series as usize], Vec::new());
            for turn in 0..200 {
                for (number, had) in (0..series).zip(&ticks) {
                    assert_eq!(order.ticks(turn, number), *had, "{order:?} {turn} {number}");
                }
                for least in 0..3 {
                    let begun = ticks.iter().take_while(|had| **had > least).count();
                    assert_eq!(order.begun(turn, least) as usize, begun, "{order:?} {turn} {least}");
                }
                assert_eq!(order.ends(turn), ends.len() as u64, "{order:?} {turn}");
                let (number, tick) = order.at(turn);
                assert_eq!(tick, ticks[number as usize], "{order:?} {turn}");
                ticks[number as usize] += 1;
                let is_end = ticks[number as usize] % block == 0;
                assert_eq!(order.is_end(turn), is_end, "{order:?} {turn}");
                if is_end {
                    assert_eq!(order.end(ends.len() as u64), turn, "{order:?}");
                    ends.push(turn);
                }
            }
        }
    }
}
