//! Hosts that roles ran on besides the coordinator's: their clocks, phase by phase.

use crate::report::field::Field;
use crate::report::number::{fixed, significant};
use crate::report::tables::{Cell, Table};

/// The clocks of other hosts; none where all roles ran on one.
pub fn clocks(field: &Field) -> Option<Table> {
    let mut table = Table::new(
        "clocks",
        "Clocks of other hosts, against the coordinator's",
        &[
            ("implementation", ""),
            ("side", ""),
            ("phase", ""),
            ("host", ""),
            ("offset", "ms"),
            ("uncertainty", "± µs"),
            ("drift", "ppm"),
        ],
    );
    let mut is_used = false;
    for (side, arm) in field.all() {
        for trial in field.trials_of(arm).flatten() {
            for clock in &trial.clocks {
                is_used = true;
                table.row(vec![
                    Cell::text(&arm.label),
                    Cell::text(side),
                    Cell::text(&clock.phase),
                    Cell::text(&clock.host),
                    Cell::text(fixed(clock.offset_ns as f64 / 1e6, 3)),
                    Cell::text(fixed(clock.uncertainty_ns as f64 / 1e3, 1)),
                    Cell::text(significant(clock.drift_ppm, 3)),
                ]);
            }
        }
    }
    is_used.then_some(table)
}
