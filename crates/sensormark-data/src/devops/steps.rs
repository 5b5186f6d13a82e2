//! Normally distributed steps, one random word each, fast enough for a hundred million values a second.
//!
//! The quantile function of the normal distribution is tabulated at 1,024 probabilities and joined by straight lines. The four outermost segments on each side,
//! where it bends most, are computed exactly. Each segment has exactly its probability, so that the distribution function is nowhere off by more than 3e-5,
//! which a test makes sure of.
//!
//! A step comes as a float, or as an integer of 2^-20ths for the walks of whole numbers, which are then exact sums. Changing anything here changes the
//! data set.

use crate::prelude::*;
use crate::random::{normal_of, normal_quantile};

/// Steps of whole numbers are in parts of one: so many bits after the point.
pub const PART_BITS: u32 = 20;
/// One, in those parts.
pub const ONE: i64 = 1 << PART_BITS;

const SEGMENT_BITS: u32 = 10;
const SEGMENTS: usize = 1 << SEGMENT_BITS;
/// Segments on each side that are computed exactly.
const FAR: usize = 4;
/// 2^-54: a word without its segment, as a part of the segment.
const PART_OF_SEGMENT: f64 = 1.0 / 18_014_398_509_481_984.0;

/// The tabulated quantiles.
pub struct Normals {
    /// Where each segment starts, and how wide it is.
    floats: [(f64, f64); SEGMENTS],
    /// The same in parts of one.
    parts: [(i64, i64); SEGMENTS],
}

/// The one table.
pub static NORMALS: LazyLock<Normals> = LazyLock::new(Normals::new);

/// A float as whole parts.
fn to_parts(value: f64) -> i64 {
    whole((value * ONE as f64).round())
}

impl Normals {
    fn new() -> Self {
        let mut table = Self { floats: [(0.0, 0.0); SEGMENTS], parts: [(0, 0); SEGMENTS] };
        let at = |segment: usize| normal_quantile(segment as f64 / SEGMENTS as f64);
        for segment in FAR..SEGMENTS - FAR {
            let (start, end) = (at(segment), at(segment + 1));
            table.floats[segment] = (start, (end - start) * PART_OF_SEGMENT);
            table.parts[segment] = (to_parts(start), to_parts(end) - to_parts(start));
        }
        table
    }

    /// A standard normal.
    #[inline]
    pub fn float(&self, word: u64) -> f64 {
        let segment = segment(word);
        if is_far(segment) {
            return far(word);
        }
        let (start, width) = self.floats[segment];
        // 54 bits below the segment's: as a signed number the conversion is one instruction.
        let within = (word & (u64::MAX >> SEGMENT_BITS)).cast_signed();
        start + width * within as f64
    }

    /// A standard normal, in parts of one.
    pub fn parts(&self, word: u64) -> i64 {
        let segment = segment(word);
        if is_far(segment) {
            return to_parts(far(word));
        }
        let (start, width) = self.parts[segment];
        let within = ((word << SEGMENT_BITS) >> 32).cast_signed();
        start + ((width * within) >> 32)
    }
}

#[inline]
fn segment(word: u64) -> usize {
    (word >> (64 - SEGMENT_BITS)) as usize
}

#[inline]
fn is_far(segment: usize) -> bool {
    segment.wrapping_sub(FAR) >= SEGMENTS - 2 * FAR
}

/// The exact quantile at the middle of the word's 2^-52nd.
#[cold]
#[inline(never)]
fn far(word: u64) -> f64 {
    normal_of(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// Both kinds of steps lie where the exact quantile lies, within what straight lines allow, and ascend with the word.
    #[test]
    fn steps_follow_the_exact_quantiles() {
        let normals = &*NORMALS;
        let mut before = (f64::MIN, i64::MIN);
        for step in 0..200_000_u64 {
            let word = step * (u64::MAX / 200_000);
            let (exact, float, parts) = (far(word), normals.float(word), normals.parts(word));
            assert!((float - exact).abs() < 2.5e-3, "{word}: {float} for {exact}");
            let error = (parts as f64 / ONE as f64 - float).abs();
            assert!(error < 4.0 / ONE as f64, "{word}: {parts} for {float}");
            assert!(before.0 <= float && before.1 <= parts, "{word}");
            before = (float, parts);
        }
    }

    /// The distribution function is right: the share of words below each exact quantile.
    #[test]
    fn the_distribution_function_is_off_by_a_thirtieth_of_a_thousandth_at_most() {
        let normals = &*NORMALS;
        for step in 1..20_000_u64 {
            let value = far(step * (u64::MAX / 20_000));
            // Bisect for the first word whose step is not below the value.
            let (mut low, mut high) = (0_u64, u64::MAX);
            while low < high {
                let middle = low + (high - low) / 2;
                if normals.float(middle) < value {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            let share = low as f64 / u64::MAX as f64;
            let wanted = step as f64 / 20_000.0;
            assert!((share - wanted).abs() < 3e-5, "{value}: {share} for {wanted}");
        }
    }

    #[test]
    fn moments_are_those_of_the_normal_distribution() {
        const VALUES: u64 = 1_000_000;
        let (normals, stream) = (&*NORMALS, Stream::new(5, 0, 0));
        let values = (0..VALUES).map(|index| normals.float(stream.word(index)));
        let mut moments = [0.0; 4];
        for value in values {
            let mut power = 1.0;
            for moment in &mut moments {
                power *= value;
                *moment += power / VALUES as f64;
            }
        }
        let [mean, square, cube, fourth] = moments;
        assert!(mean.abs() < 0.005 && (square - 1.0).abs() < 0.007, "{mean} {square}");
        assert!(cube.abs() < 0.02 && (fourth - 3.0).abs() < 0.05, "{cube} {fourth}");
    }
}
