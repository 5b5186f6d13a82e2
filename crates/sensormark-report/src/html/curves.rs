//! Latency distributions for the page's percentile plot, from the raw histograms of all valid repetitions put together.

use crate::prelude::*;
use sensormark_result::measurement::latency::{SAMPLES_BEYOND, total};

/// Points of a curve in each tenfold of the share beyond it.
const POINTS_A_DECADE: u32 = 6;
/// The last tenfold: a share of one in a million beyond.
const DECADES: u32 = 6;

/// The share beyond each point, the same for all curves.
fn shares() -> impl Iterator<Item = f64> {
    (0..=POINTS_A_DECADE * DECADES).map(|step| 10_f64.powf(-f64::from(step) / f64::from(POINTS_A_DECADE)))
}

/// All curves: the shares beyond their points, and each one's operation, implementation and latencies in ms.
pub fn curves(field: &Field) -> Value {
    let mut curves = vec![];
    for (_, arm) in field.all() {
        let mut histograms: BTreeMap<String, (bool, Vec<&SecondHistogram>)> = BTreeMap::new();
        for one in field.valid_of(arm).flat_map(timed).filter(|one| !one.warm_up) {
            let name = match one.phase {
                None => one.class.replace('_', " "),
                Some(phase) if phase == one.class => phase.to_owned(),
                Some(_) => one.operation(),
            };
            histograms.entry(name).or_insert((one.record.open_loop, vec![])).1.extend(&one.record.seconds);
        }
        let own = histograms.iter().filter_map(|(operation, (open_loop, seconds))| {
            let (count, points) = curve(seconds)?;
            Some(json!({
                "operation": clean(operation),
                "implementation": arm.label,
                "open_loop": open_loop,
                "count": count,
                "ms": points,
            }))
        });
        curves.extend(own);
    }
    json!({ "beyond": shares().collect_vec(), "all": curves })
}

/// How many latencies there are, and the curve's points in ms.
fn curve(seconds: &[&SecondHistogram]) -> Option<(u64, Vec<f64>)> {
    let total = total(seconds.iter().copied()).ok()?;
    let count = total.len();
    let points = shares()
        .take_while(|beyond| beyond * (count as f64) >= SAMPLES_BEYOND)
        .map(|beyond| digits(total.value_at_quantile(1.0 - beyond) as f64 / 1e6))
        .collect_vec();
    (points.len() > 1).then_some((count, points))
}

/// Four digits: the histograms hold three.
pub fn digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}
