//! The logical operations that ask: what a workload wants to know, without saying how a database finds it.
//!
//! All intervals are half-open; one whose end is not after its start is empty. Answers are in [`crate::answer`]; what each operation means exactly, edges, ties
//! and gaps included, is stated here and tested by the conformance suite.

use crate::schema::{FieldSet, FieldType, Series, Table};
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
        fields: FieldSet,
    },
    /// The chosen fields (at least one) of all readings in the range; answered by readings, without those that have none of the chosen fields.
    Range {
        /// The fields.
        fields: FieldSet,
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
        fields: FieldSet,
    },
    /// The series that have a reading in the range that passes; answered by series.
    SeriesMatching(Predicate),
    /// What is computed from the readings in the range; answered by groups, each of a time ([`crate::answer::Group::window_start_ns`]), where nothing else is said.
    Derived(Derived),
}

/// What is computed from readings, in the order of time. Where a field is missing, a reading counts for nothing. No two readings are of one series and time. Fields
/// are numeric. A question is about one series, where nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Derived {
    /// The readings whose value of a field passes, with the chosen fields (at least one, of any type), without those that have none of these. Of one series, a tag's,
    /// or all; answered by readings.
    RowsByValue {
        /// The fields.
        fields: FieldSet,
        /// What passes.
        predicate: Predicate,
    },
    /// At each instant of a grid from the range's start: for each field (at least one) the value on the line between its readings in the range before and after (at
    /// a reading, its own). Nothing before the first and after the last one; an instant without any value is absent.
    Interpolated {
        /// The fields.
        fields: FieldSet,
        /// From one instant to the next, in ns; over 0.
        step_ns: i64,
    },
    /// Pearson's coefficient of two fields over the readings that have both: one group without a time, none where there is no such reading. [`crate::Value::Null`] for one
    /// reading, and where all values of a field are equal.
    Correlation {
        /// The one field.
        field: usize,
        /// The other one.
        other: usize,
    },
    /// The windows whose largest value is over one bound or whose smallest is under the other: the largest and the smallest.
    OutOfRange {
        /// The field.
        field: usize,
        /// The windows.
        window: Window,
        /// The upper bound.
        above: f64,
        /// The lower bound.
        below: f64,
    },
    /// The other series' mean less this one's, in the windows in which both have one.
    Difference {
        /// The other series.
        other: u32,
        /// The field.
        field: usize,
        /// The windows.
        window: Window,
    },
    /// Of each reading that has both fields: the values, and their mean.
    CrossMean {
        /// The one field.
        field: usize,
        /// The other one.
        other: usize,
    },
    /// The readings with both fields that are nearest to two values: the distance (Euclid's), and the values. Of equals, the earlier one is nearer.
    Nearest {
        /// The fields.
        fields: [usize; 2],
        /// The values.
        to: [f64; 2],
        /// How many readings.
        count: u32,
    },
    /// Segments: a value whose squared difference to the value before is over the threshold begins a new one. By the time of its first reading: the time of its
    /// last one in ns, and the mean.
    Segments {
        /// The field.
        field: usize,
        /// The threshold.
        threshold: f64,
    },
    /// Of each reading: the value, and its distance from the range's mean in sample standard deviations. None where that deviation is 0, or of one reading.
    ZScores {
        /// The field.
        field: usize,
        /// Only those with a distance over this, to either side (outliers); over 0.
        beyond: Option<f64>,
    },
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
    /// Sample standard deviation, floating; [`crate::Value::Null`] for one reading; numeric fields.
    StandardDeviation,
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

impl Derived {
    /// The fields that it reads.
    pub fn fields(&self) -> FieldSet {
        match *self {
            Self::RowsByValue { fields, predicate } => fields.with(predicate.field),
            Self::Interpolated { fields, .. } => fields,
            Self::Correlation { field, other } | Self::CrossMean { field, other } => {
                FieldSet::one(field).with(other)
            }
            Self::Nearest { fields: [field, other], .. } => FieldSet::one(field).with(other),
            Self::OutOfRange { field, .. }
            | Self::Difference { field, .. }
            | Self::Segments { field, .. }
            | Self::ZScores { field, .. } => FieldSet::one(field),
        }
    }

    /// The types of a group's values; none where readings are the answer.
    ///
    /// # Panics
    /// When the table does not have its fields.
    pub fn kinds(&self, table: &Table) -> Vec<FieldType> {
        let kind = |field: usize| table.fields[field].kind;
        match *self {
            Self::RowsByValue { .. } => Vec::new(),
            Self::Interpolated { fields, .. } => vec![FieldType::F64; fields.len()],
            Self::Correlation { .. } | Self::Difference { .. } => vec![FieldType::F64],
            Self::OutOfRange { field, .. } => vec![kind(field); 2],
            Self::CrossMean { field, other } => vec![kind(field), kind(other), FieldType::F64],
            Self::Nearest { fields: [field, other], .. } => vec![FieldType::F64, kind(field), kind(other)],
            Self::Segments { .. } => vec![FieldType::I64, FieldType::F64],
            Self::ZScores { field, .. } => vec![kind(field), FieldType::F64],
        }
    }

    /// The inputs of what is computed, in their order; what passes, where readings are the answer.
    pub fn inputs(&self) -> Vec<usize> {
        match *self {
            Self::RowsByValue { predicate, .. } => vec![predicate.field],
            Self::Correlation { field, other } | Self::CrossMean { field, other } => vec![field, other],
            Self::Nearest { fields, .. } => fields.to_vec(),
            _ => self.fields().iter().collect(),
        }
    }

    /// The numbers that it compares with.
    pub fn numbers(&self) -> Vec<f64> {
        match *self {
            Self::RowsByValue { predicate, .. } => vec![predicate.threshold],
            Self::OutOfRange { above, below, .. } => vec![above, below],
            Self::Nearest { to, .. } => to.to_vec(),
            Self::Segments { threshold, .. } => vec![threshold],
            Self::ZScores { beyond, .. } => beyond.into_iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The same without its values: all that the text of a statement depends on.
    #[must_use]
    pub const fn without_values(mut self) -> Self {
        match &mut self {
            Self::RowsByValue { predicate, .. } => predicate.threshold = 0.0,
            Self::Interpolated { step_ns, .. } => *step_ns = 1,
            Self::Correlation { .. } | Self::CrossMean { .. } => {}
            Self::OutOfRange { window, above, below, .. } => {
                (*window, *above, *below) = (Window { width_ns: 0, origin_ns: 0 }, 0.0, 0.0);
            }
            Self::Difference { other, window, .. } => {
                (*other, *window) = (0, Window { width_ns: 0, origin_ns: 0 });
            }
            Self::Nearest { to, count, .. } => (*to, *count) = ([0.0; 2], 0),
            Self::Segments { threshold, .. } => *threshold = 0.0,
            Self::ZScores { beyond, .. } => {
                if let Some(beyond) = beyond {
                    *beyond = 0.0;
                }
            }
        }
        self
    }

    /// Whether its answers have no time.
    pub const fn is_of_all(&self) -> bool {
        matches!(self, Self::Correlation { .. })
    }

    /// The windows, where there are any.
    pub const fn window(&self) -> Option<Window> {
        match *self {
            Self::OutOfRange { window, .. } | Self::Difference { window, .. } => Some(window),
            _ => None,
        }
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
