//! Sine and natural logarithm of our own, so that data sets do not depend on a platform's libm.
//!
//! The results are the same bit for bit wherever `f64` is IEEE 754. The reason is that only IEEE 754 additions, multiplications and divisions are used, in a
//! fixed order, and that Rust never contracts them into fused operations.
//!
//! It is not a mathematics library: arguments are those that data sets need, and speed comes second.

use std::f64::consts::{LN_2, SQRT_2, TAU};

/// Reciprocals of 3!, 5!, … 21! with the signs of sine's series, highest power first.
const SINE_TERMS: [f64; 10] = {
    let (mut terms, mut place, mut factor, mut factorial) = ([0.0; 10], 10, 0.0, 1.0);
    while place > 0 {
        place -= 1;
        factor += 2.0;
        factorial *= -factor * (factor + 1.0);
        terms[place] = 1.0 / factorial;
    }
    terms
};

/// Sine of an angle given in turns (1.0 is a whole period).
///
/// The angle is brought to a quarter turn either side of zero, exactly, and Taylor's series to the 21st power is
/// summed by Horner's rule. The absolute error is under 4e-16 for angles within ±1; for larger angles it is that
/// of the angle's own rounding.
pub fn sine_of_turns(turns: f64) -> f64 {
    let nearest = turns - turns.round();
    let folded = if nearest.abs() > 0.25 { 0.5_f64.copysign(nearest) - nearest } else { nearest };
    let radians = folded * TAU;
    let square = radians * radians;
    let tail = SINE_TERMS.iter().fold(0.0, |sum, term| sum * square + term);
    radians + radians * (square * tail)
}

/// Natural logarithm of a positive, normal, finite number.
///
/// The number is split into m·2^e with m in [√½, √2), and ln m = 2·artanh((m − 1)/(m + 1)) is summed as its
/// series to the 21st power. The relative error is under 1e-15.
///
/// # Panics
///
/// When `value` is not a positive, normal, finite number: a data set never asks for that.
pub fn natural_logarithm(value: f64) -> f64 {
    assert!(value.is_normal() && value > 0.0, "the logarithm of {value} is not in this module's range");
    const FRACTION_BITS: u32 = 52;
    const FRACTION: u64 = (1 << FRACTION_BITS) - 1;
    let bits = value.to_bits();
    let one = 1.0f64.to_bits();
    let mut exponent = (bits >> FRACTION_BITS) as f64 - 1023.0;
    let mut mantissa = f64::from_bits((bits & FRACTION) | one);
    if mantissa >= SQRT_2 {
        mantissa *= 0.5;
        exponent += 1.0;
    }
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let series = (1..=10).rev().fold(0.0, |sum, term| sum * square + 1.0 / (2 * term + 1) as f64);
    let logarithm = 2.0 * (ratio + ratio * (square * series));
    exponent * LN_2 + logarithm
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sine_agrees_with_the_platform_within_the_stated_error() {
        for step in -4_000..=4_000 {
            let turns = f64::from(step) / 4_000.0;
            let platform = (turns * core::f64::consts::TAU).sin();
            // The platform's argument is rounded once more than ours: up to 4.5e-16 at a whole turn.
            assert!((sine_of_turns(turns) - platform).abs() < 9e-16, "{turns}");
        }
    }

    #[test]
    fn sine_is_exact_where_it_can_be() {
        assert_eq!(sine_of_turns(0.0), 0.0);
        assert_eq!(sine_of_turns(0.5), 0.0);
        assert_eq!(sine_of_turns(0.25), 1.0);
        assert_eq!(sine_of_turns(-0.25), -1.0);
        assert_eq!(sine_of_turns(17.0), 0.0);
    }

    #[test]
    fn logarithm_agrees_with_the_platform_within_the_stated_error() {
        let mut value = f64::MIN_POSITIVE;
        while value < 1e300 {
            let platform = value.ln();
            let error = (natural_logarithm(value) - platform).abs();
            assert!(error <= 1e-15 * platform.abs().max(1e-3), "{value}: {error}");
            value *= 1.37;
        }
        assert_eq!(natural_logarithm(1.0), 0.0);
    }

    #[test]
    #[should_panic(expected = "not in this module's range")]
    fn logarithm_of_zero_is_refused() {
        let _ = natural_logarithm(0.0);
    }
}
