//! The score's criteria of one trial of phases, in the units of `score/cost-criteria.toml`: what a thousand readings cost to write
//! (batches differ between stores), and what a question costs.
//!
//! Time is the geometric mean over the side's loads, so that each counts alike, whatever its operations are. What was used of each resource is the arithmetic
//! mean over its phases. A load that was cut counts with the operations that it finished.
//!
//! A side's costs are those of phases in which nobody does the other. What ran at once is not divided, because any share would be a guess. So a side
//! without a phase of its own has no CPU, I/O and network. Its times and the memory at the phase's end are all that is known of it.
//!
//! The work of a phase is the same for everybody, and most phases run as fast as the database lets them. So what an operation costs is compared here.
//! Machine-tool has a steady rate, so its costs a second can be compared. Nothing here names a workload.

use crate::field::{Arm, Field};
use crate::sections::cells::listed;
use sensormark_result::measurement::record::{LoadRecord, PhaseRecord, Side, TrialRecord};
use sensormark_result::measurement::{disk, names};
use sensormark_result::probe::RoleTotals;
use sensormark_result::statistics::summarize_logarithms;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a kB of memory, as the kernel counts.
const MEMORY_KB: f64 = 1024.0;

/// Criteria that nobody can tell apart where one phase writes and asks.
pub const UNDIVIDED: [&str; 4] = ["server_cpu", "server_io", "client_cpu", "network"];
/// Why a side has no figure of those.
pub const AT_ONCE: &str = "no phase does this alone, and what ran at once is not divided";

/// A load by the names of its phase and its own.
pub type LoadName = (String, String);

/// The loads that everybody compared has finished operations of.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comparable {
    /// Writing loads.
    pub writing: BTreeSet<LoadName>,
    /// Asking loads.
    pub asking: BTreeSet<LoadName>,
    /// Loads that somebody lacks, and who.
    pub lacking: BTreeMap<LoadName, Vec<String>>,
    /// Phases in which somebody writes and asks at once.
    pub together: BTreeSet<String>,
    /// Phases that ran at unlike rates, which earlier versions left of a search for the highest one.
    pub unlike: BTreeSet<String>,
}

fn name(load: &LoadRecord) -> LoadName {
    (load.phase.clone(), load.name.clone())
}

/// Whether a load is a part of the score at all: it measures something, and the workload does not say otherwise.
fn is_scored(load: &LoadRecord) -> bool {
    !load.warm_up && load.labels.get(names::SCORED) != Some(&serde_json::Value::Bool(false))
}

/// Phases in which another number of operations of a load was due in some trial: they come at a given rate, so the rates differ.
fn unlike<'a>(trials: impl Iterator<Item = &'a TrialRecord>) -> BTreeSet<String> {
    let mut due: BTreeMap<LoadName, u64> = BTreeMap::new();
    let mut unlike = BTreeSet::new();
    let loads = trials.flat_map(counted);
    for load in loads.filter(|load| load.open_loop) {
        if *due.entry(name(load)).or_insert(load.planned) != load.planned {
            unlike.insert(load.phase.clone());
        }
    }
    unlike
}

/// Loads whose figures count.
fn counted(trial: &TrialRecord) -> impl Iterator<Item = &LoadRecord> {
    trial.loads.iter().filter(|load| is_scored(load) && load.operations() > 0 && load.seconds > 0.0)
}

impl Comparable {
    /// What the arms of a field with valid trials have in common. One of which nothing could be measured keeps nothing from being compared.
    pub fn of(field: &Field) -> Self {
        let arms: Vec<&Arm> = field
            .mixed
            .iter()
            .filter(|arm| {
                let mut loads = field.valid_of(arm).flat_map(counted);
                loads.next().is_some()
            })
            .collect();
        let together = field
            .trials
            .iter()
            .flat_map(|trial| &trial.phases)
            .map(|phase| &phase.name)
            .filter(|name| field.trials.iter().any(|trial| is_together(trial, name)))
            .cloned()
            .collect();
        let mut found = Self {
            together,
            unlike: unlike(arms.iter().flat_map(|arm| field.valid_of(arm))),
            ..Self::default()
        };
        let mut of_arm = Vec::new();
        for arm in &arms {
            let mut own: Option<BTreeSet<LoadName>> = None;
            for trial in field.valid_of(arm) {
                let names: BTreeSet<LoadName> = counted(trial).map(name).collect();
                own = Some(own.map_or(names.clone(), |own| &own & &names));
                for load in trial.loads.iter().filter(|load| is_scored(load)) {
                    let side = if load.writes { &mut found.writing } else { &mut found.asking };
                    side.insert(name(load));
                }
            }
            of_arm.push((&arm.label, own.unwrap_or_default()));
        }
        for (label, own) in of_arm {
            for load in found.writing.union(&found.asking) {
                if !own.contains(load) {
                    let lacking = found.lacking.entry(load.clone()).or_default();
                    lacking.push(label.clone());
                }
            }
        }
        let (lacking, unlike) = (&found.lacking, &found.unlike);
        let is_had = |load: &LoadName| !lacking.contains_key(load) && !unlike.contains(&load.0);
        found.writing.retain(is_had);
        found.asking.retain(is_had);
        found
    }

