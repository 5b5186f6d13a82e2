//! What was measured, by implementation, query and span: figures of each repetition, taken from the trials' loads by the labels of their phases.

use crate::measurement::names;
use crate::measurement::record::{LoadRecord, TrialRecord};
use crate::report::claims;
use crate::report::criteria;
use crate::report::field::{Arm, Field};
use crate::workload::iot_platform::{DAYS, LOAD, MESSAGES, OPERATION, PlatformQuery};
use sensormark_store::Shape;
use std::collections::BTreeSet;

pub use crate::report::claims::{Values as Figures, ratios, times};

/// The measured trials.
pub struct Measured<'a> {
    /// All of them.
    pub field: &'a Field,
}

impl<'a> Measured<'a> {
    /// What a field holds.
    pub const fn new(field: &'a Field) -> Self {
        Self { field }
    }

    /// Implementations with a valid trial.
    pub fn arms(&self) -> impl Iterator<Item = &'a Arm> {
        let field = self.field;
        let arms = field.mixed.iter();
        arms.filter(move |arm| field.valid_of(arm).next().is_some())
    }

    /// The implementation of this database and layout, if it has a valid trial.
    pub fn arm(&self, title: &str, layout: &str) -> Option<&'a Arm> {
        self.arms().find(|arm| {
            let own = &arm.implementation;
            own.title == title && own.layout_name == layout
        })
    }

    /// The first of these layouts that has one.
    pub fn first(&self, title: &str, layouts: &[&str]) -> Option<&'a Arm> {
        layouts.iter().find_map(|layout| self.arm(title, layout))
    }

    /// Pairs of implementations whose layouts differ in this ending alone: with it, and without.
    pub fn pairs(&self, ending: &str) -> Vec<(&'a Arm, &'a Arm)> {
        let with = |arm: &'a Arm| {
            let own = &arm.implementation;
            let plain = own.layout_name.strip_suffix(ending)?;
            Some((arm, self.arm(&own.title, plain)?))
        };
        self.arms().filter_map(with).collect()
    }

    /// Two layouts of a database, where both have a valid trial.
    pub fn pair(&self, title: &str, layouts: [&str; 2]) -> Option<(&'a Arm, &'a Arm)> {
        let [one, other] = layouts;
        Some((self.arm(title, one)?, self.arm(title, other)?))
    }

    /// The spans that were asked about, in days, ascending.
    pub fn spans(&self, queries: &[PlatformQuery]) -> Vec<u64> {
        let mut spans = BTreeSet::new();
        for trial in &self.field.trials {
            for load in &trial.loads {
                if queries.iter().any(|query| is_of(load, query.name())) {
                    spans.extend(days(load));
                }
            }
        }
        spans.into_iter().collect()
    }

    fn figures(
        &self,
        arm: &Arm,
        operation: &str,
        span: Option<u64>,
        figure: impl Fn(&LoadRecord) -> Option<f64>,
    ) -> Figures {
        self.field.figures(arm, |trial| {
            let load = find(trial, operation, span)?;
            (load.operations() > 0).then(|| figure(load))?
        })
    }

    /// The mean time of a question, in ms.
    pub fn ms(&self, arm: &Arm, query: PlatformQuery, days: u64) -> Figures {
        self.figures(arm, query.name(), Some(days), mean_ms)
    }

    /// Readings, groups or windows that a question's answer has, on average.
    pub fn found(&self, arm: &Arm, query: PlatformQuery, days: u64) -> Figures {
        self.figures(arm, query.name(), Some(days), |load| {
            Some(load.readings() as f64 / load.operations() as f64)
        })
    }

    /// The mean time of a message, in ms.
    pub fn message_ms(&self, arm: &Arm) -> Figures {
        self.figures(arm, MESSAGES, None, mean_ms)
    }

    /// The 99th percentile of a message's time, in ms.
    pub fn message_p99_ms(&self, arm: &Arm) -> Figures {
        self.figures(arm, MESSAGES, None, |load| {
            let class = load.classes.values().next()?;
            Some(class.latency.summary.p99_ns? as f64 / 1e6)
        })
    }

    /// Messages written a second.
    pub fn messages_a_second(&self, arm: &Arm) -> Figures {
        self.figures(arm, MESSAGES, None, LoadRecord::operations_per_second)
    }

    /// Values loaded a second.
    pub fn loaded_a_second(&self, arm: &Arm) -> Figures {
        self.figures(arm, LOAD, None, LoadRecord::readings_per_second)
    }

    /// Values loaded.
    pub fn loaded(&self, arm: &Arm) -> Figures {
        self.figures(arm, LOAD, None, |load| Some(load.readings() as f64))
    }

    /// Disk after settling, in bytes, beyond that of the empty database.
    pub fn disk(&self, arm: &Arm) -> Figures {
        self.field.figures(arm, criteria::disk)
    }

    /// The same for each value loaded.
    pub fn disk_a_value(&self, arm: &Arm) -> Figures {
        self.field.figures(arm, |trial| {
            let load = find(trial, LOAD, None)?;
            Some(criteria::disk(trial)? / (load.readings() > 0).then_some(load.readings() as f64)?)
        })
    }

    /// Documents when the trial was over, as the database counts them; rows and points, of which each is a value, as they were read back.
    pub fn records(&self, arm: &Arm) -> Figures {
        self.field.figures(arm, |trial| {
            let counted = trial.figures.get(names::DOCUMENTS);
            match (counted, arm.implementation.layout.shape) {
                (Some(counted), _) => counted.value,
                (None, Shape::RowPerReading) => Some(find(trial, LOAD, None)?.readings() as f64),
                (None, _) => None,
            }
        })
    }

    /// Their bytes before compression, without indexes.
    pub fn record_bytes(&self, arm: &Arm) -> Figures {
        self.field
            .figures(arm, |trial| trial.figures.get(names::DOCUMENT_BYTES)?.value)
    }

    /// Why a query is done in the client, where it is.
    pub fn client_side(&self, arm: &Arm, query: PlatformQuery) -> bool {
        let mut trials = self.field.valid_of(arm);
        trials.any(|trial| {
            let mut loads = trial.loads.iter();
            loads.any(|load| is_of(load, query.name()) && load.client_side.is_some())
        })
    }

    /// Whether a load was cut.
    pub fn is_cut(&self, arm: &Arm, operation: &str) -> bool {
        let mut trials = self.field.valid_of(arm);
        trials.any(|trial| find(trial, operation, None).is_some_and(|load| load.cut.is_some()))
    }
}

