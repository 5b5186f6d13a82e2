//! The shape of a question: what its statement's text depends on. Questions of one shape share a prepared statement.

use crate::schema::Model;
use sensormark_store::query::DaySplit;
use sensormark_store::{Aggregate, Ask, Comparison, Query, Selection, TimeKey, Window};

/// All that the text of a statement depends on, the layout apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct QueryShape {
    table: usize,
    selection: SelectionShape,
    ask: AskShape,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum SelectionShape {
    One,
    Set,
    Tagged(usize),
    All,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum AskShape {
    Point(u64),
    Range(u64),
    First(usize, Comparison),
    Last(usize, Comparison),
    Minimum(usize),
    Aggregate {
        aggregates: Vec<Aggregate>,
        window: Option<WindowShape>,
        by_series: bool,
        by_tag: Option<usize>,
        by_day_part: Option<DaySplit>,
        from_sums: bool,
    },
    LastReading(u64),
    SeriesMatching(usize, Comparison),
}

/// How a window's start is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum WindowShape {
    /// With integers; all readings are after the origin.
    Forward,
    /// With integers.
    Any,
    /// With `date_bin`: width and origin are whole microseconds and keys are timestamps.
    Bin,
}

impl WindowShape {
    /// How to compute the starts of these windows for readings that are not before `start_ns`.
    pub(crate) fn of(window: Window, start_ns: i64, model: &Model) -> Self {
        let whole = |ns: i64| ns.rem_euclid(1_000) == 0;
        if model.layout.time == TimeKey::Native && whole(window.width_ns) && whole(window.origin_ns)
        {
            Self::Bin
        } else if start_ns.max(0) >= window.origin_ns {
            Self::Forward
        } else {
            Self::Any
        }
    }
}

impl QueryShape {
    /// A question's shape.
    pub(crate) fn of(query: &Query, model: &Model) -> Self {
        let ask = match &query.ask {
            Ask::Point { fields } => AskShape::Point(fields.bits()),
            Ask::Range { fields, .. } => AskShape::Range(fields.bits()),
            Ask::First(predicate) => AskShape::First(predicate.field, predicate.comparison),
            Ask::Last(predicate) => AskShape::Last(predicate.field, predicate.comparison),
            Ask::Minimum { field } => AskShape::Minimum(*field),
            Ask::Aggregate {
                aggregates,
                grouping,
                from_sums,
            } => AskShape::Aggregate {
                aggregates: aggregates.clone(),
                window: grouping
                    .window
                    .map(|window| WindowShape::of(window, query.range.start_ns, model)),
                by_series: grouping.by_series,
                by_tag: grouping.by_tag,
                by_day_part: grouping.by_day_part,
                from_sums: *from_sums,
            },
            Ask::LastReading { fields } => AskShape::LastReading(fields.bits()),
            Ask::SeriesMatching(predicate) => {
                AskShape::SeriesMatching(predicate.field, predicate.comparison)
            }
        };
        Self {
            table: query.table,
            selection: match &query.series {
                Selection::One(_) => SelectionShape::One,
                Selection::Set(_) => SelectionShape::Set,
                Selection::Tagged { tag, .. } => SelectionShape::Tagged(*tag),
                Selection::All => SelectionShape::All,
            },
            ask,
        }
    }
}
