//! The shape of a question: what its statements' text depends on, the layout apart. Questions of one shape share prepared statements.

use super::latest::one_by_one;
use crate::dialect::SeriesSet;
use crate::physical_schema::PhysicalSchema;
use sensormark_store::query::DaySplit;
use sensormark_store::{Aggregate, Ask, Comparison, FieldSet, Query, Selection, TimeKey, Window};

/// All that the text of a question's statements depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct QueryShape {
    table: usize,
    selection: SelectionShape,
    ask: AskShape,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum SelectionShape {
    One,
    /// A set; of how many series that the table has, where each is a parameter or has a part of the statement.
    Set(usize),
    Tagged(usize),
    All,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum AskShape {
    Point(FieldSet),
    Range(FieldSet),
    First(usize, Comparison),
    Last(usize, Comparison),
    Minimum(usize),
    Aggregate {
        aggregates: Vec<Aggregate>,
        window: Option<WindowShape>,
        /// The windows as the text has them, where they are part of it.
        written: Option<(i64, i64)>,
        by_series: bool,
        by_tag: Option<usize>,
        /// Whether by parts of the day; which, where that is part of the text.
        by_day_part: Option<Option<DaySplit>>,
        from_sums: bool,
    },
    LastReading(FieldSet),
    SeriesMatching(usize, Comparison),
    /// What is derived, in words without its values; and windows.
    Derived(String, Option<WindowShape>, Option<(i64, i64)>),
}

/// How a window's start is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WindowShape {
    /// With whole numbers; all readings are after the origin.
    Forward,
    /// With whole numbers.
    Any,
    /// With the database's own function: width and origin are whole units of its time, and keys are of that type.
    Native,
}

impl WindowShape {
    /// How to compute the starts of these windows for readings that are not before `start_ns`.
    pub fn of(window: Window, start_ns: i64, physical: &PhysicalSchema) -> Self {
        let whole = |ns: i64| ns.rem_euclid(physical.unit_ns()) == 0;
        if physical.layout.time == TimeKey::Native && whole(window.width_ns) && whole(window.origin_ns) {
            Self::Native
        } else if start_ns.max(0) >= window.origin_ns {
            Self::Forward
        } else {
            Self::Any
        }
    }
}

/// Windows as a text has them, so that questions from different starts share it: the width, and the first origin after 1970.
pub(super) const fn written(window: Window) -> (i64, i64) {
    (window.width_ns, window.origin_ns.rem_euclid(window.width_ns))
}

impl QueryShape {
    /// A question's shape.
    pub fn of(query: &Query, physical: &PhysicalSchema) -> Self {
        let ask = match &query.ask {
            Ask::Point { fields } => AskShape::Point(*fields),
            Ask::Range { fields, .. } => AskShape::Range(*fields),
            Ask::First(predicate) => AskShape::First(predicate.field, predicate.comparison),
            Ask::Last(predicate) => AskShape::Last(predicate.field, predicate.comparison),
            Ask::Minimum { field } => AskShape::Minimum(*field),
            Ask::Aggregate { aggregates, grouping, from_sums } => AskShape::Aggregate {
                aggregates: aggregates.clone(),
                window: grouping.window.map(|window| WindowShape::of(window, query.range.start_ns, physical)),
                written: grouping.window.filter(|_| !physical.dialect.binds_windows()).map(written),
                by_series: grouping.by_series,
                by_tag: grouping.by_tag,
                by_day_part: grouping
                    .by_day_part
                    .map(|split| (!physical.dialect.binds_day()).then_some(split)),
                from_sums: *from_sums,
            },
            Ask::LastReading { fields } => AskShape::LastReading(*fields),
            Ask::SeriesMatching(predicate) => AskShape::SeriesMatching(predicate.field, predicate.comparison),
            Ask::Derived(derived) => AskShape::Derived(
                format!("{:?}", derived.without_values()),
                derived.window().map(|window| WindowShape::of(window, query.range.start_ns, physical)),
                derived.window().filter(|_| !physical.dialect.binds_windows()).map(written),
            ),
        };
        let listed = |set: &[u32]| match physical.dialect.series_set() {
            SeriesSet::List => {
                let count = physical.schema.tables[query.table].series.len();
                set.iter().filter(|&&series| series < count).count()
            }
            SeriesSet::Arrays | SeriesSet::Json => one_by_one(query, physical).unwrap_or(0),
        };
        Self {
            table: query.table,
            selection: match &query.series {
                Selection::One(_) => SelectionShape::One,
                Selection::Set(set) => SelectionShape::Set(listed(set)),
                Selection::Tagged { tag, .. } => SelectionShape::Tagged(*tag),
                Selection::All => SelectionShape::All,
            },
            ask,
        }
    }
}
