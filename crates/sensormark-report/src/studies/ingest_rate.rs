//! Ingest rate over rows stored, from the counts of each second: in parts, and as lines.

use super::*;

/// Parts of the rows that the rate is shown for.
const PARTS: usize = 5;
/// Points of a line; of longer ones every n-th is taken.
const MOST_POINTS: usize = 200;

/// Rows a second in the part of the rows stored that ends with this percentage of them.
pub fn part(trial: &TrialRecord, percent: &str) -> Known {
    rate(&curve(trial), percent.parse::<usize>().ok()? * PARTS / 100, PARTS)
}

/// Rows a second over rows stored, of the first valid trial of each implementation, as lines that a page draws.
pub fn drawn(field: &Field) -> Table {
    let (x, y) = (("rows stored", ""), ("operations", "1/s"));
    let mut drawn = figure("ingest_rate", "Ingest rate over rows stored", (Shape::Lines, false), Some(x), y);
    for arm in &field.mixed {
        let curve = field.valid_of(arm).next().map_or_else(Vec::new, curve);
        for pair in curve
            .windows(2)
            .filter(|pair| pair[1].0 > pair[0].0 && curve.len() > 2)
            .step_by(curve.len().saturating_sub(1).div_ceil(MOST_POINTS).max(1))
        {
            let rate = (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0);
            point(&mut drawn, &arm.label, HERE, Some(Cell::number(pair[1].1)), Cell::number(rate));
        }
    }
    drawn.noted("A point a second, of the first valid trial; the study shows none.")
}

/// Rows stored at the end of each second of loading, from (0, 0) on: (seconds of loading, rows). A load may have a few operations beyond its last
/// whole second. They count with that second.
fn curve(trial: &TrialRecord) -> Vec<(f64, f64)> {
    let mut points = vec![(0.0, 0.0)];
    let (mut before, mut rows) = (0.0, 0.0);
    for load in Loads::parse("ingest").finished(trial) {
        let start = points.len();
        for (second, count) in counts(load) {
            rows += count;
            let end = (second + 1) as f64;
            if end > load.seconds && points.len() > start {
                points.pop();
            }
            points.push((before + end.min(load.seconds), rows));
        }
        before += load.seconds;
    }
    points
}

/// Operations that finished in each second.
fn counts(load: &LoadRecord) -> BTreeMap<u64, f64> {
    let mut counts = BTreeMap::new();
    for second in load.classes.values().flat_map(|class| &class.latency.seconds) {
        // A histogram that cannot be read is as if it were not there: the rates of all others stay right.
        if let Ok(histogram) = decode(&second.v2) {
            *counts.entry(second.second).or_default() += histogram.len() as f64;
        }
    }
    counts
}

/// Rows a second in one of so many equal parts of all rows; none where there was less than a second for each.
fn rate(curve: &[(f64, f64)], part: usize, parts: usize) -> Known {
    let all = curve.last().filter(|_| curve.len() > parts)?.1;
    let at = |part: usize| time_of(curve, all * part as f64 / parts as f64);
    let length = at(part)? - at(part.checked_sub(1)?)?;
    (length > 0.0).then(|| all / parts as f64 / length)
}

/// When this many rows were stored, in seconds of loading; evenly between two points.
fn time_of(curve: &[(f64, f64)], rows: f64) -> Known {
    match curve.windows(2).find(|pair| rows <= pair[1].1) {
        Some([from, to]) if to.1 > from.1 => {
            Some(from.0 + (to.0 - from.0) * (rows - from.1) / (to.1 - from.1))
        }
        found => Some(found.unwrap_or(curve).last()?.0),
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
        let rates: Vec<f64> = (1..=4).filter_map(|part| rate(&curve, part, 4)).collect();
        assert_eq!(rates, [1_000.0, 1_000.0, 500.0, 500.0]);
        // A part over the change: 1,334 rows at the one and 1,333 at the other.
        let third = rate(&curve, 2, 3).expect("a rate");
        assert!((third - 8_000.0 / 3.0 / 4.0).abs() < 1.0, "{third}");
        assert_eq!((1..=4).find_map(|part| rate(&curve[..3], part, 4)), None);
    }
}
