//! The pinned random numbers of every data set: counter-based, so that any value can be computed at once.
//!
//! A [`Stream`] belongs to one (seed, series, field); its word i is
//!
//! ```text
//! word(i) = finalise(key + i · gamma)            (arithmetic modulo 2^64)
//! ```
//!
//! Here `finalise` is the mixing function of SplitMix64 (variant 13 of Stafford's: Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
//! OOPSLA 2014). The same function draws key and odd gamma from seed, series and field. A gamma for each stream keeps two streams from running over the same
//! values side by side. The functions are part of the result's format. Changing one changes every data set and every golden checksum, and breaks comparability
//! (CHANGELOG.md must say so).
//!
//! It is not for secrets, and not seeded from entropy anywhere.

use crate::elementary::natural_logarithm;
use std::ops::RangeInclusive;

/// 2^-53, between neighbouring uniform numbers.
const UNIT: f64 = 1.0 / 9_007_199_254_740_992.0;
/// 2^64 divided by the golden ratio, made odd: the step of SplitMix64.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's finaliser: a bijection of 64-bit words in which each bit of the argument moves each bit of the result.
#[inline]
pub const fn finalise(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The random values of one field of one series; value i is a pure function of (seed, series, field, i).
#[derive(Debug, Clone, Copy)]
pub struct Stream {
    key: u64,
    gamma: u64,
}

/// The streams of one series under a seed.
#[derive(Clone, Copy)]
pub struct Streams(u64);

impl Streams {
    /// Those of this series.
    pub const fn new(seed: u64, series: u64) -> Self {
        let seeded = finalise(seed.wrapping_add(GOLDEN_GAMMA));
        Self(finalise(seeded ^ finalise(series.wrapping_add(GOLDEN_GAMMA.wrapping_mul(2)))))
    }

    /// That of a field.
    pub const fn of(self, field: u64) -> Stream {
        let key = finalise(self.0 ^ finalise(field.wrapping_add(GOLDEN_GAMMA.wrapping_mul(3))));
        let odd = finalise(key.wrapping_add(GOLDEN_GAMMA)) | 1;
        // A step whose bits hardly change mixes badly; the remedy is the authors' own.
        let gamma = if (odd ^ (odd >> 1)).count_ones() < 24 { odd ^ 0xaaaa_aaaa_aaaa_aaaa } else { odd };
        Stream { key, gamma }
    }
}

impl Stream {
    /// The stream of one field of one series under a seed.
    pub const fn new(seed: u64, series: u64, field: u64) -> Self {
        Streams::new(seed, series).of(field)
    }

    /// 64 random bits.
    #[inline]
    pub const fn word(&self, index: u64) -> u64 {
        finalise(self.key.wrapping_add(index.wrapping_mul(self.gamma)))
    }

    /// Uniform in [0, 1): a multiple of 2^-53.
    #[inline]
    pub fn unit(&self, index: u64) -> f64 {
        (self.word(index) >> 11) as f64 * UNIT
    }

    /// A uniform integer in 0..bound; 0 where that is empty.
    ///
    /// The word is scaled by multiplication (Lemire, "Fast random integer generation in an interval", 2019) without rejection. So a value takes one word, and
    /// no value's probability is off by more than 2^-64.
    #[inline]
    pub fn below(&self, index: u64, bound: impl Into<u64>) -> u64 {
        ((u128::from(self.word(index)) * u128::from(bound.into())) >> 64) as u64
    }

    /// One of some values, each as likely as the others.
    ///
    /// # Panics
    /// When there is none.
    pub fn one_of<'t, T>(&self, index: u64, all: &'t [T]) -> &'t T {
        &all[usize::try_from(self.below(index, all.len() as u64)).unwrap_or(0)]
    }

    /// A uniform integer within bounds, both included.
    ///
    /// # Panics
    ///
    /// When the range is empty.
    #[inline]
    pub fn within(&self, index: u64, bounds: RangeInclusive<i64>) -> i64 {
        assert!(!bounds.is_empty(), "an empty range has no values");
        let (start, end) = bounds.into_inner();
        start.wrapping_add_unsigned(match start.abs_diff(end).checked_add(1) {
            Some(bound) => self.below(index, bound),
            None => self.word(index),
        })
    }

    /// Standard normal: mean 0, standard deviation 1, one word a value.
    ///
    /// The inverse of the normal distribution at a uniform in (0, 1), with this module's own logarithm. Source: Wichura, "Algorithm AS 241: the percentage
    /// points of the normal distribution", Applied Statistics 37 (1988), whose relative accuracy is about 1e-16. The uniform is an odd multiple of 2^-53, so
    /// values lie within ±8.21.
    pub fn normal(&self, index: u64) -> f64 {
        normal_of(self.word(index))
    }
}

