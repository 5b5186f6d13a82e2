//! The scores of each repetition, by the maxima of the means over repetitions.

use super::board::Board;
use super::table::{Implementation, Phase, SubjectiveTerm, Table};
use crate::statistics::{Arm, Basis, Better, ranks};
use std::collections::BTreeMap;

/// The values of writing and of reading in one repetition, by criterion.
pub type Sides = [BTreeMap<String, f64>; 2];

/// Total, writing and reading of each repetition; none where a trial is missing or not valid, or has not everything. And the rank.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockScores {
    /// By repetition.
    pub blocks: Vec<Option<[f64; 3]>>,
    /// By what the totals fall short of 100: tested where there are enough repetitions, else bare order.
    pub rank: f64,
}

/// Scores by implementation.
pub type Scores = BTreeMap<String, BlockScores>;

/// The scores of implementations by name; one that lacks a value has none.
#[must_use]
pub fn block_scores(all: &[(String, Vec<Option<Sides>>)]) -> Scores {
    let tables = [Phase::Write, Phase::Read].map(|phase| {
        let row = |(name, blocks): &(String, Vec<Option<Sides>>)| {
            let blocks: Vec<_> = blocks.iter().flatten().map(|sides| &sides[phase as usize]).collect();
            Implementation { name: name.clone(), values: mean(&blocks) }
        };
        let rows: Vec<Implementation> = all.iter().map(row).collect();
        Table::new(phase, &rows, SubjectiveTerm::InSum)
    });
    let names = all.iter().map(|(name, _)| (name.clone(), vec![name.clone(); 2]));
    let board = Board::new(tables.to_vec(), names.collect());
    let standings = board.standings().into_iter();
    let found = standings.filter_map(|standing| {
        let (_, blocks) = all.iter().find(|(name, _)| *name == standing.name)?;
        let blocks = blocks.iter().map(|sides| scores_of(&board, sides.as_ref()?)).collect();
        Some((standing.name, BlockScores { blocks, rank: standing.rank as f64 }))
    });
    let mut found: Scores = found.collect();
    let short = |scores: &Option<[f64; 3]>| scores.map(|[total, ..]| 100.0 - total);
    let arm = |(name, one): (&String, &BlockScores)| Arm {
        name: name.clone(),
        blocks: one.blocks.iter().map(short).collect(),
    };
    let arms: Vec<Arm> = found.iter().map(arm).collect();
    if let Some(tested) = ranks(&arms, Better::Lower).ok().filter(|it| it.basis == Basis::Significance) {
        for rank in tested.ranks {
            if let (Some(one), Some(rank)) = (found.get_mut(&rank.name), rank.rank) {
                one.rank = rank as f64;
            }
        }
    }
    found
}

/// Arithmetic means of the values that every repetition has.
fn mean(blocks: &[&BTreeMap<String, f64>]) -> BTreeMap<String, f64> {
    let mean_of = |(id, _): (&String, &f64)| {
        let all: Option<Vec<f64>> = blocks.iter().map(|block| block.get(id).copied()).collect();
        Some((id.clone(), all?.iter().sum::<f64>() / blocks.len() as f64))
    };
    blocks.first().map_or_else(BTreeMap::new, |first| first.iter().filter_map(mean_of).collect())
}

fn scores_of(board: &Board, sides: &Sides) -> Option<[f64; 3]> {
    let costs = board.tables().iter().zip(sides).map(|(table, values)| table.costs(values));
    let costs: Vec<Vec<f64>> = costs.collect::<Option<_>>()?;
    let costs: Vec<&[f64]> = costs.iter().map(Vec::as_slice).collect();
    let [writing, reading] = board.scores_of(&costs)[..] else {
        return None;
    };
    Some([f64::midpoint(writing, reading), writing, reading])
}
