//! Percentiles, and when one may be printed. Histograms are the measurement's; this says what they support.

/// A percentile needs at least this many samples beyond it.
pub const SAMPLES_BEYOND: u64 = 10;

/// A percentile in thousandths of a percent, so that 99.9 is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percentile {
    thousandths: u32,
}

impl Percentile {
    /// The 50th.
    pub const MEDIAN: Self = Self { thousandths: 50_000 };
    /// The 90th.
    pub const P90: Self = Self { thousandths: 90_000 };
    /// The 95th.
    pub const P95: Self = Self { thousandths: 95_000 };
    /// The 99th.
    pub const P99: Self = Self { thousandths: 99_000 };
    /// The 99.9th.
    pub const P99_9: Self = Self { thousandths: 99_900 };

    /// The five that are reported, in order; the maximum is no percentile.
    pub const REPORTED: [Self; 5] = [Self::MEDIAN, Self::P90, Self::P95, Self::P99, Self::P99_9];

    /// From thousandths of a percent; `None` above 100 %.
    #[must_use]
    pub fn from_thousandths(thousandths: u32) -> Option<Self> {
        (thousandths <= 100_000).then_some(Self { thousandths })
    }

    /// In percent: 99.9.
    #[must_use]
    pub fn percent(self) -> f64 {
        f64::from(self.thousandths) / 1_000.0
    }

    /// The nearest rank among `count` samples, from 1: ⌈n · p⌉; 0 only when there is no sample or p is 0.
    #[must_use]
    pub fn rank(self, count: u64) -> u64 {
        let rank = (u128::from(count) * u128::from(self.thousandths)).div_ceil(100_000);
        u64::try_from(rank).unwrap_or(count)
    }
}

/// How many of `count` samples lie beyond the percentile, by nearest rank (Hyndman and Fan 1996, definition 1):
/// n − ⌈n · p⌉.
#[must_use]
pub fn samples_beyond(count: u64, percentile: Percentile) -> u64 {
    count.saturating_sub(percentile.rank(count))
}

/// Whether `count` samples support the percentile: at least [`SAMPLES_BEYOND`] lie beyond it. The 99.9th needs
/// 10,000 samples, the median 20.
#[must_use]
pub fn percentile_supported(count: u64, percentile: Percentile) -> bool {
    samples_beyond(count, percentile) >= SAMPLES_BEYOND
}

/// The percentile of samples in ascending order, by nearest rank, in their unit; `None` when too few lie beyond it.
#[must_use]
pub fn percentile(ascending: &[f64], percentile: Percentile) -> Option<f64> {
    let count = u64::try_from(ascending.len()).ok()?;
    if !percentile_supported(count, percentile) {
        return None;
    }
    let index = usize::try_from(percentile.rank(count).max(1) - 1).ok()?;
    ascending.get(index).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::synthetic::Random;
    use sensormark_data::units::round_u64;

    /// By its definition: the smallest sample that at least so many percent of all are not above.
    fn by_definition(samples: &[f64], percentile: Percentile) -> Option<f64> {
        let share = |of: f64| samples.iter().filter(|sample| **sample <= of).count() * 100_000;
        let needed = samples.len() * usize::try_from(percentile.thousandths).unwrap();
        let enough = samples.iter().copied().filter(|of| share(*of) >= needed);
        enough.min_by(f64::total_cmp)
    }

    #[test]
    fn percentiles_of_random_samples_are_what_their_definition_says() {
        let mut random = Random::new(31);
        let mut printed = 0;
        for set in 0..200 {
            let count = round_u64(random.uniform() * 400.0);
            // Every other set has many samples of one value.
            let step = if set % 2 == 0 { 1e-9 } else { 0.5 };
            let mut samples: Vec<f64> = (0..count).map(|_| (random.normal() / step).round() * step).collect();
            samples.sort_by(f64::total_cmp);
            for thousandths in [0, 1, 12_345, 50_000, 90_000, 95_000, 97_500, 99_000] {
                let asked = Percentile::from_thousandths(thousandths).unwrap();
                if let Some(found) = percentile(&samples, asked) {
                    printed += 1;
                    assert_eq!(Some(found), by_definition(&samples, asked), "{count} {asked:?}");
                }
            }
        }
        assert!(printed > 900, "{printed} percentiles were compared");
    }

    #[test]
    fn a_percentile_needs_ten_samples_beyond_it() {
        for (percentile, needed) in [
            (Percentile::MEDIAN, 20),
            (Percentile::P90, 100),
            (Percentile::P95, 200),
            (Percentile::P99, 1_000),
            (Percentile::P99_9, 10_000),
        ] {
            assert!(percentile_supported(needed, percentile), "{percentile:?}");
            assert!(!percentile_supported(needed - 1, percentile), "{percentile:?}");
        }
    }

    #[test]
    fn value_is_the_nearest_rank() {
        let values: Vec<f64> = (1..=1_000).map(f64::from).collect();
        assert_eq!(percentile(&values, Percentile::MEDIAN), Some(500.0));
        assert_eq!(percentile(&values, Percentile::P99), Some(990.0));
        assert_eq!(percentile(&values, Percentile::P99_9), None);
        assert_eq!(percentile(&[], Percentile::MEDIAN), None);
    }

    #[test]
    fn percent_above_a_hundred_is_refused() {
        assert_eq!(Percentile::from_thousandths(100_001), None);
        let p999 = Percentile::from_thousandths(99_900).unwrap();
        assert!((p999.percent() - 99.9).abs() < 1e-12);
    }
}
