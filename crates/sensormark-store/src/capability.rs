//! What a store does natively, in the client, or not at all.
//!
//! What is not supported is shown as "not supported" with its reason, never as zero and never left out.

use crate::query::{Ask, Derived, Function, Query, Selection};
use crate::schema::Table;
use serde::{Deserialize, Serialize};

/// An operation, as far as a store may or may not be able to do it with a layout and a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Write a batch.
    Write,
    /// Insert a reading and update its entity, in two commits.
    UpsertSeparately,
    /// Insert a reading and update its entity, both or neither.
    UpsertAtomically,
    /// [`crate::Ask::Point`].
    Point,
    /// [`crate::Ask::Range`] of all fields.
    Range,
    /// [`crate::Ask::Range`] of some of the fields, without moving the others over the wire.
    RangeOfSomeFields,
    /// [`crate::Ask::First`] and [`crate::Ask::Last`].
    Search,
    /// The same over the whole of time, to before or from after one instant.
    SearchWithoutBound,
    /// [`crate::Ask::Minimum`].
    Minimum,
    /// [`crate::Ask::Aggregate`] over the whole range.
    Aggregate,
    /// The same by window.
    AggregateByWindow,
    /// The same by day and night.
    AggregateByDayPart,
    /// The same over several series, or grouped by series or tag.
    AggregateAcrossSeries,
    /// [`crate::Function::TimeWeightedShare`].
    TimeWeightedShare,
    /// [`crate::Function::MostFrequent`].
    MostFrequent,
    /// [`crate::Ask::Aggregate`] from sums kept at write time.
    FromSums,
    /// Smallest and largest values by day and night, from what is kept at write time.
    ExtremesOfPartsFromSums,
    /// [`crate::Ask::LastReading`].
    LastReading,
    /// [`crate::Ask::SeriesMatching`].
    SeriesMatching,
    /// [`crate::Function::StandardDeviation`].
    StandardDeviation,
    /// [`crate::Derived::RowsByValue`].
    RowsByValue,
    /// [`crate::Derived::Interpolated`].
    Interpolated,
    /// [`crate::Derived::Correlation`].
    Correlation,
    /// [`crate::Derived::OutOfRange`].
    OutOfRange,
    /// [`crate::Derived::Difference`].
    Difference,
    /// [`crate::Derived::CrossMean`].
    CrossMean,
    /// [`crate::Derived::Nearest`].
    Nearest,
    /// [`crate::Derived::Segments`].
    Segments,
    /// [`crate::Derived::ZScores`].
    ZScores,
}

impl Operation {
    /// The operations that a store must support to answer this question about this table; it answers when it supports them all.
    pub fn needed(query: &Query, table: &Table) -> Vec<Self> {
        let mut needed = vec![match &query.ask {
            Ask::Point { .. } => Self::Point,
            Ask::Range { fields, .. } if *fields == table.all_fields() => Self::Range,
            Ask::Range { .. } => Self::RangeOfSomeFields,
            Ask::First(_) | Ask::Last(_) => Self::Search,
            Ask::Minimum { .. } => Self::Minimum,
            Ask::Aggregate { from_sums, .. } if *from_sums => Self::FromSums,
            Ask::Aggregate { .. } => Self::Aggregate,
            Ask::LastReading { .. } => Self::LastReading,
            Ask::SeriesMatching(_) => Self::SeriesMatching,
            Ask::Derived(derived) => Self::of(derived),
        }];
        if let Ask::Aggregate { aggregates, grouping, .. } = &query.ask {
            let one = matches!(query.series, Selection::One(_)) || table.series.len() == 1;
            let uses = |function| aggregates.iter().any(|one| one.function == function);
            let further = [
                (grouping.window.is_some(), Self::AggregateByWindow),
                (grouping.by_day_part.is_some(), Self::AggregateByDayPart),
                (!one, Self::AggregateAcrossSeries),
                (uses(Function::TimeWeightedShare), Self::TimeWeightedShare),
                (uses(Function::MostFrequent), Self::MostFrequent),
                (uses(Function::StandardDeviation), Self::StandardDeviation),
                (
                    needed[0] == Self::FromSums
                        && grouping.by_day_part.is_some()
                        && (uses(Function::Min) || uses(Function::Max)),
                    Self::ExtremesOfPartsFromSums,
                ),
            ];
            needed.extend(further.into_iter().filter(|one| one.0).map(|one| one.1));
        }
        needed
    }

    /// The operation that something derived is.
    pub const fn of(derived: &Derived) -> Self {
        match derived {
            Derived::RowsByValue { .. } => Self::RowsByValue,
            Derived::Interpolated { .. } => Self::Interpolated,
            Derived::Correlation { .. } => Self::Correlation,
            Derived::OutOfRange { .. } => Self::OutOfRange,
            Derived::Difference { .. } => Self::Difference,
            Derived::CrossMean { .. } => Self::CrossMean,
            Derived::Nearest { .. } => Self::Nearest,
            Derived::Segments { .. } => Self::Segments,
            Derived::ZScores { .. } => Self::ZScores,
        }
    }

    /// Every operation. Whoever lists a store's capabilities goes through these.
    pub const ALL: [Self; 29] = [
        Self::Write,
        Self::UpsertSeparately,
        Self::UpsertAtomically,
        Self::Point,
        Self::Range,
        Self::RangeOfSomeFields,
        Self::Search,
        Self::SearchWithoutBound,
        Self::Minimum,
        Self::Aggregate,
        Self::AggregateByWindow,
        Self::AggregateByDayPart,
        Self::AggregateAcrossSeries,
        Self::TimeWeightedShare,
        Self::MostFrequent,
        Self::FromSums,
        Self::ExtremesOfPartsFromSums,
        Self::LastReading,
        Self::SeriesMatching,
        Self::StandardDeviation,
        Self::RowsByValue,
        Self::Interpolated,
        Self::Correlation,
        Self::OutOfRange,
        Self::Difference,
        Self::CrossMean,
        Self::Nearest,
        Self::Segments,
        Self::ZScores,
    ];

    /// Whether any store's client can answer it from the readings of a range, where its database does not: [`Self::StandardDeviation`], and what is
    /// [`crate::Derived`].
    pub const fn is_derived(self) -> bool {
        matches!(
            self,
            Self::StandardDeviation
                | Self::RowsByValue
                | Self::Interpolated
                | Self::Correlation
                | Self::OutOfRange
                | Self::Difference
                | Self::CrossMean
                | Self::Nearest
                | Self::Segments
                | Self::ZScores
        )
    }
}

/// How a store does an operation with a layout and a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// By the database itself.
    Native,
    /// The database cannot; its users do it in the client, and so does the store. The cost lands on the client and is marked.
    ClientSide(String),
    /// Not at all, and why.
    Unsupported(String),
}

impl Capability {
    /// Why it is not native, where it is not.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Native => None,
            Self::ClientSide(reason) | Self::Unsupported(reason) => Some(reason),
        }
    }
}