/// The standard normal of a word.
pub(super) fn normal_of(word: u64) -> f64 {
    let odd = ((word >> 12) << 1) | 1;
    normal_quantile(odd as f64 * UNIT)
}

/// The value below which a standard normal falls with this probability. The probability is strictly between 0 and 1.
pub(super) fn normal_quantile(probability: f64) -> f64 {
    let from_centre = probability - 0.5;
    if from_centre.abs() <= 0.425 {
        let [top, bottom] = polynomials(&CENTRE, 0.180_625 - from_centre * from_centre);
        return from_centre * top / bottom;
    }
    let tail = if from_centre < 0.0 { probability } else { 1.0 - probability };
    let r = (-natural_logarithm(tail)).sqrt();
    let [top, bottom] = if r <= 5.0 { polynomials(&TAIL, r - 1.6) } else { polynomials(&FAR, r - 5.0) };
    let size = top / bottom;
    if from_centre < 0.0 { -size } else { size }
}

fn polynomials(coefficients: &[[f64; 8]; 2], at: f64) -> [f64; 2] {
    coefficients.map(|one| one.iter().fold(0.0, |sum, coefficient| sum * at + coefficient))
}

/// AS 241 for |q| ≤ 0.425: numerator and denominator, highest power first.
const CENTRE: [[f64; 8]; 2] = [
    [
        2509.0809287301227,
        33430.57558358813,
        67265.7709270087,
        45921.95393154987,
        13731.69376550946,
        1971.5909503065513,
        133.14166789178438,
        3.3871328727963665,
    ],
    [
        5226.495278852854,
        28729.085735721943,
        39307.89580009271,
        21213.794301586597,
        5394.196021424751,
        687.1870074920579,
        42.31333070160091,
        1.0,
    ],
];
/// The same for r ≤ 5.
const TAIL: [[f64; 8]; 2] = [
    [
        0.0007745450142783414,
        0.022723844989269184,
        0.2417807251774506,
        1.2704582524523684,
        3.6478483247632045,
        5.769497221460691,
        4.630337846156546,
        1.4234371107496835,
    ],
    [
        1.0507500716444169e-09,
        0.0005475938084995345,
        0.015198666563616457,
        0.14810397642748008,
        0.6897673349851,
        1.6763848301838038,
        2.053191626637759,
        1.0,
    ],
];
/// The same for r > 5.
const FAR: [[f64; 8]; 2] = [
    [
        2.0103343992922881e-07,
        2.7115555687434876e-05,
        0.0012426609473880784,
        0.026532189526576124,
        0.29656057182850487,
        1.7848265399172913,
        5.463784911164114,
        6.657904643501103,
    ],
    [
        2.0442631033899397e-15,
        1.421511758316446e-07,
        1.8463183175100548e-05,
        0.0007868691311456133,
        0.014875361290850615,
        0.1369298809227358,
        0.599832206555888,
        1.0,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU64;

    const VALUES: u64 = 400_000;

    fn bound(value: u64) -> NonZeroU64 {
        NonZeroU64::new(value).expect("bounds in tests are not zero")
    }

    #[test]
    fn finaliser_is_splitmix64() {
        // The published first outputs of SplitMix64 from state 1234567.
        let outputs: Vec<u64> = (1..=3u64)
            .map(|step| finalise(1_234_567u64.wrapping_add(GOLDEN_GAMMA.wrapping_mul(step))))
            .collect();
        assert_eq!(
            outputs,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn golden_checksums() {
        let stream = Stream::new(42, 7, 3);
        let fold = |sum: u64, bits: u64| finalise(sum ^ bits);
        let words = (0..1_000).fold(0, |sum, i| fold(sum, stream.word(i)));
        let units = (0..1_000).fold(0, |sum, i| fold(sum, stream.unit(i).to_bits()));
        let below = (0..1_000).fold(0, |sum, i| fold(sum, stream.below(i, bound(1_000))));
        let normals = (0..1_000).fold(0, |sum, i| fold(sum, stream.normal(i).to_bits()));
        assert_eq!(
            [words, units, below, normals],
            [
                9_656_210_837_850_993_615,
                7_594_773_915_690_718_834,
                13_655_437_762_369_751_450,
                16_536_002_495_937_861_200
            ]
        );
    }

    #[test]
    fn streams_differ_in_seed_series_and_field() {
        let streams =
            [(1, 2, 3), (2, 1, 3), (3, 2, 1), (1, 3, 2), (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
                .map(|(seed, series, field)| Stream::new(seed, series, field).word(0));
        let distinct: std::collections::HashSet<u64> = streams.into_iter().collect();
        assert_eq!(distinct.len(), streams.len());
    }

    #[test]
    fn neighbouring_streams_are_uncorrelated() {
        let (first, second) = (Stream::new(1, 0, 0), Stream::new(1, 1, 0));
        let product: f64 = (0..VALUES).map(|i| (first.unit(i) - 0.5) * (second.unit(i) - 0.5)).sum();
        let correlation = 12.0 * product / VALUES as f64;
        assert!(correlation.abs() < 5.0 / (VALUES as f64).sqrt(), "{correlation}");
    }

    #[test]
    fn units_are_uniform() {
        let stream = Stream::new(9, 1, 1);
        let mut counts = [0u64; 64];
        for index in 0..VALUES {
            let unit = stream.unit(index);
            assert!((0.0..1.0).contains(&unit));
            let cell = (stream.word(index) >> 58) as usize;
            assert!((unit * 64.0 - cell as f64) < 1.0);
            counts[cell] += 1;
        }
        let expected = VALUES as f64 / 64.0;
        let chi_squared: f64 = counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
        // 63 degrees of freedom: 5 standard deviations around the mean.
        assert!((chi_squared - 63.0).abs() < 5.0 * 126.0f64.sqrt(), "{chi_squared}");
    }

    #[test]
    fn integers_stay_within_their_bounds_and_reach_them() {
        let stream = Stream::new(9, 1, 2);
        let seen: std::collections::HashSet<i64> = (0..1_000).map(|i| stream.within(i, -3..=4)).collect();
        assert_eq!(seen, (-3..=4).collect());
        assert_eq!(stream.within(5, 8..=8), 8);
        assert_eq!(stream.below(5, bound(1)), 0);
        let _ = stream.within(0, i64::MIN..=i64::MAX);
    }

    #[test]
    fn normals_have_the_moments_and_quantiles_of_the_normal_distribution() {
        let stream = Stream::new(11, 0, 5);
        let values: Vec<f64> = (0..VALUES).map(|i| stream.normal(i)).collect();
        let moment = |power: i32| values.iter().map(|value| value.powi(power)).sum::<f64>() / VALUES as f64;
        assert!(moment(1).abs() < 0.008, "{}", moment(1));
        assert!((moment(2) - 1.0).abs() < 0.012, "{}", moment(2));
        assert!(moment(3).abs() < 0.03, "{}", moment(3));
        assert!((moment(4) - 3.0).abs() < 0.08, "{}", moment(4));
        let below = values.iter().filter(|&&value| value < -1.959_963_984_540_054).count();
        assert!((below as f64 / VALUES as f64 - 0.025).abs() < 0.0013);
    }

    #[test]
    fn quantiles_agree_with_published_ones() {
        // From tables of the normal distribution, and the far tail from AS 241 in another implementation.
        let published = [
            (0.25, -0.674_489_750_196_081_7),
            (0.975, 1.959_963_984_540_054),
            (0.001, -3.090_232_306_167_813_6),
            (1e-15, -7.941_345_326_170_998),
        ];
        for (probability, value) in published {
            let relative = (normal_quantile(probability) / value - 1.0).abs();
            assert!(relative < 3e-15, "{probability}: {relative}");
        }
        assert!(normal_quantile(1.0 / 9_007_199_254_740_992.0) > -8.21);
    }
}
