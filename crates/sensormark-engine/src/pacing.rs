//! Pacing: waking at absolute instants of the monotonic clock, and how late each waking was.
//!
//! A [`Pacer`] sleeps on the calling thread with clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME), so that an error never adds up. It never skips a tick: one
//! that is overdue is issued at once, late, and its lateness is recorded.
//!
//! It is not a runtime's timer (those are a millisecond late by median), and it issues nothing itself: the caller does,
//! between two calls of [`Pacer::wait`].

use std::num::NonZeroU64;
use std::sync::Arc;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use procfs::FromRead;
use procfs::process::Schedstat;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use serde::{Deserialize, Serialize};

const NS_PER_SECOND: u64 = 1_000_000_000;
/// Histograms reach up to one hour; what is later is counted as one hour.
const LONGEST_NS: u64 = 3_600 * NS_PER_SECOND;
/// Significant decimal digits of a histogram.
const DIGITS: u8 = 3;
/// A percentile is quoted when at least this many values lie beyond it (docs: methodology).
const VALUES_BEYOND: f64 = 10.0;

/// The monotonic clock (CLOCK_MONOTONIC) in nanoseconds since its own start; comparable between processes of one boot.
#[must_use]
pub fn monotonic_ns() -> u64 {
    clock_ns(ClockId::Monotonic)
}

/// CPU time that the calling thread has used, user and system, in nanoseconds.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    clock_ns(ClockId::ThreadCPUTime)
}

/// How long the calling thread was ready to run while others had the processors, in ns since it began; none where the kernel does not say (`schedstat`).
#[must_use]
pub fn thread_waited_ns() -> Option<u64> {
    let line = Schedstat::from_file("/proc/thread-self/schedstat").ok()?;
    Some(line.run_delay)
}

/// Sleeps on the calling thread until an instant of [`monotonic_ns`], not at all where it has passed, and returns the instant of waking.
/// Signals do not cut the sleep short.
pub fn sleep_until_ns(due_ns: u64) -> u64 {
    let mut woke_ns = monotonic_ns();
    while woke_ns < due_ns {
        // The only error left is an interruption by a signal: sleep on.
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &timespec(due_ns));
        woke_ns = monotonic_ns();
    }
    woke_ns
}

fn clock_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    // These clocks count up from zero.
    now.tv_sec.unsigned_abs() * NS_PER_SECOND + now.tv_nsec.unsigned_abs()
}

/// When ticks are due, counted from the pacer's start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schedule {
    /// Tick i is due after i · `span_ns` / `ticks` nanoseconds, rounded down. The rate is exact, without drift, and never ends.
    Rate {
        /// Ticks in every span.
        ticks: NonZeroU64,
        /// The span, in nanoseconds.
        span_ns: NonZeroU64,
    },
    /// Tick i is due after the i-th of these offsets, in nanoseconds; then there are no more. Equal offsets are allowed;
    /// an offset below the one before it is overdue when its turn comes.
    Given(Arc<[u64]>),
}

impl Schedule {
    /// One tick every `period_ns` nanoseconds, the first at the start.
    #[must_use]
    pub const fn every(period_ns: NonZeroU64) -> Self {
        Self::Rate { ticks: NonZeroU64::MIN, span_ns: period_ns }
    }

    /// This many ticks every second, evenly spread, the first at the start.
    #[must_use]
    pub const fn per_second(ticks: NonZeroU64) -> Self {
        const SECOND: NonZeroU64 = NonZeroU64::new(NS_PER_SECOND).expect("a second is not empty");
        Self::Rate { ticks, span_ns: SECOND }
    }

    /// The longest time from one tick to the next, in nanoseconds.
    #[must_use]
    pub fn longest_gap_ns(&self) -> u64 {
        match self {
            Self::Rate { ticks, span_ns } => span_ns.get().div_ceil(ticks.get()),
            Self::Given(offsets) => {
                let gaps = offsets.windows(2).map(|two| two[1].saturating_sub(two[0]));
                gaps.chain(offsets.first().copied()).max().unwrap_or(0)
            }
        }
    }

    /// How long after the start tick `index` is due, in nanoseconds; `None` when there is no such tick.
    #[must_use]
    pub fn offset_ns(&self, index: u64) -> Option<u64> {
        match self {
            Self::Rate { ticks, span_ns } => {
                let offset = u128::from(index) * u128::from(span_ns.get()) / u128::from(ticks.get());
                u64::try_from(offset).ok()
            }
            Self::Given(offsets) => offsets.get(usize::try_from(index).ok()?).copied(),
        }
    }
}

/// One tick: which, when it was due and when it was issued, in nanoseconds of the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    /// Its number, from 0, without gaps.
    pub index: u64,
    /// When it was due.
    pub due_ns: u64,
    /// When [`Pacer::wait`] returned it; never before it was due.
    pub woke_ns: u64,
}

/// Wakes the calling thread at the instants of a schedule and records how late it was.
#[derive(Debug)]
pub struct Pacer {
    schedule: Schedule,
    start_ns: u64,
    next: u64,
    errors: Histogram<u64>,
}

impl Pacer {
    /// A pacer whose schedule counts from `start_ns` of the monotonic clock ([`monotonic_ns`]), past or to come.
    #[must_use]
    pub fn new(schedule: Schedule, start_ns: u64) -> Self {
        let errors = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("constant bounds are valid");
        Self { schedule, start_ns, next: 0, errors }
    }

    /// When the next tick is due, in nanoseconds of the monotonic clock; `None` after the last.
    #[must_use]
    pub fn next_due_ns(&self) -> Option<u64> {
        self.start_ns.checked_add(self.schedule.offset_ns(self.next)?)
    }

