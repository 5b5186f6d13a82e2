//! Kinds of queries, and what each needs and may have.

use sensormark_store::{FieldType, Function};
use serde::{Deserialize, Serialize};

/// Kinds of queries, by the file's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueryKind {
    /// One reading, by its time.
    Point,
    /// All readings of a span.
    Range,
    /// The latest value.
    #[serde(rename = "last value")]
    LastValue,
    /// The series that pass a threshold.
    Matching,
    /// All that can be said of each field of each series.
    Statistics,
    /// Arithmetic mean of each window from the span's beginning on.
    Chart,
    /// Arithmetic mean of each window.
    #[serde(rename = "window mean")]
    WindowMean,
    /// Arithmetic mean.
    Mean,
    /// Smallest value.
    Minimum,
    /// Largest value.
    Maximum,
    /// Sum.
    Sum,
    /// How many readings.
    Count,
    /// Sample standard deviation.
    #[serde(rename = "standard deviation")]
    StandardDeviation,
    /// The readings whose value passes a threshold.
    #[serde(rename = "rows by value")]
    RowsByValue,
    /// The values at the instants of a grid.
    Interpolated,
    /// How two fields go together.
    Correlation,
    /// The windows with values out of bounds.
    #[serde(rename = "out of range")]
    OutOfRange,
    /// One series' window means less those of another.
    Difference,
    /// The mean of two fields of each reading.
    #[serde(rename = "cross mean")]
    CrossMean,
    /// The readings nearest to two values.
    Nearest,
    /// Segments between jumps.
    Segments,
    /// How far each value is from the mean.
    #[serde(rename = "z-scores")]
    ZScores,
    /// The values that are far from the mean.
    Outliers,
    /// What a rollup holds.
    Rollup,
}

impl QueryKind {
    /// Whether it is computed reading by reading.
    const fn is_derived(self) -> bool {
        self as u8 > Self::StandardDeviation as u8 && !matches!(self, Self::Rollup)
    }

    /// Whether numbers are computed with.
    pub const fn needs_number(self) -> bool {
        self.is_aggregate() && !matches!(self, Self::Count)
            || matches!(self, Self::Matching)
            || self.is_derived()
    }

    /// Whether it is an aggregate, which may have windows and groups.
    pub const fn is_aggregate(self) -> bool {
        self as u8 >= Self::Chart as u8 && self as u8 <= Self::StandardDeviation as u8
    }

    /// Whether it needs windows, or a grid.
    pub const fn needs_window(self) -> bool {
        matches!(
            self,
            Self::Chart
                | Self::WindowMean
                | Self::Interpolated
                | Self::OutOfRange
                | Self::Difference
                | Self::Rollup
        )
    }

    /// Whether it is of one series alone.
    pub const fn is_of_one(self) -> bool {
        self.is_derived() && !matches!(self, Self::RowsByValue)
            || matches!(self, Self::Point | Self::Chart | Self::Rollup)
    }

    /// How many fields it is about: as many as are wanted where this says none.
    pub const fn fields(self) -> Option<usize> {
        match self {
            Self::Correlation | Self::CrossMean | Self::Nearest => Some(2),
            _ if self.is_aggregate() => None,
            Self::Point | Self::Range | Self::LastValue | Self::RowsByValue | Self::Interpolated => None,
            Self::Statistics | Self::Rollup => None,
            _ => Some(1),
        }
    }

    /// Thresholds that it needs or may have: above, below.
    pub const fn thresholds(self) -> [bool; 2] {
        match self {
            Self::Matching | Self::RowsByValue | Self::OutOfRange => [true, true],
            Self::Segments | Self::Outliers => [true, false],
            _ => [false, false],
        }
    }

    /// What is computed, where it is one function.
    pub const fn function(self) -> Function {
        match self {
            Self::StandardDeviation => Function::StandardDeviation,
            Self::Minimum => Function::Min,
            Self::Maximum => Function::Max,
            Self::Sum => Function::Sum,
            Self::Count => Function::Count,
            _ => Function::Mean,
        }
    }

    /// What is computed of a field of this type.
    pub fn functions(self, of: FieldType) -> Vec<Function> {
        match (self, of) {
            (Self::Statistics, FieldType::Bool) => {
                vec![Function::Count, Function::Last, Function::TimeWeightedShare]
            }
            (Self::Statistics, FieldType::Text) => vec![Function::Count, Function::MostFrequent],
            (Self::Statistics, _) => vec![Function::Count, Function::Min, Function::Max, Function::Mean],
            _ => vec![self.function()],
        }
    }
}
