//! What the report says, section by section, in the order of reading: verdicts first, then the answer, the ranking, the
//! tables, and what a reader needs to judge them.

mod answer;
pub(crate) mod cells;
mod hosts;
mod latencies;
mod limits;
mod medians;
pub(super) mod memory_limit;
mod network;
mod phases;
pub(super) mod projection;
mod readings;
mod resources;
mod role_hosts;
mod sensitivity;
mod shown;
pub(super) mod sizes;
mod steadiness;
pub(crate) mod surroundings;
mod verdicts;
mod writes;

use crate::{durability, prelude::*};

/// The whole document.
pub fn document(
    field: &Field,
    ranking: &Ranking,
    options: &ReportOptions,
    prices: Option<&Prices>,
) -> Document {
    let mut document = Document {
        title: format!(
            "sensormark: {}, scale {}, {}",
            field.run.title(),
            field.run.scale,
            Readings::text(Readings::of(field))
        ),
        sections: Vec::new(),
    };
    let mut further = Vec::new();
    if field.run.workload == sensormark_workload::durability::NAME {
        // Nobody is ranked by what was written until a server was killed.
        document.section(verdicts::section(field));
        document.section(durability::section(field));
        around(&mut document, field, further);
        return document;
    }
    document.section(verdicts::section(field));
    document.section(limits::section(field));
    document.section(answer::answer(field, ranking));
    document.section(answer::ranking(field, ranking));
    document.section(crate::life::section(field));
    document.section(crate::lifecycle::section(field));
    document.section(crate::prices::section(prices));
    document.section(crate::by_label::section(field));
    document.section(sizes::section(field));
    document.section(resources::section(field));
    document.section(readings::section(field));
    document.section(latencies::section(field));
    for section in phases::sections(field) {
        document.section(section);
    }
    for section in crate::studies::sections(field, options) {
        document.section(section);
    }
    document.section(writes::section(field));
    document.section(projection::section(field, options));
    document.section(sensitivity::section(ranking));
    let steadiness = steadiness::look(field);
    document.section(steadiness::section(&steadiness));
    further.extend(steadiness::warnings(field, &steadiness));
    around(&mut document, field, further);
    document
}

/// What a reader needs to judge the figures, with warnings that come from figures.
fn around(document: &mut Document, field: &Field, further: Vec<String>) {
    document.section(surroundings::warnings(field, further));
    document.section(surroundings::not_measured(field));
    document.section(surroundings::protocol(field));
    document.section(surroundings::environment(field));
    document.section(surroundings::reproduce(field));
    document.section(shown::section(field));
}
