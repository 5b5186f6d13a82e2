//! The few figures that stand beside a cost: how fast, and what a reading costs. Times are geometric means over repetitions, as in all tables; costs are
//! arithmetic ones.

use crate::{
    costs::write_rate,
    prelude::*,
    requirements::{disk_kept, headroom},
};

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

/// Id, heading, unit and meaning of a column; whether a busy machine moves it, and whether more of it is better.
const fn column(
    [id, unit, meaning]: [&'static str; 3],
    heading: [&'static str; 2],
    is_time: bool,
    more_is_better: bool,
) -> SummaryColumn {
    SummaryColumn { id, heading, unit, meaning, is_time, more_is_better }
}

const LOST: SummaryColumn = column(["lost", "%", "lost in % of the readings"], ["lost", ""], true, false);
const READ: SummaryColumn = column(["read_mean", "ms", "read in ms"], ["read", "mean"], true, false);
const RATE: SummaryColumn =
    column(["write_rate", "1000/s", "write in thousand readings a second"], ["write", "k/s"], true, true);
const ASK: SummaryColumn = column(["question", "ms", "ask in ms a question"], ["ask", "ms"], true, false);
const CPU: SummaryColumn =
    column(["cpu_per_reading", "µs", "CPU in µs on both sides"], ["CPU", "/rdg"], false, false);
const DISK: SummaryColumn = column(
    ["disk_per_reading", "B", "disk in bytes, logs apart; rdg = stored reading"],
    ["disk", "/rdg"],
    false,
    false,
);
const ROOM: SummaryColumn =
    column(["headroom", "times", "room: highest rate over that of your sensors"], ["room", "×"], true, true);
const KEPT: SummaryColumn =
    column(["disk_kept", "GB", "kept: disk for the time that data is kept"], ["kept", "GB"], false, false);

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
type Figure<'a> = (SummaryColumn, Box<dyn Fn(&Arm) -> Option<Estimate> + 'a>);

/// The figures of a row. Which they are depends on how the workload's trials are made: of a steady rate what was lost and how long reading took, of work done as
/// fast as the database lets it how fast that was; of both what a reading cost.
pub fn figures(field: &Field) -> Vec<Figure<'_>> {
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
fn values(field: &Field, arm: &Arm, figure: impl Fn(&TrialRecord) -> Known) -> Vec<f64> {
    field.valid_of(arm).filter_map(figure).collect()
}

/// Readings that were lost, all trials together.
fn lost(field: &Field, arm: &Arm) -> Option<Estimate> {
    keeping_up::lost_percent(field, arm).map(Estimate::of_one)
}