    /// Sleeps until the next tick is due and returns it, at once where it is overdue; `None` after the last.
    ///
    /// Signals do not cut the sleep short.
    pub fn wait(&mut self) -> Option<Tick> {
        let due_ns = self.next_due_ns()?;
        let woke_ns = sleep_until_ns(due_ns);
        self.errors.saturating_record(woke_ns - due_ns);
        let index = self.next;
        self.next += 1;
        Some(Tick { index, due_ns, woke_ns })
    }

    /// Pacing errors so far (woke − due), in nanoseconds, three significant digits, one hour at most.
    #[must_use]
    pub fn errors(&self) -> &Histogram<u64> {
        &self.errors
    }

    /// The pacing errors, summed up.
    #[must_use]
    pub fn summary(&self) -> PacingSummary {
        PacingSummary::of(&self.errors)
    }
}

/// Pacing errors (woke − due) of one thread, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PacingSummary {
    /// Ticks issued.
    pub ticks: u64,
    /// Mean error; 0 without ticks.
    pub mean_ns: f64,
    /// Median error; absent, as every percentile, where fewer than 10 ticks lie beyond it.
    pub p50_ns: Option<u64>,
    /// 99 of 100 ticks were no later.
    pub p99_ns: Option<u64>,
    /// 999 of 1,000 ticks were no later.
    pub p99_9_ns: Option<u64>,
    /// The latest tick's error; 0 without ticks.
    pub max_ns: u64,
    /// The whole histogram, HdrHistogram's V2 encoding in hexadecimal, to be merged or derived from again.
    pub histogram_v2_hex: String,
}

impl PacingSummary {
    /// Sums up a histogram of errors in nanoseconds.
    #[must_use]
    pub fn of(errors: &Histogram<u64>) -> Self {
        let quantile = |quantile: f64| {
            let beyond = errors.len() as f64 * (1.0 - quantile);
            // A little more than the rounding of 1 − quantile.
            (beyond + 1e-6 >= VALUES_BEYOND).then(|| errors.value_at_quantile(quantile))
        };
        Self {
            ticks: errors.len(),
            mean_ns: errors.mean(),
            p50_ns: quantile(0.5),
            p99_ns: quantile(0.99),
            p99_9_ns: quantile(0.999),
            max_ns: errors.max(),
            histogram_v2_hex: hexadecimal(errors),
        }
    }
}

fn hexadecimal(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(histogram, &mut bytes).expect("memory takes any histogram");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(ns / NS_PER_SECOND).unwrap_or(i64::MAX),
        tv_nsec: (ns % NS_PER_SECOND).cast_signed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nonzero(value: u64) -> NonZeroU64 {
        NonZeroU64::new(value).expect("rates in tests are not zero")
    }

    #[test]
    fn a_rate_does_not_drift() {
        let thirds = Schedule::per_second(nonzero(3));
        let offsets: Vec<_> = (0..4).map(|tick| thirds.offset_ns(tick)).collect();
        assert_eq!(offsets, [0, 333_333_333, 666_666_666, 1_000_000_000].map(Some));
        assert_eq!(thirds.offset_ns(3_000_000_000), Some(1_000_000_000 * NS_PER_SECOND));
        assert_eq!(Schedule::every(nonzero(7)).offset_ns(3), Some(21));
        assert_eq!(Schedule::every(nonzero(7)).offset_ns(u64::MAX), None);
    }

    #[test]
    fn two_seconds_of_milliseconds_are_two_thousand_ticks_each_on_or_after_its_instant() {
        let start_ns = monotonic_ns() + 5_000_000;
        let mut pacer = Pacer::new(Schedule::every(nonzero(1_000_000)), start_ns);
        for index in 0..2_000 {
            let tick = pacer.wait().expect("a rate has no end");
            assert_eq!((tick.index, tick.due_ns), (index, start_ns + index * 1_000_000));
            assert!(tick.woke_ns >= tick.due_ns);
        }
        let summary = pacer.summary();
        println!("{summary:?}");
        assert_eq!(summary.ticks, 2_000);
        // Generous: other work may hold this machine.
        assert!(summary.p50_ns.expect("enough ticks") < 20_000_000, "{summary:?}");
        assert!(summary.p99_ns.is_some() && summary.p99_9_ns.is_none());
        assert!(monotonic_ns() >= start_ns + 1_999 * 1_000_000);
    }

    #[test]
    fn overdue_ticks_are_issued_at_once_and_their_lateness_recorded() {
        let start_ns = monotonic_ns();
        let offsets: Arc<[u64]> = [0, 0, 1_000_000, 30_000_000].into();
        let mut pacer = Pacer::new(Schedule::Given(offsets), start_ns);
        assert_eq!(pacer.wait().map(|tick| tick.index), Some(0));
        std::thread::sleep(std::time::Duration::from_millis(20));
        for index in 1..3 {
            let tick = pacer.wait().expect("four offsets");
            assert_eq!(tick.index, index);
            assert!(tick.woke_ns - tick.due_ns >= 19_000_000, "{tick:?}");
        }
        let last = pacer.wait().expect("four offsets");
        assert!(last.woke_ns >= start_ns + 30_000_000);
        assert_eq!(pacer.wait(), None);
        assert_eq!(pacer.errors().len(), 4);
        assert!(pacer.errors().max() >= 19_000_000);
    }

    #[test]
    fn the_histogram_can_be_read_back() {
        let mut pacer = Pacer::new(Schedule::Given([0, 0, 0].into()), 0);
        while pacer.wait().is_some() {}
        let hex = pacer.summary().histogram_v2_hex;
        let bytes: Vec<u8> = (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal"))
            .collect();
        let read: Histogram<u64> = hdrhistogram::serialization::Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .expect("V2 encoding");
        assert_eq!(&read, pacer.errors());
    }
}
