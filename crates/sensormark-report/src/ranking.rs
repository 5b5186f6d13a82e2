//! The ranking: the study's score over what was measured, how sure it is, and who cannot be ranked.
//!
//! A contestant is a way of reading with the write trial of the same data. Its values are means over the repetitions in which both its trials are valid. The
//! score of one repetition is taken by the same yardstick (the maxima of the means). So the mean of the repetitions' scores is the score. A repetition in which
//! somebody is missing does not move the others.
//!
//! Rows stand in the order of their scores. Where the user asked for something to hold, who meets it stands before who does not. A rank is 1 + the number of
//! rows above that are significantly better, and never lower than that of the row above. The test takes the ratio of what a score falls short of 100 (the
//! weighed cost), paired by repetition, corrected after Holm. With fewer than three repetitions ranks are bare order.

use super::contest::{Contestant, Values, Yardstick, contestants};
use super::costs::Comparable;
use super::error::ReportError;
use super::field::Field;
use super::options::ReportOptions;
use super::requirements::{LayoutAnswer, Requirements, Standing as Meets};
use sensormark_result::score::{self, Board, ScoreError, Standing, Table};
use sensormark_result::statistics::{self, Basis, Better, Summary, summarize};

/// Weightings drawn for the share that each contestant wins: a standard error of at most 0.35 %.
const DRAWS: u32 = 20_000;
/// The seed of the draws, fixed: the same results give the same report.
const DRAW_SEED: u64 = 0x5e_4504;

/// Points by which a score moved between two quick runs that were alike, each a single trial.
pub const POINTS_BY_CHANCE: u32 = 12;

/// Who won, and who could not compete.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The tables behind the scores; absent when nobody can be ranked.
    pub board: Option<Board>,
    /// Whether ranks rest on at least three repetitions.
    pub basis: Basis,
    /// Best first.
    pub ranked: Vec<Ranked>,
    /// Who is not ranked (label), and why.
    pub unranked: Vec<(String, String)>,
    /// Those of them that were measured and only lack costs that a score needs, by their places in [`Field::contestants`].
    pub unscored: Vec<usize>,
    /// How the scores were made.
    pub notes: Vec<String>,
    /// Who meets what the user asked to hold, where something was.
    pub requirements: Option<Requirements>,
}

/// A contestant with a score.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// Its place in [`Field::contestants`].
    pub read: usize,
    /// Scores from the means, and bare ranks.
    pub standing: Standing,
    /// Its rank; those that share one cannot be told apart.
    pub rank: usize,
    /// Whether it meets what the user asked to hold, where something was.
    pub meets: Option<Meets>,
    /// Its costs in each repetition, by phase and column of the board; absent where it has no score.
    pub costs: Vec<Option<Vec<Vec<f64>>>>,
    /// Its total over the repetitions.
    pub summary: Summary,
    /// The share of all weightings under which it wins, 0 to 1.
    pub win_share: f64,
}

impl Ranked {
    /// The name in tables.
    pub fn label(&self) -> &str {
        &self.standing.name
    }
}

impl Ranking {
    /// Ranks everybody that can be ranked.
    ///
    /// # Errors
    /// Weights that do not fit the criteria.
    pub fn new(field: &Field, options: &ReportOptions) -> Result<Self, ReportError> {
        let yardstick = Yardstick::of(field, options);
        let (contestants, mut unranked) = contestants(field, &yardstick);
        let nobody = |unranked, notes| Self {
            board: None,
            basis: Basis::SingleTrial,
            ranked: Vec::new(),
            unranked,
            unscored: Vec::new(),
            notes,
            requirements: Requirements::of(field),
        };
        if contestants.is_empty() {
            return Ok(nobody(unranked, Vec::new()));
        }
        let tables = (0..yardstick.sides.len())
            .map(|side| table(side, &contestants, &yardstick))
            .collect::<Result<Vec<_>, _>>()?;
        let mut notes = table_notes(&tables, options);
        notes.extend(yardstick.comparable.iter().flat_map(Comparable::notes));
        let mut unscored = Vec::new();
        for contestant in &contestants {
            let of_it = |table: &Table| {
                table
                    .unscored
                    .iter()
                    .find(|one| one.name == contestant.label)
                    .map(|one| (table.phase.clone(), one.reason.clone()))
            };
            if let Some((phase, reason)) = tables.iter().find_map(of_it) {
                unscored.push(contestant.read);
                unranked.push((
                    contestant.label.clone(),
                    unscored_reason(field, &contestant.label, &phase, &reason),
                ));
            }
        }
        let means = tables.iter().map(only_means).collect();
        let board = match Board::new(means) {
            Ok(board) => board,
            Err(ScoreError::NoContestant) => {
                return Ok(Self { unscored, ..nobody(unranked, notes) });
            }
            Err(error) => return Err(error.into()),
        };
        let mut ranking = Self {
            ranked: scored(&board, &tables, &contestants),
            board: Some(board),
            unscored,
            ..nobody(unranked, notes)
        };
        ranking.rank();
        ranking.name_cheapest(field);
        Ok(ranking)
    }

