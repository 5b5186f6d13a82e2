//! Phases together: totals, ranks, and ranks with each contestant left out. How far the weights decide it is in
//! `sensitivity`.

use serde::{Deserialize, Serialize};

use super::error::ScoreError;
use super::table::{Table, score};

/// Scores nearer than this, in percent, are equal: rounding of floating-point sums.
const EQUAL: f64 = 1e-9;

/// Who competes: the row of each phase that belongs to it.
#[derive(Debug, Clone, PartialEq)]
struct Contestant {
    name: String,
    rows: Vec<usize>,
}

/// The tables of all phases and who competes in them.
#[derive(Debug, Clone, PartialEq)]
pub struct Board {
    /// What is weighed, a table a phase.
    pub tables: Vec<Table>,
    contestants: Vec<Contestant>,
}

/// A contestant's scores, in percent, 100 best; ranks from 1, shared by equal scores (1, 2, 2, 4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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

/// The standings when one contestant is left out, and with it what only it scaled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Who is left out.
    pub name: String,
    /// The others.
    pub standings: Vec<Standing>,
}

impl Board {
    /// Contestants are the implementations that have a row of one name in every table.
    ///
    /// # Errors
    /// There is none, or no table.
    pub fn new(tables: Vec<Table>) -> Result<Self, ScoreError> {
        let names: Vec<String> = tables
            .first()
            .map_or_else(Vec::new, |table| table.rows.iter().map(|row| row.name.clone()).collect());
        let in_all =
            |name: &String| tables.iter().all(|table| table.rows.iter().any(|row| row.name == *name));
        let contestants =
            names.into_iter().filter(in_all).map(|name| (name.clone(), vec![name; tables.len()])).collect();
        Self::with_rows(tables, contestants)
    }

    /// Contestants are given, each with its row's name in every table: three ways of reading may share one way of
    /// writing, as in the machine-tool study. Rows that nobody uses take no part.
    ///
    /// # Errors
    /// A row that is not there, or no contestant.
    pub fn with_rows(
        tables: Vec<Table>,
        contestants: Vec<(String, Vec<String>)>,
    ) -> Result<Self, ScoreError> {
        if contestants.is_empty() || tables.is_empty() {
            return Err(ScoreError::NoContestant);
        }
        let find = |table: &Table, rows: &[String], phase: usize| {
            let wanted = rows.get(phase).cloned().unwrap_or_default();
            table
                .rows
                .iter()
                .position(|row| row.name == wanted)
                .ok_or_else(|| ScoreError::NoRow { row: wanted, phase: table.phase.clone() })
        };
        let contestants = contestants
            .into_iter()
            .map(|(name, names)| {
                let rows = tables
                    .iter()
                    .enumerate()
                    .map(|(phase, table)| find(table, &names, phase))
                    .collect::<Result<Vec<_>, _>>()?;
                Ok(Contestant { name, rows })
            })
            .collect::<Result<Vec<_>, ScoreError>>()?;
        Ok(Self { tables, contestants })
    }

    /// The phases' tables.
    #[must_use]
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// The contestants' names, in the order of every result here.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.contestants.iter().map(|contestant| contestant.name.as_str()).collect()
    }

    /// Scores, totals and ranks with the tables' own weights.
    #[must_use]
    pub fn standings(&self) -> Vec<Standing> {
        let phases: Vec<Vec<f64>> = (0..self.tables.len())
            .map(|phase| {
                let weights = self.tables[phase].weights();
                self.shares(phase).iter().map(|shares| score(shares, &weights)).collect()
            })
            .collect();
        let totals: Vec<f64> = (0..self.contestants.len())
            .map(|index| phases.iter().map(|scores| scores[index]).sum::<f64>() / phases.len() as f64)
            .collect();
        let phase_ranks: Vec<Vec<usize>> = phases.iter().map(|scores| competition_ranks(scores)).collect();
        let ranks = competition_ranks(&totals);
        self.contestants
            .iter()
            .enumerate()
            .map(|(index, contestant)| Standing {
                name: contestant.name.clone(),
                phases: phases.iter().map(|scores| scores[index]).collect(),
                phase_ranks: phase_ranks.iter().map(|ranks| ranks[index]).collect(),
                total: totals[index],
                rank: ranks[index],
            })
            .collect()
    }

    /// The score in each phase of a further row of costs, for example a single repetition of a contestant. It takes the board's own yardstick: its columns,
    /// weights, and maxima over the contestants. `costs` has one list a phase, in the columns' order. A row worse than every contestant can score below 0.
    ///
    /// # Panics
    /// When there is not one list a phase with one cost a column.
    #[must_use]
    pub fn scores_of(&self, costs: &[&[f64]]) -> Vec<f64> {
        assert_eq!(costs.len(), self.tables.len(), "one list of costs a phase");
        self.tables
            .iter()
            .zip(costs)
            .enumerate()
            .map(|(phase, (table, costs))| {
                let rows: Vec<usize> =
                    self.contestants.iter().map(|contestant| contestant.rows[phase]).collect();
                score(&table.shares_of(costs, &rows), &table.weights())
            })
            .collect()
    }

    /// The standings with each contestant left out in turn: dividing by the maximum lets one slow contestant move
    /// the others. Empty for fewer than three contestants. Columns stay as they were prepared: a subjective one that
    /// was left out because of the contestant does not come back.
    #[must_use]
    pub fn leave_one_out(&self) -> Vec<LeftOut> {
        if self.contestants.len() < 3 {
            return Vec::new();
        }
        (0..self.contestants.len())
            .map(|index| {
                let mut rest = self.clone();
                let out = rest.contestants.remove(index);
                LeftOut { name: out.name, standings: rest.standings() }
            })
            .collect()
    }

    /// Each contestant's shares of the maxima in a phase, over the rows that contestants use.
    pub(super) fn shares(&self, phase: usize) -> Vec<Vec<f64>> {
        let rows: Vec<usize> = self.contestants.iter().map(|contestant| contestant.rows[phase]).collect();
        self.tables[phase].shares(&rows)
    }
}

/// Ranks from 1 by score, the highest first; scores within 1e-9 of each other share one (1, 2, 2, 4).
#[must_use]
pub fn competition_ranks(scores: &[f64]) -> Vec<usize> {
    scores.iter().map(|own| 1 + scores.iter().filter(|other| **other > own + EQUAL).count()).collect()
}
