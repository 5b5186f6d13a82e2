//! Aggregates over packed records, computed in the client: SQLite does not look into them.

use super::records;
use crate::session::SqliteSession;
use sensormark_store::client_side;
use sensormark_store::{Aggregate, FieldSet, Group, Grouping, Query, StoreError};

/// The groups that aggregates over the range give.
///
/// # Errors
/// What SQLite says, or that a record could not be decoded.
pub fn aggregate(
    session: &mut SqliteSession,
    query: &Query,
    aggregates: &[Aggregate],
    grouping: Grouping,
) -> Result<Vec<Group>, StoreError> {
    let fields = aggregates
        .iter()
        .fold(FieldSet::first(0), |set, one| set.with(one.field));
    let batch = records::range(session, query, fields)?;
    let series = &session.design.schema.tables[query.table].series;
    let name = client_side::group_names(series, grouping);
    Ok(client_side::groups(
        &batch, name, query, aggregates, grouping,
    ))
}
