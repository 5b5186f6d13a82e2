//! From criteria, weights and measured values to a complete table of costs: who has a score and who cannot, what is
//! left out, what is added up. It computes no score: see `table` and `board`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::criterion::{Better, Criterion, Side};
use super::error::ScoreError;
use super::table::{Column, Row, Table, Unscored};
use super::weights::Weights;

/// What was measured of one implementation in one phase.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Implementation {
    /// Store, layout and reading strategy, as a study's table has it: "MariaDB bulk".
    pub name: String,
    /// Client and server are one process (SQLite): its process's cost may stand on either side.
    pub embedded: bool,
    /// Values by criterion id, in the criterion's unit. One that was not measured is absent, never 0.
    pub values: BTreeMap<String, f64>,
}

/// What becomes of a subjective criterion that every implementation has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubjectiveTerm {
    /// Like any other: what the study's formula says, and the default.
    #[default]
    InSum,
    /// Its weight stays in the divisor, its value adds nothing: what the study's printed read scores come from.
    InDivisorOnly,
}

/// How a table is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Options {
    /// What becomes of a subjective criterion.
    pub subjective: SubjectiveTerm,
}

/// A column to be, with the criteria that it adds up.
struct Plan<'a> {
    column: Column,
    criteria: Vec<&'a Criterion>,
}

/// Makes the table of one phase:
/// - criteria of weight 0 are left out;
/// - an implementation without a value for one of the others has no score and is no part of the comparison: see
///   [`Table::unscored`];
/// - a subjective criterion that not every scored implementation has is left out of both sums for all;
/// - with an embedded implementation in the field, the client's and the server's criterion of one resource are added
///   up for all, weights too; the embedded one needs a value on one of the two sides only;
/// - where more is better, the cost is 1/value.
///
/// # Errors
/// - No weights for the phase, or nothing left with a weight.
/// - A criterion without a weight, or a weight without a criterion.
/// - Criteria that cannot be added up.
/// - One name twice.
pub fn prepare(
    phase: &str,
    criteria: &[Criterion],
    weights: &Weights,
    field: &[Implementation],
    options: Options,
) -> Result<Table, ScoreError> {
    let weights = weights.phase(phase)?;
    check_names(criteria, weights, field)?;
    let mut notes = Vec::new();
    let mut plans = plan(criteria, weights, field.iter().any(|one| one.embedded), &mut notes)?;
    let mut unscored = Vec::new();
    let scored: Vec<&Implementation> = field
        .iter()
        .filter(|implementation| match first_fault(implementation, &plans) {
            None => true,
            Some(reason) => {
                unscored.push(Unscored { name: implementation.name.clone(), reason });
                false
            }
        })
        .collect();
    plans.retain(|plan| keep_subjective(plan, &scored, &mut notes));
    for plan in plans.iter_mut().filter(|plan| is_subjective(plan)) {
        plan.column.in_sum = options.subjective == SubjectiveTerm::InSum;
        if !plan.column.in_sum {
            notes.push(format!(
                "{} adds nothing to the sum, while its weight stays in the divisor, as in the study's read scores.",
                plan.column.name
            ));
        }
    }
    if plans.is_empty() {
        return Err(ScoreError::NothingWeighed);
    }
    let rows = scored
        .iter()
        .map(|implementation| Row {
            name: implementation.name.clone(),
            costs: plans.iter().filter_map(|plan| cost(implementation, plan).ok()).collect(),
        })
        .collect();
    Ok(Table {
        phase: phase.to_owned(),
        columns: plans.into_iter().map(|plan| plan.column).collect(),
        rows,
        unscored,
        notes,
    })
}

