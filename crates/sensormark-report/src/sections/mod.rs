//! What the report says, section by section, in the order of reading: verdicts first, then the answer, the ranking, the
//! tables, and what a reader needs to judge them.

mod answer;
pub mod cells;
mod hosts;
mod latencies;
mod limits;
pub mod medians;
pub mod memory_limit;
mod network;
mod phases;
pub mod projection;
mod readings;
mod resources;
mod role_hosts;
mod sensitivity;
mod shown;
pub mod sizes;
mod steadiness;
pub mod surroundings;
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
    let readings = Readings::text(Readings::of(field));
    let title = format!("sensormark: {}, scale {}, {readings}", field.run.title(), field.run.scale);
    // Nobody is ranked by what was written until a server was killed.
    let (own, further) = if field.run.workload == sensormark_workload::durability::NAME {
        (vec![verdicts::section(field), durability::section(field)], vec![])
    } else {
        ranked(field, ranking, options, prices)
    };
    let around = [
        surroundings::warnings(field, further),
        surroundings::not_measured(field),
        surroundings::protocol(field),
        surroundings::environment(field),
        surroundings::reproduce(field),
        shown::section(field),
    ];
    Document::of(title, own.into_iter().chain(around))
}

/// What is said of a run that ranks, with warnings that come from figures.
fn ranked(
    field: &Field,
    ranking: &Ranking,
    options: &ReportOptions,
    prices: Option<&Prices>,
) -> (Vec<Section>, Vec<String>) {
    let mut sections = vec![
        verdicts::section(field),
        limits::section(field),
        answer::answer(field, ranking),
        answer::ranking(field, ranking),
        crate::life::section(field),
        crate::lifecycle::section(field),
        crate::prices::section(prices),
        crate::by_label::section(field),
        sizes::section(field),
        resources::section(field),
        readings::section(field),
        latencies::section(field),
    ];
    sections.extend(phases::sections(field));
    sections.extend(crate::studies::sections(field));
    let steadiness = steadiness::look(field);
    sections.extend([
        writes::section(field),
        projection::section(field, options),
        sensitivity::section(ranking),
        steadiness::section(&steadiness),
    ]);
    (sections, steadiness::warnings(field, &steadiness))
}
