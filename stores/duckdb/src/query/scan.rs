//! Everything that is stored, read back for the census as it is made.

use super::row::Fetched;
use crate::connection::DuckdbSession;
use crate::error;
use sensormark_relational::decode::{self, Decoder};
use sensormark_relational::plan::slot::Bindings;
use sensormark_relational::plan::{self, Plan};
use sensormark_store::{Batch, StoreError, Value};
use std::sync::Arc;

const OPERATION: &str = "read everything back";
/// Readings in a batch of a scan.
const ROWS: usize = 8_192;

/// Reads back every reading of a table.
///
/// # Errors
/// What DuckDB says.
pub(crate) fn readings(
    session: &mut DuckdbSession,
    number: usize,
    sink: &mut dyn FnMut(&Batch),
) -> Result<(), StoreError> {
    let wrong = |failure| error::native(OPERATION, failure);
    let physical = Arc::clone(&session.physical);
    let (statement, query) = Plan::everything(&physical, number)?;
    let asked = Bindings::new(&physical, &query)?;
    let mut decoder = Decoder::new(asked, 1).in_pieces(ROWS);
    let prepared = session.prepare(&statement.text).map_err(wrong)?;
    let mut rows = prepared.stream().map_err(wrong)?;
    while let Some(chunk) = rows.next().map_err(wrong)? {
        for row in 0..chunk.rows() {
            decoder.row(&statement.form, &Fetched { chunk: &chunk, row })?;
            if let Some(piece) = decoder.take_piece(&statement.form) {
                sink(&piece);
            }
        }
    }
    decoder.finish_pieces(sink);
    Ok(())
}

/// Reads back every entity of a table.
///
/// # Errors
/// What DuckDB says, or that the table has none.
pub(crate) fn entities(
    session: &mut DuckdbSession,
    number: usize,
    sink: &mut dyn FnMut(u32, i64, &[Value]),
) -> Result<(), StoreError> {
    let wrong = |failure| error::native(OPERATION, failure);
    let physical = Arc::clone(&session.physical);
    let text = plan::entities(&physical, number)?;
    let mut rows = session.prepare(&text).map_err(wrong)?.stream().map_err(wrong)?;
    let (mut key, mut values) = (String::new(), Vec::new());
    while let Some(chunk) = rows.next().map_err(wrong)? {
        for row in 0..chunk.rows() {
            let row = Fetched { chunk: &chunk, row };
            let (series, last_ns) = decode::entity(&physical, number, &row, &mut key, &mut values)?;
            sink(series, last_ns, &values);
        }
    }
    Ok(())
}
