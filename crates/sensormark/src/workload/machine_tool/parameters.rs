//! The numbers behind the machine-tool workload's scales.

use serde::{Deserialize, Serialize};

/// Every number of a machine-tool run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Seconds of writing and reading before figures count.
    pub warmup_seconds: f64,
    /// Seconds of writing that count.
    pub measured_seconds: f64,
    /// Cycle reads that count.
    pub reads: u32,
    /// Cycle reads that are due a second.
    pub reads_per_second: f64,
    /// Samples a second that the source sends.
    pub samples_per_second: u32,
    /// The least distance of a read's time from both ends of the data, in seconds.
    pub margin_seconds: f64,
    /// How often everything is measured.
    pub repetitions: u32,
}

impl Parameters {
    /// The scale `quick`: seconds.
    pub const fn quick() -> Self {
        Self {
            warmup_seconds: 1.0,
            measured_seconds: 4.0,
            reads: 12,
            reads_per_second: 3.0,
            samples_per_second: 1_000,
            margin_seconds: 1.5,
            repetitions: 1,
        }
    }

    /// The scale `firm`: as short as `quick`, five times. SQLite and PostgreSQL have 24 trials of 5 s each time.
    pub const fn firm() -> Self {
        Self {
            repetitions: 5,
            ..Self::quick()
        }
    }

    /// The scale `standard`: a minute and a bit a trial, five times.
    pub const fn standard() -> Self {
        Self {
            warmup_seconds: 10.0,
            measured_seconds: 60.0,
            reads: 180,
            repetitions: 5,
            ..Self::quick()
        }
    }

    /// The scale `study`: the study's own durations.
    pub const fn study() -> Self {
        Self {
            warmup_seconds: 300.0,
            measured_seconds: 900.0,
            reads: 2_700,
            repetitions: 1,
            ..Self::quick()
        }
    }

    /// What each number means, by its name.
    pub const fn documentation() -> &'static [(&'static str, &'static str)] {
        &[
            (
                "warmup_seconds",
                "seconds of writing and reading before figures count",
            ),
            ("measured_seconds", "seconds of writing that count"),
            ("reads", "cycle reads that count"),
            (
                "reads_per_second",
                "cycle reads that are due a second (open loop)",
            ),
            (
                "samples_per_second",
                "samples a second that the source sends",
            ),
            (
                "margin_seconds",
                "least distance of a read's time from both ends of the data, in seconds",
            ),
            ("repetitions", "how often everything is measured"),
        ]
    }

    /// Checks that the numbers make sense together.
    ///
    /// # Errors
    /// What does not, in words.
    pub fn check(&self) -> Result<(), String> {
        let written = self.warmup_seconds + self.measured_seconds;
        let positive = [
            ("measured_seconds", self.measured_seconds),
            ("reads_per_second", self.reads_per_second),
            ("reads", f64::from(self.reads)),
            ("samples_per_second", f64::from(self.samples_per_second)),
            ("repetitions", f64::from(self.repetitions)),
        ];
        if let Some((name, value)) = positive
            .into_iter()
            .find(|(_, value)| !(value.is_finite() && *value > 0.0))
        {
            return Err(format!("{name} is {value}; it must be over 0"));
        }
        if !(self.warmup_seconds.is_finite() && self.warmup_seconds >= 0.0) {
            return Err(format!(
                "warmup_seconds is {}; it must be 0 or more",
                self.warmup_seconds
            ));
        }
        if self.margin_seconds.is_nan() || self.margin_seconds < 1.5 {
            return Err(format!(
                "margin_seconds is {}; a cycle's search needs at least 1.5",
                self.margin_seconds
            ));
        }
        if written < 2.0 * self.margin_seconds + 0.5 {
            return Err(format!(
                "warmup_seconds + measured_seconds is {written}; reads keep {} s from both ends, so write at least {} s",
                self.margin_seconds,
                2.0 * self.margin_seconds + 0.5
            ));
        }
        Ok(())
    }

    /// From one sample to the next, in ns.
    pub fn period_ns(&self) -> u64 {
        crate::units::round_u64(1e9 / f64::from(self.samples_per_second))
    }

    /// Samples that the source sends in all, a fifth of a second beyond the measured phase, so that its end falls into full load.
    pub fn samples(&self) -> u64 {
        let seconds = self.warmup_seconds + self.measured_seconds + 0.2;
        crate::units::round_u64(seconds * f64::from(self.samples_per_second))
    }
}
