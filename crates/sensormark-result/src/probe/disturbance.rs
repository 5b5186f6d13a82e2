//! Was the host quiet enough for a measurement to count? A pure function of two host samples and of the CPU time of our own trees. It says how much the host
//! was disturbed, against stated limits. It decides nothing about a trial.

use serde::{Deserialize, Serialize};

use super::host::HostSample;

/// Above these, a measurement is inconclusive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DisturbanceLimits {
    /// Share of the host's processor time that the hypervisor gave to others. Default 0.02: as much as repetitions
    /// differ by on a quiet machine.
    pub steal_share: f64,
    /// Bytes a second read from or written to swap. Default 262,144 (64 pages): the odd page is no thrashing.
    pub swap_bytes_per_second: f64,
    /// Share of the host's processor time used by others than our trees and the kernel's own threads. Default 0.10:
    /// the host's own figures are sampled by timer and are themselves uncertain by a few percent.
    pub other_share: f64,
}

impl Default for DisturbanceLimits {
    fn default() -> Self {
        Self { steal_share: 0.02, swap_bytes_per_second: 262_144.0, other_share: 0.10 }
    }
}

/// How much the host was disturbed over a span. Shares are of the time of all processors (0 to 1).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// Length of the span.
    pub span_ns: u64,
    /// Time that the hypervisor gave to others.
    pub steal_share: f64,
    /// Swap traffic, both ways.
    pub swap_bytes_per_second: f64,
    /// Busy time of the host less our trees and the kernel's own threads; 0 when the difference is negative.
    pub other_share: f64,
    /// What was over its limit, in words; empty when the host was quiet.
    pub reasons: Vec<String>,
}

impl Disturbance {
    /// Compares two samples, `span_ns` apart. `our_cpu_ns` is what all our trees (the sampler's own process among
    /// them) used between the two.
    #[must_use]
    pub fn between(
        first: &HostSample,
        last: &HostSample,
        span_ns: u64,
        our_cpu_ns: u64,
        limits: &DisturbanceLimits,
    ) -> Self {
        let since = |field: fn(&HostSample) -> u64| field(last).saturating_sub(field(first));
        let capacity_ns = (span_ns * last.processors).max(1) as f64;
        let busy = since(|host| host.cpu_user_ns) + since(|host| host.cpu_system_ns);
        let other = busy.saturating_sub(our_cpu_ns).saturating_sub(since(|host| host.kernel_threads_ns));
        let swapped = since(|host| host.swap_in_bytes) + since(|host| host.swap_out_bytes);
        let mut found = Self {
            span_ns,
            steal_share: since(|host| host.cpu_steal_ns) as f64 / capacity_ns,
            swap_bytes_per_second: swapped as f64 * 1e9 / span_ns.max(1) as f64,
            other_share: other as f64 / capacity_ns,
            reasons: Vec::new(),
        };
        found.reasons = found.over(limits);
        found
    }

    /// Several spans taken together, each counting by its length: of moments alone the kernel's ticks of 10 ms say too little. None of none.
    #[must_use]
    pub fn together(spans: &[&Self], limits: &DisturbanceLimits) -> Option<Self> {
        let span_ns: u64 = spans.iter().map(|one| one.span_ns).sum();
        let mean = |share: fn(&Self) -> f64| {
            let parts = spans.iter().map(|one| share(one) * one.span_ns as f64);
            parts.sum::<f64>() / span_ns.max(1) as f64
        };
        let mut found = Self {
            span_ns,
            steal_share: mean(|one| one.steal_share),
            swap_bytes_per_second: mean(|one| one.swap_bytes_per_second),
            other_share: mean(|one| one.other_share),
            reasons: Vec::new(),
        };
        found.reasons = found.over(limits);
        (!spans.is_empty()).then_some(found)
    }

    /// The same where this much processor time was ours too, of so much that there was.
    #[must_use]
    pub fn less(&self, cpu_ns: u64, capacity_ns: u64, limits: &DisturbanceLimits) -> Self {
        let share = cpu_ns as f64 / capacity_ns.max(1) as f64;
        let mut found = Self { other_share: (self.other_share - share).max(0.0), ..self.clone() };
        found.reasons = found.over(limits);
        found
    }

    /// Whether any limit was passed.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        !self.reasons.is_empty()
    }

    fn over(&self, limits: &DisturbanceLimits) -> Vec<String> {
        let mut reasons = Vec::new();
        let percent = |share: f64| share * 100.0;
        if self.steal_share > limits.steal_share {
            reasons.push(format!(
                "the hypervisor took {:.1} % of the processor time (limit {:.1} %)",
                percent(self.steal_share),
                percent(limits.steal_share)
            ));
        }
        if self.swap_bytes_per_second > limits.swap_bytes_per_second {
            reasons.push(format!(
                "the host swapped {:.0} bytes a second (limit {:.0})",
                self.swap_bytes_per_second, limits.swap_bytes_per_second
            ));
        }
        if self.other_share > limits.other_share {
            reasons.push(format!(
                "other programs used {:.1} % of the processor time (limit {:.1} %)",
                percent(self.other_share),
                percent(limits.other_share)
            ));
        }
        reasons
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn host(busy: u64, steal: u64, swap: u64) -> HostSample {
        HostSample {
            processors: 2,
            cpu_user_ns: busy,
            cpu_steal_ns: steal,
            swap_out_bytes: swap,
            ..HostSample::default()
        }
    }

    fn reasons(last: &HostSample, ours: u64) -> usize {
        let limits = DisturbanceLimits::default();
        let found = Disturbance::between(&host(0, 0, 0), last, 10 * SECOND, ours, &limits);
        found.reasons.len()
    }

    #[test]
    fn our_own_load_is_no_disturbance_and_others_load_is() {
        assert_eq!(reasons(&host(20 * SECOND, 0, 0), 19 * SECOND), 0);
        assert_eq!(reasons(&host(20 * SECOND, 0, 0), 17 * SECOND), 1);
        assert_eq!(reasons(&host(5 * SECOND, 0, 0), 6 * SECOND), 0);
    }

    /// A tick of 10 ms is much of a moment and little of many moments.
    #[test]
    fn moments_are_judged_together() {
        let limits = DisturbanceLimits::default();
        let tick = SECOND / 100;
        let moment = |steal: u64, other: u64| {
            let last = host(other * tick, steal * tick, 0);
            Disturbance::between(&host(0, 0, 0), &last, 6 * tick, 0, &limits)
        };
        assert!(moment(1, 0).is_disturbed() && moment(0, 2).is_disturbed());
        let mut moments = vec![moment(0, 0); 22];
        moments.push(moment(1, 0));
        moments.push(moment(0, 2));
        let together = |moments: &[Disturbance]| {
            let all: Vec<&Disturbance> = moments.iter().collect();
            Disturbance::together(&all, &limits)
        };
        let quiet = together(&moments).expect("some");
        assert!(!quiet.is_disturbed(), "{quiet:?}");
        assert_eq!(quiet.span_ns, 24 * 6 * tick);
        assert!((quiet.other_share - 2.0 / (24.0 * 12.0)).abs() < 1e-12);
        let busy = together(&vec![moment(0, 2); 24]).expect("some");
        assert_eq!(busy.reasons.len(), 1);
        assert_eq!(together(&[]), None);
    }

    #[test]
    fn steal_and_swap_disturb() {
        assert_eq!(reasons(&host(0, SECOND, 0), 0), 1);
        assert_eq!(reasons(&host(0, SECOND / 10, 0), 0), 0);
        assert_eq!(reasons(&host(0, 0, 10_000_000), 0), 1);
    }
}