    /// The loads of a side.
    pub fn side(&self, side: Side) -> &BTreeSet<LoadName> {
        if side == Side::Write { &self.writing } else { &self.asking }
    }

    /// Whether some phase of it does nothing else, so that its costs are known.
    pub fn is_alone(&self, side: Side) -> bool {
        let mut loads = self.side(side).iter();
        loads.any(|(phase, _)| !self.together.contains(phase))
    }

    /// The loads that a side's costs are taken from: those of phases that do nothing else, or of the others where there are none.
    fn counting(&self, side: Side) -> impl Fn(&LoadName) -> bool {
        let is_alone = self.is_alone(side);
        move |load| self.side(side).contains(load) && self.together.contains(&load.0) != is_alone
    }

    /// The criteria of a side that are not known of anybody.
    pub fn undivided(&self, side: Side) -> &'static [&'static str] {
        match self.is_alone(side) {
            true => &[],
            false => &UNDIVIDED,
        }
    }

    /// The sides that there is something to compare of.
    pub fn sides(&self) -> Vec<Side> {
        [Side::Write, Side::Read].into_iter().filter(|side| !self.side(*side).is_empty()).collect()
    }

    /// What a reader of the ranking has to know.
    pub fn notes(&self) -> Vec<String> {
        // Phases that the same implementations lack are named together.
        let mut alike: Vec<(&Vec<String>, Vec<&str>)> = Vec::new();
        for ((phase, _), who) in &self.lacking {
            match alike.iter_mut().find(|(known, _)| *known == who) {
                Some((_, phases)) if phases.contains(&phase.as_str()) => {}
                Some((_, phases)) => phases.push(phase),
                None => alike.push((who, vec![phase])),
            }
        }
        let note = |(who, phases): (&Vec<String>, Vec<&str>)| {
            let (are, them) = match phases.len() {
                1 => ("is", "it"),
                _ => ("are", "them"),
            };
            format!(
                "{} {are} no part of the score, for {} did not do {them}: see the warnings.",
                listed(&phases),
                who.join("; ")
            )
        };
        let undivided = self.sides().into_iter().filter(|side| !self.is_alone(*side));
        let told = undivided.map(|side| {
            let (does, other) = match side {
                Side::Write => ("writes", "asking"),
                _ => ("asks", "writing"),
            };
            format!("No phase {does} without {other} at once, and that is not divided. So what it cost of CPU, I/O and network is no part of anybody's score.")
        });
        let unlike = self.unlike.iter().map(|phase| {
            format!("{phase} is no part of the score: an earlier version kept it at another rate for each. Measure again to compare it.")
        });
        alike.into_iter().map(note).chain(told).chain(unlike).collect()
    }
}

/// All criteria of one side that were measured over these loads. Embedded, the one process's cost stands on the client's side, and its storage
/// I/O on the server's.
pub fn costs(trial: &TrialRecord, side: Side, comparable: &Comparable) -> BTreeMap<String, f64> {
    let is_counting = comparable.counting(side);
    let loads: Vec<&LoadRecord> = counted(trial).filter(|load| is_counting(&name(load))).collect();
    let phases: Vec<&PhaseRecord> =
        trial.phases.iter().filter(|phase| loads.iter().any(|load| load.phase == phase.name)).collect();
    let embedded = trial.implementation.embedded;
    let client = |phase: &PhaseRecord, get: Get| get(role(phase, "trial")?);
    let own_server = |phase: &PhaseRecord, get: Get| get(role(phase, "server")?);
    let server = |phase: &PhaseRecord, get: Get| {
        let name = if embedded { "trial" } else { "server" };
        get(role(phase, name)?)
    };
    let cpu: Get = |role| Some(role.cpu_ns as f64 / 1e3);
    let held: Get = |role| Some(role.end_held_bytes() as f64 / MEMORY_KB);
    let resident: Get = |role| Some(role.end_resident_bytes as f64 / MEMORY_KB);
    let storage: Get = |role| Some(role.storage_bytes()? as f64 / 1e3);
    let wire: Get = |role| Some(role.wire_bytes()? as f64 / 1e3);
    let network = if embedded {
        Some(0.0)
    } else {
        per_unit(trial, &phases, |phase| Some(client(phase, wire)? + datagrams(trial, phase) / 1e3))
    };
    let found = [
        ("time", time_ms(&loads)),
        ("server_cpu", per_unit(trial, &phases, |phase| own_server(phase, cpu))),
        ("server_memory", largest(&phases, |phase| own_server(phase, held))),
        ("server_io", per_unit(trial, &phases, |phase| server(phase, storage))),
        ("client_cpu", per_unit(trial, &phases, |phase| client(phase, cpu))),
        ("client_memory", largest(&phases, |phase| client(phase, resident))),
        ("network", network),
        ("disk", disk::growth_bytes(trial).map(|bytes| bytes / 1e6)),
    ];
    let undivided = comparable.undivided(side);
    let found = found
        .into_iter()
        .filter(|(id, _)| !undivided.contains(id))
        .filter_map(|(id, value)| Some((id.to_owned(), value?)));
    found.filter(|(_, value)| value.is_finite()).collect()
}

