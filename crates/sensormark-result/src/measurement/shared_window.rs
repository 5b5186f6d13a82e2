//! The window in which all hosts of a load were at work, and what they did in it. The throughput of several hosts counts over it: outside of it some hosts
//! were idle, so the database had less to do.

use super::latency::{SecondHistogram, decode};
use serde::{Deserialize, Serialize};

/// The shortest window that is counted, in seconds. Operations are recorded by the second, so a shorter one holds no whole second of them.
pub const SHORTEST_SECONDS: f64 = 1.0;

/// What several hosts did while all of them were at work: from the latest start to the earliest end, on the clock that they share.
///
/// Each host records how many operations finished in each second of its own clock. A second within the window counts as it is. An edge of the window
/// may cut a second. Its operations count by the part that lies inside, as if the host had done them evenly while it was at work. A host whose own end is the edge has
/// nothing beyond, and its last second counts as a whole. So each edge is wrong by at most what the other hosts did in one second.
/// Readings are not recorded by the second: they count by the mean of their class of operations on their host.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SharedWindow {
    /// Hosts that shared it.
    pub hosts: u32,
    /// How long it was, in seconds; 0 where one host ended before another began.
    pub seconds: f64,
    /// Operations that succeeded in it. Those of a second that an edge cuts count in part.
    pub operations: f64,
    /// Readings that they wrote, or readings, groups and series that they found.
    pub readings: f64,
}

/// What one process did of a load.
#[derive(Debug)]
pub struct Part<'a> {
    /// When it began, in seconds after the first one, on the clock that all share.
    pub began: f64,
    /// When its last operation finished, as `began`.
    pub ended: f64,
    /// From the one to the other by its own clock, in seconds.
    pub lasted: f64,
    /// Its classes of operations.
    pub classes: Vec<PartClass<'a>>,
}

/// One class of operations of a part.
#[derive(Debug)]
pub struct PartClass<'a> {
    /// Operations that succeeded.
    pub operations: u64,
    /// What they wrote or found.
    pub readings: u64,
    /// One histogram for each second after `began` by the part's own clock, of operations that succeeded.
    pub seconds: &'a [SecondHistogram],
}

impl SharedWindow {
    /// The window of these parts, which so many hosts have done.
    ///
    /// # Errors
    /// When a histogram cannot be read, in words.
    pub fn of(parts: &[Part<'_>], hosts: u32) -> Result<Self, String> {
        let from = parts.iter().map(|part| part.began).fold(0.0, f64::max);
        let to = parts.iter().map(|part| part.ended);
        let to = to.fold(f64::INFINITY, f64::min);
        let mut window = Self {
            hosts,
            seconds: if to.is_finite() { to - from } else { 0.0 }.max(0.0),
            operations: 0.0,
            readings: 0.0,
        };
        for part in parts.iter().filter(|_| window.seconds > 0.0) {
            let inside = part.inside((from, to));
            for class in &part.classes {
                let operations = class.within(inside, part.lasted)?;
                let of_each = class.readings as f64 / class.operations.max(1) as f64;
                window.operations += operations;
                window.readings += operations * of_each;
            }
        }
        Ok(window)
    }

    /// Whether it is long enough for throughput to count over it.
    pub fn is_counted(&self) -> bool {
        self.seconds >= SHORTEST_SECONDS
    }
}

impl Part<'_> {
    /// The edges of the window, in seconds after the part's begin by its own clock. Between two readings of a clock its drift is linear.
    fn inside(&self, (from, to): (f64, f64)) -> (f64, f64) {
        let span = self.ended - self.began;
        let pace = if span > 0.0 { self.lasted / span } else { 1.0 };
        let start = if from > self.began { (from - self.began) * pace } else { 0.0 };
        let end = if to < self.ended { (to - self.began) * pace } else { self.lasted };
        (start, end)
    }
}

