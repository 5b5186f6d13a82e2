//! Questions, each to the code that answers it.

mod aggregate;
mod cells;
pub(crate) mod document;
pub(crate) mod readings;
mod search;
mod source;
mod sql;

use self::search::Search;
use crate::connection::Link;
use crate::schema::Model;
use sensormark_store::{Answer, Ask, ErrorKind, Query, Selection, StoreError, TimeRange};

/// Answers a question.
pub(crate) async fn answer(
    link: &mut Link,
    model: &Model,
    query: &Query,
) -> Result<Answer, StoreError> {
    check_tags(model, query)?;
    match &query.ask {
        Ask::Point { fields } => {
            let start = query.range.start_ns;
            let mut point = query.clone();
            point.range = TimeRange::new(start, start.saturating_add(1));
            readings::range(link, model, &point, *fields).await
        }
        Ask::Range { fields, .. } => readings::range(link, model, query, *fields).await,
        Ask::First(predicate) => {
            search::moment(link, model, query, Search::First(*predicate)).await
        }
        Ask::Last(predicate) => search::moment(link, model, query, Search::Last(*predicate)).await,
        Ask::Minimum { field } => search::moment(link, model, query, Search::Minimum(*field)).await,
        Ask::Aggregate {
            aggregates,
            grouping,
            from_sums,
        } => aggregate::aggregate(link, model, query, aggregates, *grouping, *from_sums).await,
        Ask::LastReading { fields } => readings::last(link, model, query, *fields).await,
        Ask::SeriesMatching(predicate) => search::matching(link, model, query, *predicate).await,
    }
}

/// Tags that a question names must be there.
fn check_tags(model: &Model, query: &Query) -> Result<(), StoreError> {
    let (table, _) = model.table(query.table)?;
    let chosen = match &query.series {
        Selection::Tagged { tag, .. } => Some(*tag),
        _ => None,
    };
    let grouped = match &query.ask {
        Ask::Aggregate { grouping, .. } => grouping.by_tag,
        _ => None,
    };
    match chosen
        .into_iter()
        .chain(grouped)
        .find(|&tag| tag >= table.tags.len())
    {
        None => Ok(()),
        Some(tag) => Err(StoreError::new(
            ErrorKind::NotFound,
            "find a tag",
            format!("table {} has no tag number {tag}", table.name),
        )),
    }
}