/// Thousand readings a second of the side's loads that write, as a geometric mean.
pub fn write_rate(trial: &TrialRecord, comparable: &Comparable) -> Option<f64> {
    let is_counting = comparable.counting(Side::Write);
    let loads = counted(trial).filter(|load| is_counting(&name(load)));
    let rates: Option<Vec<f64>> = loads.map(LoadRecord::readings_per_second).collect();
    Some(summarize_logarithms(&rates?).ok()?.geometric_mean / 1e3)
}

type Get = fn(&RoleTotals) -> Option<f64>;

fn role<'a>(phase: &'a PhaseRecord, name: &str) -> Option<&'a RoleTotals> {
    phase.totals.as_ref()?.roles.get(name)
}

/// Bytes that the phase's loads sent in datagrams, which no socket's counters hold.
fn datagrams(trial: &TrialRecord, phase: &PhaseRecord) -> f64 {
    let loads = trial.loads.iter().filter(|load| load.phase == phase.name);
    loads.map(|load| load.datagram_bytes as f64).sum()
}

/// What is counted of a load's work: thousands of readings written, or questions.
fn units(load: &LoadRecord) -> f64 {
    of_work(load, load.operations() as f64, load.readings() as f64)
}

/// The units of so many operations and readings of a load.
fn of_work(load: &LoadRecord, operations: f64, readings: f64) -> f64 {
    if load.writes { readings / 1e3 } else { operations }
}

/// Milliseconds a unit of work: in open loop, whose rate is given, the mean from due to finished; else what the load took over its work.
fn unit_ms(load: &LoadRecord) -> Option<f64> {
    let (operations, units) = (load.operations(), units(load));
    if operations == 0 || units <= 0.0 {
        return None;
    }
    if !load.open_loop {
        let counted = load.counted();
        let units = of_work(load, counted.operations, counted.readings);
        return (units > 0.0).then(|| counted.seconds * 1e3 / units);
    }
    let times = load.classes.values();
    let sum: f64 = times.map(|class| class.latency.summary.mean_ns * class.operations as f64).sum();
    Some(sum / units / 1e6)
}

/// The geometric mean over loads.
fn time_ms(loads: &[&LoadRecord]) -> Option<f64> {
    let mut sum = 0.0;
    for load in loads {
        sum += unit_ms(load)?.ln();
    }
    (!loads.is_empty()).then(|| (sum / loads.len() as f64).exp())
}

/// What a unit of work costs, meaned over phases that do nothing else.
fn per_unit(
    trial: &TrialRecord,
    phases: &[&PhaseRecord],
    cost: impl Fn(&PhaseRecord) -> Option<f64>,
) -> Option<f64> {
    let mut sum = 0.0;
    for phase in phases {
        let work: f64 = of_phase(trial, &phase.name).map(units).sum();
        sum += cost(phase)? / (work > 0.0).then_some(work)?;
    }
    (!phases.is_empty()).then(|| sum / phases.len() as f64)
}

/// What ran in a phase.
pub fn of_phase<'a>(trial: &'a TrialRecord, name: &str) -> impl Iterator<Item = &'a LoadRecord> {
    let loads = trial.loads.iter();
    loads.filter(move |load| load.phase == name && load.not_supported.is_none())
}

/// Whether a phase writes and asks at once.
fn is_together(trial: &TrialRecord, name: &str) -> bool {
    let writes = |load: &LoadRecord| load.writes;
    of_phase(trial, name).any(writes) && !of_phase(trial, name).all(writes)
}

fn largest(phases: &[&PhaseRecord], value: impl Fn(&PhaseRecord) -> Option<f64>) -> Option<f64> {
    let mut most = None;
    for phase in phases {
        most = Some(value(phase)?.max(most.unwrap_or(0.0)));
    }
    most
}