fn is_of(load: &LoadRecord, operation: &str) -> bool {
    load.labels.get(OPERATION).and_then(|name| name.as_str()) == Some(operation)
}

fn days(load: &LoadRecord) -> Option<u64> {
    load.labels.get(DAYS)?.as_u64()
}

fn find<'t>(trial: &'t TrialRecord, operation: &str, span: Option<u64>) -> Option<&'t LoadRecord> {
    let mut loads = trial.loads.iter();
    loads.find(|load| is_of(load, operation) && (span.is_none() || days(load) == span))
}

fn mean_ms(load: &LoadRecord) -> Option<f64> {
    let class = load.classes.values().find(|class| class.operations > 0)?;
    Some(class.latency.summary.mean_ns / 1e6)
}

/// How time grows with the span: the exponent e of time ~ span^e between the shortest and the longest span of which there are times.
pub fn growth(times: &[(u64, Figures)]) -> Option<f64> {
    let mean = |(days, values): &(u64, Figures)| Some((*days as f64, claims::mean(values)?));
    let known: Vec<(f64, f64)> = times.iter().filter_map(mean).collect();
    let (first, last) = (known.first()?, known.last()?);
    (last.0 > first.0 && first.1 > 0.0).then(|| (last.1 / first.1).ln() / (last.0 / first.0).ln())
}