    /// Says who costs least of those that meet all, or all that could be decided; and of the servers among them where that is another.
    fn name_cheapest(&mut self, field: &Field) {
        let (Some(requirements), Some(first)) = (&mut self.requirements, self.ranked.first()) else {
            return;
        };
        if !first.meets.is_some_and(Meets::leads) {
            return;
        }
        let is_embedded = |one: &&Ranked| field.contestants()[one.read].implementation.embedded;
        let alike = || self.ranked.iter().filter(|one| one.rank == 1);
        let mut able = self.ranked.iter().filter(|one| one.meets == first.meets);
        let server = able.find(|one| !is_embedded(one));
        let server = server.filter(|_| alike().all(|one| is_embedded(&one)));
        requirements.cheapest = alike().map(|one| one.label().to_owned()).collect();
        requirements.cheapest_server = server.map(|one| one.label().to_owned());
    }

    /// Sorts and gives ranks.
    fn rank(&mut self) {
        let Some(board) = &self.board else { return };
        if let Some(requirements) = &self.requirements {
            for one in &mut self.ranked {
                let answer = requirements.of_layout(one.label());
                one.meets = answer.map(LayoutAnswer::standing);
            }
        }
        self.ranked.sort_by(|one, other| {
            let by_score = other.standing.total.total_cmp(&one.standing.total);
            one.meets.cmp(&other.meets).then(by_score)
        });
        let ranked = self.ranked.iter();
        let arms = ranked.map(|one| statistics::Arm {
            name: one.label().to_owned(),
            blocks: one
                .block_totals(board)
                .into_iter()
                .map(|total| total.map(|total| 100.0 - total))
                .collect(),
        });
        let arms: Vec<statistics::Arm> = arms.collect();
        let found = statistics::ranks(&arms, Better::Lower);
        if found.is_err() {
            self.notes.push("A score is 100: what it falls short of 100 has no logarithm, so differences are not tested, and ranks are bare order.".to_owned());
        }
        let tested = found.ok().filter(|found| found.basis == Basis::Significance);
        let is_better = |above: usize, below: usize| {
            let (above_it, it) = (&self.ranked[above], &self.ranked[below]);
            let by_cost = match &tested {
                Some(found) => found.is_better(above, below, Better::Lower),
                None => above_it.standing.rank < it.standing.rank,
            };
            above_it.meets != it.meets || by_cost
        };
        let ranks = ranks_in_order(self.ranked.len(), is_better);
        for (one, rank) in self.ranked.iter_mut().zip(ranks) {
            one.rank = rank;
        }
        if let Some(found) = tested {
            self.basis = found.basis;
        }
    }

    /// Who of the ranked wins under the most weightings.
    pub fn most_wins(&self) -> Option<&Ranked> {
        let by_share = |one: &&Ranked, other: &&Ranked| one.win_share.total_cmp(&other.win_share);
        self.ranked.iter().rev().max_by(by_share)
    }

    /// The contestants that share the first rank.
    pub fn first(&self) -> Vec<&Ranked> {
        self.ranked.iter().filter(|one| one.rank == 1).collect()
    }
}

/// The ranks of so many rows that stand in an order. A rank is 1 + the number of rows above that are better, and never lower than the rank of the row above.
fn ranks_in_order(rows: usize, is_better: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut last = 1;
    let ranks = (0..rows).map(|row| {
        let better = (0..row).filter(|above| is_better(*above, row)).count();
        last = last.max(1 + better);
        last
    });
    ranks.collect()
}

impl Ranked {
    /// Its total score in each repetition.
    pub fn block_totals(&self, board: &Board) -> Vec<Option<f64>> {
        let total = |costs: &Vec<Vec<f64>>| {
            let costs: Vec<&[f64]> = costs.iter().map(Vec::as_slice).collect();
            let scores = board.scores_of(&costs);
            scores.iter().sum::<f64>() / scores.len() as f64
        };
        self.costs.iter().map(|costs| costs.as_ref().map(total)).collect()
    }
}

