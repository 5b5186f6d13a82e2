//! Ingest rate over rows stored: from the counts of each second.

use super::figures::loads;
use crate::measurement::latency::decode;
use crate::measurement::record::{LoadRecord, TrialRecord};
use crate::workload::billing::INGEST;
use std::collections::BTreeMap;

/// Rows stored at the end of each second of loading, from (0, 0) on: (seconds of loading, rows). What is left of a load beyond its last whole second, a
/// few operations perhaps, is told together with that second.
pub fn curve(trial: &TrialRecord) -> Vec<(f64, f64)> {
    let mut points = vec![(0.0, 0.0)];
    let (mut before, mut rows) = (0.0, 0.0);
    for load in loads(trial, INGEST) {
        let mut is_first = true;
        for (second, count) in counts(load) {
            rows += count;
            let end = (second + 1) as f64;
            if end > load.seconds && !is_first {
                points.pop();
            }
            points.push((before + end.min(load.seconds), rows));
            is_first = false;
        }
        before += load.seconds;
    }
    points
}

/// Operations that finished in each second.
fn counts(load: &LoadRecord) -> BTreeMap<u64, f64> {
    let mut counts = BTreeMap::new();
    for second in load
        .classes
        .values()
        .flat_map(|class| &class.latency.seconds)
    {
        // A histogram that cannot be read is as if it were not there: the rates of all others stay right.
        if let Ok(histogram) = decode(&second.v2) {
            *counts.entry(second.second).or_default() += histogram.len() as f64;
        }
    }
    counts
}

/// Rows a second in each of so many equal parts of all rows; none where there was less than a second for each.
pub fn by_parts(curve: &[(f64, f64)], parts: usize) -> Vec<Option<f64>> {
    let all = curve.last().map_or(0.0, |point| point.1);
    if curve.len() <= parts || all <= 0.0 {
        return vec![None; parts];
    }
    let at = |part: usize| time_of(curve, all * part as f64 / parts as f64);
    (0..parts)
        .map(|part| {
            let length = at(part + 1) - at(part);
            (length > 0.0).then(|| all / parts as f64 / length)
        })
        .collect()
}

/// When this many rows were stored, in seconds of loading; evenly between two points.
fn time_of(curve: &[(f64, f64)], rows: f64) -> f64 {
    let mut pairs = curve.windows(2);
    let found = pairs.find(|pair| rows <= pair[1].1);
    match found {
        Some([from, to]) if to.1 > from.1 => {
            from.0 + (to.0 - from.0) * (rows - from.1) / (to.1 - from.1)
        }
        Some([_, to]) => to.0,
        _ => curve.last().map_or(0.0, |point| point.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_falls_is_seen_to_fall() {
        // 1,000 rows a second for four seconds, then 500 a second for eight.
        let mut curve = vec![(0.0, 0.0)];
        for second in 1..=12 {
            let rows = if second <= 4 {
                f64::from(second) * 1_000.0
            } else {
                4_000.0 + f64::from(second - 4) * 500.0
            };
            curve.push((f64::from(second), rows));
        }
        let parts = by_parts(&curve, 4);
        let rates: Vec<f64> = parts.into_iter().flatten().collect();
        assert_eq!(rates, [1_000.0, 1_000.0, 500.0, 500.0]);
        // A part over the change: 1,334 rows at the one and 1,333 at the other.
        let third = by_parts(&curve, 3)[1].expect("a rate");
        assert!((third - 8_000.0 / 3.0 / 4.0).abs() < 1.0, "{third}");
        assert_eq!(by_parts(&curve[..3], 4), [None; 4]);
    }
}
