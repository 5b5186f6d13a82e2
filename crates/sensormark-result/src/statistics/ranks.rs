//! Ranks of implementations by one figure, shared where the data cannot tell them apart. Not the cost,
//! which weighs many criteria: see [`crate::cost`].

use serde::{Deserialize, Serialize};

use super::error::StatisticsError;
use super::holm::holm;
use super::interval::SIGNIFICANCE;
use super::paired::{PairedComparison, compare};
use super::summary::{LogSummary, SMALLEST_REPETITIONS, summarize_logarithms};

/// Which way a figure is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Less is better: a time, a cost.
    Lower,
    /// More is better: a throughput.
    Higher,
}

/// One implementation's figure in every block.
#[derive(Debug, Clone, PartialEq)]
pub struct Arm {
    /// The implementation.
    pub name: String,
    /// Its figure in each block, above 0; `None` where the trial is missing or invalid.
    pub blocks: Vec<Option<f64>>,
}

/// What the ranks rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// No arm has three repetitions: ranks are the bare order of the figures, and say nothing about chance.
    SingleTrial,
    /// Rank = 1 + the number of arms that are significantly better, corrected after Holm over all pairs.
    Significance,
}

/// An arm's place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rank {
    /// The implementation.
    pub name: String,
    /// Its place from 1, perhaps shared; `None` for an arm with fewer than three repetitions among others with
    /// three or more, which is not compared.
    pub rank: Option<usize>,
    /// Its own figures over all its repetitions; `None` where it has none.
    pub summary: Option<LogSummary>,
}

/// Two arms compared, by their places in the input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Place of the first arm in the input.
    pub first: usize,
    /// Place of the second arm in the input.
    pub second: usize,
    /// First against second.
    pub comparison: PairedComparison,
    /// p-value corrected after Holm over all pairs that have one; `None` where the pair has none.
    pub corrected_p: Option<f64>,
}

/// Ranks in the order of the input, and every pair behind them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// What the ranks rest on.
    pub basis: Basis,
    /// One a arm, in the order of the input.
    pub ranks: Vec<Rank>,
    /// All pairs with at least one block in common.
    pub pairs: Vec<Pair>,
}

impl Ranking {
    /// Whether the first of these arms is significantly better than the second, by their places in the input.
    pub fn is_better(&self, first: usize, second: usize, better: Better) -> bool {
        let is_of_both = |pair: &&Pair| {
            [pair.first, pair.second] == [first, second] || [pair.first, pair.second] == [second, first]
        };
        let mut pairs = self.pairs.iter().filter(is_of_both);
        pairs.any(|pair| beats(pair, second, better))
    }
}

/// Ranks the arms: 1 + the number of arms that are significantly better ([`SIGNIFICANCE`], paired by block, on log
/// ratios, Holm-corrected over all pairs). Two arms that share a rank may still differ from a third unalike.
/// Where no arm has [`SMALLEST_REPETITIONS`] values, the order of the geometric means is given instead, and
/// [`Basis::SingleTrial`] says so.
///
/// # Errors
/// A value that is not finite and above 0.
pub fn ranks(arms: &[Arm], better: Better) -> Result<Ranking, StatisticsError> {
    let summaries = arms.iter().map(summary).collect::<Result<Vec<_>, _>>()?;
    let repeated =
        |arm: usize| summaries[arm].is_some_and(|summary: LogSummary| summary.count >= SMALLEST_REPETITIONS);
    let pairs = all_pairs(arms)?;
    let single = !(0..arms.len()).any(repeated);
    let rank = |arm: usize| {
        if single {
            summaries[arm].map(|own| 1 + count_better(own, &summaries, better))
        } else {
            repeated(arm).then(|| 1 + pairs.iter().filter(|pair| beats(pair, arm, better)).count())
        }
    };
    Ok(Ranking {
        basis: if single { Basis::SingleTrial } else { Basis::Significance },
        ranks: (0..arms.len())
            .map(|arm| Rank { name: arms[arm].name.clone(), rank: rank(arm), summary: summaries[arm] })
            .collect(),
        pairs,
    })
}

/// The arm's own figures; `None` when every block is missing.
fn summary(arm: &Arm) -> Result<Option<LogSummary>, StatisticsError> {
    let values: Vec<f64> = arm.blocks.iter().copied().flatten().collect();
    if values.is_empty() {
        return Ok(None);
    }
    summarize_logarithms(&values).map(Some)
}

