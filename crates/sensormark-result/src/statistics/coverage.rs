//! How often the intervals over repetitions hold the truth: 1,000 synthetic data sets each, normal, skewed, and paired in
//! blocks that drift. The intervals within a repetition are held to the same by `batch_means`. It tests no power: see `paired`.

use super::synthetic::{Random, assert_covers, coverage};
use super::{RUN_VARIANCE, compare, compare_unpaired, summarize, summarize_logarithms};

/// Numbers of repetitions that are tried.
const REPETITIONS: [usize; 4] = [3, 5, 10, 16];

fn draw(random: &mut Random, count: usize, one: impl Fn(&mut Random) -> f64) -> Vec<f64> {
    (0..count).map(|_| one(random)).collect()
}

#[test]
fn the_mean_of_normal_repetitions() {
    for count in REPETITIONS {
        let found = coverage(21, |random| {
            let values = draw(random, count, |random| 40.0 + 4.0 * random.normal());
            let summary = summarize(&values).expect("finite values");
            summary.interval.expect("enough").contains(40.0)
        });
        assert_covers(found, &format!("mean of {count} normal repetitions"));
    }
}

/// Costs over repetitions spread by some percent and are a little skewed; the interval of their arithmetic mean bears that.
#[test]
fn the_mean_of_slightly_skewed_repetitions() {
    const SPREAD: f64 = 0.25;
    let truth = (SPREAD * SPREAD / 2.0).exp();
    for count in REPETITIONS {
        let found = coverage(22, |random| {
            let values = draw(random, count, |random| (SPREAD * random.normal()).exp());
            let summary = summarize(&values).expect("finite values");
            summary.interval.expect("enough").contains(truth)
        });
        assert_covers(found, &format!("mean of {count} skewed repetitions"));
    }
}

/// Lognormal with σ = 1: skewness 6. Times and rates have intervals on logarithms.
#[test]
fn the_geometric_mean_of_strongly_skewed_repetitions() {
    for count in REPETITIONS {
        let found = coverage(23, |random| {
            let values = draw(random, count, |random| 8.0 * random.normal().exp());
            let summary = summarize_logarithms(&values).expect("above 0");
            summary.interval.expect("enough").contains(8.0)
        });
        assert_covers(found, &format!("geometric mean of {count} repetitions"));
    }
}

/// Blocks drift by 30 % with a lag-1 correlation of 0.9, as a machine does that others use; each trial has noise of its own.
#[test]
fn the_ratio_of_paired_blocks() {
    for (count, ratio) in [(3, 1.0), (5, 1.05), (16, 1.05), (16, 3.0)] {
        let found = coverage(24, |random| {
            let drift = random.autoregressive(count, 0.9);
            let mut arm = |ratio: f64| -> Vec<Option<f64>> {
                let value = |block: &f64| ratio * (0.3 * block + 0.02 * random.normal()).exp();
                drift.iter().map(value).map(Some).collect()
            };
            let compared = compare(&arm(ratio), &arm(1.0)).expect("above 0");
            compared.interval.expect("enough").contains(ratio)
        });
        assert_covers(found, &format!("ratio {ratio} of {count} paired blocks"));
    }
}

#[test]
fn the_ratio_of_two_runs() {
    for (counts, spreads) in [((3, 3), (0.05, 0.05)), ((5, 8), (0.02, 0.2)), ((16, 16), (1.0, 0.5))] {
        let found = coverage(25, |random| {
            // Each run is off as a whole, by its share of what its repetitions vary.
            let [one, other] =
                [spreads.0, spreads.1].map(|spread| RUN_VARIANCE.sqrt() * spread * random.normal());
            let first = draw(random, counts.0, |random| (one + spreads.0 * random.normal()).exp());
            let second = draw(random, counts.1, |random| 1.2 * (other + spreads.1 * random.normal()).exp());
            let compared = compare_unpaired(&first, &second, 0.0).expect("above 0");
            compared.tested.expect("enough").interval.contains(1.2)
        });
        assert_covers(found, &format!("ratio of two runs of {counts:?}, spreads {spreads:?}"));
    }
}
