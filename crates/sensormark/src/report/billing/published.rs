//! The study's figures beside ours, with the ratio.

use super::counterparts::{Counterparts, GRIDDB, MARIADB};
use super::figures::{cpu_percent, ingest_rate, load_average, mean_ms, memory_mb};
use crate::measurement::record::TrialRecord;
use crate::published::{Load, Phase, Side};
use crate::report::sections::cells::{geometric_mean, mean};
use crate::report::tables::{Cell, Section, Table};
use crate::report::versions;
use crate::workload::billing::{EXTRACT, INGEST};

const NOT_MEASURED: &str = "not measured";

/// The section; empty when nothing of the study was measured here.
pub fn section(counterparts: &Counterparts<'_>) -> Section {
    let mut section = Section::new("published", "The study's figures beside ours");
    if counterparts.is_empty() {
        return section;
    }
    let study = counterparts.study;
    section.paragraph(format!(
        "Study: {}. Its server: {}; clients: {}; {} clients, {} readings a device. Ratios tell of the machines, versions and sizes as much as of the databases.",
        study.source.title,
        study.hardware.server,
        study.hardware.client.as_deref().unwrap_or("–"),
        study.threads,
        study.records_per_device
    ));
    versions::put(&mut section, counterparts.field, &study.software);
    section.table(ingest(counterparts));
    section.table(extract(counterparts));
    section.table(resources(counterparts));
    section.paragraph("What the study leaves open:");
    section.list(study.notes.clone());
    section
}

fn ratio(here: &Cell, published: f64) -> Cell {
    match here {
        Cell::Number(number) if published != 0.0 => Cell::number(number.value / published),
        Cell::Number(_) => Cell::Missing("the study printed 0".to_owned()),
        _ => Cell::Missing(NOT_MEASURED.to_owned()),
    }
}

fn note_counterparts(counterparts: &Counterparts<'_>, table: &mut Table) {
    for title in [GRIDDB, MARIADB] {
        if let Some(arm) = counterparts.of(title) {
            table.note(format!("{title}: here {}.", arm.label));
        }
    }
}

fn ingest(counterparts: &Counterparts<'_>) -> Table {
    let columns = [
        ("database", ""),
        ("study", "1/s"),
        ("here", "1/s"),
        ("here / study", ""),
    ];
    let title = "Ingest, operations a second: the study's and ours";
    let mut table = Table::new("published_ingest", title, &columns);
    for row in &counterparts.study.ingest {
        if counterparts.of(&row.store).is_none() {
            continue;
        }
        let values = counterparts.figures(&row.store, ingest_rate);
        let here = geometric_mean(&values, NOT_MEASURED);
        let published = row.operations_per_second;
        let ratio = ratio(&here, published);
        let cells = vec![Cell::text(&row.store), Cell::number(published), here, ratio];
        table.row(cells);
    }
    note_counterparts(counterparts, &mut table);
    table
}

/// What of ours stands beside a number of devices of the study's, which has so many: the same, or the fewest beside the fewest and the most beside the most.
fn beside(counts: &[u64], published: u64, (place, of): (usize, usize)) -> Option<u64> {
    if counts.contains(&published) {
        return Some(published);
    }
    match place {
        0 => counts.first().copied(),
        _ if place + 1 == of && counts.len() > 1 => counts.last().copied(),
        _ => None,
    }
}

fn extract(counterparts: &Counterparts<'_>) -> Table {
    let columns = [
        ("database", ""),
        ("devices, study", ""),
        ("study", "ms"),
        ("devices, here", ""),
        ("here", "ms"),
        ("here / study", ""),
    ];
    let title = "Extract, ms a bill: the study's and ours";
    let mut table = Table::new("published_extract", title, &columns);
    table.keys = 2;
    let rows = &counterparts.study.extract;
    for title in [GRIDDB, MARIADB] {
        if counterparts.of(title).is_none() {
            continue;
        }
        for (place, row) in rows.iter().enumerate() {
            let devices = u64::from(row.devices);
            let published = if title == GRIDDB {
                row.griddb_ms
            } else {
                row.mariadb_ms
            };
            let own = beside(&counterparts.counts, devices, (place, rows.len()));
            let values = counterparts.figures(title, |trial| mean_ms(trial, EXTRACT, own?));
            let here = geometric_mean(&values, "no such number of devices here");
            let ratio = ratio(&here, published);
            table.row(vec![
                Cell::text(title),
                Cell::Count(devices),
                Cell::number(published),
                Cell::count(own, "not measured"),
                here,
                ratio,
            ]);
        }
    }
    table.note("Where numbers of devices differ, our fewest stand beside the study's fewest and our most beside its most: compare how they grow.");
    table
}

fn resources(counterparts: &Counterparts<'_>) -> Table {
    let columns = [
        ("database", ""),
        ("side", ""),
        ("phase", ""),
        ("figure", ""),
        ("study", ""),
        ("here", ""),
        ("here / study", ""),
    ];
    let title = "Resources: the study's and ours";
    let mut table = Table::new("published_resources", title, &columns);
    table.keys = 4;
    for title in [GRIDDB, MARIADB] {
        if counterparts.of(title).is_none() {
            continue;
        }
        for row in &counterparts.study.resources {
            let published = if title == GRIDDB {
                row.griddb
            } else {
                row.mariadb
            };
            let what = (title, row.side, row.phase);
            fill(&mut table, counterparts, what, published);
        }
    }
    table.note("The study's sides are machines of their own, and its memory is what is in use on them; ours is one machine, whose load average stands on both sides, and the memory that each side's processes have. CPU is in percent of all cores.");
    table
}

fn fill(
    table: &mut Table,
    counterparts: &Counterparts<'_>,
    (title, side, phase): (&str, Side, Phase),
    published: Load,
) {
    let (side_name, role) = match side {
        Side::Server => ("server", "server"),
        Side::Client => ("client", "trial"),
    };
    let operation = match phase {
        Phase::Ingest => INGEST,
        Phase::Extract => EXTRACT,
    };
    type Get<'f> = &'f dyn Fn(&TrialRecord) -> Option<f64>;
    let figures: [(&str, f64, Get<'_>); 3] = [
        ("load average", published.load_average, &|trial| {
            load_average(trial, operation)
        }),
        ("CPU, %", published.cpu_percent, &|trial| {
            cpu_percent(trial, operation, role)
        }),
        ("memory, MB", published.memory_mb, &|trial| {
            memory_mb(trial, operation, role)
        }),
    ];
    for (name, published, figure) in figures {
        let here = mean(&counterparts.figures(title, figure), "too short");
        let ratio = ratio(&here, published);
        table.row(vec![
            Cell::text(title),
            Cell::text(side_name),
            Cell::text(operation),
            Cell::text(name),
            Cell::number(published),
            here,
            ratio,
        ]);
    }
}
