//! The study's figures beside ours, with the ratio.

use super::facts::{Facts, Values, bytes_a_value, mean_ns};
use crate::published::DevOpsResult;
use crate::report::field::Arm;
use crate::report::sections::cells::{geometric_mean, mean};
use crate::report::tables::{Cell, Section, Table};
use crate::report::versions;
use crate::workload::devops::questions::Kind;

/// What both measured: name, unit, the study's figure, ours.
type Figure = (
    &'static str,
    &'static str,
    fn(&DevOpsResult) -> f64,
    fn(&Facts<'_>, &Arm) -> Values,
);

/// The figures that the study printed.
const FIGURES: [Figure; 4] = [
    (
        "ingest",
        "values/s",
        |study| study.ingest_values_per_second,
        |facts, arm| facts.ingest(arm, facts.workers()),
    ),
    (
        "disk",
        "bytes a value",
        |study| study.disk_bytes_per_value,
        |facts, arm| facts.settled(arm, None, bytes_a_value),
    ),
    (
        "question, mean",
        "ms",
        |study| study.query_mean_ms,
        |facts, arm| facts.latency(arm, Kind::MaximumShort, facts.clients().0, mean_ns),
    ),
    (
        "questions",
        "1/s",
        |study| study.query_per_second,
        |facts, arm| facts.asked(arm, Kind::MaximumShort, facts.clients().0),
    ),
];

/// The section; empty when nothing of the study was measured here.
pub fn section(facts: &Facts<'_>) -> Section {
    let study = crate::published::devops();
    let mut section = Section::new("published", "The study's figures beside ours");
    let both: Vec<(&DevOpsResult, &Arm)> = study
        .result
        .iter()
        .filter_map(|row| Some((row, facts.counterpart(&row.store)?)))
        .collect();
    if both.is_empty() {
        return section;
    }
    section.paragraph(format!(
        "Study: {}. Its server: {}; client: {}; {} hosts, {} h, {} workers; here {} hosts, {} h, {} workers. Ratios tell of the machines and versions as much as of the databases.",
        study.source.title,
        study.hardware.server,
        study.hardware.client.as_deref().unwrap_or("–"),
        study.hosts,
        study.duration_hours,
        study.load_workers,
        facts.parameters.hosts,
        facts.parameters.hours,
        facts.workers(),
    ));
    versions::put(&mut section, facts.field, &study.software);
    section.table(figures(facts, &both));
    section.paragraph("What the study leaves open or says twice differently:");
    section.list(study.notes);
    section
}

fn figures(facts: &Facts<'_>, both: &[(&DevOpsResult, &Arm)]) -> Table {
    let columns = [
        ("database", ""),
        ("figure", ""),
        ("unit", ""),
        ("study", ""),
        ("here", ""),
        ("here / study", ""),
    ];
    let title = "Ingest, disk and the study's question";
    let mut table = Table::new("published_devops", title, &columns);
    table.keys = 2;
    for (row, arm) in both {
        for (name, unit, printed, ours) in FIGURES {
            let printed = printed(row);
            let values = ours(facts, arm);
            let here = if name == "disk" {
                mean(&values, "not measured")
            } else {
                geometric_mean(&values, "not measured")
            };
            let ratio = match &here {
                Cell::Number(number) => Cell::number(number.value / printed),
                _ => Cell::Missing("not measured".to_owned()),
            };
            let (database, figure) = (Cell::text(&row.store), Cell::text(name));
            table.row(vec![
                database,
                figure,
                Cell::text(unit),
                Cell::number(printed),
                here,
                ratio,
            ]);
        }
    }
    for (row, arm) in both {
        table.note(format!("{}: here {}.", row.store, arm.label));
    }
    table.note("The study does not say whether its bytes a value count logs; ours do not.");
    table
}
