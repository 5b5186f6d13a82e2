//! Latencies of operations: recorded in nanoseconds, one histogram a second, mergeable, three significant digits.
//!
//! This module only counts. The engine decides which two instants a latency lies between.

use super::past_seconds::PastSeconds;
use crate::statistics::{self, Percentile, percentile_supported};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;

/// The longest latency that is kept as it is: one hour, in ns. Longer ones count as this.
pub const LONGEST_NS: u64 = 3_600_000_000_000;

/// The fewest samples beyond a percentile for it to be printed.
pub const SAMPLES_BEYOND: f64 = statistics::SAMPLES_BEYOND as f64;

/// A histogram of latencies in ns with three significant digits.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("the bounds are constants")
}

/// Latencies of one kind of operation, kept by second.
///
/// Recording costs a few nanoseconds; merging and HdrHistogram's format are left to [`LatencyRecorder::finish`]. Only the buckets of the present second are an
/// array. It has about 34,000 entries, of which only the memory that is touched counts. A second that is over is packed into three or four bytes for each
/// bucket that was hit, and a few more: once a second, some nanoseconds a bucket. Hours of them go to a file.
#[derive(Debug)]
pub struct LatencyRecorder {
    /// Counts of the present second, by bucket.
    counts: Vec<u32>,
    /// The buckets of the present second that are not 0.
    touched: Vec<u16>,
    second: u64,
    past: PastSeconds,
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
            counts: vec![0; usize::from(bucket_of(LONGEST_NS)) + 1],
            touched: Vec::new(),
            second: 0,
            past: PastSeconds::new(),
            sum_ns: 0,
        }
    }

    /// Counts an operation that finished `since_start_ns` after the phase began.
    #[inline]
    pub fn record(&mut self, latency_ns: u64, since_start_ns: u64) {
        let second = since_start_ns / 1_000_000_000;
        if second != self.second {
            self.close_second();
            self.second = second;
        }
        let bucket = bucket_of(latency_ns);
        let count = &mut self.counts[usize::from(bucket)];
        if *count == 0 {
            self.touched.push(bucket);
        }
        *count += 1;
        self.sum_ns += u128::from(latency_ns);
    }

    fn close_second(&mut self) {
        if self.touched.is_empty() {
            return;
        }
        let take = |bucket| (bucket, std::mem::take(&mut self.counts[usize::from(bucket)]));
        let hit = self.touched.drain(..).map(take).collect();
        self.past.push(&(self.second, hit));
    }

    /// Takes over what another recorder of the same phase has seen.
    pub fn merge(&mut self, mut other: Self) {
        other.close_second();
        self.past.append(other.past);
        self.sum_ns += other.sum_ns;
    }

    /// Bytes that past seconds take, in memory and in the file.
    #[cfg(any(test, feature = "tests"))]
    pub fn past_bytes(&self) -> usize {
        self.past.bytes()
    }

    /// The distribution so far, and one histogram a second.
    ///
    /// # Errors
    /// When the file that past seconds were put into cannot be read.
    pub fn finish(mut self) -> io::Result<(Histogram<u64>, Vec<SecondHistogram>, LatencySummary)> {
        self.close_second();
        let (mut total, mut encoded) = (histogram(), Vec::new());
        let seconds = self.past.sorted()?;
        for same in seconds.chunk_by(|one, other| one.0 == other.0) {
            let mut histogram = histogram();
            for &(bucket, count) in same.iter().flat_map(|(_, hit)| hit) {
                histogram
                    .record_n(lowest_of(bucket).max(1), u64::from(count))
                    .expect("buckets lie within the bounds");
            }
            total.add(&histogram).expect("both histograms have the same bounds");
            encoded.push(SecondHistogram { second: same[0].0, v2: encode(&histogram) });
        }
        let mut summary = LatencySummary::of(&total);
        if summary.count > 0 {
            summary.mean_ns = self.sum_ns as f64 / summary.count as f64;
        }
        Ok((total, encoded, summary))
    }
}

/// Values below this have a bucket each; above, each doubling has half as many buckets: three significant digits, as HdrHistogram has them.
const EXACT: u64 = 2_048;

/// The bucket of a latency.
#[inline]
fn bucket_of(latency_ns: u64) -> u16 {
    let latency_ns = latency_ns.min(LONGEST_NS);
    let shift = (EXACT - 1).leading_zeros() - (latency_ns | (EXACT - 1)).leading_zeros();
    let bucket = u64::from(shift) * (EXACT / 2) + (latency_ns >> shift);
    u16::try_from(bucket).unwrap_or(u16::MAX)
}

