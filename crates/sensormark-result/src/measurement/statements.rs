//! What was shown of a layout: the schema as the database states it, and the statements that its operations were made of.

use sensormark_store::Statement;
use serde::{Deserialize, Serialize};

/// Schema and statements of one layout.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementsRecord {
    /// The schema as the database itself states it, a text for each table, index, collection or measurement.
    pub schema: Vec<String>,
    /// The workload's operations, each of which was done once, in the order in which they were.
    pub operations: Vec<ShownOperation>,
}

/// One operation of the workload, and what its store sent for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownOperation {
    /// The operation's name in the workload.
    pub name: String,
    /// Whether it writes, or else asks.
    pub writes: bool,
    /// Readings that it wrote; absent for a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readings: Option<u64>,
    /// What was sent, in order.
    pub statements: Vec<Statement>,
    /// Why there is no statement, or what a reader should know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
