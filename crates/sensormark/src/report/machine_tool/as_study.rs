//! What the study measured in another way than we do: the server's resident memory, and disk before the database has settled.

use super::counterparts::Counterparts;
use crate::measurement::names;
use crate::measurement::record::TrialRecord;
use crate::report::criteria;
use crate::report::field::Arm;
use crate::report::sections::cells::mean;
use crate::report::tables::{Cell, Section, Table};

/// The section; empty where the run did not follow the study.
pub fn section(counterparts: &Counterparts<'_>) -> Section {
    let mut section = Section::new("as_study", "Memory and disk as the study took them");
    let field = counterparts.field;
    if !field.run.as_study {
        return section;
    }
    let columns = [
        ("implementation", ""),
        ("side", ""),
        ("server memory, resident", "kB"),
        ("server memory, ours", "kB"),
        ("disk, not settled", "MB"),
        ("disk, ours", "MB"),
    ];
    let mut table = Table::new(
        "as_study_resources",
        "Resident memory and unsettled disk beside ours",
        &columns,
    );
    table.keys = 2;
    for (side, arms) in [("write", &field.writes), ("read", &field.reads)] {
        for arm in arms
            .iter()
            .filter(|arm| field.valid_of(arm).next().is_some())
        {
            table.row(row(counterparts, arm, side));
        }
    }
    table.note("resident: what ps shows as RSS, summed over the server's processes just before the end; pages that they share count in each of them. Ours counts each page once. A kB is 1,024 bytes.");
    table.note("not settled: growth of the data folder from before writing until right after it, as du had it. Ours is taken after settling.");
    section.table(table);
    section
}

fn row(counterparts: &Counterparts<'_>, arm: &Arm, side: &str) -> Vec<Cell> {
    let of = |figure: &dyn Fn(&TrialRecord) -> Option<f64>, missing: &str| {
        mean(&counterparts.field.figures(arm, figure), missing)
    };
    let criterion = |id: &str, missing: &str| mean(&counterparts.values(arm, id), missing);
    let (memory, disk) = ("not measured", "measured after writing alone");
    let (unsettled, settled) = if side == "write" {
        (of(&unsettled_disk, memory), criterion("disk", memory))
    } else {
        (
            Cell::Missing(disk.to_owned()),
            Cell::Missing(disk.to_owned()),
        )
    };
    vec![
        Cell::text(&arm.label),
        Cell::text(side),
        of(&resident_kilobytes, memory),
        criterion("server_memory", memory),
        unsettled,
        settled,
    ]
}

/// The server's resident memory at the end of the measured phase, in units of 1,024 bytes.
fn resident_kilobytes(trial: &TrialRecord) -> Option<f64> {
    let totals = criteria::measured(trial)?.totals.as_ref()?;
    let server = totals.roles.get("server")?;
    Some(server.end_resident_bytes as f64 / 1_024.0)
}

/// Growth of the data folder from before writing until right after it, in MB.
fn unsettled_disk(trial: &TrialRecord) -> Option<f64> {
    let figure = |name: &str| trial.figures.get(name)?.value;
    Some((figure(names::DISK_AFTER)? - figure(names::DISK_BEFORE)?) / 1e6)
}
