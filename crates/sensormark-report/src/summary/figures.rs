//! The few figures that stand beside a cost: how fast, and what a reading costs. Times are geometric means over repetitions, as in all tables; costs are
//! arithmetic ones.

use crate::{costs::write_rate, prelude::*, requirements::{disk_kept, headroom}};

/// A figure of every row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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

impl SummaryColumn {
    /// A figure that a busy machine moves.
    const fn time(
        id: &'static str,
        heading: [&'static str; 2],
        unit: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { is_time: true, ..Self::cost(id, heading, unit, meaning) }
    }

    /// A figure that a busy machine hardly moves.
    const fn cost(
        id: &'static str,
        heading: [&'static str; 2],
        unit: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { id, heading, unit, meaning, is_time: false, more_is_better: false }
    }

    /// A figure of which more is better.
    const fn more_is_better(self) -> Self {
        Self { more_is_better: true, ..self }
    }
}

const LOST: SummaryColumn = SummaryColumn::time("lost", ["lost", ""], "%", "lost in % of the readings");
const READ: SummaryColumn = SummaryColumn::time("read_mean", ["read", "mean"], "ms", "read in ms");
const RATE: SummaryColumn =
    SummaryColumn::time("write_rate", ["write", "k/s"], "1000/s", "write in thousand readings a second")
        .more_is_better();
const ASK: SummaryColumn = SummaryColumn::time("question", ["ask", "ms"], "ms", "ask in ms a question");
const CPU: SummaryColumn =
    SummaryColumn::cost("cpu_per_reading", ["CPU", "/rdg"], "µs", "CPU in µs on both sides");
const DISK: SummaryColumn = SummaryColumn::cost(
    "disk_per_reading",
    ["disk", "/rdg"],
    "B",
    "disk in bytes, logs apart; rdg = stored reading",
);

const ROOM: SummaryColumn =
    SummaryColumn::time("headroom", ["room", "×"], "times", "room: highest rate over that of your sensors")
        .more_is_better();
const KEPT: SummaryColumn =
    SummaryColumn::cost("disk_kept", ["kept", "GB"], "GB", "kept: disk for the time that data is kept");

/// A figure over repetitions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Its mean, in its column's unit.
    pub value: f64,
    /// The 95 % interval of the mean, where there are enough repetitions.
    pub interval: Option<Interval>,
}

impl Estimate {
    /// The geometric mean of times or rates.
    pub fn geometric(values: &[f64]) -> Option<Self> {
        let summary = summarize_logarithms(values).ok()?;
        Some(Self { value: summary.geometric_mean, interval: summary.interval })
    }

    /// A figure without an interval.
    const fn of_one(value: f64) -> Self {
        Self { value, interval: None }
    }

    /// The arithmetic mean of costs.
    fn mean(values: &[f64]) -> Option<Self> {
        let summary = summarize(values).ok()?;
        Some(Self { value: summary.mean, interval: summary.interval })
    }
}

/// A column and its figure of somebody who may be ranked.
type Figure<'a> = (SummaryColumn, Box<dyn Fn(&Arm) -> Option<Estimate> + 'a>);

/// The figures of a row. Which they are depends on how the workload's trials are made: of a steady rate what was lost and how long reading took, of work done as
/// fast as the database lets it how fast that was; of both what a reading cost.
pub(crate) fn figures(field: &Field) -> Vec<Figure<'_>> {
    let costs = Costs::of(field);
    let cost = move |id: &'static str, scale: f64| {
        let costs = costs.clone();
        move |arm: &Arm| -> Vec<f64> {
            let blocks = costs.blocks(field, arm).into_iter().flatten();
            blocks.filter_map(|block| Some(block.values.get(id)? / scale)).collect()
        }
    };
    let (question, cpu, disk) = (cost("question_time", 1e3), cost("load_cpu", 1.0), cost("disk", 1.0));
    let costs = Costs::of(field);
    let rate = move |arm: &Arm| Estimate::geometric(&values(field, arm, |trial| write_rate(trial, &costs)));
    let mut all: Vec<Figure<'_>> = match field.has_phases() {
        true => vec![(RATE, Box::new(rate)), (ASK, Box::new(move |arm| Estimate::geometric(&question(arm))))],
        false => vec![
            (LOST, Box::new(|arm| lost(field, arm))),
            (READ, Box::new(move |arm| Estimate::geometric(&question(arm)))),
        ],
    };
    all.push((CPU, Box::new(move |arm| Estimate::mean(&cpu(arm)))));
    all.push((DISK, Box::new(move |arm| Estimate::mean(&disk(arm)))));
    all.push((ROOM, Box::new(move |arm| headroom(field, arm).map(Estimate::of_one))));
    all.push((KEPT, Box::new(move |arm| Some(Estimate::of_one(disk_kept(field, arm)? / 1e9)))));
    all
}

/// The figure in each valid trial.
fn values(field: &Field, arm: &Arm, figure: impl Fn(&TrialRecord) -> Option<f64>) -> Vec<f64> {
    field.valid_of(arm).filter_map(figure).collect()
}

/// Readings that were lost, all trials together.
fn lost(field: &Field, arm: &Arm) -> Option<Estimate> {
    Some(Estimate { value: keeping_up::lost_percent(field, arm)?, interval: None })
}
