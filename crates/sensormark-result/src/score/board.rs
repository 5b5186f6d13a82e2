//! Both phases together: totals and ranks.

use super::table::Table;

/// Scores nearer than this, in percent, are equal: rounding of floating-point sums.
const EQUAL: f64 = 1e-9;

/// Who competes: the row of each phase that belongs to it.
#[derive(Debug, Clone, PartialEq)]
struct Contestant {
    name: String,
    rows: Vec<usize>,
}

/// The tables of the phases and who competes in them.
#[derive(Debug, Clone, PartialEq)]
pub struct Board {
    tables: Vec<Table>,
    contestants: Vec<Contestant>,
}

/// A contestant's scores, in percent, 100 best; ranks from 1, shared by equal scores (1, 2, 2, 4).
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The contestant.
    pub name: String,
    /// Its score in each phase.
    pub phases: Vec<f64>,
    /// Its rank in each phase.
    pub phase_ranks: Vec<usize>,
    /// Mean of its scores over the phases.
    pub total: f64,
    /// Its rank by total.
    pub rank: usize,
}

impl Board {
    /// Contestants are given, each with its row's name in every table: three ways of reading may share one way of writing, as in the study. One without a row
    /// in every table takes no part.
    #[must_use]
    pub fn new(tables: Vec<Table>, contestants: Vec<(String, Vec<String>)>) -> Self {
        let place = |(table, name): (&Table, &String)| table.rows.iter().position(|row| row.name == *name);
        let found = contestants.into_iter().filter_map(|(name, names)| {
            let rows = tables.iter().zip(&names).map(place).collect::<Option<_>>()?;
            Some(Contestant { name, rows })
        });
        Self { contestants: found.collect(), tables }
    }

    /// The phases' tables.
    #[must_use]
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// Scores, totals and ranks, in the contestants' order.
    #[must_use]
    pub fn standings(&self) -> Vec<Standing> {
        let of = |contestant: &Contestant| {
            let rows = self.tables.iter().zip(&contestant.rows);
            let costs: Vec<&[f64]> = rows.map(|(table, row)| &*table.rows[*row].costs).collect();
            self.scores_of(&costs)
        };
        let scores: Vec<Vec<f64>> = self.contestants.iter().map(of).collect();
        let totals: Vec<f64> =
            scores.iter().map(|scores| scores.iter().sum::<f64>() / scores.len() as f64).collect();
        let in_phase = |phase: usize| scores.iter().map(|scores| scores[phase]).collect::<Vec<_>>();
        let phase_ranks: Vec<Vec<usize>> =
            (0..self.tables.len()).map(|phase| competition_ranks(&in_phase(phase))).collect();
        let ranks = competition_ranks(&totals);
        let standing = |(place, contestant): (usize, &Contestant)| Standing {
            name: contestant.name.clone(),
            phases: scores[place].clone(),
            phase_ranks: phase_ranks.iter().map(|ranks| ranks[place]).collect(),
            total: totals[place],
            rank: ranks[place],
        };
        self.contestants.iter().enumerate().map(standing).collect()
    }

    /// The score in each phase of a further row of costs, for example a single repetition of a contestant, by the maxima over the contestants. `costs` has one
    /// list a phase, in the columns' order.
    #[must_use]
    pub fn scores_of(&self, costs: &[&[f64]]) -> Vec<f64> {
        let of = |(phase, (table, costs)): (usize, (&Table, &&[f64]))| {
            let rows: Vec<usize> = self.contestants.iter().map(|contestant| contestant.rows[phase]).collect();
            table.score(costs, &rows)
        };
        self.tables.iter().zip(costs).enumerate().map(of).collect()
    }
}

/// Ranks from 1 by score, the highest first; scores within 1e-9 of each other share one (1, 2, 2, 4).
fn competition_ranks(scores: &[f64]) -> Vec<usize> {
    scores.iter().map(|own| 1 + scores.iter().filter(|other| **other > own + EQUAL).count()).collect()
}
