//! Selectors: which implementations, which loads and which of their figures a study's tables, figures and claims are about.
//!
//! Every study says with these what it means. Nothing is judged or printed here.

use super::table::NOT_MEASURED;
use crate::claims::{Claim, Found, Sample, Values};
use crate::criteria;
use crate::field::{Arm, Field};
use crate::options::ReportOptions;
use sensormark_result::measurement::latency::LatencySummary;
use sensormark_result::measurement::record::{ClassRecord, Implementation, LoadRecord, TrialRecord};
use sensormark_result::probe::PhaseTotals;
use sensormark_store::Durability;
use serde_json::Value;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The label of a load that says which operation it is; every workload of phases has it.
const OPERATION: &str = "operation";

/// How a figure is found in a trial.
type Get<'a> = dyn Fn(&TrialRecord) -> Option<f64> + 'a;

/// A figure of one trial; none where it was not measured.
#[derive(Clone)]
pub struct Metric<'a>(Rc<Get<'a>>);

impl<'a> Metric<'a> {
    /// The figure that this function finds in a trial.
    pub fn new(get: impl Fn(&TrialRecord) -> Option<f64> + 'a) -> Self {
        Self(Rc::new(get))
    }

    /// The figure of a trial.
    pub fn of(&self, trial: &TrialRecord) -> Option<f64> {
        (self.0)(trial)
    }

    /// The figure of a trial that has this name.
    pub fn named(name: &'a str) -> Self {
        Self::new(|trial| criteria::figure(trial, name))
    }

    /// This figure times a factor.
    pub fn times(self, factor: f64) -> Self {
        Self::new(move |trial| Some(self.of(trial)? * factor))
    }

    /// This figure in units of so much.
    pub fn per(self, unit: f64) -> Self {
        Self::new(move |trial| Some(self.of(trial)? / unit))
    }

    /// One divided by this figure; none where that is 0.
    pub fn inverted(self) -> Self {
        Self::new(|_| Some(1.0)).over(self)
    }

    /// This figure divided by another of the same trial; none where that is 0.
    pub fn over(self, other: Self) -> Self {
        Self::new(move |trial| Some(self.of(trial)? / other.of(trial).filter(|other| *other > 0.0)?))
    }
}

/// Loads of a trial by their labels.
#[derive(Debug, Clone)]
pub struct Loads {
    labels: Vec<(&'static str, Value)>,
}

/// The loads of an operation.
pub fn loads(operation: &str) -> Loads {
    Loads { labels: vec![(OPERATION, operation.into())] }
}

/// Whether two labels say the same; 24 and 24.0 do.
fn same(one: &Value, other: &Value) -> bool {
    one == other || one.as_f64().is_some_and(|one| Some(one) == other.as_f64())
}

impl Loads {
    /// Of these, those with this label.
    pub fn with(mut self, label: &'static str, value: impl Into<Value>) -> Self {
        self.labels.push((label, value.into()));
        self
    }

    /// Whether a load is one of them.
    pub fn has(&self, load: &LoadRecord) -> bool {
        let is = |(name, value): &(&str, Value)| load.labels.get(*name).is_some_and(|own| same(own, value));
        self.labels.iter().all(is)
    }

