//! The ranking: what everybody costs as a multiple of the lowest cost of its ranking, how sure that is, and who cannot be ranked.
//!
//! A contestant is a way of reading with the write trial of the same data. Its value by a criterion is the geometric mean over the repetitions in which its
//! trials are valid, so its cost is the geometric mean of the repetitions' costs.
//!
//! Rows stand in the order of their costs, each ranking by itself. Where the user asked for something to hold, who meets it stands before who does not. A rank is
//! 1 + the number of rows above that cost less, and never lower than that of the row above. The test takes the ratio of two costs, paired by repetition, corrected
//! after Holm. With fewer than three repetitions, costs that differ by less than [`ABOUT_THE_SAME`] are told apart by nobody.

pub use super::contest::Group;
use crate::{
    contest::{Contest, Contestant},
    prelude::*,
    requirements::Standing as Meets,
};
use sensormark_result::{
    cost::{log_cost, win_shares},
    statistics,
};

/// Weights drawn for the share that each contestant wins: a standard error of at most 0.35 %.
const DRAWS: u32 = 20_000;
/// The seed of the draws, fixed: the same results give the same report.
const DRAW_SEED: u64 = 0x5e_4504;

/// Costs that differ by less are about the same where chance was not tested.
pub const ABOUT_THE_SAME: f64 = 1.1;

/// Who costs how much, and who could not compete.
#[derive(Debug, Clone)]
pub struct Ranking {
    /// What is weighed, with its weight.
    pub criteria: Vec<(Criterion, f64)>,
    /// Whether ranks rest on at least three repetitions.
    pub basis: Basis,
    /// Group by group, best first.
    pub ranked: Vec<Ranked>,
    /// Who is not ranked (label), and why.
    pub unranked: Vec<(String, String)>,
    /// Those of them that were measured and only lack something that others have, by their places in [`Field::contestants`].
    pub lacking: Vec<usize>,
    /// How the costs were made.
    pub notes: Vec<String>,
    /// Who meets what the user asked to hold, where something was.
    pub requirements: Option<Requirements>,
}

/// A contestant with a cost.
#[derive(Debug, Clone)]
pub struct Ranked {
    /// Its place in [`Field::contestants`].
    pub read: usize,
    /// Its name in tables.
    pub label: String,
    /// Those it is ranked among.
    pub group: Group,
    /// Its rank there; those that share one cannot be told apart.
    pub rank: usize,
    /// Whether it meets what the user asked to hold, where something was.
    pub meets: Option<Meets>,
    /// Its value by each criterion, the floor where that is more.
    pub values: Vec<f64>,
    /// The same in each repetition; absent where it has none.
    pub blocks: Vec<Option<Vec<f64>>>,
    /// Its cost over the lowest of its ranking.
    pub ratio: f64,
    /// The 95 % interval of that, where there are enough repetitions.
    pub interval: Option<Interval>,
    /// Its value by each criterion over the lowest of its ranking.
    pub ratios: Vec<f64>,
    /// The share of all weights for which it costs least, 0 to 1.
    pub win_share: f64,
}

impl Ranked {
    /// What it is the cost of.
    pub fn arm<'a>(&self, field: &'a Field) -> &'a Arm {
        &field.contestants()[self.read]
    }

    /// Repetitions that it is ranked by.
    pub fn repetitions(&self) -> usize {
        self.blocks.iter().flatten().count()
    }

    /// Its cost in each repetition.
    fn costs(&self, weights: &[f64]) -> Vec<Known> {
        self.blocks.iter().map(|block| block.as_ref().map(|values| log_cost(values, weights).exp())).collect()
    }
}

