//! The study's figures beside ours, with the ratio.

use super::counterparts::Counterparts;
use crate::published::{ReadRow, WriteRow};
use crate::report::criteria;
use crate::report::field::Arm;
use crate::report::number::fixed;
use crate::report::sections::cells::mean;
use crate::report::tables::{Cell, Section, Table};
use crate::report::versions;

/// The section; empty when nothing of the study was measured here.
pub fn section(counterparts: &Counterparts<'_>) -> Section {
    let mut section = Section::new("published", "The study's figures beside ours");
    if counterparts.writes.is_empty() && counterparts.reads.is_empty() {
        return section;
    }
    let study = counterparts.study;
    let measured = counterparts
        .field
        .trials
        .iter()
        .find_map(|trial| Some(criteria::measured(trial)?.seconds));
    section.paragraph(format!(
        "Study: {}. Its server: {}; writer: {}; reader: {}; {}. It measured for {} s{}. Ratios tell of the machines and versions as much as of the databases.",
        study.source.title,
        study.hardware.server,
        study.hardware.writer.as_deref().unwrap_or("–"),
        study.hardware.reader.as_deref().unwrap_or("–"),
        study.network,
        study.measured_seconds,
        measured.map_or_else(String::new, |seconds| format!(", we for {} s", fixed(seconds, 0)))
    ));
    versions::put(&mut section, counterparts.field, &study.software);
    section.table(written(counterparts));
    section.table(read(counterparts));
    section.table(scores(counterparts));
    section.paragraph("What the study leaves open or says twice differently:");
    section.list(study.notes.clone());
    section
}

/// Criteria that the study printed: identifier, name, unit, and its figure.
pub type Figures<Row> = [(&'static str, &'static str, &'static str, fn(&Row) -> f64)];

/// Of its table IV.
pub const WRITTEN: &Figures<WriteRow> = &[
    ("server_cpu", "server CPU", "%", |row| row.server_cpu),
    ("server_memory", "server memory", "kB", |row| {
        row.server_memory
    }),
    ("server_io", "server I/O", "kB/s", |row| row.server_io),
    ("client_cpu", "client CPU", "%", |row| row.client_cpu),
    ("client_memory", "client memory", "kB", |row| {
        row.client_memory
    }),
    ("network", "network", "kbit/s", |row| row.network),
    ("disk", "disk", "MB", |row| row.disk),
];

/// Of its table V.
pub const READ: &Figures<ReadRow> = &[
    ("server_cpu", "server CPU", "%", |row| row.server_cpu),
    ("server_memory", "server memory", "kB", |row| {
        row.server_memory
    }),
    ("server_io", "server I/O", "kB/s", |row| row.server_io),
    ("client_cpu", "client CPU", "%", |row| row.client_cpu),
    ("client_memory", "client memory", "kB", |row| {
        row.client_memory
    }),
    ("network", "network", "kbit/s", |row| row.network),
];

fn empty(id: &str, title: &str) -> Table {
    let columns = [
        ("implementation", ""),
        ("figure", ""),
        ("unit", ""),
        ("study", ""),
        ("here", ""),
        ("here / study", ""),
    ];
    let mut table = Table::new(id, title, &columns);
    table.keys = 2;
    table
}

fn written(counterparts: &Counterparts<'_>) -> Table {
    let mut table = empty("published_write", "Writing: the study's table IV and ours");
    for row in &counterparts.study.write {
        if let Some(arm) = counterparts.write(&row.implementation) {
            fill(
                &mut table,
                counterparts,
                &row.implementation,
                arm,
                WRITTEN,
                row,
            );
        }
    }
    table.note("The study's disk is after 20 minutes of 1,000 samples a second; ours after what was written here.");
    table
}

fn read(counterparts: &Counterparts<'_>) -> Table {
    let mut table = empty("published_read", "Reading: the study's table V and ours");
    for row in &counterparts.study.read {
        if let Some(arm) = counterparts.read(&row.implementation) {
            fill(
                &mut table,
                counterparts,
                &row.implementation,
                arm,
                READ,
                row,
            );
        }
    }
    table
}

fn fill<Row>(
    table: &mut Table,
    counterparts: &Counterparts<'_>,
    name: &str,
    arm: &Arm,
    figures: &Figures<Row>,
    row: &Row,
) {
    for (id, figure, unit, published) in figures {
        let published = published(row);
        let values = counterparts.values(arm, id);
        let here = mean(&values, "not measured");
        let ratio = match &here {
            Cell::Number(number) if published != 0.0 => Cell::number(number.value / published),
            Cell::Number(_) => Cell::Missing("the study printed 0".to_owned()),
            _ => Cell::Missing("not measured".to_owned()),
        };
        table.row(vec![
            Cell::text(name),
            Cell::text(*figure),
            Cell::text(*unit),
            Cell::number(published),
            here,
            ratio,
        ]);
    }
    if arm.label != name {
        table.note(format!("{name}: here {}.", arm.label));
    }
}

/// Scores among the study's implementations alone.
fn scores(counterparts: &Counterparts<'_>) -> Table {
    let columns = [
        ("implementation", ""),
        ("writing, study", ""),
        ("writing, here", ""),
        ("reading, study", ""),
        ("reading, here", ""),
        ("total, study", ""),
        ("total, here", ""),
        ("rank, study", ""),
        ("rank, here", ""),
    ];
    let mut table = Table::new(
        "published_scores",
        "Scores: the study's table III and ours, among these alone",
        &columns,
    );
    let Some(ranking) = counterparts
        .ranking
        .as_ref()
        .filter(|ranking| ranking.ranked.len() > 1)
    else {
        return table;
    };
    let count = |value: usize| Cell::count(u64::try_from(value).ok(), "");
    for row in &counterparts.study.score {
        let label = counterparts
            .read(&row.implementation)
            .map(|arm| arm.label.as_str());
        let Some(one) = ranking.ranked.iter().find(|one| Some(one.label()) == label) else {
            continue;
        };
        table.row(vec![
            Cell::text(&row.implementation),
            Cell::Count(u64::from(row.write)),
            Cell::number(one.standing.phases[0]),
            Cell::Count(u64::from(row.read)),
            Cell::number(one.standing.phases[1]),
            Cell::Count(u64::from(row.total)),
            Cell::number(one.standing.total),
            count(row.total_rank),
            one.rank
                .map_or_else(|| Cell::Missing("too few repetitions".to_owned()), count),
        ]);
    }
    table.note("The study's ranks are among its seven. Its scores weigh difficulty too; ours only when it is given for everybody.");
    table
}