    /// Those of a trial, in order.
    pub fn all<'t>(&self, trial: &'t TrialRecord) -> impl Iterator<Item = &'t LoadRecord> {
        trial.loads.iter().filter(|load| self.has(load))
    }

    /// Those of a trial that the database supports and of which operations were finished.
    pub fn finished<'t>(&self, trial: &'t TrialRecord) -> impl Iterator<Item = &'t LoadRecord> {
        self.all(trial).filter(|load| load.not_supported.is_none() && load.operations() > 0)
    }

    /// The first of a trial.
    pub fn first<'t>(&self, trial: &'t TrialRecord) -> Option<&'t LoadRecord> {
        self.all(trial).next()
    }

    /// A figure of the first of them, where operations of it were finished.
    pub fn metric<'a>(self, get: impl Fn(&LoadRecord) -> Option<f64> + 'a) -> Metric<'a> {
        Metric::new(move |trial| {
            let load = self.first(trial)?;
            (load.operations() > 0).then(|| get(load))?
        })
    }

    /// Operations a second, over all of them.
    pub fn operations_a_second<'a>(self) -> Metric<'a> {
        Metric::new(move |trial| {
            let (mut all, mut seconds) = (0.0, 0.0);
            for load in self.finished(trial) {
                let counted = load.counted();
                all += counted.operations;
                seconds += counted.seconds;
            }
            (seconds > 0.0 && all > 0.0).then(|| all / seconds)
        })
    }

    /// Readings a second of the first of them.
    pub fn readings_a_second<'a>(self) -> Metric<'a> {
        self.metric(|load| load.readings_per_second().filter(|rate| *rate > 0.0))
    }

    /// A latency of the first of them, in ms.
    pub fn latency_ms<'a>(self, get: fn(&LatencySummary) -> Option<u64>) -> Metric<'a> {
        self.metric(move |load| {
            let class = load.classes.values().find(|class| class.operations > 0)?;
            Some(get(&class.latency.summary)? as f64 / 1e6)
        })
    }

    /// The mean time of an operation of the first of them, in ms.
    pub fn mean_ms<'a>(self) -> Metric<'a> {
        self.metric(|load| {
            let classes = load.classes.values().filter(|class| class.operations > 0);
            Some(mean_ns(&classes.collect::<Vec<_>>())? / 1e6)
        })
    }

    /// What the samples of their phases say, with how long each lasted.
    fn totals<'t>(&self, trial: &'t TrialRecord) -> impl Iterator<Item = &'t PhaseTotals> {
        self.finished(trial)
            .filter_map(|load| criteria::phase(trial, &load.phase)?.totals.as_ref())
            .filter(|totals| totals.span_ns > 0)
    }

    /// The mean of what samples say over their phases, each by its length.
    fn over_phases<'a>(self, get: impl Fn(&PhaseTotals) -> Option<f64> + 'a) -> Metric<'a> {
        Metric::new(move |trial| {
            let (mut sum, mut length) = (0.0, 0.0);
            for totals in self.totals(trial) {
                let span = totals.span_ns as f64;
                sum += get(totals)? * span;
                length += span;
            }
            (length > 0.0).then(|| sum / length)
        })
    }

    /// The most of what samples say of their phases.
    fn most_of_phases<'a>(self, get: impl Fn(&PhaseTotals) -> Option<f64> + 'a) -> Metric<'a> {
        Metric::new(move |trial| self.totals(trial).filter_map(&get).reduce(f64::max))
    }

    /// The machine's load average over their phases, of one minute as the kernel has it.
    pub fn load_average<'a>(self) -> Metric<'a> {
        self.over_phases(|totals| Some(totals.host.mean_load))
    }

    /// CPU of a role over their phases, in percent of all of the machine's cores.
    pub fn cpu_percent<'a>(self, role: &'static str) -> Metric<'a> {
        self.over_phases(move |totals| {
            let used = totals.roles.get(role)?.cpu_ns as f64 / totals.span_ns as f64;
            Some(used * 100.0 / totals.host.processors.max(1) as f64)
        })
    }

    /// Memory of a role, the most at the end of a phase, in MB: a client's is what is resident, a server's has each page once.
    pub fn memory_mb<'a>(self, role: &'static str) -> Metric<'a> {
        self.most_of_phases(move |totals| {
            let own = totals.roles.get(role)?;
            let bytes = match role {
                "server" => own.end_held_bytes(),
                _ => own.end_resident_bytes,
            };
            Some(bytes as f64 / 1e6)
        })
    }

    /// Why there is no figure of the first of them: the database does not support it, or it was not measured.
    pub fn why_missing(&self, results: Results<'_>, arm: &Arm) -> String {
        let mut trials = results.field.valid_of(arm);
        let reason = trials.find_map(|trial| self.first(trial)?.not_supported.clone());
        reason.map_or_else(|| NOT_MEASURED.to_owned(), |reason| format!("not supported: {reason}"))
    }

    /// Why one of them was cut, in some valid trial of an implementation.
    pub fn cut(&self, results: Results<'_>, arm: &Arm) -> Option<String> {
        let mut trials = results.field.valid_of(arm);
        trials.find_map(|trial| self.all(trial).find_map(|load| load.cut.clone()))
    }
}

