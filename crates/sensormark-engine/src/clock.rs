//! Clocks of other hosts: how far the monotonic clock of a role's host is from the coordinator's.
//!
//! Each host counts CLOCK_MONOTONIC from its own start, at its own speed. The coordinator asks a role for its clock many times, and keeps the answer of the
//! smallest round trip. The clock was read at some instant between question and answer, so the offset is known to half of that round trip. It is asked before
//! and after each phase. Between two answers the drift is linear.
//!
//! Offsets are used where instants of two hosts meet, and nowhere else. Latencies are differences of one clock.

use sensormark_result::measurement::clock::ClockRecord;

/// What one question for a clock came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockSample {
    /// The middle between question and answer, in ns of the coordinator's clock.
    pub at_ns: u64,
    /// The role's clock less the coordinator's, in ns.
    pub offset_ns: i64,
    /// Half of the round trip, in ns: the offset is not further away than this.
    pub uncertainty_ns: u64,
}

impl ClockSample {
    /// Of a question sent and answered at these instants of the coordinator's clock, and the role's clock in between.
    pub fn new(sent_ns: u64, clock_ns: u64, arrived_ns: u64) -> Self {
        let round_trip_ns = arrived_ns.saturating_sub(sent_ns);
        let at_ns = sent_ns + round_trip_ns / 2;
        Self { at_ns, offset_ns: difference(clock_ns, at_ns), uncertainty_ns: round_trip_ns.div_ceil(2) }
    }
}

/// The sample that says most.
pub fn smallest_round_trip(samples: &[ClockSample]) -> Option<ClockSample> {
    let best = samples.iter().min_by_key(|sample| sample.uncertainty_ns);
    best.copied()
}

fn difference(one_ns: u64, other_ns: u64) -> i64 {
    let difference = i128::from(one_ns) - i128::from(other_ns);
    i64::try_from(difference).unwrap_or(if difference < 0 { i64::MIN } else { i64::MAX })
}

/// The clock of another host, as far as it is known: samples in the order in which they were taken.
#[derive(Debug, Clone, Default)]
pub struct HostClock {
    samples: Vec<ClockSample>,
}

impl HostClock {
    /// Takes a sample in; it is later than those before it.
    pub fn add(&mut self, sample: ClockSample) {
        self.samples.push(sample);
    }

    /// An instant of the coordinator's clock by this one, in ns. Without a sample both are the same.
    pub fn shown_ns(&self, own_ns: u64) -> u64 {
        own_ns.saturating_add_signed(self.offset_ns(own_ns))
    }

    /// An instant of this clock by the coordinator's, in ns.
    pub fn own_ns(&self, shown_ns: u64) -> u64 {
        let Some(last) = self.samples.last() else {
            return shown_ns;
        };
        // The offset of the drifting clock hardly differs between the first guess and the instant meant.
        let guess_ns = shown_ns.saturating_add_signed(last.offset_ns.saturating_neg());
        let offset_ns = self.offset_ns(guess_ns);
        shown_ns.saturating_add_signed(offset_ns.saturating_neg())
    }

    /// How far off it is at an instant of the coordinator's clock, in ns.
    fn offset_ns(&self, own_ns: u64) -> i64 {
        let [first, .., last] = self.samples.as_slice() else {
            return self.samples.first().map_or(0, |only| only.offset_ns);
        };
        // Between two samples next to each other; after the last one as between the first and the last.
        let after = self.samples.partition_point(|sample| sample.at_ns <= own_ns);
        let (one, other, from) = match (after.checked_sub(1), self.samples.get(after)) {
            (Some(before), Some(next)) => (&self.samples[before], next, &self.samples[before]),
            (Some(_), None) => (first, last, last),
            (None, _) => (first, last, first),
        };
        let drift = i128::from(other.offset_ns) - i128::from(one.offset_ns);
        let span = i128::from(other.at_ns.saturating_sub(one.at_ns).max(1));
        let since = i128::from(own_ns) - i128::from(from.at_ns);
        let offset = i128::from(from.offset_ns).saturating_add(drift.saturating_mul(since) / span);
        i64::try_from(offset).unwrap_or(from.offset_ns)
    }

    /// What is known of it over the phase of the last two samples; none before there are two.
    pub fn record(&self, phase: &str, host: &str) -> Option<ClockRecord> {
        let [.., before, after] = self.samples.as_slice() else {
            return None;
        };
        let span_ns = after.at_ns.saturating_sub(before.at_ns).max(1) as f64;
        let drift_ns = difference_of(after.offset_ns, before.offset_ns);
        Some(ClockRecord {
            phase: phase.to_owned(),
            host: host.to_owned(),
            offset_ns: before.offset_ns,
            uncertainty_ns: before.uncertainty_ns.max(after.uncertainty_ns),
            drift_ppm: drift_ns / span_ns * 1e6,
        })
    }

    /// How far the last sample may be off, in ns.
    pub fn uncertainty_ns(&self) -> u64 {
        let last = self.samples.last();
        last.map_or(0, |sample| sample.uncertainty_ns)
    }
}

fn difference_of(one_ns: i64, other_ns: i64) -> f64 {
    one_ns.saturating_sub(other_ns) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A question at this instant with a round trip of this length, answered by a clock that is 3 s ahead and 50 ppm fast.
    fn sample(at_ns: u64, round_trip_ns: u64) -> ClockSample {
        let middle_ns = at_ns + round_trip_ns / 2;
        ClockSample::new(at_ns, drifting(middle_ns), at_ns + round_trip_ns)
    }

    fn drifting(own_ns: u64) -> u64 {
        own_ns + 3_000_000_000 + own_ns / 20_000
    }

    #[test]
    fn the_smallest_round_trip_says_most() {
        let samples = [sample(0, 900), sample(1_000, 200), sample(2_000, 500)];
        let best = smallest_round_trip(&samples).expect("three samples");
        assert_eq!((best.at_ns, best.uncertainty_ns), (1_100, 100));
        assert_eq!(smallest_round_trip(&[]), None);
    }

    #[test]
    fn an_answer_that_took_longer_one_way_stays_within_the_uncertainty() {
        // The clock is read when the question arrives; the answer takes all of the time.
        let sample = ClockSample::new(1_000, 5_000_001_000, 9_000);
        assert!(sample.offset_ns.abs_diff(5_000_000_000) <= sample.uncertainty_ns);
    }

    #[test]
    fn instants_of_a_drifting_clock_are_translated_there_and_back() {
        let mut clock = HostClock::default();
        assert_eq!(clock.shown_ns(7), 7, "nothing is known of it");
        clock.add(sample(1_000_000_000, 200));
        let shown = clock.shown_ns(1_050_000_000);
        assert!(shown.abs_diff(drifting(1_050_000_000)) < 3_000, "no drift is known yet");
        clock.add(sample(61_000_000_000, 200));
        for own_ns in [1_000_000_000, 30_000_000_000, 61_000_000_000, 90_000_000_000] {
            let shown = clock.shown_ns(own_ns);
            assert!(shown.abs_diff(drifting(own_ns)) <= 200, "{own_ns}");
            assert!(clock.own_ns(drifting(own_ns)).abs_diff(own_ns) <= 200, "{own_ns}");
        }
        let record = clock.record("load", "pi1").expect("two samples");
        assert!((record.drift_ppm - 50.0).abs() < 0.1, "{record:?}");
        assert_eq!(record.uncertainty_ns, 100);
    }
}
