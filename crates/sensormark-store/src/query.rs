//! The logical operations that ask: what a workload wants to know, without saying how a database finds it.
//!
//! All intervals are half-open; one whose end is not after its start is empty. Answers are in [`crate::answer`]; what each operation means exactly, edges, ties
//! and gaps included, is stated here and tested by the conformance suite.

use crate::schema::Series;
use serde::{Deserialize, Serialize};

/// A half-open interval of time, [start, end), in ns since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeRange {
    /// The first instant that belongs to the range.
    pub start_ns: i64,
    /// The first instant after it.
    pub end_ns: i64,
}

impl TimeRange {
    /// The times that readings have, in the years 1970 to 2261. Every store keeps all of them, and no other is sent to one. A question's range may reach further.
    pub const OF_READINGS: Self = Self::new(0, 9_214_646_400_000_000_000);

    /// The times that recordings may have, in the years 1678 to 2261. Those before 1970 are sent to stores that are known to keep them.
    pub const OF_RECORDINGS: Self = Self::new(-9_214_560_000_000_000_000, Self::OF_READINGS.end_ns);

    /// The range [start, end).
    pub const fn new(start_ns: i64, end_ns: i64) -> Self {
        Self { start_ns, end_ns }
    }

    /// Whether the instant belongs to the range.
    pub const fn contains(self, time_ns: i64) -> bool {
        self.start_ns <= time_ns && time_ns < self.end_ns
    }

    /// The range's length in ns, 0 for an empty one.
    pub const fn length_ns(self) -> i64 {
        if self.end_ns > self.start_ns { self.end_ns - self.start_ns } else { 0 }
    }
}

/// One question about one table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Query {
    /// The table's number in its schema.
    pub table: usize,
    /// Which series are asked about.
    pub series: Selection,
    /// Which readings are asked about; for [`Ask::Point`] the reading at its start.
    pub range: TimeRange,
    /// What is asked.
    pub ask: Ask,
}

/// Which series a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// One series, by number.
    One(u32),
    /// Several series, by ascending number.
    Set(Vec<u32>),
    /// The series whose tag number `tag` has this value. The database finds them by the tag, or the store names them, as the schema says which they are.
    Tagged {
        /// The tag's number.
        tag: usize,
        /// Its value, as text.
        value: String,
    },
    /// All series of the table.
    All,
}

impl Selection {
    /// Whether the series of this number, one of these, is chosen.
    pub fn holds(&self, series: &Series, number: u32) -> bool {
        match self {
            Self::One(one) => number == *one,
            Self::Set(set) => set.contains(&number),
            Self::Tagged { tag, value } => *series.columns()[*tag].text(number) == **value,
            Self::All => true,
        }
    }
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// The chosen fields (at least one) of the reading at the range's start; answered by readings, none where there is none, or where it
    /// has none of the chosen fields. Asked of one series.
    Point {
        /// The fields.
        fields: crate::schema::FieldSet,
    },
    /// The chosen fields (at least one) of all readings in the range; answered by readings, without those that have none of the chosen fields.
    Range {
        /// The fields.
        fields: crate::schema::FieldSet,
        /// Whether to narrow by the coarse key of the layout (a day) first, where it has one. Never changes the answer.
        coarse_filter: bool,
    },
    /// The earliest reading in the range that passes; answered by a moment. Asked of one series, as are `Last` and `Minimum`: with another
    /// selection a store answers (of readings at the same time, the lowest series) or fails with [`crate::ErrorKind::Unsupported`].
    First(Predicate),
    /// The latest reading in the range that passes; answered by a moment. ("Last before t" ends its range at t.)
    Last(Predicate),
    /// The smallest value of a field in the range and its time, the earliest of equals; answered by a moment.
    Minimum {
        /// The field's number; numeric.
        field: usize,
    },
    /// Aggregates over the readings in the range; answered by groups.
    Aggregate {
        /// What is computed, at least one.
        aggregates: Vec<Aggregate>,
        /// How readings are grouped.
        grouping: Grouping,
        /// Whether sums that the layout keeps at write time are read instead of readings. Range bounds and windows are then multiples of the layout's `per_ns`,
        /// and day and night are split as the layout splits them. Functions are then count, sum, min, max and mean of numeric fields.
        from_sums: bool,
    },
    /// Of each series the latest reading in the range that has any of the chosen fields (at least one), with these; answered by readings, at most one a series.
    LastReading {
        /// The fields.
        fields: crate::schema::FieldSet,
    },
    /// The series that have a reading in the range that passes; answered by series.
    SeriesMatching(Predicate),
}

/// A field compared with a threshold; equal values pass neither way, and readings without the field do not pass.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Predicate {
    /// The field's number; numeric.
    pub field: usize,
    /// Which side of the threshold passes.
    pub comparison: Comparison,
    /// The threshold.
    pub threshold: f64,
}

