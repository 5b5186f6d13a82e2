//! How far the weights decide who costs least: over all weights, and by one weight alone. It says nothing of chance.

use super::log_cost;

/// Logarithms of costs nearer than this are equal: rounding of floating-point sums.
const EQUAL: f64 = 1e-9;

/// The smallest change of one weight that draws another level with who costs least.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightChange {
    /// Place of the criterion.
    pub criterion: usize,
    /// The weight at which the two cost the same.
    pub to: f64,
    /// Place of the other.
    pub challenger: usize,
}

/// The share of all weights for which each of these costs least, 0 to 1; a tie is shared. Weights are drawn evenly from the simplex (0 or more, sum 1): they
/// are the gaps between sorted uniform numbers (Devroye 1986, Non-Uniform Random Variate Generation, V.2). The numbers come from `SplitMix64` with `seed`, so
/// they are the same on every machine.
#[must_use]
pub fn win_shares(all: &[Vec<f64>], draws: u32, seed: u64) -> Vec<f64> {
    let mut wins = vec![0.0; all.len()];
    let Some(criteria) = all.first().map(Vec::len) else {
        return wins;
    };
    let mut state = seed;
    for _ in 0..draws {
        let weights = even_weights(criteria, &mut state);
        let costs: Vec<f64> = all.iter().map(|values| log_cost(values, &weights)).collect();
        let winners = lowest(&costs);
        for winner in &winners {
            wins[*winner] += 1.0 / winners.len() as f64;
        }
    }
    wins.into_iter().map(|wins| wins / f64::from(draws.max(1))).collect()
}

/// Places of the lowest of these.
fn lowest(costs: &[f64]) -> Vec<usize> {
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    (0..costs.len()).filter(|place| costs[*place] <= least + EQUAL).collect()
}

/// The smallest change of one weight that changes who costs least. A weight may grow without bound, and fall to above 0. None where no single weight can, or
/// where two cost least already.
///
/// A challenger costs Σ w g more, where g is the logarithm of its value over the winner's. With another weight of criterion j the two are level at
/// w(j) − Σ w g / g(j).
#[must_use]
pub fn smallest_change(all: &[Vec<f64>], weights: &[f64]) -> Option<WeightChange> {
    let costs: Vec<f64> = all.iter().map(|values| log_cost(values, weights)).collect();
    let [winner] = lowest(&costs)[..] else {
        return None;
    };
    let gaps_of = |challenger: usize| -> Vec<f64> {
        all[challenger].iter().zip(&all[winner]).map(|(its, least)| (its / least).ln()).collect()
    };
    let changes = (0..all.len()).filter(|place| *place != winner).flat_map(|challenger| {
        let gaps = gaps_of(challenger);
        let lead: f64 = gaps.iter().zip(weights).map(|(gap, weight)| gap * weight).sum();
        let to = |(criterion, gap): (usize, &f64)| {
            let to = weights[criterion] - lead / gap;
            (gap.abs() > EQUAL && to > 0.0).then_some(WeightChange { criterion, to, challenger })
        };
        gaps.iter().enumerate().filter_map(to).collect::<Vec<_>>()
    });
    let size = |change: &WeightChange| (change.to - weights[change.criterion]).abs();
    changes.min_by(|one, other| size(one).total_cmp(&size(other)))
}

/// A point drawn evenly from the simplex of `count` weights: the gaps between `count` − 1 sorted uniform numbers.
fn even_weights(count: usize, state: &mut u64) -> Vec<f64> {
    let mut cuts: Vec<f64> = (1..count).map(|_| uniform(state)).collect();
    cuts.push(1.0);
    cuts.sort_by(f64::total_cmp);
    let mut before = 0.0;
    for cut in &mut cuts {
        let gap = *cut - before;
        before = *cut;
        *cut = gap;
    }
    cuts
}

/// Uniform on [0, 1) from `SplitMix64` (Steele, Lea and Flood 2014).
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first is best by the first criterion (by a factor of 8), the second by the other (by 2).
    fn three() -> Vec<Vec<f64>> {
        vec![vec![1.0, 2.0], vec![8.0, 1.0], vec![8.0, 2.0]]
    }

    /// The first wins where 3 w > 1 − w.
    #[test]
    fn shares_are_the_areas_of_the_simplex() {
        let shares = win_shares(&three(), 100_000, 1);
        assert!((shares[0] - 0.75).abs() < 0.006 && (shares[1] - 0.25).abs() < 0.006, "{shares:?}");
        assert!(shares[2].abs() < 1e-12);
        assert_eq!(win_shares(&[], 10, 1), Vec::<f64>::new());
        assert_eq!(win_shares(&[vec![1.0], vec![1.0]], 10, 1), [0.5, 0.5]);
    }

    /// Level where 3 × the first weight is the second.
    #[test]
    fn the_smallest_change_is_exact() {
        let change = smallest_change(&three(), &[1.0, 1.0]).expect("a change");
        assert_eq!((change.criterion, change.challenger), (0, 1));
        assert!((change.to - 1.0 / 3.0).abs() < 1e-12, "{change:?}");
        assert_eq!(smallest_change(&three(), &[1.0, 3.0]), None, "two cost least");
        assert_eq!(smallest_change(&three()[..1], &[1.0, 1.0]), None);
    }
}
