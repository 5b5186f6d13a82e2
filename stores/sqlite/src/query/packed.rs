//! Packed records, searched and aggregated in the client: SQLite does not look into them.

use sensormark_relational::decode::last_of_each;
use sensormark_relational::physical_schema::PhysicalSchema;
use sensormark_store::client_side::{self, moment};
use sensormark_store::{Answer, Ask, Batch, Encoding, FieldSet, Predicate, Query};
use std::cmp::Reverse;

/// The range whose readings answer a question about packed records; none where the question is answered as it is.
pub(super) fn range(model: &PhysicalSchema, query: &Query) -> Option<Query> {
    if !matches!(model.span(), Some((_, Encoding::Blob))) {
        return None;
    }
    let fields = match &query.ask {
        Ask::Point { .. } | Ask::Range { .. } => return None,
        Ask::LastReading { fields } => *fields,
        Ask::First(predicate) | Ask::Last(predicate) | Ask::SeriesMatching(predicate) => {
            FieldSet::one(predicate.field)
        }
        Ask::Minimum { field } => FieldSet::one(*field),
        // Sums are refused by the planner.
        Ask::Aggregate {
            from_sums: true, ..
        } => return None,
        Ask::Aggregate { aggregates, .. } => aggregates
            .iter()
            .fold(FieldSet::first(0), |set, one| set.with(one.field)),
    };
    Some(Query {
        ask: Ask::Range {
            fields,
            coarse_filter: false,
        },
        ..query.clone()
    })
}

/// The answer to a question from the readings of its range.
pub(super) fn search(model: &PhysicalSchema, query: &Query, readings: Answer) -> Answer {
    let Answer::Readings(batch) = readings else {
        return readings;
    };
    match &query.ask {
        Ask::Point { .. } | Ask::Range { .. } => Answer::Readings(batch),
        Ask::LastReading { .. } => Answer::Readings(last_of_each(batch)),
        Ask::First(predicate) => {
            let found = passing(&batch, *predicate)
                .min_by_key(|&row| (batch.times_ns[row], batch.series[row], row));
            Answer::Moment(found.map(|row| moment(&batch, predicate.field, row)))
        }
        Ask::Last(predicate) => {
            let found = passing(&batch, *predicate)
                .max_by_key(|&row| (batch.times_ns[row], Reverse(batch.series[row]), row));
            Answer::Moment(found.map(|row| moment(&batch, predicate.field, row)))
        }
        Ask::Minimum { field } => Answer::Moment(client_side::minimum(&batch, *field)),
        Ask::SeriesMatching(predicate) => {
            let rows = passing(&batch, *predicate);
            let mut series: Vec<u32> = rows.map(|row| batch.series[row]).collect();
            series.dedup();
            Answer::Series(series)
        }
        Ask::Aggregate {
            aggregates,
            grouping,
            ..
        } => {
            let series = &model.schema.tables[query.table].series;
            let name = client_side::group_names(series, *grouping);
            Answer::groups(client_side::groups(
                &batch, name, query, aggregates, *grouping,
            ))
        }
    }
}

fn passing(batch: &Batch, predicate: Predicate) -> impl Iterator<Item = usize> {
    let column = &batch.columns[predicate.field];
    (0..batch.len()).filter(move |&row| {
        column
            .number(row)
            .is_some_and(|value| predicate.passes(value))
    })
}
