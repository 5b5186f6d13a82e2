//! How long reads took: the second chart of the page's first screen. It shows a median with its interval over repetitions, and a 99th percentile, or single
//! values where there are too few for one. Whole distributions are in [`super::curves`].

use crate::{html::curves::digits, prelude::*, sections::medians::median, size};
use sensormark_result::measurement::latency::total;

/// What all kinds of reads together are called.
const ALL: &str = "all reads";
/// Single values that are drawn of an operation, at most.
const MOST_POINTS: u32 = 40;

/// The reads of a trial by their names.
type Reads<'a> = Vec<(String, &'a LatencyRecord)>;

/// What the reads of everybody took: the operations, and what each contestant took for each of them, in the order of the field's contestants.
pub fn reads(field: &Field) -> (Vec<String>, Vec<Vec<Value>>) {
    let size = size::measured(field);
    let arms: Vec<Vec<Reads<'_>>> = field
        .contestants()
        .iter()
        .map(|arm| field.valid_of(arm).map(|trial| asked(trial, size)).collect())
        .collect();
    let mut operations = each_once(arms.iter().flatten().flatten().map(|(name, _)| name.clone()));
    let common = common(&arms);
    let is_several = operations.len() > 1 && !common.is_empty();
    let of = |trials: &Vec<Reads<'_>>| {
        let all = is_several.then(|| together(trials, &common));
        let each = operations.iter().map(|name| took(trials, name));
        all.into_iter().chain(each).collect()
    };
    let values = arms.iter().map(of).collect();
    if is_several {
        operations.insert(0, ALL.to_owned());
    }
    (operations, values)
}

/// Names of the reads that all who read anything did.
fn common(arms: &[Vec<Reads<'_>>]) -> BTreeSet<String> {
    let mut sets = arms
        .iter()
        .flatten()
        .filter(|reads| !reads.is_empty())
        .map(|reads| reads.iter().map(|(name, _)| name.clone()).collect());
    let first: BTreeSet<String> = sets.next().unwrap_or_default();
    sets.fold(first, |common, own| &common & &own)
}

/// What the trial asked: of a steady rate its reads from when they were due, else each load that does not write, at the measured size where the data grow.
fn asked(trial: &TrialRecord, size: Option<u64>) -> Reads<'_> {
    let own = trial
        .latencies
        .get(names::CYCLE_READ)
        .into_iter()
        .map(|record| (names::CYCLE_READ.replace('_', " "), record));
    let of_loads = trial
        .loads
        .iter()
        .filter(|load| !load.warm_up && !load.writes)
        .filter(|load| size.is_none() || load.stored() == size)
        .flat_map(|load| {
            load.classes.iter().map(move |(class, record)| (name(load, class), &record.latency))
        });
    own.chain(of_loads).filter(|(_, record)| record.summary.count > 0).collect()
}

fn name(load: &LoadRecord, class: &str) -> String {
    clean(&each_once([load.phase.as_str(), &load.name, class]).join(", ")).replace('_', " ")
}

