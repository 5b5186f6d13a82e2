//! The few figures that stand beside a cost: how fast, and what a reading costs. Times are geometric means over repetitions, as in all tables; costs are
//! arithmetic ones.

use crate::{
    costs::write_rate,
    prelude::*,
    requirements::{disk_kept, headroom},
};

/// A figure of every row.
#[derive(Clone, Copy, Serialize)]
pub struct SummaryColumn {
    /// What programs call it.
    pub id: &'static str,
    /// Its heading in a terminal, of two lines.
    #[serde(skip)]
    pub heading: [&'static str; 2],
    /// Its unit.
    pub unit: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// Whether a busy machine moves it.
    pub is_time: bool,
    /// Whether more of it is better.
    #[serde(skip)]
    pub more_is_better: bool,
}

/// Id, heading, unit and meaning of a column; whether a busy machine moves it, and whether more of it is better.
const fn column(
    [id, unit, meaning]: [&'static str; 3],
    heading: [&'static str; 2],
    is_time: bool,
    more_is_better: bool,
) -> SummaryColumn {
    SummaryColumn { id, heading, unit, meaning, is_time, more_is_better }
}

/// A figure over repetitions.
#[derive(Clone, Copy, Serialize)]
pub struct Estimate {
    /// Its mean, in its column's unit.
    pub value: f64,
    /// The 95 % interval of the mean, where there are enough repetitions.
    #[serde(flatten)]
    pub interval: Option<Interval>,
}

impl Estimate {
    /// The geometric mean of times or rates.
    pub fn geometric(values: &[f64]) -> Option<Self> {
        let summary = summarize_logarithms(values).ok()?;
        Some(Self { value: summary.geometric_mean, interval: summary.interval })
    }

    /// A figure without an interval.
    fn of_one(value: f64) -> Self {
        Self { value, interval: None }
    }

    /// The arithmetic mean of costs.
    fn mean(values: &[f64]) -> Option<Self> {
        let summary = summarize(values).ok()?;
        Some(Self { value: summary.mean, interval: summary.interval })
    }
}

/// A column and its figure of somebody who may be ranked.
pub type Figure = (SummaryColumn, fn(&Field, &Costs, &Arm) -> Option<Estimate>);

/// Of work at a steady rate: what was lost and how long reading took.
const AT_RATE: [Figure; 2] = [
    (column(["lost", "%", "lost in % of the readings"], ["lost", ""], true, false), |field, _, arm| {
        keeping_up::lost_percent(field, arm).map(Estimate::of_one)
    }),
    (column(["read_mean", "ms", "read in ms"], ["read", "mean"], true, false), question),
];
/// Of work done as fast as the database lets it: how fast that was.
const OF_PHASES: [Figure; 2] = [
    (
        column(["write_rate", "1000/s", "write in thousand readings a second"], ["write", "k/s"], true, true),
        |field, costs, arm| {
            let rates = field.valid_of(arm).filter_map(|trial| write_rate(trial, costs));
            Estimate::geometric(&rates.collect_vec())
        },
    ),
    (column(["question", "ms", "ask in ms a question"], ["ask", "ms"], true, false), question),
];
/// Of both: what a reading cost, and what the user's own data would.
const OF_BOTH: [Figure; 4] = [
    (
        column(["cpu_per_reading", "µs", "CPU in µs on both sides"], ["CPU", "/rdg"], false, false),
        |field, costs, arm| Estimate::mean(&values(field, costs, arm, "load_cpu")),
    ),
    (
        column(
            ["disk_per_reading", "B", "disk in bytes, logs apart; rdg = stored reading"],
            ["disk", "/rdg"],
            false,
            false,
        ),
        |field, costs, arm| Estimate::mean(&values(field, costs, arm, "disk")),
    ),
    (
        column(
            ["headroom", "times", "room: highest rate over that of your sensors"],
            ["room", "×"],
            true,
            true,
        ),
        |field, _, arm| headroom(field, arm).map(Estimate::of_one),
    ),
    (
        column(
            ["disk_kept", "GB", "kept: disk for the time that data is kept"],
            ["kept", "GB"],
            false,
            false,
        ),
        |field, _, arm| Some(Estimate::of_one(disk_kept(field, arm)? / 1e9)),
    ),
];

/// The figures of a row, which depend on how the workload's trials are made.
pub fn figures(field: &Field) -> impl Iterator<Item = Figure> {
    let own = if field.has_phases() { OF_PHASES } else { AT_RATE };
    own.into_iter().chain(OF_BOTH)
}

/// What it cost by a criterion in each repetition.
fn values(field: &Field, costs: &Costs, arm: &Arm, id: &str) -> Vec<f64> {
    costs.blocks(field, arm).into_iter().flatten().filter_map(|block| block.values.get(id).copied()).collect()
}

fn question(field: &Field, costs: &Costs, arm: &Arm) -> Option<Estimate> {
    Estimate::geometric(
        &values(field, costs, arm, "question_time").iter().map(|value| value / 1e3).collect_vec(),
    )
}
