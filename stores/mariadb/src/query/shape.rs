//! The shape of a question: what its statements' text depends on, the layout apart. Questions of one shape share statements.

use super::slot::first_start;
use crate::schema::Model;
use sensormark_store::{Aggregate, Ask, Comparison, Query, Selection, StoreError, TagColumn};

/// All that the text of a question's statements depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct QueryShape {
    table: usize,
    selection: SelectionShape,
    ask: AskShape,
}

/// How series are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SelectionShape {
    /// One series; whether the table has it.
    One(bool),
    /// A set, of which the table has so many.
    Set(usize),
    /// By the tag with this number; whether a series may have the value.
    Tagged(usize, bool),
    /// All.
    All,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum AskShape {
    /// Of a point too: it is a range of one nanosecond.
    Range(u64),
    First(usize, Comparison),
    Last(usize, Comparison),
    Minimum(usize),
    Aggregate {
        aggregates: Vec<Aggregate>,
        /// Whether a window starts at 1970.
        window: Option<bool>,
        by_series: bool,
        by_tag: Option<usize>,
        by_day_part: bool,
        from_sums: bool,
    },
    LastReading(u64),
    SeriesMatching(usize, Comparison),
}

impl SelectionShape {
    /// How a question's series are chosen.
    pub(crate) fn of(query: &Query, model: &Model) -> Result<Self, StoreError> {
        let (table, described) = model.table(query.table)?;
        let count = table.series.len();
        Ok(match &query.series {
            Selection::One(series) => Self::One(*series < count),
            Selection::Set(several) => Self::Set(several.iter().filter(|&&it| it < count).count()),
            Selection::Tagged { tag, value } => {
                let text = matches!(table.series.columns().get(*tag), Some(TagColumn::Text(_)));
                Self::Tagged(
                    *tag,
                    text || described.series.lowest_with(*tag, value).is_ok(),
                )
            }
            Selection::All => Self::All,
        })
    }
}

impl QueryShape {
    /// A question's shape.
    pub(crate) fn of(query: &Query, model: &Model) -> Result<Self, StoreError> {
        let ask = match &query.ask {
            Ask::Point { fields } | Ask::Range { fields, .. } => AskShape::Range(fields.bits()),
            Ask::First(predicate) => AskShape::First(predicate.field, predicate.comparison),
            Ask::Last(predicate) => AskShape::Last(predicate.field, predicate.comparison),
            Ask::Minimum { field } => AskShape::Minimum(*field),
            Ask::Aggregate {
                aggregates,
                grouping,
                from_sums,
            } => AskShape::Aggregate {
                aggregates: aggregates.clone(),
                window: grouping.window.map(|window| first_start(window) == 0),
                by_series: grouping.by_series,
                by_tag: grouping.by_tag,
                by_day_part: grouping.by_day_part.is_some(),
                from_sums: *from_sums,
            },
            Ask::LastReading { fields } => AskShape::LastReading(fields.bits()),
            Ask::SeriesMatching(predicate) => {
                AskShape::SeriesMatching(predicate.field, predicate.comparison)
            }
        };
        Ok(Self {
            table: query.table,
            selection: SelectionShape::of(query, model)?,
            ask,
        })
    }
}
