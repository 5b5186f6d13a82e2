//! The queries of the platform, and how each is said to the contract.

use sensormark_data::iot_platform::{DAY_NS, DEVICE_ID, HOUR_NS, field};
use sensormark_store::{
    Aggregate, Ask, DaySplit, FieldSet, FieldType, Function, Grouping, Query, Selection, TimeRange, Window,
};

/// A query of the platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PlatformQuery {
    /// All temperatures in the order of time; of documents of a day, those of the days in question are looked into.
    Raw,
    /// The same without looking at documents' days first. Asked only of layouts that have such documents.
    RawWithoutDays,
    /// Mean temperature of each hour.
    HourlyMeans,
    /// Mean temperature of each day, from the readings.
    DailyMeans,
    /// The same from sums that were kept when the readings were written.
    DailyMeansFromSums,
    /// Mean temperature by day and by night.
    DayAndNight,
    /// The same from sums.
    DayAndNightFromSums,
    /// Mean temperature.
    Total,
    /// The same from sums.
    TotalFromSums,
    /// The last 24 hours of a numeric property as means of at most so many windows.
    Chart,
    /// Statistics of every property of a device.
    Statistics,
    /// The latest value of every property of a home.
    Latest,
}

impl PlatformQuery {
    /// All queries, in the order in which they are asked.
    pub const ALL: [Self; 12] = [
        Self::Raw,
        Self::RawWithoutDays,
        Self::HourlyMeans,
        Self::DailyMeans,
        Self::DailyMeansFromSums,
        Self::DayAndNight,
        Self::DayAndNightFromSums,
        Self::Total,
        Self::TotalFromSums,
        Self::Chart,
        Self::Statistics,
        Self::Latest,
    ];

    /// Their names in phases and parameters.
    pub const NAMES: [&str; 12] = [
        "raw",
        "raw-without-days",
        "hourly",
        "daily",
        "daily-sums",
        "day-night",
        "day-night-sums",
        "total",
        "total-sums",
        "chart",
        "statistics",
        "latest",
    ];

    /// The query's name.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// What it asks, in words.
    pub const fn title(self) -> &'static str {
        [
            "Raw values in order",
            "Raw values in order, without the coarse filter by day",
            "Mean of each hour",
            "Mean of each day, from raw values",
            "Mean of each day, from sums kept at write time",
            "Mean by day and by night, from raw values",
            "Mean by day and by night, from sums kept at write time",
            "Mean of the whole span, from raw values",
            "Mean of the whole span, from sums kept at write time",
            "Chart of the last 24 hours",
            "Statistics of every property of a device",
            "Latest value of every property of a home",
        ][self as usize]
    }

    /// Whether it reads sums that were kept at write time.
    pub const fn from_sums(self) -> bool {
        matches!(self, Self::DailyMeansFromSums | Self::DayAndNightFromSums | Self::TotalFromSums)
    }

    /// Whether layouts of every shape answer it.
    pub const fn is_common(self) -> bool {
        !self.from_sums() && !matches!(self, Self::RawWithoutDays)
    }

    /// Stretches of time that it asks about begin at multiples of this, in ns.
    pub const fn step_ns(self) -> i64 {
        match self {
            Self::Raw | Self::RawWithoutDays | Self::HourlyMeans => HOUR_NS,
            _ => DAY_NS,
        }
    }

    /// The query about a temperature; none for charts and statistics, which are about others.
    pub fn of_temperature(self, series: u32, range: TimeRange, split: DaySplit) -> Option<Query> {
        let temperature = field(FieldType::F64);
        let window = |width_ns: i64| Grouping {
            window: Some(Window { width_ns, origin_ns: 0 }),
            ..Grouping::default()
        };
        let grouping = match self {
            Self::Raw | Self::RawWithoutDays => {
                let ask = Ask::Range { fields: FieldSet::one(temperature), coarse_filter: self == Self::Raw };
                return Some(of_series(series, range, ask));
            }
            Self::HourlyMeans => window(HOUR_NS),
            Self::DailyMeans | Self::DailyMeansFromSums => window(DAY_NS),
            Self::DayAndNight | Self::DayAndNightFromSums => {
                Grouping { by_day_part: Some(split), ..Grouping::default() }
            }
            Self::Total | Self::TotalFromSums => Grouping::default(),
            Self::Chart | Self::Statistics | Self::Latest => return None,
        };
        let ask = Ask::Aggregate {
            aggregates: vec![Aggregate { function: Function::Mean, field: temperature }],
            grouping,
            from_sums: self.from_sums(),
        };
        Some(of_series(series, range, ask))
    }
}

fn of_series(series: u32, range: TimeRange, ask: Ask) -> Query {
    Query { table: 0, series: Selection::One(series), range, ask }
}

/// Statistics of every property of a device. Numbers have count, smallest, largest and mean. Truth values have the last and the share of time in which they
/// were true. Texts have the most frequent.
pub fn statistics(device_id: String, range: TimeRange) -> Query {
    let of = |kind: FieldType, functions: &[Function]| -> Vec<Aggregate> {
        let field = field(kind);
        let functions = functions.iter();
        functions.map(|&function| Aggregate { function, field }).collect()
    };
    let numbers = [Function::Count, Function::Min, Function::Max, Function::Mean];
    let aggregates = [
        of(FieldType::I64, &numbers),
        of(FieldType::F64, &numbers),
        of(FieldType::Bool, &[Function::Count, Function::Last, Function::TimeWeightedShare]),
        of(FieldType::Text, &[Function::Count, Function::MostFrequent]),
    ];
    Query {
        table: 0,
        series: Selection::Tagged { tag: DEVICE_ID, value: device_id },
        range,
        ask: Ask::Aggregate {
            aggregates: aggregates.concat(),
            grouping: Grouping { by_series: true, ..Grouping::default() },
            from_sums: false,
        },
    }
}
