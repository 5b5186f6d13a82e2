//! The numbers behind the machine-tool workload's scales.

use sensormark_engine::parameter::{any, at_least, check_each, over};
use sensormark_engine::parameters;

parameters! {
    /// Every number of a machine-tool run.
    pub struct Parameters {
        /// seconds of earlier samples that are loaded in bulk before anything is measured; reads are of them too
        #[serde(default)]
        history_seconds: u32, Seconds, any() => 900, 900, 3_600, 0;
        /// seconds of writing and reading before figures count
        warmup_seconds: f64, Seconds, at_least(0.0) => 1.0, 1.0, 10.0, 300.0;
        /// seconds of writing that count
        measured_seconds: f64, Seconds, over(0.0) => 4.0, 4.0, 60.0, 900.0;
        /// cycle reads that count
        reads: u32, Plain, at_least(1.0) => 12, 12, 180, 2_700;
        /// cycle reads that are due a second (open loop)
        reads_per_second: f64, Plain, over(0.0) => 3.0;
        /// samples a second that the source sends
        samples_per_second: u32, Plain, at_least(1.0) => 1_000;
        /// least distance of a read's time from both ends of the data, in seconds
        margin_seconds: f64, Seconds, at_least(LEAST_MARGIN_SECONDS) => 1.5;
        /// how often everything is measured
        repetitions: u32, Plain, at_least(1.0) => 1, 5, 5, 1;
    }
}

/// A cycle's search needs at least this.
const LEAST_MARGIN_SECONDS: f64 = 1.5;

impl Parameters {
    /// Checks that the numbers make sense together.
    ///
    /// # Errors
    /// What does not, in words.
    pub fn check(&self) -> Result<(), String> {
        check_each(Self::TABLE, self)?;
        let written = self.warmup_seconds + self.measured_seconds;
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
        sensormark_data::units::round_u64(1e9 / f64::from(self.samples_per_second))
    }

    /// Samples that the source sends in all, a fifth of a second beyond the measured phase, so that its end falls into full load.
    pub fn samples(&self) -> u64 {
        let seconds = self.warmup_seconds + self.measured_seconds + 0.2;
        sensormark_data::units::round_u64(seconds * f64::from(self.samples_per_second))
    }
}
