//! Questions in SQL: the relational planner writes each statement once for its shape, the connection keeps it prepared.
//!
//! Here statements are given their values and run; packed records, which SQLite does not look into, are searched in `packed`.

use crate::connection::SqliteSession;
use crate::error;
use sensormark_relational::decode::Decoder;
use sensormark_relational::plan::{checked, nothing_to_find, planned};
use sensormark_store::{Answer, Query, StoreError};
use std::sync::Arc;

mod packed;
mod row;
pub mod scan;
#[cfg(test)]
mod tests;

const OPERATION: &str = "ask SQLite";

/// Answers a question.
///
/// # Errors
/// What SQLite says, or [`sensormark_store::ErrorKind::Unsupported`] where the layout cannot answer.
pub fn answer(session: &mut SqliteSession, query: &Query) -> Result<Answer, StoreError> {
    let physical = Arc::clone(&session.physical);
    let asked = checked(&physical, query)?;
    if let Some(nothing) = nothing_to_find(&asked) {
        return Ok(nothing);
    }
    if let Some(range) = packed::range(&physical, query) {
        let readings = answer(session, &range)?;
        return Ok(packed::search(&physical, query, readings));
    }
    let plan = planned(&mut session.plans, &physical, query)?;
    let mut decoder = Decoder::new(asked, plan.statements.len());
    let wrong = |cause| error::native(OPERATION, cause);
    for statement in &plan.statements {
        let mut prepared = session.bound(statement, asked)?;
        let mut rows = prepared.raw_query();
        while let Some(row) = rows.next().map_err(wrong)? {
            decoder.row(&statement.form, &row::Fetched(row))?;
            if decoder.is_complete() {
                break;
            }
        }
    }
    for point in decoder.points(plan.form()) {
        let reading = answer(session, &point)?;
        decoder.take_point(&reading);
    }
    Ok(decoder.finish(plan.form()))
}
