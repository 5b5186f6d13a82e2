//! Figures of trials of this workload, found by the labels of their phases.

use crate::measurement::names;
use crate::measurement::record::{ClassRecord, LoadRecord, TrialRecord};
use crate::report::criteria::{self, figure};
use crate::report::field::{Arm, Field};
use crate::workload::devops::questions::Kind;
use crate::workload::devops::steps::{CLIENTS, GROW, HOURS, LOAD, OPERATION, SETTLED, WORKERS};
use crate::workload::devops::{Parameters, figures};
use sensormark_store::Durability;
use serde_json::Value;

/// A run's trials and numbers.
pub struct Facts<'a> {
    /// The trials.
    pub field: &'a Field,
    /// The numbers.
    pub parameters: Parameters,
}

pub use crate::report::claims::Values;

impl<'a> Facts<'a> {
    /// None where the run's numbers cannot be understood.
    pub fn new(field: &'a Field) -> Option<Self> {
        let parameters = serde_json::from_value(field.run.parameters.clone()).ok()?;
        Some(Self { field, parameters })
    }

    /// Implementations with a valid trial.
    pub fn arms(&self) -> impl Iterator<Item = &'a Arm> {
        let field = self.field;
        let arms = field.mixed.iter();
        arms.filter(|arm| field.valid_of(arm).next().is_some())
    }

    /// What stands for a database of the study: its usual layout, as the database comes.
    pub fn counterpart(&self, title: &str) -> Option<&'a Arm> {
        let fits = |arm: &&Arm| {
            let one = &arm.implementation;
            one.title == title
                && one.layout_name == crate::workload::devops::LAYOUTS[0]
                && one.durability == Durability::Default
        };
        self.arms().find(fits)
    }

    /// The most workers, whose load is asked about.
    pub fn workers(&self) -> u32 {
        self.parameters.most_workers()
    }

    /// Numbers of clients that asked everything: the first and the last.
    pub fn clients(&self) -> (u32, u32) {
        let clients = &self.parameters.clients;
        let first = clients.first().copied().unwrap_or(1);
        (first, clients.last().copied().unwrap_or(first))
    }

    /// Values a second of the load by so many workers.
    pub fn ingest(&self, arm: &Arm, workers: u32) -> Values {
        self.field.figures(arm, |trial| {
            rate(trial, find(trial, LOAD, &[(WORKERS, workers.into())])?)
        })
    }

    /// Values a second while the data grew to these hours.
    pub fn growth(&self, arm: &Arm, hours: f64) -> Values {
        self.field.figures(arm, |trial| {
            rate(trial, find(trial, GROW, &[(HOURS, hours.into())])?)
        })
    }

    /// A figure of the rest after the load by the most workers, or after the data grew to these hours.
    pub fn settled(
        &self,
        arm: &Arm,
        hours: Option<f64>,
        get: impl Fn(&TrialRecord, &str) -> Option<f64>,
    ) -> Values {
        let workers = self.workers();
        self.field.figures(arm, |trial| {
            let load = match hours {
                None => find(trial, LOAD, &[(WORKERS, workers.into())])?,
                Some(hours) => find(trial, GROW, &[(HOURS, hours.into())])?,
            };
            get(trial, load.labels.get(SETTLED)?.as_str()?)
        })
    }

    /// The questions of a kind by so many clients, about the data as it was loaded first.
    pub fn question<'t>(
        &self,
        trial: &'t TrialRecord,
        kind: Kind,
        clients: u32,
    ) -> Option<&'t LoadRecord> {
        let hours = Value::from(self.parameters.hours);
        find(
            trial,
            kind.name(),
            &[(CLIENTS, clients.into()), (HOURS, hours)],
        )
    }

    /// A latency of these questions, in ms.
    pub fn latency(
        &self,
        arm: &Arm,
        kind: Kind,
        clients: u32,
        get: fn(&ClassRecord) -> Option<f64>,
    ) -> Values {
        self.field.figures(arm, |trial| {
            let load = self.question(trial, kind, clients)?;
            Some(get(load.classes.get(kind.name())?)? / 1e6)
        })
    }

    /// Questions a second.
    pub fn asked(&self, arm: &Arm, kind: Kind, clients: u32) -> Values {
        self.field.figures(arm, |trial| {
            self.question(trial, kind, clients)?
                .operations_per_second()
                .filter(|rate| *rate > 0.0)
        })
    }

    /// Mean time of the study's question after the data grew to these hours, in ms.
    pub fn asked_after(&self, arm: &Arm, hours: f64) -> Values {
        let kind = Kind::MaximumShort;
        self.field.figures(arm, |trial| {
            let load = find(
                trial,
                kind.name(),
                &[(CLIENTS, 1.into()), (HOURS, hours.into())],
            )?;
            mean_ns(load.classes.get(kind.name())?).map(|ns| ns / 1e6)
        })
    }

    /// Whether some load of this implementation was cut.
    pub fn was_cut(&self, arm: &Arm) -> bool {
        let mut loads = self.field.valid_of(arm).flat_map(|trial| &trial.loads);
        loads.any(|load| load.writes && load.cut.is_some())
    }

    /// Why these questions were not asked, where they were not.
    pub fn not_asked(&self, arm: &Arm, kind: Kind, clients: u32) -> Option<String> {
        let mut trials = self.field.valid_of(arm);
        trials.find_map(|trial| self.question(trial, kind, clients)?.not_supported.clone())
    }
}

