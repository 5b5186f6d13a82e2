//! How often a trial of a disturbed host is repeated, and how much time a run spends on that. Which attempt counts is decided by
//! [`TrialRecord::counts_instead_of`](sensormark_result::measurement::record::TrialRecord::counts_instead_of).

use std::time::{Duration, Instant};

/// What a run does about a disturbed host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisturbedHost {
    /// Disturbed trials do not count, so sensormark repeats them up to twice and waits for a quiet host before that.
    Refused,
    /// Disturbed trials count, marked as rough. sensormark repeats them once if the host becomes quiet, and spends at most half of the announced time on that.
    Rough,
    /// Disturbed trials count, marked as rough, and nothing is repeated.
    Tolerated,
}

impl DisturbedHost {
    /// The most repeats of one trial.
    pub const fn most_repeats(self) -> u32 {
        match self {
            Self::Refused => 2,
            Self::Rough => 1,
            Self::Tolerated => 0,
        }
    }

    /// Whether the judge lets a disturbed trial count.
    pub const fn is_tolerated(self) -> bool {
        !matches!(self, Self::Refused)
    }

    /// What repeats and waiting may add to a run that takes so many seconds without them, in seconds.
    pub fn most_repeats_seconds(self, seconds: f64) -> f64 {
        match self {
            Self::Refused => f64::from(self.most_repeats()) * seconds + PATIENCE.as_secs_f64(),
            Self::Rough => seconds / 2.0,
            Self::Tolerated => 0.0,
        }
    }

    /// What repeats add on average, in seconds: all that they may add while others use the host.
    pub fn expected_repeats_seconds(self, seconds: f64, is_busy: bool) -> f64 {
        match self {
            Self::Tolerated => 0.0,
            Self::Refused | Self::Rough if is_busy => self.most_repeats_seconds(seconds),
            Self::Refused | Self::Rough => seconds * REPEATED_SHARE,
        }
    }

    /// The longest wait for a quiet host before one repeat.
    pub const fn longest_wait(self) -> Duration {
        match self {
            Self::Refused => Duration::from_secs(30),
            Self::Rough | Self::Tolerated => Duration::from_secs(5),
        }
    }
}

/// The longest that a run with [`DisturbedHost::Refused`] waits for a quiet host in all.
const PATIENCE: Duration = Duration::from_secs(180);

/// The share of trials that were repeated on a quiet host: 3 of 202, of all workloads and seven databases (`docs/results/speed.md`, 2026-11-22).
const REPEATED_SHARE: f64 = 3.0 / 202.0;

/// What a run may yet spend on disturbed trials: on waiting alone where they do not count, on repeats too where they do.
#[derive(Debug)]
pub struct RepeatBudget {
    host: DisturbedHost,
    left: Duration,
}

impl RepeatBudget {
    /// The budget of a run that is announced to last so many seconds.
    pub fn new(host: DisturbedHost, announced_seconds: f64) -> Self {
        let left = match host {
            DisturbedHost::Refused => PATIENCE,
            DisturbedHost::Rough => {
                let most = host.most_repeats_seconds(announced_seconds);
                Duration::try_from_secs_f64(most).unwrap_or_default()
            }
            DisturbedHost::Tolerated => Duration::ZERO,
        };
        Self { host, left }
    }

    /// Whether a trial may be repeated: this many repeats were made, and the next takes so many seconds.
    pub fn allows(&self, repeats: u32, seconds: f64) -> bool {
        let fits = self.host != DisturbedHost::Rough || seconds <= self.left.as_secs_f64();
        repeats < self.host.most_repeats() && fits
    }

    /// What repeats and waiting may still take, in seconds; without a bound where only waiting has one.
    pub fn most_seconds(&self) -> f64 {
        match self.host {
            DisturbedHost::Refused => f64::INFINITY,
            DisturbedHost::Rough | DisturbedHost::Tolerated => self.left.as_secs_f64(),
        }
    }

    /// How long the next wait for a quiet host may be.
    pub fn wait(&self) -> Duration {
        self.left.min(self.host.longest_wait())
    }

    /// Whether a repeat is worth its time on a host that did not become quiet: where disturbed trials count, there is one already.
    pub fn repeats_on_a_busy_host(&self) -> bool {
        self.host == DisturbedHost::Refused
    }

    /// Counts what was spent on waiting since then.
    pub fn waited(&mut self, since: Instant) {
        self.left = self.left.saturating_sub(since.elapsed());
    }

    /// Counts what was spent on a repeat since then, where repeats are bounded.
    pub fn repeated(&mut self, since: Instant) {
        if self.host == DisturbedHost::Rough {
            self.waited(since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rough_run_repeats_once_and_within_half_of_the_announced_time() {
        let mut budget = RepeatBudget::new(DisturbedHost::Rough, 60.0);
        assert!(budget.allows(0, 30.0) && !budget.allows(0, 31.0) && !budget.allows(1, 1.0));
        assert_eq!(budget.wait(), Duration::from_secs(5));
        let before =
            Instant::now().checked_sub(Duration::from_secs(20)).expect("a machine that runs for 20 s");
        budget.repeated(before);
        assert!(budget.allows(0, 9.0) && !budget.allows(0, 11.0));
        assert!(!budget.repeats_on_a_busy_host());
    }

    #[test]
    fn where_disturbed_trials_do_not_count_only_waiting_is_bounded() {
        let mut budget = RepeatBudget::new(DisturbedHost::Refused, 1.0);
        assert!(budget.allows(1, 1e6) && !budget.allows(2, 1.0));
        let before =
            Instant::now().checked_sub(Duration::from_secs(20)).expect("a machine that runs for 20 s");
        budget.repeated(before);
        assert_eq!(budget.wait(), Duration::from_secs(30));
        assert!(budget.repeats_on_a_busy_host());
    }

    #[test]
    fn a_busy_host_is_expected_to_cost_all_that_repeats_may_cost() {
        let expected = |host: DisturbedHost, is_busy| host.expected_repeats_seconds(60.0, is_busy);
        assert_eq!(expected(DisturbedHost::Rough, true), 30.0);
        assert_eq!(expected(DisturbedHost::Refused, true), 300.0);
        assert!((0.0..2.0).contains(&expected(DisturbedHost::Refused, false)));
        assert_eq!(expected(DisturbedHost::Tolerated, true), 0.0);
    }

    #[test]
    fn toleration_repeats_nothing() {
        let budget = RepeatBudget::new(DisturbedHost::Tolerated, 60.0);
        assert!(!budget.allows(0, 0.1));
    }
}