impl Ranking {
    /// Ranks everybody that can be ranked.
    pub fn new(field: &Field, options: &ReportOptions) -> Self {
        let weighed = CRITERIA.into_iter().filter(|criterion| options.weights.of(criterion.id) > 0.0);
        let costs = Costs::of(field);
        let contest = Contest::new(field, &costs, weighed.collect());
        let criteria = contest.criteria.iter().map(|one| (*one, options.weights.of(one.id))).collect();
        let mut ranking = Self {
            criteria,
            basis: Basis::SingleTrial,
            ranked: contest.contestants.into_iter().map(|one| ranked(one, &contest.criteria)).collect(),
            unranked: contest.unranked,
            lacking: contest.lacking,
            notes: costs.notes(),
            requirements: Requirements::of(field),
        };
        ranking.rank();
        ranking.name_cheapest(field);
        ranking
    }

    /// The same with each layout once, by the way of reading that costs least, ranked or not.
    #[must_use]
    pub fn by_layout(&self, field: &Field) -> Self {
        let mut best = self.clone();
        let written = |read: &Arm| field.write_of(read).unwrap_or(read).label.clone();
        let layout = |place: usize| written(&field.contestants()[place]);
        let mut ranked = BTreeSet::new();
        best.ranked.retain(|one| ranked.insert(layout(one.read)));
        let (mut lacking, mut unranked) = (ranked.clone(), ranked);
        best.lacking.retain(|&place| lacking.insert(layout(place)));
        best.unranked.retain(|(label, _)| {
            let read = field.contestants().iter().find(|read| read.label == *label);
            unranked.insert(read.map_or_else(|| label.clone(), written))
        });
        best.rank();
        best
    }

    /// The weights of the criteria, in their order.
    pub fn weights(&self) -> Vec<f64> {
        self.criteria.iter().map(|(_, weight)| *weight).collect()
    }

    /// The rankings that there are, each best first.
    pub fn groups(&self) -> impl Iterator<Item = &[Ranked]> {
        self.ranked.chunk_by(|one, other| one.group == other.group)
    }

    /// Says who costs least of those that meet all, or all that could be decided; and of the servers among them where that is another.
    fn name_cheapest(&mut self, field: &Field) -> Option<()> {
        let requirements = self.requirements.as_mut()?;
        let best = self.ranked.iter().map(|one| one.meets).min()?;
        best.filter(|best| best.leads())?;
        let is_embedded = |one: &&Ranked| one.arm(field).implementation.embedded;
        let group = self.ranked.iter().find(|one| one.meets == best)?.group;
        let alike = self.ranked.iter().filter(|one| one.rank == 1 && one.group == group).collect_vec();
        let server = self
            .ranked
            .iter()
            .find(|one| one.meets == best && !is_embedded(one))
            .filter(|_| alike.iter().all(is_embedded));
        requirements.cheapest = alike.iter().map(|one| one.label.clone()).collect();
        requirements.cheapest_server = server.map(|one| one.label.clone());
        Some(())
    }

    /// Sorts, compares within each ranking, and gives ranks.
    fn rank(&mut self) {
        if let Some(requirements) = &self.requirements {
            for one in &mut self.ranked {
                one.meets = requirements.of_layout(&one.label).map(LayoutAnswer::standing);
            }
        }
        let weights = self.weights();
        self.ranked.sort_by(|one, other| {
            let by_cost = log_cost(&one.values, &weights).total_cmp(&log_cost(&other.values, &weights));
            one.group.cmp(&other.group).then(one.meets.cmp(&other.meets)).then(by_cost)
        });
        for group in self.ranked.chunk_by_mut(|one, other| one.group == other.group) {
            compare_with_lowest(group, &weights);
            if give_ranks(group, &weights) == Basis::Significance {
                self.basis = Basis::Significance;
            }
        }
    }

    /// The contestants of a ranking that share its first rank.
    pub fn first(group: &[Ranked]) -> Vec<&Ranked> {
        group.iter().filter(|one| one.rank == 1).collect()
    }
}

