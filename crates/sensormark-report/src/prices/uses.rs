//! What a layout uses of a machine, and of which load.

use crate::{costs::cpu_us, prelude::*, sections::sizes::your_readings};

/// A day and a year, in seconds.
const DAY: f64 = 86_400.0;
const YEAR_DAYS: f64 = 365.0;

/// The load that is paid for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Load {
    /// Readings a second.
    pub readings: f64,
    /// Questions a second.
    pub questions: f64,
    /// The time for which readings are kept.
    pub days: f64,
}

impl Load {
    /// The load of the user's file; of a shipped workload that of its sensors, kept for a year, with a question a second.
    pub(super) fn of(run: &RunRecord) -> Option<Self> {
        let days =
            run.parameters.get("keep_ns").and_then(Value::as_f64).map_or(YEAR_DAYS, |ns| ns / 1e9 / DAY);
        let readings = own_rate(run).or_else(|| Some(your_readings(run)? / days / DAY))?;
        let phases = run.parameters.get("phases").and_then(Value::as_array);
        let rates = phases.and_then(|phases| {
            phases
                .iter()
                .rev()
                .filter_map(|phase| phase["queries"].as_array())
                .map(|all| all.iter().filter_map(|one| one["rate"].as_f64()).sum())
                .find(|sum: &f64| *sum > 0.0)
        });
        Some(Self { readings, questions: rates.unwrap_or(1.0), days })
    }
}

/// What a layout uses; absent where it was not measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Use {
    pub label: String,
    /// Whether it meets what has to hold, where something has to.
    pub mark: &'static str,
    /// CPU of both sides in µs, a reading and a question.
    pub load_cpu: Option<f64>,
    pub question_cpu: Option<f64>,
    /// Bytes on disk: of the empty database, and a reading.
    pub disk: Option<[f64; 2]>,
    /// The peak in MB.
    pub memory: Option<f64>,
    /// Bytes a reading, to the device and on the wire.
    pub written: Option<f64>,
    pub wire: Option<f64>,
}

impl Use {
    pub(super) fn of(field: &Field, ranking: &Ranking, one: &Ranked) -> Self {
        let value = |id: &str| {
            let place = ranking.criteria.iter().position(|(criterion, _)| criterion.id == id)?;
            Some(one.values[place])
        };
        let answer = ranking.requirements.as_ref().and_then(|all| all.of_layout(&one.label));
        let load_cpu = value("load_cpu");
        Self {
            label: one.label.clone(),
            mark: answer.map_or("", |answer| answer.outcome.mark()),
            load_cpu,
            question_cpu: value("question_cpu").or_else(|| beside_writes(field, one, load_cpu?)),
            disk: disk(field, one).or_else(|| Some([0.0, value("disk")?])),
            memory: value("memory"),
            written: value("written"),
            wire: value("wire"),
        }
    }
}

/// µs of CPU a question where every phase that asks writes too: what the writes of such a phase leave, if they cost what loading costs.
fn beside_writes(field: &Field, one: &Ranked, load_cpu: f64) -> Option<f64> {
    let together = Costs::of(field).together;
    let of_trial = |trial: &TrialRecord| {
        let phase = trial.phases.iter().rfind(|phase| together.contains(&phase.name))?;
        let loads = || trial.loads.iter().filter(|load| load.phase == phase.name);
        let readings: u64 = loads().filter(|load| load.writes).map(LoadRecord::readings).sum();
        let questions: u64 = loads().filter(|load| !load.writes).map(LoadRecord::operations).sum();
        let left = cpu_us(trial, phase)? - load_cpu * readings as f64;
        (questions > 0).then(|| left.max(0.0) / questions as f64)
    };
    let trials = field.valid_of(one.arm(field));
    mean(&trials.filter_map(of_trial).collect_vec())
}

/// Fixed and marginal: the line through the last two sizes.
fn disk(field: &Field, one: &Ranked) -> Option<[f64; 2]> {
    let line = |trial: &TrialRecord| {
        let &[.., (few, small), (many, large)] = sizes::disk(trial).as_slice() else { return None };
        let slope = (large - small) / (many - few);
        let fixed = (large - slope * many).max(0.0);
        (slope > 0.0).then_some([fixed, slope])
    };
    let write = field.write_of(one.arm(field))?;
    let lines: Vec<[f64; 2]> = field.valid_of(write).filter_map(line).collect();
    let part = |place: usize| mean(&lines.iter().map(|line| line[place]).collect_vec());
    Some([part(0)?, part(1)?])
}

fn mean(values: &[f64]) -> Option<f64> {
    Some(summarize(values).ok()?.mean)
}
