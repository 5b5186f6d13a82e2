//! Everything that is stored, read back for the census.

use super::row::Fetched;
use crate::connection::SqliteSession;
use crate::error;
use sensormark_relational::decode::{self, Decoder};
use sensormark_relational::plan::slot::Bindings;
use sensormark_relational::plan::{self, Plan};
use sensormark_store::{Batch, StoreError, Value};

const OPERATION: &str = "read everything back";
/// Readings in a batch of a scan.
const ROWS: usize = 8_192;

/// Reads back every reading of a table.
///
/// # Errors
/// What SQLite says.
pub fn readings(
    session: &SqliteSession,
    number: usize,
    sink: &mut dyn FnMut(&Batch),
) -> Result<(), StoreError> {
    let wrong = |cause| error::native(OPERATION, cause);
    let (statement, query) = Plan::everything(&session.physical, number)?;
    let asked = Bindings::new(&session.physical, &query)?;
    let mut decoder = Decoder::new(asked, 1).in_pieces(ROWS);
    let mut prepared = session.connection.prepare_cached(&statement.text).map_err(wrong)?;
    let mut rows = prepared.raw_query();
    while let Some(row) = rows.next().map_err(wrong)? {
        decoder.row(&statement.form, &Fetched(row))?;
        if let Some(piece) = decoder.take_piece(&statement.form) {
            sink(&piece);
        }
    }
    decoder.finish_pieces(sink);
    Ok(())
}

/// Reads back every entity of a table.
///
/// # Errors
/// What SQLite says, or that the table has none.
pub fn entities(
    session: &SqliteSession,
    number: usize,
    sink: &mut dyn FnMut(u32, i64, &[Value]),
) -> Result<(), StoreError> {
    let wrong = |cause| error::native(OPERATION, cause);
    let sql = plan::entities(&session.physical, number)?;
    let mut statement = session.connection.prepare_cached(&sql).map_err(wrong)?;
    let mut rows = statement.raw_query();
    let (mut key, mut values) = (String::new(), Vec::new());
    while let Some(row) = rows.next().map_err(wrong)? {
        let row = Fetched(row);
        let (series, last_ns) = decode::entity(&session.physical, number, &row, &mut key, &mut values)?;
        sink(series, last_ns, &values);
    }
    Ok(())
}