impl PartClass<'_> {
    /// How many of its operations lie between two instants of a part that lasted so long, all in seconds.
    fn within(&self, (from, to): (f64, f64), lasted: f64) -> Result<f64, String> {
        let mut count = self.operations as f64;
        for second in self.seconds {
            let start = second.second as f64;
            let end = (start + 1.0).min(lasted.max(start));
            let length = end - start;
            let share = if length > 0.0 {
                (end.min(to) - start.max(from)).max(0.0) / length
            } else {
                f64::from(start <= to)
            };
            // Most seconds lie inside, and need not be read.
            if share < 1.0 {
                count -= (1.0 - share) * decode(&second.v2)?.len() as f64;
            }
        }
        Ok(count.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement::latency::LatencyRecorder;

    /// Operations that finished at an even rate from 0 s on, by the second.
    fn even(rate: u64, seconds: u64) -> Vec<SecondHistogram> {
        let mut recorder = LatencyRecorder::new();
        for operation in 0..rate * seconds {
            recorder.record(1_000, operation * 1_000_000_000 / rate);
        }
        recorder.finish().expect("all in memory").1
    }

    fn part(began: f64, lasted: f64, rate: u64, seconds: &[SecondHistogram]) -> Part<'_> {
        let operations = rate * seconds.len() as u64;
        Part {
            began,
            ended: began + lasted,
            lasted,
            classes: vec![PartClass { operations, readings: 3 * operations, seconds }],
        }
    }

    #[test]
    fn only_what_was_done_while_all_were_at_work_is_counted() {
        let (fast, slow) = (even(100, 10), even(40, 3));
        // The second one begins half a second later, and ends at 3.5 s: cut are seconds 0 and 3 of the first.
        let parts = [part(0.0, 10.0, 100, &fast), part(0.5, 3.0, 40, &slow)];
        let window = SharedWindow::of(&parts, 2).expect("histograms");
        assert_eq!((window.hosts, window.seconds), (2, 3.0));
        assert!((window.operations - 420.0).abs() < 1e-9, "{window:?}");
        assert!((window.readings - 1_260.0).abs() < 1e-9, "{window:?}");
        assert!(window.is_counted());
    }

    #[test]
    fn a_last_second_that_was_not_whole_counts_for_the_time_in_it() {
        // 100 operations in the first second, and 30 in the 0.25 s after it: a host that ends there has done all of them.
        let mut recorder = LatencyRecorder::new();
        (0..100).for_each(|place| recorder.record(1_000, place * 10_000_000));
        (0..30).for_each(|place| recorder.record(1_000, 1_000_000_000 + place * 8_000_000));
        let seconds = recorder.finish().expect("all in memory").1;
        let own = |ended: f64| Part {
            began: 0.0,
            ended,
            lasted: ended,
            classes: vec![PartClass { operations: 130, readings: 0, seconds: &seconds }],
        };
        let both = SharedWindow::of(&[own(1.25), own(1.25)], 2).expect("histograms");
        assert_eq!((both.seconds, both.operations), (1.25, 260.0));
        // Another that ends in the middle of that quarter leaves half of the 30 outside.
        let other = part(0.0, 1.125, 0, &[]);
        let window = SharedWindow::of(&[own(1.25), other], 2).expect("histograms");
        assert!((window.operations - 115.0).abs() < 1e-9, "{window:?}");
    }

    #[test]
    fn a_clock_that_goes_faster_counts_its_own_seconds() {
        // By its own clock 4 s, by the common one 2 s: the window's end at 1 s is its second 2.
        let (fast, short) = (even(50, 4), even(10, 1));
        let mut parts = [part(0.0, 4.0, 50, &fast), part(0.0, 1.0, 10, &short)];
        parts[0].ended = 2.0;
        let window = SharedWindow::of(&parts, 2).expect("histograms");
        assert!((window.operations - 110.0).abs() < 1e-9, "{window:?}");
    }

    #[test]
    fn hosts_that_were_never_at_work_together_share_nothing() {
        let seconds = even(10, 1);
        let parts = [part(0.0, 1.0, 10, &seconds), part(5.0, 1.0, 10, &seconds)];
        let window = SharedWindow::of(&parts, 2).expect("histograms");
        assert_eq!((window.seconds, window.operations), (0.0, 0.0));
        assert!(!window.is_counted());
        assert!(!SharedWindow::of(&[], 0).expect("nothing").is_counted());
        let damaged = [SecondHistogram { second: 7, v2: "00".to_owned() }];
        let parts = [part(0.0, 9.0, 1, &damaged), part(0.0, 2.0, 10, &seconds)];
        assert!(SharedWindow::of(&parts, 2).is_err());
    }
}
