//! The few figures that stand beside a score: how fast, and what a reading costs. Times are geometric means over repetitions, as in all tables; costs are
//! arithmetic ones.

use crate::costs::{Comparable, costs, write_rate};
use crate::criteria;
use crate::field::{Arm, Field};
use crate::keeping_up;
use crate::requirements::{disk_kept, headroom};
use sensormark_result::measurement::record::{Side, TrialRecord};
use sensormark_result::measurement::{disk, names};
use sensormark_result::statistics::{Interval, summarize, summarize_logarithms};
use serde::Serialize;

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

/// The figures of a row. Which they are depends on how the workload's trials are made.
pub(crate) fn figures(field: &Field) -> Vec<Figure<'_>> {
    if field.has_phases() { of_phases(field) } else { of_rates(field) }
}

/// Of a steady rate: what was lost, how long reading took, what a reading cost.
fn of_rates(field: &Field) -> Vec<Figure<'_>> {
    let read = |trial: &TrialRecord| Some(trial.latencies.get(names::CYCLE_READ)?.summary.mean_ns / 1e6);
    let samples_per_second = criteria::samples_per_second(&field.run);
    let cpu = move |trial: &TrialRecord| cpu_of_a_reading(trial, samples_per_second?);
    vec![
        (LOST, Box::new(|arm| lost(field, arm))),
        (READ, Box::new(move |arm| geometric(field, arm, read))),
        (CPU, Box::new(move |arm| mean(field, field.write_of(arm)?, cpu))),
        (DISK, Box::new(move |arm| mean(field, field.write_of(arm)?, disk::of_a_reading_bytes))),
    ]
}

/// Of work done as fast as the database lets it: how fast, and what a reading cost.
fn of_phases(field: &Field) -> Vec<Figure<'_>> {
    let comparable = Comparable::of(field);
    let of_cost = comparable.clone();
    let cost = move |trial: &TrialRecord, side: Side, id: &str| costs(trial, side, &of_cost).get(id).copied();
    let (rates, cpu) = (comparable.clone(), cost.clone());
    let rate = move |trial: &TrialRecord| write_rate(trial, &rates);
    let ask = move |trial: &TrialRecord| cost(trial, Side::Read, "time");
    let cpu = move |trial: &TrialRecord| {
        let server = match trial.implementation.embedded {
            true => 0.0,
            false => cpu(trial, Side::Write, "server_cpu")?,
        };
        Some((cpu(trial, Side::Write, "client_cpu")? + server) / 1e3)
    };
    vec![
        (RATE, Box::new(move |arm| geometric(field, arm, &rate))),
        (ASK, Box::new(move |arm| geometric(field, arm, &ask))),
        (CPU, Box::new(move |arm| mean(field, arm, &cpu))),
        (DISK, Box::new(move |arm| mean(field, arm, disk::of_a_reading_bytes))),
        (ROOM, Box::new(move |arm| headroom(field, arm).map(Estimate::of_one))),
        (KEPT, Box::new(move |arm| Some(Estimate::of_one(disk_kept(field, arm)? / 1e9)))),
    ]
}

/// CPU time of both sides for a reading that the source sent and the writer took in the measured phase, in µs; none where the server was not measured. Whole
/// writes are not counted: one of many readings may begin in one phase and end in the next.
fn cpu_of_a_reading(trial: &TrialRecord, samples_per_second: f64) -> Option<f64> {
    let totals = criteria::measured(trial)?.totals.as_ref()?;
    let server = match trial.implementation.embedded {
        true => 0,
        false => totals.roles.get("server")?.cpu_ns,
    };
    let used = criteria::client(trial)?.cpu_ns.saturating_add(server);
    let ledger = trial.ledger.as_ref()?;
    let taken = 1.0 - ledger.lost_at_queue as f64 / ledger.produced as f64;
    let readings = totals.span_ns as f64 / 1e9 * samples_per_second * taken;
    (readings > 0.0).then(|| used as f64 / 1e3 / readings)
}

/// The figure in each valid trial.
fn values(field: &Field, arm: &Arm, figure: impl Fn(&TrialRecord) -> Option<f64>) -> Vec<f64> {
    field.valid_of(arm).filter_map(figure).collect()
}

/// Readings that were lost, all trials together.
fn lost(field: &Field, arm: &Arm) -> Option<Estimate> {
    Some(Estimate { value: keeping_up::lost_percent(field, arm)?, interval: None })
}

/// The arithmetic mean over valid trials.
fn mean(field: &Field, arm: &Arm, figure: impl Fn(&TrialRecord) -> Option<f64>) -> Option<Estimate> {
    Estimate::mean(&values(field, arm, figure))
}

/// The geometric mean over valid trials.
fn geometric(field: &Field, arm: &Arm, figure: impl Fn(&TrialRecord) -> Option<f64>) -> Option<Estimate> {
    Estimate::geometric(&values(field, arm, figure))
}
