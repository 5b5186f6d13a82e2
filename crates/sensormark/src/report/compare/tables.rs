//! What a comparison says: how many figures changed, which, whether the runs are alike, and every figure.

use super::{Change, Pair};
use crate::report::field::Field;
use crate::report::sections::cells::{counted, geometric_mean};
use crate::report::tables::{Cell, Digits, Document, Number, Section, Spread, Table};
use crate::statistics::SMALLEST_REPETITIONS;
use serde_json::Value;
use std::collections::BTreeSet;

/// Figures up to this many are all shown to people.
const MOST_SHOWN: usize = 60;

/// The whole document.
pub fn document(
    first: &Field,
    second: &Field,
    pairs: &[Pair],
    lost: &[String],
    threshold: f64,
) -> Document {
    let mut document = Document {
        title: format!(
            "sensormark: {}, {} against {}",
            first.run.workload, second.run.name, first.run.name
        ),
        sections: Vec::new(),
    };
    document.section(answer(first, second, pairs, lost, threshold));
    document.section(likeness(first, second));
    let mut figures = Section::new("figures", "Figures");
    let differs = |pair: &&Pair| matches!(pair.change, Change::Better | Change::Worse);
    figures.table(table(
        "changed",
        "What changed",
        pairs.iter().filter(differs),
    ));
    let mut all = table("all", "Every figure", pairs.iter());
    all.is_detail = all.rows.len() > MOST_SHOWN;
    figures.table(all);
    document.section(figures);
    document
}

fn count(pairs: &[Pair], change: Change) -> usize {
    pairs.iter().filter(|pair| pair.change == change).count()
}

fn answer(
    first: &Field,
    second: &Field,
    pairs: &[Pair],
    lost: &[String],
    threshold: f64,
) -> Section {
    let mut section = Section::new("answer", "Answer");
    let untested = count(pairs, Change::Untested);
    let tested = pairs.len() - untested;
    if tested > 0 {
        section.paragraph(format!(
            "Of {}: {} better, {} worse, {} alike (a tie: not significant at 95 % after Holm's correction, or less than {} %).",
            counted(tested, "figure"),
            count(pairs, Change::Better),
            count(pairs, Change::Worse),
            count(pairs, Change::Tie),
            threshold * 100.0
        ));
    }
    if untested > 0 {
        section.paragraph(format!(
            "{} cannot be tested: that takes at least {SMALLEST_REPETITIONS} valid repetitions in both runs ({} and {} asked for), and values above 0. Their ratios are shown, and chance may have made them.",
            counted(untested, "figure"),
            first.run.repetitions,
            second.run.repetitions
        ));
    }
    section.list(
        lost.iter()
            .map(|label| format!("{label} was valid in the first run and is not in the second."))
            .collect(),
    );
    section
}

/// What differs between the runs besides what is compared.
fn likeness(first: &Field, second: &Field) -> Section {
    let mut section = Section::new("likeness", "Are they alike?");
    let mut items = Vec::new();
    let mut differ = |what: &str, one: String, other: String| {
        if one != other {
            items.push(format!("{what}: {one} in the first, {other} in the second"));
        }
    };
    let (one, other) = (&first.run, &second.run);
    differ(
        "sensormark",
        one.sensormark.clone(),
        other.sensormark.clone(),
    );
    differ("scale", one.scale.clone(), other.scale.clone());
    differ("seed", one.seed.to_string(), other.seed.to_string());
    differ("cache", cache(first), cache(second));
    for (key, value, its) in differing(&one.parameters, &other.parameters) {
        differ(&key, value, its);
    }
    for key in [
        "processor",
        "memory_bytes",
        "kernel_release",
        "hypervisor",
        "container",
    ] {
        let of = |field: &Field| field.run.environment.get(key).cloned().unwrap_or_default();
        differ(key, of(first).to_string(), of(second).to_string());
    }
    differ("machine", kind(first), kind(second));
    if items.is_empty() {
        section
            .paragraph("The same parameters, seed, version and machine, as far as the runs tell.");
    } else {
        section.paragraph(
            "Not quite: what follows may be the cause of a difference as well as anything else.",
        );
        section.list(items);
    }
    section
}

/// Physical or virtual, as the fourth and fifth tables of the sensor-operations study have it.
fn kind(field: &Field) -> String {
    let of = |key: &str| {
        let value = field.run.environment.get(key);
        value.is_some_and(|value| !value.is_null())
    };
    if of("hypervisor") || of("container") {
        "virtual".to_owned()
    } else {
        "physical".to_owned()
    }
}

/// What was found in memory by what only reads.
fn cache(field: &Field) -> String {
    let arms = field.contestants().iter();
    let caches: BTreeSet<&str> = arms.map(|arm| arm.implementation.cache.text()).collect();
    caches.into_iter().collect::<Vec<_>>().join(" and ")
}

/// Parameters of one name and two values.
fn differing(one: &Value, other: &Value) -> Vec<(String, String, String)> {
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else {
        return Vec::new();
    };
    let keys = one
        .keys()
        .chain(other.keys().filter(|key| !one.contains_key(*key)));
    let text = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    keys.map(|key| (key.clone(), text(one.get(key)), text(other.get(key))))
        .collect()
}

fn table<'a>(id: &str, title: &str, pairs: impl Iterator<Item = &'a Pair>) -> Table {
    let columns = [
        ("implementation", ""),
        ("figure", ""),
        ("unit", ""),
        ("first", ""),
        ("second", ""),
        ("second / first", ""),
        ("change", ""),
    ];
    let mut table = Table::new(id, title, &columns);
    table.keys = 2;
    for pair in pairs {
        table.row(vec![
            Cell::text(&pair.figure.implementation),
            Cell::text(&pair.figure.name),
            Cell::text(&pair.figure.unit),
            cell(&pair.figure.values),
            cell(&pair.second),
            ratio(pair),
            Cell::text(match pair.change {
                Change::Better => "better",
                Change::Worse => "worse",
                Change::Tie => "tie",
                Change::Untested => "not tested",
            }),
        ]);
    }
    table.note("Geometric means over valid repetitions with 95 % intervals; the ratio's interval after Welch, on logarithms.");
    table
}

fn cell(values: &[f64]) -> Cell {
    let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
    geometric_mean(&values, "not measured")
}

fn ratio(pair: &Pair) -> Cell {
    let Some(compared) = pair.compared else {
        return Cell::Missing("a value is 0, which has no ratio".to_owned());
    };
    Cell::Number(Number {
        value: compared.ratio,
        spread: compared.interval.map_or(Spread::None, Spread::Range),
        digits: Digits::Significant(3),
    })
}