/// How the tables were made, each thing said once.
fn table_notes(tables: &[Table], options: &ReportOptions) -> Vec<String> {
    let notes = tables.iter().flat_map(|table| table.notes.clone());
    let mut notes: Vec<String> = notes.collect();
    if !options.has_difficulty() {
        notes.retain(|note| !note.starts_with("difficulty is left out"));
        notes.push("difficulty is a judgement, and nobody gave one: it is left out for all.".to_owned());
    }
    notes.sort();
    notes.dedup();
    notes
}

/// Why there is no score, with what would help where the server was only visited.
fn unscored_reason(field: &Field, label: &str, phase: &str, reason: &str) -> String {
    let visited = field.contestants().iter().filter(|read| read.label == label).any(|read| {
        field.trials_of(read).flatten().any(|trial| {
            let server = trial.server.as_ref();
            server.is_some_and(|server| !server.managed && server.probe.is_none())
        })
    });
    let hint = if visited && reason.contains("server") {
        " (an existing server without a probe beside it)"
    } else {
        ""
    };
    format!("no score: in the {phase} trial {reason}{hint}")
}

/// One side's table: a row of means for each contestant, and behind them a row for each of its repetitions.
fn table(side: usize, contestants: &[Contestant], yardstick: &Yardstick<'_>) -> Result<Table, ReportError> {
    let options = yardstick.options;
    let row = |contestant: &Contestant, name: String, mut values: Values| {
        if let Some(difficulty) = options.difficulty_of(side, &contestant.label) {
            values.insert("difficulty".to_owned(), difficulty);
        }
        score::Implementation { name, embedded: contestant.embedded, values }
    };
    let means = contestants.iter().map(|contestant| {
        let blocks: Vec<&Values> = contestant.blocks.iter().flatten().map(|sides| &sides[side]).collect();
        row(contestant, contestant.label.clone(), mean(&blocks))
    });
    let single = contestants.iter().flat_map(|contestant| {
        let named = |(block, sides): (usize, &Option<Vec<Values>>)| {
            Some(row(contestant, block_name(&contestant.label, block), sides.as_ref()?[side].clone()))
        };
        contestant.blocks.iter().enumerate().filter_map(named).collect::<Vec<_>>()
    });
    let field: Vec<score::Implementation> = means.chain(single).collect();
    let prepared = score::prepare(
        yardstick.sides[side].1,
        &yardstick.criteria,
        &yardstick.weights,
        &field,
        score::Options::default(),
    )?;
    Ok(prepared)
}

/// Arithmetic means of the criteria that every repetition has.
fn mean(blocks: &[&Values]) -> Values {
    let Some((first, others)) = blocks.split_first() else {
        return Values::new();
    };
    let mean_of = |(id, value): (&String, &f64)| {
        let sum = others.iter().try_fold(*value, |sum, other| Some(sum + other.get(id)?))?;
        Some((id.clone(), sum / blocks.len() as f64))
    };
    first.iter().filter_map(mean_of).collect()
}

/// A name that no label has: labels are printable.
fn block_name(label: &str, block: usize) -> String {
    format!("{label}\u{0}{block}")
}

/// The table without the repetitions' rows.
fn only_means(table: &Table) -> Table {
    let mut table = table.clone();
    table.rows.retain(|row| !row.name.contains('\u{0}'));
    table.unscored.retain(|one| !one.name.contains('\u{0}'));
    table
}

fn scored(board: &Board, tables: &[Table], contestants: &[Contestant]) -> Vec<Ranked> {
    let shares = board.win_shares(DRAWS, DRAW_SEED);
    let standings = board.standings().into_iter().zip(shares);
    let ranked = standings.filter_map(|(standing, share)| {
        let contestant = contestants.iter().find(|contestant| contestant.label == standing.name)?;
        let costs_in = |block: usize| {
            let name = block_name(&standing.name, block);
            let row =
                |table: &Table| table.rows.iter().find(|row| row.name == name).map(|row| row.costs.clone());
            tables.iter().map(row).collect::<Option<Vec<_>>>()
        };
        let mut one = Ranked {
            read: contestant.read,
            rank: 0,
            meets: None,
            costs: (0..contestant.blocks.len()).map(costs_in).collect(),
            summary: Summary { count: 0, mean: standing.total, standard_error: None, interval: None },
            win_share: share.share,
            standing,
        };
        let totals: Vec<f64> = one.block_totals(board).into_iter().flatten().collect();
        one.summary = summarize(&totals).ok()?;
        Some(one)
    });
    ranked.collect()
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
