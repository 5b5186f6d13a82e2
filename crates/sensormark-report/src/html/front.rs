//! What the page's first screen shows: the summary that a terminal shows too, and for each layout the figures of its three charts. Costs are not here:
//! they are in the page's ranking, which a reader's weights move.

use crate::{html::reads, prelude::*, summary::figures};
use serde_json::Map;

/// The price of a stored reading.
const PRICES: [&str; 2] = ["cpu_per_reading", "disk_per_reading"];

/// The first screen; nothing where a run ranks nobody by its nature.
pub fn front(report: &Report) -> Value {
    if !report.has_answer() {
        return Value::Null;
    }
    let (field, summary) = (report.field(), report.summary());
    let (operations, reads) = reads::reads(field);
    let costs = Costs::of(field);
    let prices = figures(field).filter(|(one, _)| PRICES.contains(&one.id)).collect_vec();
    // Who is ranked, then who is not, as the terminal has them.
    let labels = summary
        .ranked
        .iter()
        .map(|one| &one.label)
        .chain(summary.not_ranked.iter().map(|one| &one.label))
        .collect_vec();
    let mut arms = field.contestants().iter().zip(reads).collect_vec();
    arms.sort_by_key(|(arm, _)| labels.iter().position(|label| **label == arm.label));
    let rows = arms
        .into_iter()
        .map(|(arm, reads)| {
            let price = prices
                .iter()
                .filter_map(|(column, of)| Some((column.id.to_owned(), json!(of(field, &costs, arm)?))));
            let mut row = row(&summary, arm, price.collect(), reads);
            row["layout"] = field.write_of(arm).unwrap_or(arm).label.as_str().into();
            row
        })
        .collect_vec();
    json!({
        "title": summary.title(),
        "further": summary.further(),
        "badge": summary.badge(),
        "how_sure": summary.how_sure(),
        "context": context(field, &summary),
        "trust": summary.trust(),
        "reads": operations,
        "rows": rows,
    })
}

fn row(summary: &Summary, arm: &Arm, price: Map<String, Value>, reads: Vec<Value>) -> Value {
    let ranked = summary.ranked.iter().find(|one| one.label == arm.label);
    json!({
        "label": arm.label,
        "store": clean(&arm.implementation.title),
        "not_ranked": summary.not_ranked.iter().find(|one| one.label == arm.label).map(|one| &one.reason),
        "rough": ranked.is_some_and(|one| one.rough),
        "mark": ranked.and_then(|one| one.meets).map(Outcome::mark),
        "reason": ranked.and_then(|one| one.reason.as_deref()),
        "price": price,
        "reads": reads,
    })
}

/// Load, machine, date and repetitions.
fn context(field: &Field, summary: &Summary) -> Vec<String> {
    let run = &field.run;
    let day = clean(&run.started).chars().take(10).collect();
    let mut parts = vec![
        format!("{} ({})", summary.workload, summary.scale),
        Readings::text(summary.readings),
        machine(&run.environment),
        day,
        counted(summary.repetitions, "repetition"),
        counted(summary.trials, "trial"),
    ];
    parts.retain(|part| !part.is_empty());
    parts
}

/// Cores and memory, as far as they are recorded.
pub(crate) fn machine(environment: &Value) -> String {
    let cores = environment["processor"]["logical_cores"].as_u64();
    let model = environment["processor"]["model"].as_str();
    let memory = environment["memory_bytes"].as_u64();
    let cores = cores.map(|cores| match model {
        Some(model) => format!("{cores} × {}", clean(model)),
        None => counted(cores, "core"),
    });
    let memory = memory.map(|bytes| format!("{} GB", fixed(bytes as f64 / 1e9, 0)));
    cores.into_iter().chain(memory).join(", ")
}
