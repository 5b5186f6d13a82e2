//! Latencies over repetitions: means, percentiles, and medians with their intervals where too few operations carry the percentiles.

use crate::prelude::*;
use sensormark_result::{
    measurement::latency::{total, value_at_rank},
    statistics::{Percentile, median_ranks},
};

/// What a table with such medians says of them.
pub const NOTE: &str = "The interval of a median is over repetitions where there are three. With fewer, two of the sorted latencies bound it, of all repetitions together (order statistics, 95 % by the binomial). Fewer than six latencies have no such interval: their range stands there.";

/// The column of medians, in ms.
pub fn column(has_intervals: bool) -> &'static str {
    if has_intervals { "median, 95 % interval [ms]" } else { "median [ms]" }
}

/// A percentile of a summary, in ns.
pub type Nanoseconds = fn(&LatencySummary) -> Option<u64>;

/// Whether operations were timed, and too few for this percentile in any repetition.
pub fn lacks(records: &[&LatencyRecord], percentile: Nanoseconds) -> bool {
    let mut timed = records.iter().filter(|one| one.summary.count > 0).peekable();
    timed.peek().is_some() && timed.all(|one| percentile(&one.summary).is_none())
}

/// Mean, median, these percentiles and the maximum of these repetitions, in ms.
pub fn cells(
    records: &[&LatencyRecord],
    has_intervals: bool,
    percentiles: &[Nanoseconds],
    missing: &str,
) -> Vec<Cell> {
    let of = |figure: &dyn Fn(&LatencySummary) -> Known| {
        records
            .iter()
            .map(|record| &record.summary)
            .filter(|summary| summary.count > 0)
            .map(|summary| Some(figure(summary)? / 1e6))
            .collect_vec()
    };
    let few = if records.is_empty() { missing } else { TOO_FEW };
    let percentile = |ns: Nanoseconds| geometric_mean(&of(&|summary| Some(ns(summary)? as f64)), few);
    let median =
        if has_intervals { with_interval(records, missing) } else { percentile(|summary| summary.p50_ns) };
    let mut cells = vec![geometric_mean(&of(&|summary| Some(summary.mean_ns)), missing), median];
    cells.extend(percentiles.iter().copied().map(percentile));
    cells.push(largest(&of(&|summary| Some(summary.max_ns as f64)), missing));
    cells
}

/// The median of these repetitions with its 95 % interval, in ms.
pub fn with_interval(records: &[&LatencyRecord], missing: &str) -> Cell {
    let of_each = || -> Vec<Known> { records.iter().map(|one| median(one)).collect() };
    if records.len() >= SMALLEST_REPETITIONS {
        return geometric_mean(&of_each(), missing);
    }
    match total(records.iter().flat_map(|record| &record.seconds)) {
        Ok(all) if !all.is_empty() => of_samples(&all),
        // A result without its raw histograms.
        _ => geometric_mean(&of_each(), missing),
    }
}

/// The median of a repetition in ms, however few its operations are.
pub fn median(record: &LatencyRecord) -> Known {
    let raw = || total(&record.seconds).ok().filter(|all| !all.is_empty());
    let ns = record.summary.p50_ns.or_else(|| Some(middle(&raw()?)))?;
    Some(ns as f64 / 1e6)
}

fn middle(all: &Histogram<u64>) -> u64 {
    value_at_rank(all, Percentile::MEDIAN.rank(all.len()))
}

/// The median of these latencies, between two of them.
fn of_samples(all: &Histogram<u64>) -> Cell {
    let ms = |ns: u64| ns as f64 / 1e6;
    let between =
        |(low, high)| Interval { low: ms(value_at_rank(all, low)), high: ms(value_at_rank(all, high)) };
    let spread = match median_ranks(all.len()) {
        Some(ranks) => Spread::Range(between(ranks)),
        None if all.len() > 1 => Spread::Extremes(between((1, all.len()))),
        None => Spread::None,
    };
    number(ms(middle(all)), spread)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::cell_text;
    use sensormark_result::measurement::latency::LatencyRecorder;

    /// A repetition with a latency of each of these, in ms.
    fn record(milliseconds: impl IntoIterator<Item = u64>) -> LatencyRecord {
        let mut recorder = LatencyRecorder::new();
        for (at, value) in (0..).zip(milliseconds) {
            recorder.record(value * 1_000_000, at * 700_000_000);
        }
        let (_, seconds, summary) = recorder.finish().expect("all in memory");
        LatencyRecord { open_loop: true, summary, seconds }
    }

    fn shown(records: &[LatencyRecord]) -> String {
        let records: Vec<&LatencyRecord> = records.iter().collect();
        cell_text(&with_interval(&records, "no operation"))
    }

    #[test]
    fn two_of_the_sorted_latencies_bound_a_median() {
        // Ranks 2 and 9 of 10, and 6 and 15 of 20; three digits of a histogram.
        assert_eq!(shown(&[record((1..=10).rev())]), "5.00 [2.00, 9.00]");
        assert_eq!(shown(&[record(1..=20)]), "10.0 [6.00, 15.0]");
        let two = [record(1..=10), record(11..=20)];
        assert_eq!(shown(&two), "10.0 [6.00, 15.0]", "both together");
        assert_eq!(shown(&[record(1..=6)]), "3.00 [1.00, 6.00]");
    }

    #[test]
    fn fewer_than_six_have_a_range_and_no_interval() {
        assert_eq!(shown(&[record([7, 1, 3, 2, 9])]), "3.00, range 1.00–9.00");
        assert_eq!(shown(&[record([7])]), "7.00");
        assert_eq!(shown(&[record([])]), "–");
        let cell = with_interval(&[&record([7, 1])], "no operation");
        assert!(matches!(cell, Cell::Number(of) if of.spread.interval().is_none()), "{cell:?}");
    }

    #[test]
    fn three_repetitions_have_the_interval_over_them() {
        let three = [record([2]), record([4]), record([8])];
        assert_eq!(shown(&three), "4.00 [0.715, 22.4]");
    }

    #[test]
    fn operations_that_carry_a_percentile_in_one_repetition_do_not_lack_it() {
        let (few, many) = (record(1..=30), record(1..=100));
        let p90 = |summary: &LatencySummary| summary.p90_ns;
        assert!(lacks(&[&few, &few], p90));
        assert!(!lacks(&[&few, &many], p90));
        assert!(!lacks(&[&record([])], p90), "nothing was timed");
    }
}
