//! Synthetic data for the statistics' own tests, from a pinned generator, and how often an interval holds what is true of
//! them. Not a data set of a workload.

/// Data sets of which an interval's coverage is counted: with 1,000, a share of 95 % has a standard error of 0.7.
const DATA_SETS: usize = 1_000;

/// Share of 1,000 synthetic data sets, in percent, of which `holds` says that the interval holds the truth.
pub fn coverage(seed: u64, mut holds: impl FnMut(&mut Random) -> bool) -> f64 {
    let mut random = Random::new(seed);
    let covered = (0..DATA_SETS).filter(|_| holds(&mut random)).count();
    100.0 * covered as f64 / DATA_SETS as f64
}

/// Holds an interval to its nominal 95 %.
#[track_caller]
pub fn assert_covers(found: f64, what: &str) {
    println!("{what}: {found:.1} %");
    assert!((93.0..=97.0).contains(&found), "{what}: {found:.1} %");
}

/// `SplitMix64` (Steele, Lea and Flood 2014) with normal variates after Box and Muller.
pub struct Random(u64);

impl Random {
    /// A stream of its own for each seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Uniform on (0, 1).
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 + 0.5 / (1_u64 << 53) as f64
    }

    /// Standard normal.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// `count` values of a stationary AR(1) process with lag-1 correlation `phi`, mean 0 and variance 1.
    pub fn autoregressive(&mut self, count: usize, phi: f64) -> Vec<f64> {
        let mut value = self.normal();
        let scale = (1.0 - phi * phi).sqrt();
        (0..count)
            .map(|_| {
                value = phi * value + scale * self.normal();
                value
            })
            .collect()
    }
}
