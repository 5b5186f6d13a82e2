//! Latency distributions for the page's percentile plot, from the raw histograms of all valid repetitions put together.

use crate::prelude::*;
use sensormark_result::measurement::latency::{SAMPLES_BEYOND, histogram};

/// Points of a curve in each tenfold of the share beyond it.
const POINTS_A_DECADE: u32 = 6;
/// The last tenfold: a share of one in a million beyond.
const DECADES: u32 = 6;

/// One operation of one implementation.
type Key = (String, String);

/// The share beyond each point, the same for all curves.
fn shares() -> impl Iterator<Item = f64> {
    let step = |step| 10_f64.powf(-f64::from(step) / f64::from(POINTS_A_DECADE));
    (0..=POINTS_A_DECADE * DECADES).map(step)
}

/// All curves: the shares beyond their points, and each one's operation, implementation and latencies in ms.
pub fn curves(field: &Field) -> Value {
    let mut curves = vec![];
    for (_, arm) in field.all() {
        let mut histograms: BTreeMap<String, (bool, Vec<&SecondHistogram>)> = BTreeMap::new();
        for trial in field.valid_of(arm) {
            for (name, open_loop, seconds) in recorded(trial) {
                let entry = histograms.entry(name).or_insert((open_loop, vec![]));
                entry.1.extend(seconds);
            }
        }
        for (operation, (open_loop, seconds)) in histograms {
            let key = (clean(&operation), arm.label.clone());
            curves.extend(curve(&key, open_loop, &seconds));
        }
    }
    json!({ "beyond": shares().collect_vec(), "all": curves })
}

/// Everything that the trial timed: operation, whether from when it was due, histograms.
fn recorded(trial: &TrialRecord) -> Vec<(String, bool, &[SecondHistogram])> {
    let own = trial
        .latencies
        .iter()
        .map(|(name, record)| (name.replace('_', " "), record.open_loop, &record.seconds[..]));
    let counted = trial.loads.iter().filter(|load| !load.warm_up);
    let loads = counted.flat_map(|load| {
        load.classes.iter().map(|(class, record)| {
            let name = if *class == load.phase { class.clone() } else { format!("{}: {class}", load.phase) };
            (name, record.latency.open_loop, &record.latency.seconds[..])
        })
    });
    own.chain(loads).collect()
}

fn curve(key: &Key, open_loop: bool, seconds: &[&SecondHistogram]) -> Option<Value> {
    let mut total = histogram();
    for second in seconds {
        total.add(decode(&second.v2).ok()?).ok()?;
    }
    let count = total.len();
    let points = shares()
        .take_while(|beyond| beyond * (count as f64) >= SAMPLES_BEYOND)
        .map(|beyond| digits(total.value_at_quantile(1.0 - beyond) as f64 / 1e6))
        .collect_vec();
    (points.len() > 1).then(|| {
        json!({
            "operation": key.0,
            "implementation": key.1,
            "open_loop": open_loop,
            "count": count,
            "ms": points,
        })
    })
}

/// Four digits: the histograms hold three.
pub fn digits(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}
