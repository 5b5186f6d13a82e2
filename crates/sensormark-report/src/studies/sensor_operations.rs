//! The sensor-operations study: single and multi writes and reads of Cassandra, MongoDB and PostgreSQL, on a machine and in a virtual one.
//!
//! A multi operation counts as many as its readings.

mod claims;
pub mod operations;
pub mod printed;

use super::figure::Figure;
use super::quantity::{by_number, rate, time};
use super::study::{Declaration, Study};
use super::table::{NOT_MEASURED, Row, section, table, two_and_ratio, words};
use crate::field::Arm;
use crate::sections::cells::geometric_mean;
use crate::sections::surroundings::inventory;
use crate::tables::{Cell, TOO_FEW, Table};
use operations::{MISSING, Operations, Test, clients, grouped, load, rate_of};
use printed::{TITLES, printed_rates};
use sensormark_data::number::fixed;
use sensormark_workload::sensor_operations::{NAME, Operation};
use std::collections::BTreeSet;

/// The study.
pub const STUDY: Study = Study {
    workload: NAME,
    title: "Sensor Data Storage Performance: SQL or NoSQL, Physical or Virtual",
    authors: &["Jan Sipke van der Veen", "Bram van der Waaij", "Robert J. Meijer"],
    venue: "",
    versions: &[("Cassandra", "1.0.7"), ("MongoDB", "2.0.2"), ("PostgreSQL", "9.1.2")],
    system: "CentOS 6.2, Oracle JDK 1.6.0_30; clients: Hector core 1.0-3, MongoDB Java driver 2.7.3, PostgreSQL JDBC4 9.1-901; virtual machine: XenServer 6.0.0",
    notes: &[
        "In the multi tables one operation is one measurement, sent or fetched 1,000 at a time: so its figures suggest; the study does not say.",
        "multi_client is not defined beyond more than one client (1 to 16 were run), and it is not the best of them.",
    ],
    notes_title: "What the study leaves open or says twice differently:",
    declare: |results| Some(Operations { results }.declare()),
    draw: |_| Vec::new(),
};

/// What the study's curves are not in.
const NO_CURVES: &str = "The study's curves are not in its text.";
/// The axis of its figures.
const OPERATIONS: (&str, &str) = ("operations", "1/s");

/// What programs call the table or figure of an operation.
fn id(prefix: &str, operation: Operation) -> String {
    format!("{prefix}_{}", operation.name().replace(' ', "_"))
}

/// The name with its first letter large.
fn capital(operation: Operation) -> String {
    let (first, rest) = operation.name().split_at(1);
    format!("{}{rest}", first.to_uppercase())
}

