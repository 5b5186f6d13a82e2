//! Latencies of operations: recorded in nanoseconds, one histogram a second, mergeable, three significant digits.
//!
//! Which two instants a latency lies between is the engine's affair; this module only counts.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};

/// The longest latency that is told apart: one hour, in ns. Longer ones count as this.
pub const LONGEST_NS: u64 = 3_600_000_000_000;

/// The fewest samples beyond a percentile for it to be printed.
pub const SAMPLES_BEYOND: f64 = 10.0;

/// A histogram of latencies in ns with three significant digits.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("the bounds are constants")
}

/// Latencies of one kind of operation, kept by second and in total.
#[derive(Debug, Clone)]
pub struct LatencyRecorder {
    total: Histogram<u64>,
    current: Histogram<u64>,
    second: u64,
    seconds: Vec<SecondHistogram>,
    sum_ns: u128,
}

/// The latencies of operations that finished in one second, in the V2 format of HdrHistogram (uncompressed).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondHistogram {
    /// Which second since the phase began.
    pub second: u64,
    /// The encoded histogram, hexadecimal.
    pub v2: String,
}

/// The usual figures of a latency distribution, in ns; percentiles with too few samples beyond them are `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    /// How many operations.
    pub count: u64,
    /// Arithmetic mean, exact.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: Option<u64>,
    /// 90th percentile.
    pub p90_ns: Option<u64>,
    /// 95th percentile.
    pub p95_ns: Option<u64>,
    /// 99th percentile.
    pub p99_ns: Option<u64>,
    /// 99.9th percentile.
    pub p999_ns: Option<u64>,
    /// Smallest.
    pub min_ns: u64,
    /// Largest.
    pub max_ns: u64,
}

impl Default for LatencyRecorder {
    fn default() -> Self {
        Self::new()
    }
}

impl LatencyRecorder {
    /// An empty recorder.
    pub fn new() -> Self {
        Self {
            total: histogram(),
            current: histogram(),
            second: 0,
            seconds: Vec::new(),
            sum_ns: 0,
        }
    }

    /// Counts an operation that finished `since_start_ns` after the phase began.
    pub fn record(&mut self, latency_ns: u64, since_start_ns: u64) {
        let second = since_start_ns / 1_000_000_000;
        if second != self.second {
            self.close_second();
            self.second = second;
        }
        self.current.saturating_record(latency_ns.max(1));
        self.sum_ns += u128::from(latency_ns);
    }

    fn close_second(&mut self) {
        if self.current.is_empty() {
            return;
        }
        self.total
            .add(&self.current)
            .expect("both histograms have the same bounds");
        self.seconds.push(SecondHistogram {
            second: self.second,
            v2: encode(&self.current),
        });
        self.current.reset();
    }

    /// The distribution so far, and one histogram a second.
    pub fn finish(mut self) -> (Histogram<u64>, Vec<SecondHistogram>, LatencySummary) {
        self.close_second();
        let mut summary = LatencySummary::of(&self.total);
        if summary.count > 0 {
            summary.mean_ns = self.sum_ns as f64 / summary.count as f64;
        }
        (self.total, self.seconds, summary)
    }
}

impl LatencySummary {
    /// The figures of this histogram.
    pub fn of(histogram: &Histogram<u64>) -> Self {
        let count = histogram.len();
        let percentile = |quantile: f64| {
            let beyond = (1.0 - quantile) * count as f64;
            (beyond >= SAMPLES_BEYOND - 1e-9).then(|| histogram.value_at_quantile(quantile))
        };
        Self {
            count,
            mean_ns: histogram.mean(),
            p50_ns: percentile(0.5),
            p90_ns: percentile(0.9),
            p95_ns: percentile(0.95),
            p99_ns: percentile(0.99),
            p999_ns: percentile(0.999),
            min_ns: histogram.min(),
            max_ns: histogram.max(),
        }
    }

    /// The figures of one-second histograms put together.
    ///
    /// # Errors
    /// When a histogram cannot be decoded, in words.
    pub fn of_seconds(seconds: &[SecondHistogram]) -> Result<Self, String> {
        let mut total = histogram();
        for second in seconds {
            total
                .add(decode(&second.v2)?)
                .map_err(|error| format!("histogram of second {}: {error:?}", second.second))?;
        }
        Ok(Self::of(&total))
    }
}

fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(histogram, &mut bytes)
        .expect("writing to memory does not fail");
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            use std::fmt::Write;
            write!(text, "{byte:02x}").expect("writing to memory does not fail");
            text
        })
}

/// The histogram that these hexadecimal digits encode.
///
/// # Errors
/// When they are not digits, or not a V2 histogram, in words.
pub fn decode(text: &str) -> Result<Histogram<u64>, String> {
    let bytes: Result<Vec<u8>, _> = (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(text.get(at..at + 2).unwrap_or("?"), 16))
        .collect();
    let bytes = bytes.map_err(|_| "a raw histogram is not hexadecimal".to_owned())?;
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| format!("a raw histogram cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_need_ten_samples_beyond_them() {
        let mut recorder = LatencyRecorder::new();
        for value in 1..=999_u64 {
            recorder.record(value * 1_000, value * 10_000_000);
        }
        let (_, _, summary) = recorder.clone().finish();
        assert_eq!(summary.p99_ns, None);
        assert!(summary.p95_ns.is_some());
        recorder.record(1_000_000, 10_000_000_000);
        assert!(recorder.finish().2.p99_ns.is_some());
    }

    #[test]
    fn percentiles_agree_with_sorting_and_seconds_add_up() {
        let mut recorder = LatencyRecorder::new();
        let mut values: Vec<u64> = (0..20_000_u64)
            .map(|i| 1_000 + (i * 7_919) % 500_000)
            .collect();
        for (i, &value) in values.iter().enumerate() {
            recorder.record(value, i as u64 * 1_000_000);
        }
        let (_, seconds, summary) = recorder.finish();
        values.sort_unstable();
        for (got, rank) in [
            (summary.p50_ns, 10_000),
            (summary.p99_ns, 19_800),
            (summary.p999_ns, 19_980),
        ] {
            let exact = values[rank - 1] as f64;
            let got = got.unwrap() as f64;
            assert!(
                (got - exact).abs() <= exact * 0.002,
                "{got} against {exact}"
            );
        }
        assert_eq!(seconds.len(), 20);
        let again = LatencySummary::of_seconds(&seconds).unwrap();
        assert_eq!(
            (again.count, again.p99_ns, again.max_ns),
            (summary.count, summary.p99_ns, summary.max_ns)
        );
    }

    #[test]
    fn rubbish_is_refused_in_words() {
        assert!(decode("zz").is_err());
        assert!(decode("00ff").is_err());
        assert!(decode("0").is_err());
    }
}