/// Every criterion has a weight, every weight a criterion, and names are given once.
fn check_names(
    criteria: &[Criterion],
    weights: &BTreeMap<String, f64>,
    field: &[Implementation],
) -> Result<(), ScoreError> {
    let ids: BTreeSet<&str> = criteria.iter().map(|criterion| criterion.id.as_str()).collect();
    if let Some(criterion) = ids.iter().find(|id| !weights.contains_key(**id)) {
        return Err(ScoreError::NoWeight { criterion: (*criterion).to_owned() });
    }
    if let Some(criterion) = weights.keys().find(|id| !ids.contains(id.as_str())) {
        return Err(ScoreError::UnknownCriterion { criterion: criterion.clone() });
    }
    let mut names = BTreeSet::new();
    for implementation in field {
        if !names.insert(&implementation.name) {
            return Err(ScoreError::Duplicate { name: implementation.name.clone() });
        }
    }
    Ok(())
}

/// The columns: one a criterion with a weight, or one a resource when client and server are added up.
fn plan<'a>(
    criteria: &'a [Criterion],
    weights: &BTreeMap<String, f64>,
    add_up: bool,
    notes: &mut Vec<String>,
) -> Result<Vec<Plan<'a>>, ScoreError> {
    let mut plans: Vec<Plan<'a>> = Vec::new();
    for criterion in criteria.iter().filter(|criterion| weights[&criterion.id] > 0.0) {
        let weight = weights[&criterion.id];
        let partner = plans.iter_mut().find(|plan| add_up && are_two_sides(plan.criteria[0], criterion));
        let Some(plan) = partner else {
            plans.push(Plan {
                column: Column {
                    id: criterion.id.clone(),
                    name: criterion.name.clone(),
                    unit: criterion.unit.clone(),
                    weight,
                    in_sum: true,
                },
                criteria: vec![criterion],
            });
            continue;
        };
        let first = plan.criteria[0];
        if first.unit != criterion.unit || first.better != criterion.better || first.better == Better::Higher
        {
            return Err(ScoreError::NotAddable { first: first.id.clone(), second: criterion.id.clone() });
        }
        plan.criteria.push(criterion);
        plan.column.weight += weight;
        plan.column.name = format!("{} + {}", first.name, criterion.name);
        plan.column.id = criterion.resource.clone().unwrap_or_else(|| criterion.id.clone());
        notes.push(format!(
            "{} are added up for all, because an embedded store is in the field.",
            plan.column.name
        ));
    }
    Ok(plans)
}

/// Whether the two are client and server of one resource.
fn are_two_sides(first: &Criterion, second: &Criterion) -> bool {
    first.resource.is_some()
        && first.resource == second.resource
        && matches!((first.side, second.side), (Side::Client, Side::Server) | (Side::Server, Side::Client))
}

fn is_subjective(plan: &Plan<'_>) -> bool {
    plan.criteria.iter().any(|criterion| criterion.side == Side::Subjective)
}

/// Why the implementation has no score, if so; subjective criteria are looked at later.
fn first_fault(implementation: &Implementation, plans: &[Plan<'_>]) -> Option<String> {
    plans.iter().filter(|plan| !is_subjective(plan)).find_map(|plan| cost(implementation, plan).err())
}

/// Whether to keep the column: it is not subjective, or every scored implementation has it.
fn keep_subjective(plan: &Plan<'_>, scored: &[&Implementation], notes: &mut Vec<String>) -> bool {
    let without = scored.iter().find(|one| is_subjective(plan) && cost(one, plan).is_err());
    if let Some(implementation) = without {
        notes.push(format!("{} is left out for all: {} has none.", plan.column.name, implementation.name));
    }
    without.is_none()
}

/// The implementation's cost in the column, or why there is none.
fn cost(implementation: &Implementation, plan: &Plan<'_>) -> Result<f64, String> {
    let mut sum = None;
    for criterion in &plan.criteria {
        let Some(value) = implementation.values.get(&criterion.id) else {
            if implementation.embedded && plan.criteria.len() > 1 {
                continue;
            }
            return Err(format!("{} was not measured", criterion.name));
        };
        let cost = match criterion.better {
            Better::Lower => *value,
            Better::Higher => 1.0 / value,
        };
        if !cost.is_finite() || cost < 0.0 {
            return Err(format!("{} is {value} {}, which has no cost", criterion.name, criterion.unit));
        }
        sum = Some(sum.unwrap_or(0.0) + cost);
    }
    sum.ok_or_else(|| format!("{} was not measured", plan.column.name))
}
