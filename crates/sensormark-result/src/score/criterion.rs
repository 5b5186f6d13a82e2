//! What is weighed: a criterion as data. Its values belong to implementations, its weight to `weights`.

use serde::{Deserialize, Serialize};

use super::error::ScoreError;
pub use crate::statistics::Better;

/// Whose cost a criterion is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The database's host or processes.
    Server,
    /// The writer's or reader's own process.
    Client,
    /// Neither's alone: network, disk.
    Infrastructure,
    /// Somebody's judgement, like the study's difficulty from 1 to 5: used only where every implementation compared
    /// has one.
    Subjective,
}

/// One criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// What weights and values call it: `server_cpu`.
    pub id: String,
    /// What a person reads: "server CPU".
    pub name: String,
    /// Unit of its values.
    pub unit: String,
    /// Whose cost it is.
    pub side: Side,
    /// The resource that a client and a server criterion have in common (`cpu`); they are added up when an embedded
    /// store is in the field.
    #[serde(default)]
    pub resource: Option<String>,
    /// Which way it is good. Where more is better, its cost 1/value is weighed.
    pub better: Better,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CriteriaFile {
    criterion: Vec<Criterion>,
}

impl Criterion {
    /// Criteria from TOML: a table `[[criterion]]` each, with the fields of this type.
    ///
    /// # Errors
    /// Text that is not so, or an id given twice.
    pub fn list_from_toml(text: &str) -> Result<Vec<Self>, ScoreError> {
        let file: CriteriaFile = toml::from_str(text).map_err(|error| ScoreError::Malformed {
            what: "the list of criteria",
            message: error.to_string(),
        })?;
        for (place, criterion) in file.criterion.iter().enumerate() {
            if file.criterion[..place].iter().any(|other| other.id == criterion.id) {
                return Err(ScoreError::Duplicate { name: criterion.id.clone() });
            }
        }
        Ok(file.criterion)
    }
}

/// The criteria of workloads that are made of phases, from `cost-criteria.toml` beside this file: the study's, as costs of an operation, and
/// the operation's time.
///
/// # Panics
/// Never: the file is part of the program, and a test reads it.
#[must_use]
pub fn cost_criteria() -> Vec<Criterion> {
    Criterion::list_from_toml(include_str!("cost-criteria.toml"))
        .expect("cost-criteria.toml is part of the program")
}

/// The eight criteria of the machine-tool study, from `criteria.toml` beside this file. Its read phase weighs all but
/// `disk`.
///
/// # Panics
/// Never: the file is part of the program, and a test reads it.
#[must_use]
pub fn study_criteria() -> Vec<Criterion> {
    Criterion::list_from_toml(include_str!("criteria.toml")).expect("criteria.toml is part of the program")
}