/// A contestant with its values over the floors, and nothing compared yet.
fn ranked(contestant: Contestant, criteria: &[Criterion]) -> Ranked {
    let floored = |values: super::costs::Values| -> Vec<f64> {
        criteria.iter().map(|criterion| values[criterion.id].max(criterion.floor)).collect()
    };
    let blocks = contestant.blocks.into_iter().map(|block| block.map(floored)).collect_vec();
    let mean = |criterion: usize| {
        let logs = blocks.iter().flatten().map(|values| values[criterion].ln()).collect_vec();
        (logs.iter().sum::<f64>() / logs.len() as f64).exp()
    };
    Ranked {
        read: contestant.read,
        label: contestant.label,
        group: contestant.group,
        rank: 0,
        meets: None,
        values: (0..criteria.len()).map(mean).collect(),
        blocks,
        ratio: 1.0,
        interval: None,
        ratios: vec![],
        win_share: 0.0,
    }
}

/// What everybody of a ranking costs over the lowest of it, overall and by each criterion.
fn compare_with_lowest(group: &mut [Ranked], weights: &[f64]) {
    let lowest = |value: &dyn Fn(&Ranked) -> f64| group.iter().map(value).fold(f64::INFINITY, f64::min);
    let least_cost = lowest(&|one| log_cost(&one.values, weights));
    let least = (0..weights.len()).map(|place| lowest(&|one| one.values[place])).collect_vec();
    let cheapest = group
        .iter()
        .find(|one| log_cost(&one.values, weights) <= least_cost)
        .map_or_else(Vec::new, |one| one.costs(weights));
    let values = group.iter().map(|one| one.values.clone()).collect_vec();
    for (one, share) in group.iter_mut().zip(win_shares(&values, DRAWS, DRAW_SEED)) {
        one.win_share = share;
        one.ratio = (log_cost(&one.values, weights) - least_cost).exp();
        one.ratios = one.values.iter().zip(&least).map(|(value, least)| value / least).collect();
        // Where a repetition is missing, the pairs have a ratio of their own.
        one.interval =
            compare(&one.costs(weights), &cheapest).ok().filter(|_| one.ratio > 1.0).and_then(|pairs| {
                let scale = one.ratio / pairs.ratio;
                pairs.interval.map(|it| Interval { low: it.low * scale, high: it.high * scale })
            });
    }
}

/// Gives a ranking its ranks, and says what they rest on.
fn give_ranks(group: &mut [Ranked], weights: &[f64]) -> Basis {
    let arms = group
        .iter()
        .map(|one| statistics::Arm { name: one.label.clone(), blocks: one.costs(weights) })
        .collect_vec();
    let tested =
        statistics::ranks(&arms, Better::Lower).ok().filter(|found| found.basis == Basis::Significance);
    let costs_less = |above: usize, below: usize| {
        let by_cost = match &tested {
            Some(found) => found.is_better(above, below, Better::Lower),
            None => group[below].ratio >= group[above].ratio * ABOUT_THE_SAME,
        };
        group[above].meets != group[below].meets || by_cost
    };
    let ranks = ranks_in_order(group.len(), costs_less);
    for (one, rank) in group.iter_mut().zip(ranks) {
        one.rank = rank;
    }
    tested.map_or(Basis::SingleTrial, |found| found.basis)
}

/// The ranks of so many rows that stand in an order. A rank is 1 + the number of rows above that are better, and never lower than the rank of the row above.
fn ranks_in_order(rows: usize, is_better: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut last = 1;
    (0..rows)
        .map(|row| {
            let better = (0..row).filter(|above| is_better(*above, row)).count();
            last = last.max(1 + better);
            last
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::ranks_in_order;

    #[test]
    fn no_rank_is_lower_than_the_one_above_it() {
        // Of five rows the last is told apart from none, the fourth from the first two.
        let is_better = |above, below| matches!((above, below), (0, 2) | (0 | 1, 3));
        assert_eq!(ranks_in_order(5, is_better), [1, 1, 2, 3, 3]);
        assert_eq!(ranks_in_order(3, |_, _| true), [1, 2, 3]);
        assert_eq!(ranks_in_order(0, |_, _| true), [0; 0]);
    }
}
