//! Questions in SQL: the relational planner writes each statement once for its shape, the session keeps it prepared.
//!
//! Here statements are given their values and run.

use crate::client::Parameter;
use crate::connection::{DuckdbSession, parameter};
use crate::error;
use row::Fetched;
use sensormark_relational::cell::Cell;
use sensormark_relational::column_type::ColumnType;
use sensormark_relational::decode::Decoder;
use sensormark_relational::plan::slot::{Bindings, Slot};
use sensormark_relational::plan::{checked, nothing_to_find, planned};
use sensormark_store::{Answer, Query, StoreError};
use std::sync::Arc;

pub(crate) mod row;
pub(crate) mod scan;

const OPERATION: &str = "ask DuckDB";

/// Answers a question.
///
/// # Errors
/// What DuckDB says, or [`sensormark_store::ErrorKind::Unsupported`] where the layout cannot answer.
pub(crate) fn answer(session: &mut DuckdbSession, query: &Query) -> Result<Answer, StoreError> {
    let physical = Arc::clone(&session.physical);
    let asked = checked(&physical, query)?;
    if let Some(nothing) = nothing_to_find(&asked) {
        return Ok(nothing);
    }
    let plan = planned(&mut session.plans, &physical, query)?;
    let mut decoder = Decoder::new(asked, plan.statements.len());
    let wrong = |failure| error::native(OPERATION, failure);
    for statement in &plan.statements {
        let slots = statement.slots.iter().zip(&statement.kinds);
        let parameters = slots.map(|(&slot, &kind)| bound(asked, slot, kind));
        let mut rows = session.send(&statement.text, parameters).map_err(wrong)?;
        while let Some(chunk) = rows.next().map_err(wrong)? {
            for row in 0..chunk.rows() {
                decoder.row(&statement.form, &Fetched { chunk: &chunk, row })?;
            }
        }
    }
    for point in decoder.points(plan.form()) {
        let reading = answer(session, &point)?;
        decoder.take_point(&reading);
    }
    Ok(decoder.finish(plan.form()))
}

/// The parameter for a slot.
fn bound(asked: Bindings<'_>, slot: Slot, kind: ColumnType) -> Parameter<'_> {
    match slot {
        Slot::KeySet(key) | Slot::KeyAll(key) => {
            let element = asked.table.key_columns().nth(key).map(|column| column.kind);
            let mut cells = Vec::new();
            asked.each_series(|series| {
                cells.push(asked.table.key_cell(asked.description, key, series));
            });
            Parameter::List(element.unwrap_or(ColumnType::I64), cells)
        }
        Slot::WidthInterval => {
            let width_ns = asked.window().map(|window| Cell::I64(window.width_ns));
            Parameter::Cell(width_ns.unwrap_or(Cell::Null))
        }
        slot => parameter(asked.value(slot), kind),
    }
}