/// Every pair with a block in common, and Holm's correction over those with a p-value.
fn all_pairs(arms: &[Arm]) -> Result<Vec<Pair>, StatisticsError> {
    let mut pairs = Vec::new();
    for (first, one) in arms.iter().enumerate() {
        for (second, other) in arms.iter().enumerate().skip(first + 1) {
            match compare(&one.blocks, &other.blocks) {
                Ok(comparison) => pairs.push(Pair { first, second, comparison, corrected_p: None }),
                Err(StatisticsError::Empty) => {}
                Err(error) => return Err(error),
            }
        }
    }
    let p_values: Vec<f64> = pairs.iter().filter_map(|pair| pair.comparison.p_value).collect();
    let mut corrected = holm(&p_values).into_iter();
    for pair in pairs.iter_mut().filter(|pair| pair.comparison.p_value.is_some()) {
        pair.corrected_p = corrected.next();
    }
    Ok(pairs)
}

/// Whether the pair shows its other arm to be significantly better than `arm`.
fn beats(pair: &Pair, arm: usize, better: Better) -> bool {
    if pair.corrected_p.is_none_or(|p| p >= SIGNIFICANCE) {
        return false;
    }
    let first_better = match better {
        Better::Lower => pair.comparison.ratio < 1.0,
        Better::Higher => pair.comparison.ratio > 1.0,
    };
    if first_better { pair.second == arm } else { pair.first == arm }
}

/// How many arms have a better geometric mean.
fn count_better(own: LogSummary, all: &[Option<LogSummary>], better: Better) -> usize {
    all.iter()
        .flatten()
        .filter(|other| match better {
            Better::Lower => other.geometric_mean < own.geometric_mean,
            Better::Higher => other.geometric_mean > own.geometric_mean,
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::synthetic::Random;

    fn field(random: &mut Random, count: usize, rates: &[f64]) -> Vec<Arm> {
        let drift: Vec<f64> = (0..count).map(|_| (0.2 * random.normal()).exp()).collect();
        rates
            .iter()
            .map(|rate| Arm {
                name: format!("at {rate}"),
                blocks: drift
                    .iter()
                    .map(|block| Some(rate * block * (0.02 * random.normal()).exp()))
                    .collect(),
            })
            .collect()
    }

    fn places(ranking: &Ranking) -> Vec<Option<usize>> {
        ranking.ranks.iter().map(|rank| rank.rank).collect()
    }

    #[test]
    fn what_cannot_be_told_apart_shares_a_rank() {
        let arms = field(&mut Random::new(8), 10, &[100.0, 200.0, 100.0, 50.0]);
        let fastest = ranks(&arms, Better::Higher).unwrap();
        assert_eq!(fastest.basis, Basis::Significance);
        assert_eq!(places(&fastest), [Some(2), Some(1), Some(2), Some(4)]);
        let cheapest = ranks(&arms, Better::Lower).unwrap();
        assert_eq!(places(&cheapest), [Some(2), Some(4), Some(2), Some(1)]);
    }

    /// Five equal arms, ten pairs: without the correction, every third run would invent a winner.
    #[test]
    fn equal_arms_all_share_rank_one() {
        let mut random = Random::new(9);
        let invented = |holm: bool, random: &mut Random| {
            (0..1_000)
                .filter(|_| {
                    let arms = field(random, 6, &[100.0; 5]);
                    let ranking = ranks(&arms, Better::Higher).unwrap();
                    if holm {
                        places(&ranking).iter().any(|place| *place != Some(1))
                    } else {
                        ranking.pairs.iter().any(|pair| pair.comparison.p_value.unwrap() < SIGNIFICANCE)
                    }
                })
                .count()
        };
        let corrected = invented(true, &mut random);
        let bare = invented(false, &mut random);
        println!("false discoveries in 1,000 runs of five equal arms: {corrected}, uncorrected {bare}");
        assert!(corrected <= 65, "{corrected}");
        assert!(bare > 150, "{bare}");
    }

    #[test]
    fn two_repetitions_are_a_single_trial_without_shared_ranks() {
        let arms = field(&mut Random::new(10), 2, &[100.0, 100.0, 100.0]);
        let ranking = ranks(&arms, Better::Higher).unwrap();
        assert_eq!(ranking.basis, Basis::SingleTrial);
        let mut all: Vec<_> = places(&ranking).into_iter().flatten().collect();
        all.sort_unstable();
        assert_eq!(all, [1, 2, 3]);
        assert!(ranking.pairs.iter().all(|pair| pair.corrected_p.is_none()));
    }

    #[test]
    fn an_arm_with_too_few_repetitions_is_not_ranked_and_does_not_spoil_the_rest() {
        let mut arms = field(&mut Random::new(12), 8, &[100.0, 200.0, 400.0]);
        for block in arms[2].blocks.iter_mut().skip(2) {
            *block = None;
        }
        arms.push(Arm { name: "never valid".into(), blocks: vec![None; 8] });
        let ranking = ranks(&arms, Better::Higher).unwrap();
        assert_eq!(places(&ranking), [Some(2), Some(1), None, None]);
        assert!(ranking.ranks[3].summary.is_none());
    }
}
