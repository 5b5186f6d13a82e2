//! A clock that is wrong on purpose: tests of one machine see to it that roles of two hosts may have clocks that differ.
//!
//! Nothing is planted unless a test's variable says so, and only in a role's own process.

use std::sync::OnceLock;

/// What a test sets: the offset in ns and the drift in parts per million ("3000000000,50").
const VARIABLE: &str = "SENSORMARK_TEST_CLOCK";

static PLANTED: OnceLock<PlantedClock> = OnceLock::new();

/// How far a clock is off, and how much faster it goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PlantedClock {
    offset_ns: i64,
    drift_ppm: i64,
}

impl PlantedClock {
    fn parse(text: &str) -> Option<Self> {
        let (offset, drift) = text.split_once(',')?;
        Some(Self { offset_ns: offset.parse().ok()?, drift_ppm: drift.parse().ok()? })
    }

    /// What it shows at this instant of the kernel's clock.
    pub(super) fn shown_ns(self, real_ns: u64) -> u64 {
        let real = i128::from(real_ns);
        let shown = real + real * i128::from(self.drift_ppm) / 1_000_000;
        clamped(shown + i128::from(self.offset_ns))
    }

    /// When it shows this, by the kernel's clock.
    pub(super) fn real_ns(self, shown_ns: u64) -> u64 {
        let shown = i128::from(shown_ns) - i128::from(self.offset_ns);
        clamped(shown * 1_000_000 / (1_000_000 + i128::from(self.drift_ppm)))
    }
}

fn clamped(ns: i128) -> u64 {
    u64::try_from(ns.max(0)).unwrap_or(u64::MAX)
}

/// Plants what the variable says, if it is there.
pub(super) fn plant() {
    let text = std::env::var(VARIABLE).ok();
    if let Some(clock) = text.as_deref().and_then(PlantedClock::parse) {
        // Planted once for each process.
        let _ = PLANTED.set(clock);
    }
}

/// What is planted in this process.
pub(super) fn planted() -> Option<PlantedClock> {
    PLANTED.get().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_clock_is_off_and_drifts_and_is_read_back() {
        let clock = PlantedClock::parse("3000000000,50").expect("a clock");
        let real_ns = 1_000_000_000_000;
        assert_eq!(clock.shown_ns(real_ns), 1_003_050_000_000);
        assert!(clock.real_ns(clock.shown_ns(real_ns)).abs_diff(real_ns) <= 1);
        let behind = PlantedClock::parse("-5,0").expect("a clock");
        assert_eq!(behind.shown_ns(3), 0, "a clock shows no negative time");
        assert_eq!(PlantedClock::parse("yes"), None);
    }
}
