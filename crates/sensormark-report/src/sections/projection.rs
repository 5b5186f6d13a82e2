//! What the disk comes to at the user's rate, and how far above that rate the database still held its limits. Straight lines from what was
//! measured: a database that compresses old data, or slows down as it grows, does better or worse.

use crate::{claims::has, options::Projection, prelude::*};
use sensormark_workload::own;

const SECONDS_A_DAY: f64 = 86_400.0;
/// Days of a month and of a year.
const MONTH: f64 = 30.0;
const YEAR: f64 = 365.0;
const GB: f64 = 1e9;

/// The section; empty where no rate is known.
pub fn section(field: &Field, options: &ReportOptions) -> Section {
    let mut section = Section::new("projection", "Projection");
    let Projection { rate, disk_bytes } = options.projection;
    let Some(rate) = rate.or_else(|| own_rate(&field.run)) else {
        return section;
    };
    let full = if disk_bytes.is_some() { "full after [days]; " } else { "" };
    let columns = format!(
        "a reading [bytes]; a day [GB]; a month [GB]; a year [GB]; {full}headroom [times]; logs apart [MB]; bound of the logs"
    );
    let title = format!("At {} readings a second", significant(rate, 3));
    let bytes = |arm| field.figures(arm, disk::of_a_reading_bytes);
    let headroom = |arm| field.figures(arm, |trial| Some(figure(trial, HIGHEST_RATE)? / rate));
    let arms = field.writers().filter(|arm| has(&bytes(arm)) || has(&headroom(arm)));
    let cells =
        |arm| [row(&bytes(arm), &headroom(arm), rate, disk_bytes), logs_apart(field, arm).to_vec()].concat();
    let mut table = Table::of_arms("projection", &title, &columns, arms, cells);
    table.note("Disk: growth by a reading at rest, times the rate; 30 days a month, 365 a year.");
    table.note(LOGS_APART);
    table.note("headroom: the highest rate that held its limits over this rate, where run … --find-limit looked for it.");
    section.table(table);
    section
}

fn row(bytes: &[Known], headroom: &[Known], rate: f64, disk_bytes: Known) -> Vec<Cell> {
    let in_days = |days: f64| -> Vec<Known> {
        bytes.iter().map(|bytes| Some((*bytes)? * rate * SECONDS_A_DAY * days / GB)).collect()
    };
    let mut row = vec![mean(bytes, NO_DISK)];
    row.extend([1.0, MONTH, YEAR].map(|days| mean(&in_days(days), NO_DISK)));
    if let Some(disk) = disk_bytes {
        let full = in_days(1.0)
            .into_iter()
            .map(|a_day| Some(disk / GB / a_day.filter(|grown| *grown > 0.0)?))
            .collect_vec();
        row.push(mean(&full, "it does not grow, or was not measured"));
    }
    row.push(mean(headroom, "not looked for, or no rate held"));
    row
}

/// Readings a second that the user's own file or the study asks for.
pub fn own_rate(run: &RunRecord) -> Known {
    let parameters = &run.parameters;
    if run.workload == own::NAME {
        let rate = |table: &Value| {
            let of = |name: &str| table.pointer(name).and_then(Value::as_f64);
            let interval_ns = of("/series/interval_ns").filter(|interval| *interval > 0.0)?;
            Some(of("/series/count")? * 1e9 / interval_ns)
        };
        return parameters.get("tables")?.as_array()?.iter().map(rate).sum();
    }
    criteria::samples_per_second(run)
}