/// The smallest latency of a bucket.
fn lowest_of(bucket: u16) -> u64 {
    let bucket = u64::from(bucket);
    let shift = (bucket / (EXACT / 2)).saturating_sub(1);
    (bucket - shift * (EXACT / 2)) << shift
}

impl LatencySummary {
    /// The figures of no operation at all.
    pub const fn empty() -> Self {
        Self {
            count: 0,
            mean_ns: 0.0,
            p50_ns: None,
            p90_ns: None,
            p95_ns: None,
            p99_ns: None,
            p999_ns: None,
            min_ns: 0,
            max_ns: 0,
        }
    }

    /// The figures of this histogram.
    pub fn of(histogram: &Histogram<u64>) -> Self {
        let count = histogram.len();
        let percentile = |of: Percentile| {
            percentile_supported(count, of).then(|| value_at_rank(histogram, of.rank(count)))
        };
        Self {
            count,
            mean_ns: histogram.mean(),
            p50_ns: percentile(Percentile::MEDIAN),
            p90_ns: percentile(Percentile::P90),
            p95_ns: percentile(Percentile::P95),
            p99_ns: percentile(Percentile::P99),
            p999_ns: percentile(Percentile::P99_9),
            min_ns: histogram.min(),
            max_ns: histogram.max(),
        }
    }

    /// The figures of one-second histograms put together.
    ///
    /// # Errors
    /// When a histogram cannot be decoded, in words.
    pub fn of_seconds(seconds: &[SecondHistogram]) -> Result<Self, String> {
        Ok(Self::of(&total(seconds)?))
    }
}

/// The value of the sample of this rank, from 1 to the number of samples, in ns.
pub fn value_at_rank(histogram: &Histogram<u64>, rank: u64) -> u64 {
    // Half a sample below the rank, so that no rounding of the quotient makes it the next one.
    histogram.value_at_quantile((rank as f64 - 0.5) / histogram.len() as f64)
}

/// One-second histograms put together.
///
/// # Errors
/// When a histogram cannot be decoded, in words.
pub fn total<'a>(seconds: impl IntoIterator<Item = &'a SecondHistogram>) -> Result<Histogram<u64>, String> {
    let mut total = histogram();
    for second in seconds {
        total
            .add(decode(&second.v2)?)
            .map_err(|error| format!("histogram of second {}: {error:?}", second.second))?;
    }
    Ok(total)
}

/// The one-second histograms of two recorders, put together second by second.
///
/// # Errors
/// When a histogram cannot be decoded, in words.
pub fn merge_seconds(
    one: &[SecondHistogram],
    other: &[SecondHistogram],
) -> Result<Vec<SecondHistogram>, String> {
    let mut merged: BTreeMap<u64, Histogram<u64>> = BTreeMap::new();
    for second in one.iter().chain(other) {
        merged
            .entry(second.second)
            .or_insert_with(histogram)
            .add(decode(&second.v2)?)
            .map_err(|error| format!("histogram of second {}: {error:?}", second.second))?;
    }
    let encoded =
        merged.into_iter().map(|(second, histogram)| SecondHistogram { second, v2: encode(&histogram) });
    Ok(encoded.collect())
}

fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(histogram, &mut bytes).expect("writing to memory does not fail");
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
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
    check_bounds(&bytes)?;
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| format!("a raw histogram cannot be read: {error}"))
}

/// What stands before the counts of a V2 histogram.
const HEADER_BYTES: usize = 40;

