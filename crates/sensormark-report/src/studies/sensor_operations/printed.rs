//! What the sensor-operations study printed, its tables IV and V in operations a second, and ours beside it.

use super::operations::{Operations, clients};
use crate::claims::{Values, has, ratios};
use crate::sections::cells::geometric_mean;
use crate::studies::table::{NOT_MEASURED, column, table, words};
use crate::tables::{Cell, Digits, Number, Spread, Table};
use sensormark_workload::sensor_operations::Operation;

/// What it calls a machine itself.
pub const PHYSICAL: &str = "physical";
/// And a virtual one.
pub const VIRTUAL: &str = "virtual";

/// The database and where it ran. Then the rate with one client and with several, in this order: single writes, single reads, multi writes and multi reads. How
/// many "several" are is not said. Multi rates count measurements.
pub type Rates = (&'static str, &'static str, [[f64; 2]; 4]);

/// Its rates.
pub const RATES: [Rates; 6] = [
    (
        "Cassandra",
        PHYSICAL,
        [[3_200.0, 15_000.0], [3_200.0, 16_000.0], [120_000.0, 95_000.0], [13_000.0, 69_000.0]],
    ),
    (
        "Cassandra",
        VIRTUAL,
        [[1_000.0, 14_000.0], [1_000.0, 1_000.0], [53_000.0, 79_000.0], [11_000.0, 560_000.0]],
    ),
    (
        "MongoDB",
        PHYSICAL,
        [[34_000.0, 23_000.0], [3_600.0, 25_000.0], [47_000.0, 41_000.0], [99_000.0, 98_000.0]],
    ),
    (
        "MongoDB",
        VIRTUAL,
        [[21_000.0, 6_500.0], [1_300.0, 2_000.0], [41_000.0, 26_000.0], [64_000.0, 83_000.0]],
    ),
    (
        "PostgreSQL",
        PHYSICAL,
        [[120.0, 930.0], [2_800.0, 26_000.0], [27_000.0, 73_000.0], [130_000.0, 410_000.0]],
    ),
    (
        "PostgreSQL",
        VIRTUAL,
        [[400.0, 2_100.0], [1_000.0, 15_000.0], [24_000.0, 55_000.0], [95_000.0, 360_000.0]],
    ),
];

/// Its databases.
pub const TITLES: [&str; 3] = ["Cassandra", "MongoDB", "PostgreSQL"];

/// The place of an operation in the printed rates.
fn place(operation: Operation) -> usize {
    let mut all = Operation::ALL.into_iter();
    all.position(|own| own == operation).expect("one of four")
}

/// Rates of this operation that the study printed: by database and environment, with one client and with several.
pub fn printed_rates(operation: Operation) -> impl Iterator<Item = (&'static str, &'static str, [f64; 2])> {
    let rates = RATES.into_iter();
    rates.map(move |(title, machine, rates)| (title, machine, rates[place(operation)]))
}

impl Operations<'_> {
    /// The study's rates of two operations, ours, and what ours are of its own.
    pub fn beside(self, id: &str, title: &str, operations: [Operation; 2]) -> Table {
        let most = self.multi_client(operations[0]).map(clients);
        let several = most.unwrap_or_else(|| "several".to_owned());
        let names = ["write", "read"]
            .map(|kind| [format!("{kind}, 1 client"), format!("{kind}, {several}")])
            .concat();
        let mut titles: Vec<&str> = TITLES.into();
        for arm in self.results.arms() {
            if !titles.contains(&arm.implementation.title.as_str()) {
                titles.push(&arm.implementation.title);
            }
        }
        let rows = titles.iter().flat_map(|title| self.rows_beside(title, operations));
        let rows = rows.map(|(key, cells)| {
            let columns = names.iter().zip(cells);
            (key, columns.map(|(name, cell)| column(name, "1/s", cell)).collect())
        });
        let mut table = table(id, title, &["database", "figures"], rows);
        titles.retain(|title| !self.rows_beside(title, operations).is_empty());
        for title in titles {
            self.note_stand_ins(&mut table, title, operations);
        }
        table.noted("The study does not say how many clients its \"multi client\" is; ours are as many as the columns say.")
    }

    /// The rows of one database: ours, the study's, the ratios.
    fn rows_beside(self, title: &str, operations: [Operation; 2]) -> Vec<(Vec<Cell>, Vec<Cell>)> {
        let here = operations.map(|operation| self.ours(title, operation)).concat();
        if !here.iter().any(|values| has(values)) {
            return Vec::new();
        }
        let cells = |values: &Values| geometric_mean(values, NOT_MEASURED);
        let mut rows = vec![(words([title, "here"]), here.iter().map(cells).collect())];
        for (_, machine, rates) in RATES.iter().filter(|(own, ..)| *own == title) {
            let theirs = operations.map(|operation| rates[place(operation)]).concat();
            let ratio =
                |(here, printed): (&Values, &f64)| cells(&ratios(here, &vec![Some(*printed); here.len()]));
            let ratio = here.iter().zip(&theirs).map(ratio).collect();
            let printed = theirs.iter().map(|rate| whole(*rate)).collect();
            rows.push((words([title, &format!("study, {machine}")]), printed));
            rows.push((words([title, &format!("here / {machine}")]), ratio));
        }
        rows
    }

    /// Says what stands for a database, where it is not the layout that everybody has.
    fn note_stand_ins(self, table: &mut Table, title: &str, operations: [Operation; 2]) {
        let labels = operations.map(|operation| {
            let arm = self.stands_for(title, operation)?;
            (arm.label != format!("{title} individual")).then_some(arm.label.as_str())
        });
        match labels {
            [Some(one), Some(other)] if one == other => table.note(format!("{title}: here {one}.")),
            labels => {
                for (label, operation) in labels.into_iter().zip(operations) {
                    if let Some(label) = label {
                        table.note(format!("{title}, {}: here {label}.", operation.name()));
                    }
                }
            }
        }
    }
}

/// A printed rate, which is whole.
const fn whole(value: f64) -> Cell {
    Cell::Number(Number { value, spread: Spread::None, digits: Digits::Decimals(0) })
}