impl Operations<'_> {
    fn declare(self) -> Declaration {
        let is_empty = TITLES.iter().all(|title| self.stands_for(title, Operation::SingleWrite).is_none());
        let published = [
            self.beside(
                "published_single",
                "Single operations a second: the study's table IV and ours",
                [Operation::SingleWrite, Operation::SingleRead],
            ),
            self.beside(
                "published_multi",
                "Multi operations a second, each reading counted: the study's table V and ours",
                [Operation::MultiWrite, Operation::MultiRead],
            ),
        ];
        let is_measured = published.iter().any(|table| !table.rows.is_empty());
        let setting = format!(
            "Study: {}. Its server: AMD Opteron, 24 cores, 64 GB, 2 x 2 TB 7200 rpm; its client, over a network of its own: Intel Xeon, 2 cores, 4 GB. Ours is {}. Ratios tell of the machines, the versions and what an acknowledged write promises as much as of the databases.",
            STUDY.title,
            self.machine()
        );
        Declaration {
            claims: if is_empty { Vec::new() } else { self.claims() },
            instead_of_claims: vec![
                "No database of the study has a valid trial here, so none of its claims can be judged."
                    .to_owned(),
            ],
            figures: self.figures(),
            setting: is_measured.then_some(setting),
            published: published.into(),
            further: vec![section("operations", "Operations a second", self.tables())],
            ..Declaration::default()
        }
    }

    /// What kind of machine this is.
    fn machine(self) -> String {
        match inventory(self.results.field) {
            None => "unknown: the run recorded no inventory of its machine".to_owned(),
            Some(environment) => match &environment.hypervisor {
                Some(name) => format!("a virtual machine ({name}), client and server on one"),
                None => "a physical machine, as far as it shows, client and server on one".to_owned(),
            },
        }
    }

    /// The study's curves as tables: over clients (its figures 9 to 12), over the number of operations (5 to 8), with and without an index (3 and 4);
    /// and latencies.
    fn tables(self) -> Vec<Table> {
        let by_clients = |operation| {
            let tests = self.by_clients(operation);
            let size = grouped(tests.first().map_or(0, |test| test.size));
            let title = format!("{} by clients, {size} readings", capital(operation));
            self.rate_table(&id("clients", operation), &title, operation, &tests, clients)
        };
        let by_size = |operation| {
            let tests = self.by_size(operation);
            let tests = if tests.len() < 2 { &[] } else { &tests[..] };
            let title = format!("{} by number of readings, 1 client", capital(operation));
            let name = |test: Test| grouped(test.size);
            self.rate_table(&id("sizes", operation), &title, operation, tests, name)
        };
        let mut tables: Vec<Table> = Operation::ALL.map(by_clients).into();
        tables.extend([self.speed_up(), self.with_and_without(), self.latencies()]);
        tables.extend(Operation::ALL.map(by_size));
        tables
    }

    /// A table of rates with a column a test. It says where a phase was cut, so that its rate is that of what was done until then.
    fn rate_table(
        self,
        id: &str,
        title: &str,
        operation: Operation,
        tests: &[Test],
        name: fn(Test) -> String,
    ) -> Table {
        let rates = tests.iter().map(|&test| rate_of(operation, test).called(name(test)));
        let mut table = self.results.table(id, title, &rates.collect::<Vec<_>>());
        for arm in self.results.arms() {
            for &test in tests {
                if let Some(cut) = load(operation, test).cut(self.results, arm) {
                    table.note(format!("{}, {}: cut: {cut}.", arm.label, clients(test)));
                }
            }
        }
        table
    }

    fn speed_up(self) -> Table {
        let several = self.by_clients(Operation::SingleWrite).into_iter();
        let several: Vec<u64> = several.map(|test| test.clients).filter(|clients| *clients > 1).collect();
        let rows = self.results.arms().filter(|_| !several.is_empty()).flat_map(|arm| {
            let row = |operation: Operation| -> Option<Row> {
                let one = self.single_client(operation)?;
                let faster = by_number(&several, "client", |clients| {
                    let many = rate_of(operation, Test { clients, ..one }).metric;
                    rate("", "×", many.over(rate_of(operation, one).metric)).or(MISSING)
                });
                Some((words([&arm.label, operation.name()]), self.results.columns(arm, &faster)))
            };
            Operation::ALL.into_iter().filter_map(row).collect::<Vec<_>>()
        });
        table("speed_up", "Speed-up over one client", &["implementation", "operation"], rows)
    }

    fn with_and_without(self) -> Table {
        let rows = self.pairs().into_iter().flat_map(|[with, without]| {
            let row = move |(operation, test): (Operation, Test)| {
                let [one, other] = [with, without].map(|arm| self.rates(arm, operation, test));
                let names = ["with index", "without", "with / without"];
                (key(with, operation, test), two_and_ratio(names, "1/s", &one, &other, MISSING))
            };
            self.one_and_most().into_iter().map(row)
        });
        table("index", "With and without an index", &KEYS, rows).noted("Without an index a read passes over all that is stored: the ratio grows with the number of readings.")
    }

    fn latencies(self) -> Table {
        let rows = self.results.arms().flat_map(|arm| {
            let row = move |(operation, test): (Operation, Test)| {
                let load = || load(operation, test);
                let latencies = [
                    time("median", "ms", load().latency_ms(|one| one.p50_ns)).or(TOO_FEW),
                    time("p99", "ms", load().latency_ms(|one| one.p99_ns)).or(TOO_FEW),
                    time("max", "ms", load().latency_ms(|one| Some(one.max_ns))).or(NOT_MEASURED),
                ];
                (key(arm, operation, test), self.results.columns(arm, &latencies))
            };
            self.one_and_most().into_iter().map(row)
        });
        let mut table = table("operation_latency", "Latency of an operation", &KEYS, rows);
        if let Some(test) = self.single_client(Operation::MultiWrite) {
            let load = load(Operation::MultiWrite, test);
            let mut planned = self.results.field.trials.iter().filter_map(|trial| {
                let planned = load.first(trial)?.planned;
                (planned > 0).then_some(planned)
            });
            if let Some(planned) = planned.next() {
                let readings = fixed(test.size as f64 / planned as f64, 0);
                table.note(format!(
                    "Closed loop: service time. A multi operation is one statement of {readings} readings."
                ));
            }
        }
        table
    }

    fn figures(self) -> Vec<Figure> {
        let all = Operation::ALL;
        let mut figures: Vec<Figure> = all.map(|one| self.over_clients(one)).into();
        figures.extend(all.map(|one| self.by_machine(one)));
        figures.extend(all.map(|one| {
            let title = format!("{} over the number of readings, one client", capital(one));
            let sizes: Vec<u64> = self.by_size(one).iter().map(|test| test.size).collect();
            let sizes = if sizes.len() < 2 { &[] } else { &sizes[..] };
            let figure = Figure::lines(&id("over_size", one), &title, ("readings", ""), OPERATIONS);
            let figure = figure.over(self.results, sizes, |size| rate_of(one, Test { size, clients: 1 }));
            figure.note(NO_CURVES)
        }));
        let pairs = self.pairs().into_iter().enumerate();
        figures.extend(pairs.map(|(place, pair)| self.index_figure(place, pair)));
        figures
    }

    fn over_clients(self, operation: Operation) -> Figure {
        let title = format!("{} over clients", capital(operation));
        let name = id("over_clients", operation);
        let tests = self.by_clients(operation);
        let size = tests.first().map_or(0, |test| test.size);
        let clients: Vec<u64> = tests.iter().map(|test| test.clients).collect();
        let mut figure = Figure::lines(&name, &title, ("clients", ""), OPERATIONS).over(
            self.results,
            &clients,
            |clients| rate_of(operation, Test { size, clients }),
        );
        for (title, machine, [one, _]) in printed_rates(operation) {
            figure.published(title, machine, Cell::Count(1), one);
        }
        figure.note("Published: one client alone. The study's curves are not in its text, and its tables do not say how many \"multi client\" is.")
    }

    /// Bars of one client and of several: here, and the study's in both environments.
    fn by_machine(self, operation: Operation) -> Figure {
        let title = format!("{}: one client and several, by environment", capital(operation));
        let mut figure = Figure::groups(&id("environments", operation), &title, "clients", OPERATIONS);
        let several = ["one client", "several"];
        let titles: BTreeSet<&str> =
            self.results.arms().map(|arm| arm.implementation.title.as_str()).collect();
        for title in titles {
            for (values, words) in self.ours(title, operation).iter().zip(several) {
                figure.here(title, Cell::text(words), geometric_mean(values, NOT_MEASURED));
            }
        }
        for (title, machine, rates) in printed_rates(operation) {
            for (rate, words) in rates.into_iter().zip(several) {
                figure.published(title, machine, Cell::text(words), rate);
            }
        }
        match self.multi_client(operation) {
            Some(most) => {
                let most = clients(most);
                figure.note(&format!("several: here {most}; the study does not say how many."))
            }
            None => figure,
        }
    }

    /// Single reads with and without an index.
    fn index_figure(self, place: usize, [with, without]: [&Arm; 2]) -> Figure {
        let operation = Operation::SingleRead;
        let title = format!("Use of indexes: {} and without, single reads", with.label);
        let points = [with, without].into_iter().flat_map(|arm| {
            self.by_size(operation).into_iter().map(move |test| {
                let rate = rate_of(operation, test).cell(self.results, arm);
                (arm.label.clone(), Some(Cell::Count(test.size)), rate)
            })
        });
        let figure = Figure::lines(&format!("index_{place}"), &title, ("readings", ""), OPERATIONS);
        figure.all_here(points).note(NO_CURVES)
    }
}

/// What says what a row is about: implementation, operation and clients.
pub const KEYS: [&str; 3] = ["implementation", "operation", "clients"];

/// The same of one row.
pub fn key(arm: &Arm, operation: Operation, test: Test) -> Vec<Cell> {
    let mut key = words([&arm.label, operation.name()]);
    key.push(Cell::Count(test.clients));
    key
}
