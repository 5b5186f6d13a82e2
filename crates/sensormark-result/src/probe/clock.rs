//! The clocks that samples are dated by, of the kernel.

use rustix::time::{ClockId, clock_gettime};

/// The monotonic clock of this boot in nanoseconds: the time base of recordings, the same in every process.
#[must_use]
pub fn monotonic_ns() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

/// Any clock in nanoseconds.
pub(super) fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let part = |value: i64| u64::try_from(value).unwrap_or(0);
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec)
}
