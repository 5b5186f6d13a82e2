//! Packed records, searched and aggregated in the client: SQLite does not look into them.

use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_store::client_side::{self, readings_of};
use sensormark_store::{Answer, Ask, Encoding, Query};

/// The range whose readings answer a question about packed records; none where the question is answered as it is.
pub(super) fn range(physical: &PhysicalSchema, query: &Query) -> Option<Query> {
    if !matches!(physical.span(), Some((_, Encoding::Blob))) {
        return None;
    }
    match &query.ask {
        Ask::Point { .. } | Ask::Range { .. } => None,
        // Sums are refused by the planner.
        _ => readings_of(query).ok(),
    }
}

/// The answer to a question from the readings of its range.
pub(super) fn search(physical: &PhysicalSchema, query: &Query, readings: Answer) -> Answer {
    match readings {
        Answer::Readings(batch) => client_side::answer(query, &physical.schema.tables[query.table], batch),
        other => other,
    }
}
