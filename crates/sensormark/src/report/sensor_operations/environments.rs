//! Two runs side by side as the study has them: on a physical machine and in a virtual one.
//!
//! For `compare`: which of two runs was where is told by the environment that each recorded.

use super::rates::{Rates, ratios};
use crate::report::field::Field;
use crate::report::sections::cells::geometric_mean;
use crate::report::sections::surroundings::inventory;
use crate::report::tables::{Cell, Table};
use crate::workload::sensor_operations::{NAME, Operation};

/// Rates of two runs of sensor-operations by environment, as the study's tables IV and V have them, and how many times as fast the physical machine
/// was. None for other workloads, and where the runs were not one on a physical and one on a virtual machine.
pub fn physical_and_virtual(runs: [&Field; 2]) -> Option<Table> {
    let is_virtual = |field: &Field| Some(inventory(field)?.is_virtual());
    if runs.iter().any(|field| field.run.workload != NAME) {
        return None;
    }
    let [physical, guest] = match runs.map(is_virtual) {
        [Some(false), Some(true)] => runs,
        [Some(true), Some(false)] => [runs[1], runs[0]],
        _ => return None,
    };
    let columns = [
        ("implementation", ""),
        ("operation", ""),
        ("clients", ""),
        ("physical", "1/s"),
        ("virtual", "1/s"),
        ("physical / virtual", ""),
    ];
    let title = "On a physical machine and in a virtual one";
    let mut table = Table::new("physical_virtual", title, &columns);
    table.keys = 3;
    let [physical, guest] = [physical, guest].map(Rates::new);
    for arm in physical.believed() {
        let Some(same) = guest
            .believed()
            .find(|other| other.implementation == arm.implementation)
        else {
            continue;
        };
        for operation in Operation::ALL {
            let tests = [
                physical.single_client(operation),
                physical.multi_client(operation),
            ];
            for test in tests.into_iter().flatten() {
                let one = physical.rate(arm, operation, test);
                let other = guest.rate(same, operation, test);
                table.row(vec![
                    Cell::text(&arm.label),
                    Cell::text(operation.name()),
                    Cell::Count(test.clients),
                    geometric_mean(&one, "not measured"),
                    geometric_mean(&other, "not measured"),
                    geometric_mean(&ratios(&one, &other), "not measured"),
                ]);
            }
        }
    }
    table.note("The study's cases: Cassandra's single reads by several clients were 16 times as fast on the physical machine, its multi reads 8 times as fast in the virtual one.");
    Some(table)
}