/// One operation: nothing where nobody asked it.
fn took(trials: &[Reads<'_>], operation: &str) -> Value {
    let records = trials
        .iter()
        .flatten()
        .filter(|(name, _)| name == operation)
        .map(|(_, record)| *record)
        .collect_vec();
    let medians: Option<Vec<f64>> = records.iter().map(|record| median(record)).collect();
    let Some(median) = medians.and_then(|medians| Estimate::geometric(&medians)) else {
        return Value::Null;
    };
    let p99 = geometric(records.iter().map(|record| p99(record)));
    let points = if p99.is_some() { vec![] } else { points(&records) };
    let count = records.iter().map(|record| record.summary.count).total();
    value(median, p99, points, count)
}

/// All operations that everybody asked, each counting alike: geometric means over them. The points are the operations' medians.
fn together(trials: &[Reads<'_>], common: &BTreeSet<String>) -> Value {
    let trials: Vec<Vec<&LatencyRecord>> = trials
        .iter()
        .map(|reads| {
            reads.iter().filter(|(name, _)| common.contains(name)).map(|(_, record)| *record).collect()
        })
        .collect();
    let over = |figure: fn(&LatencyRecord) -> Known| -> Option<Vec<f64>> {
        trials.iter().map(|records| geometric(records.iter().map(|record| figure(record)))).collect()
    };
    let Some(median_of_all) = over(median).and_then(|medians| Estimate::geometric(&medians)) else {
        return Value::Null;
    };
    let p99 = over(p99).and_then(|values| Some(Estimate::geometric(&values)?.value));
    let points =
        trials.first().filter(|_| p99.is_none()).into_iter().flatten().filter_map(|r| median(r)).collect();
    let count = trials.iter().flatten().map(|record| record.summary.count).total();
    value(median_of_all, p99, points, count)
}

fn value(median: Estimate, p99: Known, points: Vec<f64>, count: u64) -> Value {
    let points = points.into_iter().map(digits).collect_vec();
    json!({
        "value": digits(median.value),
        "low": median.interval.map(|interval| digits(interval.low)),
        "high": median.interval.map(|interval| digits(interval.high)),
        "p99": p99.map(digits),
        "points": points,
        "count": count,
    })
}

/// The geometric mean; nothing where one is missing.
fn geometric(values: impl Iterator<Item = Known>) -> Known {
    let values: Option<Vec<f64>> = values.collect();
    Some(Estimate::geometric(&values?)?.value)
}

/// In ms; nothing where there are too few samples beyond it.
fn p99(record: &LatencyRecord) -> Known {
    Some(record.summary.p99_ns? as f64 / 1e6)
}

/// Values from the smallest to the largest, in ms, evenly by rank.
fn points(records: &[&LatencyRecord]) -> Vec<f64> {
    let Ok(all) = total(records.iter().flat_map(|record| &record.seconds)) else {
        return vec![];
    };
    let count = u32::try_from(all.len()).unwrap_or(MOST_POINTS).min(MOST_POINTS);
    let last = f64::from(count.max(2) - 1);
    (0..count).map(|place| all.value_at_quantile(f64::from(place) / last) as f64 / 1e6).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_result::measurement::latency::LatencyRecorder;

    fn record(milliseconds: &[u64]) -> LatencyRecord {
        let mut recorder = LatencyRecorder::new();
        for value in milliseconds {
            recorder.record(value * 1_000_000, 5);
        }
        let (_, seconds, summary) = recorder.finish().expect("all in memory");
        LatencyRecord { open_loop: false, summary, seconds }
    }

    #[test]
    fn few_reads_are_single_points_and_many_have_a_percentile() {
        let few = record(&[4, 1, 2]);
        let found = took(&[vec![("a".to_owned(), &few)]], "a");
        let points: Vec<f64> = serde_json::from_value(found["points"].clone()).expect("numbers");
        assert_eq!(points.len(), 3);
        assert!((points[0] - 1.0).abs() < 0.01 && (points[2] - 4.0).abs() < 0.01);
        assert!((found["value"].as_f64().expect("a median") - 2.0).abs() < 0.01);
        assert!(found["p99"].is_null());
        let many: Vec<u64> = (1..=2_000).collect();
        let many = record(&many);
        let trials = vec![vec![("a".to_owned(), &many)]; 3];
        let found = took(&trials, "a");
        assert!((found["p99"].as_f64().expect("a percentile") - 1_980.0).abs() < 5.0);
        assert_eq!(found["points"], json!([]));
        assert_eq!(found["low"], found["high"], "three alike");
        assert_eq!(took(&trials, "b"), Value::Null);
    }

    #[test]
    fn all_reads_together_count_alike_and_only_what_everybody_asked() {
        let (slow, fast) = (record(&[100]), record(&[1]));
        let both = vec![("slow".to_owned(), &slow), ("fast".to_owned(), &fast)];
        let one = vec![("slow".to_owned(), &slow)];
        let arms = [vec![both.clone()], vec![one]];
        assert_eq!(common(&arms), BTreeSet::from(["slow".to_owned()]));
        let all = BTreeSet::from(["slow".to_owned(), "fast".to_owned()]);
        let found = together(&[both], &all);
        assert!((found["value"].as_f64().expect("a mean") - 10.0).abs() < 0.05);
        assert_eq!(found["points"].as_array().map(Vec::len), Some(2));
    }
}
