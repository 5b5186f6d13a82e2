//! Numbers that look random and follow from a seed, so that a step can be done again.

/// A generator (SplitMix64).
pub struct Random(u64);

impl Random {
    /// The generator of one step.
    pub fn of_step(seed: u64, step: usize) -> Self {
        let mut random = Self(seed ^ (step as u64).wrapping_mul(0xd134_2543_de82_ef95));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below this one, which is above 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// True in so many of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these, each as likely as its weight says.
    pub fn weighted<T: Copy>(&mut self, choices: &[(T, u64)]) -> T {
        let all = choices.iter().map(|(_, weight)| weight).sum();
        let mut left = self.below(all);
        for (choice, weight) in choices {
            if left < *weight {
                return *choice;
            }
            left -= weight;
        }
        choices[0].0
    }
}
