//! The named questions: what a workload may ask, and nothing else.
//!
//! A [`Query`] can say more than anybody asks. What is no named question is refused before it reaches a store, so a store answers these alone, and the suite tries
//! each of them. The two questions without a [`Query`] are [`crate::Session::scan`] and [`crate::Session::scan_entities`].

use crate::error::StoreError;
use crate::query::{Aggregate, Ask, Derived, Function, Grouping, Query, Selection};
use std::fmt;

/// A question by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Question {
    /// The reading of one series at an instant.
    Point,
    /// The readings of one series in a range.
    RangeOfOne,
    /// The readings of the series of a tag, or of all, in a range.
    RangeOfSeveral,
    /// The latest reading of one series.
    LatestOfOne,
    /// The latest reading of each series of a tag.
    LatestOfTagged,
    /// The latest reading of each series.
    LatestOfAll,
    /// The first reading of one series that passes a threshold.
    First,
    /// The last one.
    Last,
    /// The smallest value of one series, the earliest of equals.
    Minimum,
    /// The series (one, of a tag, all) that have a reading that passes a threshold.
    Matching,
    /// One function of one field over one series, those of a tag, or all.
    Total,
    /// The same by window, from the epoch on; the only question of a set of series too.
    Windows,
    /// Means of one series by window, from the range's start on.
    Chart,
    /// One function of one field by series, by window too or not.
    BySeries,
    /// The same by the value of a tag.
    ByTag,
    /// Means of one series by day and by night.
    DayAndNight,
    /// The mean of one series, from sums.
    TotalFromSums,
    /// Its means by window, from sums.
    WindowsFromSums,
    /// Its means by day and by night, from sums.
    DayAndNightFromSums,
    /// Of the series of a tag, each by itself, several functions of several fields.
    Statistics,
    /// The readings (of one series, of a tag, of all) whose value passes a threshold.
    RowsByValue,
    /// The fields of one series on a grid, on lines between readings.
    Interpolated,
    /// Pearson's coefficient of two fields of one series.
    Correlation,
    /// The windows of one series with a value out of bounds.
    OutOfRange,
    /// The difference of the means of two series by window.
    Difference,
    /// The mean of two fields of each reading of one series.
    CrossMean,
    /// The readings of one series that are nearest to two values.
    Nearest,
    /// The readings of one series, divided where a value jumps.
    Segments,
    /// Of one series, how many deviations each value, or each outlier, is from the mean.
    ZScores,
}

