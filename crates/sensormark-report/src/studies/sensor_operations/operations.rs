//! A run of the workload, looked at as its study does: by operation, size and clients.

use crate::claims::Values;
use crate::field::Arm;
use crate::number::cell_text;
use crate::sections::cells::counted;
use crate::sections::surroundings::inventory;
use crate::studies::quantity::{Quantity, rate};
use crate::studies::select::{Loads, Results, loads};
use crate::tables::Cell;
use sensormark_result::measurement::record::LoadRecord;
use sensormark_store::{Durability, Index, WriteMethod};
use sensormark_workload::sensor_operations::{Operation, labels};
use std::collections::BTreeSet;

/// Why a rate is missing.
pub const MISSING: &str = "no valid trial, or none of its operations was finished";
/// A test: how many readings it writes and reads, and by how many clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Test {
    /// Readings.
    pub size: u64,
    /// Clients.
    pub clients: u64,
}

/// A run, looked at by operation and test.
#[derive(Clone, Copy)]
pub struct Operations<'a> {
    /// Its results.
    pub results: Results<'a>,
}

/// The loads of an operation in a test.
pub fn load(operation: Operation, test: Test) -> Loads {
    let load = loads(operation.name()).with(labels::SIZE, test.size);
    load.with(labels::CLIENTS, test.clients)
}

/// The rate of an operation in a test.
pub fn rate_of(operation: Operation, test: Test) -> Quantity<'static> {
    rate("", "1/s", load(operation, test).readings_a_second()).or(MISSING)
}

/// "1 client", "16 clients".
pub fn clients(test: Test) -> String {
    counted(usize::try_from(test.clients).unwrap_or(usize::MAX), "client")
}

/// "1,000,000".
pub fn grouped(number: u64) -> String {
    cell_text(&Cell::Count(number))
}

impl<'a> Operations<'a> {
    /// Whether this is a virtual machine; not where the run recorded no inventory of it.
    pub fn is_virtual(self) -> bool {
        inventory(self.results.field).is_some_and(|environment| environment.is_virtual())
    }

    /// The tests of an operation, ascending.
    fn tests(self, operation: Operation) -> Vec<Test> {
        let own = loads(operation.name());
        let test = |load: &LoadRecord| {
            let number = |label| load.labels.get(label)?.as_u64();
            let (size, clients) = (number(labels::SIZE)?, number(labels::CLIENTS)?);
            own.has(load).then_some(Test { size, clients })
        };
        let all = self.results.field.trials.iter().flat_map(|trial| &trial.loads);
        let tests: BTreeSet<Test> = all.filter_map(test).collect();
        tests.into_iter().collect()
    }

    /// The largest tests of an operation, by ascending clients.
    pub fn by_clients(self, operation: Operation) -> Vec<Test> {
        let mut tests = self.tests(operation);
        let largest = tests.iter().map(|test| test.size).max();
        tests.retain(|test| Some(test.size) == largest);
        tests
    }

    /// One client's tests of an operation, by ascending size.
    pub fn by_size(self, operation: Operation) -> Vec<Test> {
        let mut tests = self.tests(operation);
        tests.retain(|test| test.clients == 1);
        tests
    }

    /// The largest test of an operation by one client.
    pub fn single_client(self, operation: Operation) -> Option<Test> {
        let mut tests = self.by_clients(operation).into_iter();
        tests.rfind(|test| test.clients == 1)
    }

    /// The largest test of an operation by most clients, where these are several.
    pub fn multi_client(self, operation: Operation) -> Option<Test> {
        let last = self.by_clients(operation).pop();
        last.filter(|test| test.clients > 1)
    }

    /// Operations, each with its largest tests by one client and by most.
    pub fn one_and_most(self) -> Vec<(Operation, Test)> {
        let of = |one| [self.single_client(one), self.multi_client(one)].map(|test| Some((one, test?)));
        Operation::ALL.into_iter().flat_map(of).flatten().collect()
    }

    /// Operations a second in each repetition.
    pub fn rates(self, arm: &Arm, operation: Operation, test: Test) -> Values {
        self.results.values(arm, &rate_of(operation, test).metric)
    }

    /// What stands for a database in the study's tables: with an index, as it comes. If the study's own way of writing was measured too, that one stands for
    /// multi writes. (The study's PostgreSQL wrote many readings as "a concatenated SQL query".)
    pub fn stands_for(self, title: &str, operation: Operation) -> Option<&'a Arm> {
        let own =
            |arm: &&Arm| arm.implementation.title == title && arm.implementation.layout.index != Index::None;
        self.results.arms().filter(own).min_by_key(|arm| {
            let write = arm.implementation.layout.write;
            let as_published = operation == Operation::MultiWrite
                && title == "PostgreSQL"
                && write == WriteMethod::ConcatenatedStatements;
            let is_default = arm.implementation.durability == Durability::Default;
            (!is_default, !as_published, write != WriteMethod::Usual)
        })
    }

    /// Pairs of implementations that differ by an index alone: with it and without.
    pub fn pairs(self) -> Vec<[&'a Arm; 2]> {
        self.results.pairs(|with, without| {
            let wanted = with.layout.with_index(Index::None);
            with.layout.index == Index::SeriesTime && without.layout == wanted
        })
    }

    /// Our rates with one client and with most.
    pub fn ours(self, title: &str, operation: Operation) -> [Values; 2] {
        let arm = self.stands_for(title, operation);
        let tests = [self.single_client(operation), self.multi_client(operation)];
        tests.map(|test| match (arm, test) {
            (Some(arm), Some(test)) => self.rates(arm, operation, test),
            _ => Vec::new(),
        })
    }
}
