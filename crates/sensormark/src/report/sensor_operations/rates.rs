//! Rates of operations, found by the labels of a run's phases. A multi operation counts as many as its readings.

use crate::measurement::record::{LoadRecord, TrialRecord};
pub use crate::report::claims::ratios;
use crate::report::field::{Arm, Field};
use crate::workload::sensor_operations::{Operation, labels};
use sensormark_store::{Durability, Index, Layout, WriteMethod};
use serde_json::Value;
use std::collections::BTreeSet;

/// A test: how many readings it writes and reads, and by how many clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Test {
    /// Readings.
    pub size: u64,
    /// Clients.
    pub clients: u64,
}

/// A run's trials, looked at by operation and test.
pub struct Rates<'a> {
    /// The trials.
    pub field: &'a Field,
}

fn number(load: &LoadRecord, label: &str) -> Option<u64> {
    load.labels.get(label).and_then(Value::as_u64)
}

fn is_of(load: &LoadRecord, operation: Operation) -> bool {
    let label = load.labels.get(labels::OPERATION).and_then(Value::as_str);
    label == Some(operation.name())
}

fn test(load: &LoadRecord) -> Option<Test> {
    Some(Test {
        size: number(load, labels::SIZE)?,
        clients: number(load, labels::CLIENTS)?,
    })
}

/// The load of an operation in a test.
pub fn load(trial: &TrialRecord, operation: Operation, wanted: Test) -> Option<&LoadRecord> {
    let mut loads = trial.loads.iter();
    loads.find(|load| is_of(load, operation) && test(load) == Some(wanted))
}

impl<'a> Rates<'a> {
    /// Of these trials.
    pub const fn new(field: &'a Field) -> Self {
        Self { field }
    }

    /// The tests of an operation, ascending.
    pub fn tests(&self, operation: Operation) -> Vec<Test> {
        let loads = self.field.trials.iter().flat_map(|trial| &trial.loads);
        let own = loads.filter(|load| is_of(load, operation));
        let tests: BTreeSet<Test> = own.filter_map(test).collect();
        tests.into_iter().collect()
    }

    /// The largest tests of an operation, by ascending clients.
    pub fn by_clients(&self, operation: Operation) -> Vec<Test> {
        let tests = self.tests(operation);
        let largest = tests.iter().map(|test| test.size).max();
        let largest = |test: &Test| Some(test.size) == largest;
        tests.into_iter().filter(largest).collect()
    }

    /// One client's tests of an operation, by ascending size.
    pub fn by_size(&self, operation: Operation) -> Vec<Test> {
        let tests = self.tests(operation).into_iter();
        tests.filter(|test| test.clients == 1).collect()
    }

    /// The largest test of an operation by one client.
    pub fn single_client(&self, operation: Operation) -> Option<Test> {
        let mut tests = self.by_clients(operation).into_iter();
        tests.rfind(|test| test.clients == 1)
    }

    /// The largest test of an operation by most clients, where these are several.
    pub fn multi_client(&self, operation: Operation) -> Option<Test> {
        let last = self.by_clients(operation).pop();
        last.filter(|test| test.clients > 1)
    }

    /// Operations a second in each repetition.
    pub fn rate(&self, arm: &Arm, operation: Operation, test: Test) -> Vec<Option<f64>> {
        self.field.figures(arm, |trial| {
            let load = load(trial, operation, test)?;
            load.readings_per_second().filter(|rate| *rate > 0.0)
        })
    }

    /// Arms with a valid trial.
    pub fn believed(&self) -> impl Iterator<Item = &'a Arm> {
        let field = self.field;
        let arms = field.mixed.iter();
        arms.filter(move |arm| field.valid_of(arm).next().is_some())
    }

    /// What stands for a database in the study's tables: with an index, as it comes; where the study's own way of writing was measured too
    /// (its PostgreSQL wrote many readings as "a concatenated SQL query"), that for multi writes.
    pub fn counterpart(&self, title: &str, operation: Operation) -> Option<&'a Arm> {
        let own = |arm: &&Arm| {
            arm.implementation.title == title && arm.implementation.layout.index != Index::None
        };
        let method = |arm: &&Arm| arm.implementation.layout.write;
        let order = |arm: &&Arm| {
            let as_published = operation == Operation::MultiWrite
                && title == "PostgreSQL"
                && method(arm) == WriteMethod::ConcatenatedStatements;
            (
                arm.implementation.durability != Durability::Default,
                !as_published,
                method(arm) != WriteMethod::Usual,
            )
        };
        self.believed().filter(own).min_by_key(order)
    }

    /// The arm that differs from this one by having no index, if it was measured.
    pub fn without_index(&self, with: &Arm) -> Option<&'a Arm> {
        let wanted = Layout {
            index: Index::None,
            ..with.implementation.layout
        };
        if with.implementation.layout.index != Index::SeriesTime {
            return None;
        }
        self.believed().find(|arm| {
            let own = &arm.implementation;
            own.title == with.implementation.title
                && own.durability == with.implementation.durability
                && own.layout == wanted
        })
    }

    /// Pairs of arms that differ by an index alone.
    pub fn pairs(&self) -> Vec<(&'a Arm, &'a Arm)> {
        let arms = self.believed();
        arms.filter_map(|with| Some((with, self.without_index(with)?)))
            .collect()
    }
}

/// "1 client", "16 clients".
pub fn clients(test: Test) -> String {
    match test.clients {
        1 => "1 client".to_owned(),
        clients => format!("{clients} clients"),
    }
}