impl Question {
    /// All of them.
    pub const ALL: [Self; 29] = [
        Self::Point,
        Self::RangeOfOne,
        Self::RangeOfSeveral,
        Self::LatestOfOne,
        Self::LatestOfTagged,
        Self::LatestOfAll,
        Self::First,
        Self::Last,
        Self::Minimum,
        Self::Matching,
        Self::Total,
        Self::Windows,
        Self::Chart,
        Self::BySeries,
        Self::ByTag,
        Self::DayAndNight,
        Self::TotalFromSums,
        Self::WindowsFromSums,
        Self::DayAndNightFromSums,
        Self::Statistics,
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

    /// Which question a query is.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Unsupported`] where it is no named one. Stores refuse such a query before they look at it.
    pub fn named(query: &Query) -> Result<Self, StoreError> {
        let unnamed = || {
            StoreError::unsupported("ask", "it is none of the named questions of sensormark_store::Question")
        };
        Self::of(query).ok_or_else(unnamed)
    }

    /// Which question a query is; none where it is no named one.
    pub fn of(query: &Query) -> Option<Self> {
        let of = &query.series;
        let is_one = matches!(of, Selection::One(_));
        let is_set = matches!(of, Selection::Set(_));
        let of_one = |question| is_one.then_some(question);
        match &query.ask {
            Ask::Point { .. } => of_one(Self::Point),
            Ask::First(_) => of_one(Self::First),
            Ask::Last(_) => of_one(Self::Last),
            Ask::Minimum { .. } => of_one(Self::Minimum),
            Ask::Aggregate { aggregates, grouping, from_sums: true } => {
                of_one(Self::from_sums(aggregates, grouping)?)
            }
            Ask::Aggregate { aggregates, grouping, from_sums: false } => {
                Self::aggregate(query, aggregates, grouping)
                    .filter(|&found| found == Self::Windows || !is_set)
            }
            _ if is_set => None,
            Ask::SeriesMatching(_) => Some(Self::Matching),
            Ask::Derived(Derived::RowsByValue { .. }) => Some(Self::RowsByValue),
            Ask::Derived(derived) => of_one(match derived {
                Derived::RowsByValue { .. } => Self::RowsByValue,
                Derived::Interpolated { .. } => Self::Interpolated,
                Derived::Correlation { .. } => Self::Correlation,
                Derived::OutOfRange { .. } => Self::OutOfRange,
                Derived::Difference { .. } => Self::Difference,
                Derived::CrossMean { .. } => Self::CrossMean,
                Derived::Nearest { .. } => Self::Nearest,
                Derived::Segments { .. } => Self::Segments,
                Derived::ZScores { .. } => Self::ZScores,
            }),
            Ask::Range { .. } => Some(if is_one { Self::RangeOfOne } else { Self::RangeOfSeveral }),
            Ask::LastReading { .. } => Some(match of {
                Selection::One(_) => Self::LatestOfOne,
                Selection::Tagged { .. } => Self::LatestOfTagged,
                Selection::Set(_) | Selection::All => Self::LatestOfAll,
            }),
        }
    }

    fn from_sums(aggregates: &[Aggregate], grouping: &Grouping) -> Option<Self> {
        if !matches!(aggregates, [Aggregate { function: Function::Mean, .. }]) {
            return None;
        }
        match *grouping {
            Grouping { window: None, by_series: false, by_tag: None, by_day_part: None } => {
                Some(Self::TotalFromSums)
            }
            Grouping { window: Some(window), by_series: false, by_tag: None, by_day_part: None } => {
                (window.origin_ns == 0).then_some(Self::WindowsFromSums)
            }
            Grouping { window: None, by_series: false, by_tag: None, by_day_part: Some(_) } => {
                Some(Self::DayAndNightFromSums)
            }
            _ => None,
        }
    }

    fn aggregate(query: &Query, aggregates: &[Aggregate], grouping: &Grouping) -> Option<Self> {
        let is_one = matches!(query.series, Selection::One(_));
        let function = match aggregates {
            [one] => Some(one.function),
            _ => None,
        };
        let is_mean = function == Some(Function::Mean);
        let is_plain = function.is_some_and(|function| {
            !matches!(function, Function::Last | Function::TimeWeightedShare | Function::MostFrequent)
        });
        let starts_at = |origin_ns| grouping.window.is_none_or(|window| window.origin_ns == origin_ns);
        match (grouping.by_series, grouping.by_tag, grouping.by_day_part) {
            (false, None, Some(_)) => {
                (is_one && is_mean && grouping.window.is_none()).then_some(Self::DayAndNight)
            }
            (false, None, None) if is_plain && grouping.window.is_none() => Some(Self::Total),
            (false, None, None) if is_plain && starts_at(0) => Some(Self::Windows),
            (false, None, None) if is_one && is_mean && starts_at(query.range.start_ns) => Some(Self::Chart),
            (true, None, None) if is_plain && starts_at(0) => Some(Self::BySeries),
            (true, None, None) if grouping.window.is_none() => {
                matches!(query.series, Selection::Tagged { .. }).then_some(Self::Statistics)
            }
            (false, Some(_), None) if is_plain && starts_at(0) => Some(Self::ByTag),
            _ => None,
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::RangeOfOne => "range of one",
            Self::RangeOfSeveral => "range of several",
            Self::LatestOfOne => "latest of one",
            Self::LatestOfTagged => "latest of a tag",
            Self::LatestOfAll => "latest of all",
            Self::First => "first",
            Self::Last => "last",
            Self::Minimum => "minimum",
            Self::Matching => "matching",
            Self::Total => "total",
            Self::Windows => "windows",
            Self::Chart => "chart",
            Self::BySeries => "by series",
            Self::ByTag => "by tag",
            Self::DayAndNight => "day and night",
            Self::TotalFromSums => "total from sums",
            Self::WindowsFromSums => "windows from sums",
            Self::DayAndNightFromSums => "day and night from sums",
            Self::Statistics => "statistics",
            Self::RowsByValue => "rows by value",
            Self::Interpolated => "interpolated",
            Self::Correlation => "correlation",
            Self::OutOfRange => "out of range",
            Self::Difference => "difference",
            Self::CrossMean => "cross mean",
            Self::Nearest => "nearest",
            Self::Segments => "segments",
            Self::ZScores => "z-scores",
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