/// The mean over classes, each by its operations.
fn mean_ns(classes: &[&ClassRecord]) -> Option<f64> {
    if let [one] = classes {
        return Some(one.latency.summary.mean_ns);
    }
    let (mut sum, mut count) = (0.0, 0.0);
    for summary in classes.iter().map(|class| &class.latency.summary) {
        sum += summary.mean_ns * summary.count as f64;
        count += summary.count as f64;
    }
    (count > 0.0).then(|| sum / count)
}

/// A run's results, looked at by a study.
#[derive(Clone, Copy)]
pub struct Results<'a> {
    /// The trials.
    pub field: &'a Field,
    /// How the report ranks.
    pub options: &'a ReportOptions,
}

impl<'a> Results<'a> {
    /// Implementations with a valid trial that wrote and asked in one.
    pub fn arms(self) -> impl Iterator<Item = &'a Arm> {
        self.valid(&self.field.mixed)
    }

    /// Those of a side that have a valid trial.
    pub fn valid(self, arms: &'a [Arm]) -> impl Iterator<Item = &'a Arm> {
        let field = self.field;
        arms.iter().filter(move |arm| field.valid_of(arm).next().is_some())
    }

    /// The implementation of a database that is the nearest to a study's: as the database comes, then the least key.
    pub fn nearest<Key: Ord>(self, title: &str, key: impl Fn(&Implementation) -> Key) -> Option<&'a Arm> {
        let own = self.arms().filter(|arm| arm.implementation.title == title);
        own.min_by_key(|arm| (!as_it_comes(arm), key(&arm.implementation)))
    }

    /// The implementation with this layout of a database, as the database comes where that was measured.
    pub fn layout(self, title: &str, layout: &str) -> Option<&'a Arm> {
        let is = |arm: &&Arm| arm.implementation.title == title && arm.implementation.layout_name == layout;
        self.arms().filter(is).min_by_key(|arm| !as_it_comes(arm))
    }

    /// The implementation with the first of these layouts that was measured.
    pub fn first_layout(self, title: &str, layouts: &[&str]) -> Option<&'a Arm> {
        layouts.iter().find_map(|layout| self.layout(title, layout))
    }

    /// Implementations of the same database with the same promise, as pairs of one and the other.
    pub fn pairs(self, is_pair: impl Fn(&Implementation, &Implementation) -> bool) -> Vec<[&'a Arm; 2]> {
        let other_of = |one: &'a Arm| {
            let own = &one.implementation;
            let other = self.arms().find(|other| {
                let other = &other.implementation;
                other.title == own.title
                    && other.durability == own.durability
                    && other.cluster == own.cluster
                    && is_pair(own, other)
            });
            Some([one, other?])
        };
        self.arms().filter_map(other_of).collect()
    }

    /// The implementations of a database as it comes.
    pub fn as_it_comes(self, title: &str) -> impl Iterator<Item = &'a Arm> {
        let own = move |arm: &&Arm| arm.implementation.title == title && as_it_comes(arm);
        self.arms().filter(own)
    }

    /// The numbers that loads have under a label, ascending.
    pub fn numbers(self, label: &str, of: impl Fn(&LoadRecord) -> bool) -> Vec<u64> {
        let all = self.field.trials.iter().flat_map(|trial| &trial.loads);
        let own = all.filter(|load| of(load));
        let numbers: BTreeSet<u64> = own.filter_map(|load| load.labels.get(label)?.as_u64()).collect();
        numbers.into_iter().collect()
    }

    /// A figure of an implementation in each repetition.
    pub fn values(self, arm: &Arm, metric: &Metric<'_>) -> Values {
        self.field.figures(arm, |trial| metric.of(trial))
    }

    /// The same, with whose it is.
    pub fn sample(self, arm: &'a Arm, metric: &Metric<'_>) -> Sample<'a> {
        Sample::new(arm, self.values(arm, metric))
    }

    /// A figure of two implementations that a claim is about; nothing where one was not measured, which is noted.
    pub fn both(
        self,
        claim: &mut Claim,
        [one, other]: [Found<'a, '_>; 2],
        metric: &Metric<'_>,
    ) -> Option<[Sample<'a>; 2]> {
        let both = claim.needs_both(one, other)?;
        Some(both.map(|arm| self.sample(arm, metric)))
    }
}

/// Whether the database runs as it comes.
fn as_it_comes(arm: &Arm) -> bool {
    arm.implementation.durability == Durability::Default && arm.implementation.cluster.is_none()
}