/// The mean, of operations that were finished.
pub fn mean_ns(class: &ClassRecord) -> Option<f64> {
    (class.operations > 0).then_some(class.latency.summary.mean_ns)
}

fn find<'t>(
    trial: &'t TrialRecord,
    operation: &str,
    labels: &[(&str, Value)],
) -> Option<&'t LoadRecord> {
    let mut loads = trial.loads.iter();
    loads.find(|load| {
        let is =
            |name: &str, value: &Value| load.labels.get(name).is_some_and(|own| same(own, value));
        is(OPERATION, &operation.into()) && labels.iter().all(|(name, value)| is(name, value))
    })
}

/// Whether two labels say the same; 24 and 24.0 do.
fn same(one: &Value, other: &Value) -> bool {
    one == other || one.as_f64().is_some_and(|one| Some(one) == other.as_f64())
}

fn rate(trial: &TrialRecord, load: &LoadRecord) -> Option<f64> {
    figure(
        trial,
        &format!("{}/{}", figures::VALUES_PER_SECOND, load.phase),
    )
}

/// Growth of the data folder until this rest, in bytes.
pub fn disk(trial: &TrialRecord, settled: &str) -> Option<f64> {
    let name = format!("{}/{settled}", names::DISK_SETTLED);
    Some(figure(trial, &name)? - figure(trial, names::DISK_BEFORE)?)
}

/// The same without logs, which a database keeps for itself and uses again.
pub fn data(trial: &TrialRecord, settled: &str) -> Option<f64> {
    let logs = figure(trial, &format!("{}/{settled}", names::DISK_SETTLED_LOGS))?;
    let before = figure(trial, names::DISK_BEFORE_LOGS)?;
    Some(disk(trial, settled)? - (logs - before))
}

/// Bytes of data, without logs, for each value that was stored.
pub fn bytes_a_value(trial: &TrialRecord, settled: &str) -> Option<f64> {
    let stored = values(trial, settled).filter(|values| *values > 0.0)?;
    Some(data(trial, settled)? / stored)
}

/// Values that were stored by then.
pub fn values(trial: &TrialRecord, settled: &str) -> Option<f64> {
    figure(trial, &format!("{}/{settled}", figures::VALUES))
}

/// How long the rest took to come, in seconds.
pub fn seconds(trial: &TrialRecord, settled: &str) -> Option<f64> {
    Some(criteria::phase(trial, settled)?.seconds)
}
