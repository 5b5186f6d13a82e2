//! Questions in SQL: the relational planner writes each statement once for its shape, the connection keeps it prepared.
//!
//! Here statements are given their values and run; packed records, which SQLite does not look into, are searched in `packed`.

use crate::connection::SqliteSession;
use crate::error;
use sensormark_relational::decode::Decoder;
use sensormark_relational::plan::shape::QueryShape;
use sensormark_relational::plan::slot::Bindings;
use sensormark_relational::plan::{Plan, check, empty, nothing_to_find};
use sensormark_store::{Answer, Query, StoreError};
use std::rc::Rc;
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
    let model = Arc::clone(&session.model);
    let (description, table) = model.table(query.table)?;
    check(query, description)?;
    if nothing_to_find(query, &model, description) {
        return Ok(empty(query, description));
    }
    if let Some(range) = packed::range(&model, query) {
        let readings = answer(session, &range)?;
        return Ok(packed::search(&model, query, readings));
    }
    let asked = Bindings {
        model: &model,
        table,
        description,
        query,
    };
    let plan = planned(session, query)?;
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

/// The statements of a question, written when the first of its shape is asked.
fn planned(session: &mut SqliteSession, query: &Query) -> Result<Rc<Plan>, StoreError> {
    let shape = QueryShape::of(query, &session.model);
    if let Some(plan) = session.plans.get(&shape) {
        return Ok(Rc::clone(plan));
    }
    let plan = Rc::new(Plan::new(&session.model, query)?);
    session.plans.insert(shape, Rc::clone(&plan));
    Ok(plan)
}