/// Which side of a threshold passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// Values over the threshold.
    Above,
    /// Values under the threshold.
    Below,
}

/// One aggregate of one field. Readings without the field count for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Aggregate {
    /// What is computed.
    pub function: Function,
    /// The field's number.
    pub field: usize,
}

/// What an aggregate computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// How many readings have the field; integer.
    Count,
    /// Sum; integer for integer fields (64 bits, the workload keeps it within), else floating; numeric fields.
    Sum,
    /// Smallest value, of the field's type; numeric fields.
    Min,
    /// Largest value, of the field's type; numeric fields.
    Max,
    /// Arithmetic mean, floating also for integers; numeric fields.
    Mean,
    /// Value of the latest reading that has the field. Asked only where a group holds one series.
    Last,
    /// For truth values: the share of time, 0 to 1, in which the value was true. Each reading holds from its time until the next reading of its series or the
    /// group's end, whichever is earlier. The group's end is that of the window or of the range, whichever is earlier. Time before the group's first reading
    /// counts for nothing. The next reading is the next in the range that has the field, even if it is in another window or part of the day. So a reading by
    /// day holds into the night until then. Asked only where a group holds one series.
    TimeWeightedShare,
    /// The value that most readings have; the smallest of equals (text by bytes).
    MostFrequent,
}

/// How readings are grouped before they are aggregated. A group in which no reading has any of the aggregated fields is
/// absent from the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Grouping {
    /// By window of time; the first and last window may reach beyond the range, but only readings in the range count.
    pub window: Option<Window>,
    /// By series; without it all chosen series fall together.
    pub by_series: bool,
    /// By the value of the tag with this number; a group is named by its lowest series. Not together with `by_series`.
    pub by_tag: Option<usize>,
    /// By time of day, into day and night.
    pub by_day_part: Option<DaySplit>,
}

/// Windows of equal width: window k is [origin + k·width, origin + (k + 1)·width), k any integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Window {
    /// Width in ns, over 0.
    pub width_ns: i64,
    /// Where window 0 starts, in ns since the Unix epoch.
    pub origin_ns: i64,
}

impl Window {
    /// Start of the window that holds this instant, in ns since the Unix epoch.
    pub const fn start_of(self, time_ns: i64) -> i64 {
        time_ns - (time_ns - self.origin_ns).rem_euclid(self.width_ns)
    }
}

/// Which part of a (UTC) day counts as day: [day_start, day_end) after midnight; the rest is night.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DaySplit {
    /// When day begins, in ns after midnight UTC.
    pub day_start_ns: i64,
    /// When night begins, in ns after midnight UTC.
    pub day_end_ns: i64,
}

impl DaySplit {
    /// Nanoseconds in a day.
    pub const DAY_NS: i64 = 86_400_000_000_000;

    /// Whether this instant falls by day.
    pub const fn is_day(self, time_ns: i64) -> bool {
        let after_midnight = time_ns.rem_euclid(Self::DAY_NS);
        self.day_start_ns <= after_midnight && after_midnight < self.day_end_ns
    }
}

impl Predicate {
    /// Whether this value passes.
    pub fn passes(self, value: f64) -> bool {
        match self.comparison {
            Comparison::Above => value > self.threshold,
            Comparison::Below => value < self.threshold,
        }
    }
}

impl Query {
    /// A chart of a field: means by window of `ceil(length / points)` ns from the range's start, so at most `points` points.
    /// Charts are aggregates; a store needs nothing more for them.
    ///
    /// # Panics
    /// When `points` is 0.
    pub fn chart(table: usize, series: u32, range: TimeRange, field: usize, points: u32) -> Self {
        assert!(points > 0, "a chart has at least one point");
        let points = i64::from(points);
        let width_ns = (range.length_ns() + points - 1).div_euclid(points).max(1);
        Self {
            table,
            series: Selection::One(series),
            range,
            ask: Ask::Aggregate {
                aggregates: vec![Aggregate { function: Function::Mean, field }],
                grouping: Grouping {
                    window: Some(Window { width_ns, origin_ns: range.start_ns }),
                    ..Grouping::default()
                },
                from_sums: false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_half_open_before_the_epoch_too() {
        let window = Window { width_ns: 10, origin_ns: 3 };
        assert_eq!(
            [window.start_of(3), window.start_of(12), window.start_of(13), window.start_of(2)],
            [3, 3, 13, -7]
        );
    }

    #[test]
    fn a_chart_has_at_most_the_points_asked_for() {
        let query = Query::chart(0, 0, TimeRange::new(0, 1001), 0, 500);
        let Ask::Aggregate { grouping, .. } = query.ask else { panic!("a chart is an aggregate") };
        assert_eq!(grouping.window.unwrap().width_ns, 3);
    }
}