/// Refuses a histogram of other bounds before memory is taken for it. Its header may ask for any amount, and it could not be added to ours. The header is
/// cookie, length, offset, digits, lowest and highest value.
fn check_bounds(bytes: &[u8]) -> Result<(), String> {
    let number = |at: usize, length: usize| {
        let part = bytes.get(at..at + length)?;
        Some(part.iter().fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte)))
    };
    // The reader takes as much memory as the header says.
    let length = number(4, 4);
    if length.is_none_or(|length| length > bytes.len().saturating_sub(HEADER_BYTES) as u64) {
        return Err("a raw histogram ends before its end".to_owned());
    }
    let (digits, lowest, highest) = (number(12, 4), number(16, 8), number(24, 8));
    let fits = digits == Some(3) && lowest == Some(1) && highest.is_some_and(|it| it <= LONGEST_NS);
    if fits {
        return Ok(());
    }
    Err("a raw histogram has other bounds than those of sensormark".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::synthetic::Random;
    use sensormark_data::units::round_u64;

    #[test]
    fn percentiles_need_ten_samples_beyond_them() {
        let summary = |count: u64| {
            let mut recorder = LatencyRecorder::new();
            for value in 1..=count {
                recorder.record(value * 1_000, value * 10_000_000);
            }
            recorder.finish().expect("all in memory").2
        };
        assert_eq!(summary(999).p99_ns, None);
        assert!(summary(999).p95_ns.is_some());
        assert!(summary(1_000).p99_ns.is_some());
    }

    /// The five percentiles as they are printed.
    fn percentiles(summary: &LatencySummary) -> [Option<u64>; 5] {
        [summary.p50_ns, summary.p90_ns, summary.p95_ns, summary.p99_ns, summary.p999_ns]
    }

    /// Latencies from nanoseconds to an hour, of numbers around those that a percentile needs. All percentiles agree with exact sorting to three digits, and
    /// are there exactly where ten latencies lie beyond. The seconds add up to the whole.
    #[test]
    fn percentiles_agree_with_exact_sorting() {
        let mut random = Random::new(41);
        let mut compared = 0;
        for count in [0, 19, 20, 99, 100, 199, 200, 999, 1_000, 9_999, 10_000, 10_010] {
            let mut recorder = LatencyRecorder::new();
            let draw = |_| round_u64((random.uniform() * (LONGEST_NS as f64).ln()).exp());
            let values: Vec<u64> = (0..count).map(draw).collect();
            for (place, value) in (0_u64..).zip(&values) {
                recorder.record(*value, place * 1_000_000);
            }
            let (_, seconds, summary) = recorder.finish().expect("all in memory");
            let again = LatencySummary::of_seconds(&seconds).unwrap();
            assert_eq!(percentiles(&again), percentiles(&summary));
            let mut sorted: Vec<f64> = values.iter().map(|value| *value as f64).collect();
            sorted.sort_by(f64::total_cmp);
            for (found, percentile) in percentiles(&summary).into_iter().zip(Percentile::REPORTED) {
                let exact = statistics::percentile(&sorted, percentile);
                assert_eq!(found.is_some(), exact.is_some(), "{count} {percentile:?}");
                if let Some((found, exact)) = found.zip(exact) {
                    compared += 1;
                    let error = (found as f64 - exact).abs();
                    assert!(error <= exact * 1e-3, "{count} {percentile:?}: {found} {exact}");
                }
            }
        }
        assert_eq!(compared, 30);
    }

    #[test]
    fn buckets_are_those_of_the_histogram() {
        let reference = histogram();
        for exponent in 0..42 {
            for offset in [0, 1, 3, 1_000, 999_999] {
                let latency_ns = ((1_u64 << exponent) + offset).min(LONGEST_NS);
                let lowest = lowest_of(bucket_of(latency_ns));
                assert_eq!(lowest, reference.lowest_equivalent(latency_ns), "{latency_ns}");
                assert_eq!(bucket_of(lowest), bucket_of(latency_ns));
            }
        }
        assert_eq!(bucket_of(u64::MAX), bucket_of(LONGEST_NS));
    }

    #[test]
    fn a_past_second_takes_few_bytes() {
        let mut recorder = LatencyRecorder::new();
        for second in 0..3_600_u64 {
            for latency_ns in [2_000_000, 3_000_000] {
                recorder.record(latency_ns, second * 1_000_000_000);
            }
        }
        let bytes = recorder.past_bytes() / 3_600;
        assert!(bytes <= 20, "{bytes} bytes a second");
        assert_eq!(recorder.finish().expect("all in memory").1.len(), 3_600);
    }

    #[test]
    fn recorders_of_several_threads_become_one() {
        let (mut one, mut other, mut both) =
            (LatencyRecorder::new(), LatencyRecorder::new(), LatencyRecorder::new());
        for i in 0..5_000_u64 {
            let (latency, since) = ((i * 7_919) % 3_000_000, i * 2_000_000);
            both.record(latency, since);
            if i % 3 == 0 { &mut one } else { &mut other }.record(latency, since);
        }
        one.merge(other);
        let [merged, both] = [one, both].map(|recorder| recorder.finish().expect("all in memory"));
        assert_eq!(merged.0, both.0);
        assert_eq!((merged.1, merged.2), (both.1, both.2));
    }

    #[test]
    fn rubbish_is_refused_in_words() {
        assert!(decode("zz").is_err());
        assert!(decode("00ff").is_err());
        assert!(decode("0").is_err());
        let good = encode(&histogram());
        assert!(decode(&good).is_ok());
        // Five digits, up to the largest number: a table of hundreds of megabytes.
        let huge = Histogram::<u64>::new_with_bounds(1, u64::MAX / 2, 3).unwrap();
        assert!(decode(&encode(&huge)).unwrap_err().contains("other bounds"));
        let fine = good.replacen("00000003", "00000005", 1);
        assert!(decode(&fine).unwrap_err().contains("other bounds"), "{fine}");
    }
}
