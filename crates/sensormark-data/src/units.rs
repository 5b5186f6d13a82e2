//! Conversions between number types, each with its rounding stated, in one place instead of casts everywhere.

/// The nearest whole number; 0 for negative numbers and what is not a number, the largest for what is too large.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float's cast to an integer saturates, as documented"
)]
pub const fn round_u64(value: f64) -> u64 {
    value.round() as u64
}

/// Seconds as whole nanoseconds, rounded and saturating like [`round_u64`].
pub const fn seconds_to_ns(seconds: f64) -> u64 {
    round_u64(seconds * 1e9)
}

/// Nanoseconds as seconds.
pub const fn ns_to_seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// A signed time in ns from an unsigned one; the largest for what does not fit (the year 2262).
pub fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// A duration in whole ns; the largest for what does not fit.
pub fn duration_ns(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Adds up counts that were read from a file.
pub trait Total {
    /// Their sum; the largest number for what does not fit, which only a damaged file has.
    fn total(self) -> u64;
}

impl<I> Total for I
where
    I: Iterator<Item: std::borrow::Borrow<u64>>,
{
    fn total(self) -> u64 {
        self.fold(0, |sum, one| sum.saturating_add(*std::borrow::Borrow::borrow(&one)))
    }
}
