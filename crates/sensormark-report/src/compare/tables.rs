//! What a comparison says: how many figures changed, which, whether the runs are alike, and every figure.

use crate::{
    compare::{
        figures::name,
        forest::{self, is_blind},
        origin::{all_unlike, otherwise_unlike},
        pairs::{Change, Pair},
    },
    prelude::*,
    sections::memory_limit,
};
use sensormark_store::server::CPU_LIMIT;

/// Disturbances of a run that are told.
const MOST_DISTURBANCES: usize = 5;
/// Why there is no figure of a test.
const NOT_TESTED: &str = "not tested";
/// What a server is held to, in words.
type Held = fn(&ServerRecord) -> Option<String>;
/// What servers may be held to.
const LIMITS: [(&str, Held); 2] = [
    ("memory limit of servers (--memory-limit)", |server| {
        server.memory_limit.map(|limit| format!("{} MB", limit.limit_bytes >> 20))
    }),
    ("processors of servers (--cpu-limit)", |server| {
        server.notes.iter().find_map(|note| note.strip_suffix(CPU_LIMIT)).map(ToOwned::to_owned)
    }),
];

/// The whole document.
pub fn document(first: &Field, second: &Field, pairs: &[Pair], lost: &[String], threshold: f64) -> Document {
    let title = format!("sensormark: {}, {} against {}", first.run.workload, second.run.name, first.run.name);
    let asked = format!("in both runs ({} and {} asked for)", first.run.repetitions, second.run.repetitions);
    let beyond = format!("by more than {} % and ", significant(threshold * 100.0, 3));
    let mut answer = answer(pairs, &beyond, &asked);
    answer.list(
        lost.iter()
            .map(|label| format!("{label} was valid in the first run and is not in the second."))
            .collect(),
    );
    let runs = [("The first run", first), ("The second run", second)];
    let interval = "the ratio's interval after Welch, on logarithms, with room for runs that vary as a whole";
    document_of(title, answer, &runs, Some(likeness(first, second)), pairs, interval)
}

/// The document of one run or of two. Where a host was disturbed, that is what a reader has to know first.
pub fn document_of(
    title: String,
    mut answer: Section,
    runs: &[(&str, &Field)],
    likeness: Option<Section>,
    pairs: &[Pair],
    interval: &str,
) -> Document {
    forest::add(&mut answer, pairs);
    let mut first = [answer, disturbance(runs)];
    if runs.iter().any(|(_, field)| is_disturbed(field)) {
        first.reverse();
    }
    Document::of(title, first.into_iter().chain(likeness).chain([figures(pairs, interval)]))
}

/// Every figure, and what its verdict rests on.
fn figures(pairs: &[Pair], interval: &str) -> Section {
    let mut all =
        table("all", "Every figure", "unit; first; second; second / first; change", pairs, |pair| {
            row![
                &pair.figure.unit,
                cell(&pair.figure.values),
                cell(&pair.second),
                forest::ratio(pair),
                forest::words(pair),
            ]
        });
    all.note(format!("Geometric means over valid repetitions with 95 % intervals; {interval}."));
    all.note(
        "Would have seen one over: the smallest change that this comparison finds in about four of five cases.",
    );
    Section::of("figures", "Figures", [all, tests(pairs)])
}

/// How the host was disturbed in each run, as far as that was tolerated.
fn disturbance(runs: &[(&str, &Field)]) -> Section {
    let mut section = Section::new("disturbance", "Was the host quiet?");
    let items = runs.iter().map(|(run, field)| {
        let arms = || field.all().map(|(_, arm)| arm);
        let all = counted(arms().map(|arm| field.valid_of(arm).count()).sum::<usize>(), "valid trial");
        let disturbed = arms().flat_map(|arm| tolerated(field, arm)).collect_vec();
        if disturbed.is_empty() {
            return format!("{run}: undisturbed in {all}.");
        }
        let texts = disturbed
            .iter()
            .flat_map(|trial| {
                let label = trial.implementation.label();
                trial.disturbances.iter().map(move |text| format!("{label}: {text}"))
            })
            .collect_vec();
        let more = match texts.len().saturating_sub(MOST_DISTURBANCES) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let shown = texts.iter().take(MOST_DISTURBANCES).join("; ");
        format!("{run}: disturbed, which was tolerated, in {} of {all}: {shown}{more}.", disturbed.len())
    });
    section.list(items.collect());
    section
}

fn is_disturbed(field: &Field) -> bool {
    field.all().any(|(_, arm)| tolerated(field, arm).next().is_some())
}

pub fn count(pairs: &[Pair], change: Change) -> usize {
    pairs.iter().filter(|pair| pair.change == change).count()
}

/// How many figures changed `beyond` what counts for none ("by more than 2 % and "), and why others are not decided. `asked` says where repetitions are needed.
pub fn answer(pairs: &[Pair], beyond: &str, asked: &str) -> Section {
    let mut section = Section::new("answer", "Answer");
    let disturbed = count(pairs, Change::Disturbed);
    let untested = count(pairs, Change::Untested);
    let tested = pairs.len() - untested - disturbed;
    if tested > 0 {
        section.paragraph(format!(
            "Of {}: {} better, {} worse, {beyond}significantly (5 % after Holm's correction). {}",
            counted(tested, "figure"),
            count(pairs, Change::Better),
            count(pairs, Change::Worse),
            not_found(pairs)
        ));
    }
    if disturbed > 0 {
        section.paragraph(format!(
            "{} not decided: the host was disturbed in a repetition, and that was tolerated. Their ratios are shown, and the disturbance may have made them.",
            counted(disturbed, "figure")
        ));
    }
    if untested > 0 {
        section.paragraph(format!(
            "{} cannot be tested: that takes at least {SMALLEST_REPETITIONS} valid repetitions {asked}, and values above 0. Their ratios are shown, and chance may have made them.",
            counted(untested, "figure")
        ));
    }
    section
}

/// Of how many figures no change was found, and how small a change would have been.
fn not_found(pairs: &[Pair]) -> String {
    let detectable = pairs
        .iter()
        .filter(|pair| pair.change == Change::NotFound)
        .filter_map(|pair| pair.detectable)
        .sorted_by(f64::total_cmp)
        .collect_vec();
    let percent = |value: f64| significant(value * 100.0, 2);
    match detectable.as_slice() {
        [] => String::new(),
        [one] => format!("In 1 {}.", forest::unseen(*one)),
        [least, .., most] => {
            let count = detectable.len();
            let median = detectable[count / 2];
            if is_blind(median) {
                return format!(
                    "In {count} no change found, and so few repetitions hardly show one (the sharpest figure: over {} %).",
                    percent(*least)
                );
            }
            let range = if is_blind(*most) {
                format!("the sharpest {} %", percent(*least))
            } else {
                format!("{} to {} %", percent(*least), percent(*most))
            };
            format!(
                "In {count} no change found; would have seen one over {} % (the median figure; {range}).",
                percent(median)
            )
        }
    }
}

/// What differs between the runs besides what is compared.
fn likeness(first: &Field, second: &Field) -> Section {
    let mut section = Section::new("likeness", "Are the runs alike?");
    let mut items = vec![];
    let mut differ = |what: &str, one: String, other: String| {
        if one != other {
            items.push(format!("{what}: {one} in the first, {other} in the second"));
        }
    };
    let (one, other) = (&first.run, &second.run);
    differ("sensormark", one.sensormark.clone(), other.sensormark.clone());
    differ("scale", one.scale.clone(), other.scale.clone());
    differ("seed", one.seed.to_string(), other.seed.to_string());
    differ("cache", cache(first), cache(second));
    for (what, of) in LIMITS {
        differ(what, memory_limit::in_words(first, of), memory_limit::in_words(second, of));
    }
    let protocol = |run: &RunRecord| if run.as_study { "the study's" } else { "ours" }.to_owned();
    differ("protocol (--as-study)", protocol(one), protocol(other));
    if let (Some(one), Some(other)) = (one.parameters.as_object(), other.parameters.as_object()) {
        let text = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), as_typed);
        for key in one.keys().chain(other.keys().filter(|key| !one.contains_key(*key))) {
            differ(key, text(one.get(key)), text(other.get(key)));
        }
    }
    for key in ["processor", "memory_bytes", "kernel_release", "hypervisor", "container"] {
        let [one, other] = [first, second].map(|field| field.run.environment[key].to_string());
        differ(key, one, other);
    }
    differ("machine", kind(first), kind(second));
    let [one, other] = [first, second].map(|field| counted(field.run.shard.1, "machine"));
    differ("load from", one, other);
    for (name, one, other) in all_unlike(first, second) {
        items.push(format!(
            "{name}: {one} in the first, {other} in the second. What a server uses (CPU, memory, storage, disk) is not compared between them."
        ));
    }
    items.extend(otherwise_unlike(first, second));
    items.extend(unmeasured(first, second));
    if items.is_empty() && (is_disturbed(first) || is_disturbed(second)) {
        section.paragraph("The same parameters, seed and version; but the host was disturbed, so it was not the same machine in both.");
    } else if items.is_empty() {
        section.paragraph("The same parameters, seed, version and machine, as far as the runs tell.");
    } else {
        section
            .paragraph("Not quite: what follows may be the cause of a difference as well as anything else.");
        section.list(items);
    }
    section
}

/// Implementations whose server could not be measured in one of the runs, although it is one.
fn unmeasured(first: &Field, second: &Field) -> Vec<String> {
    let names = |field: &Field| -> BTreeSet<String> {
        let is_unmeasured = |trial: &TrialRecord| {
            let mut totals = trial.phases.iter().filter_map(|phase| phase.totals.as_ref());
            !trial.implementation.embedded
                && trial.server.is_some()
                && totals.all(|totals| !totals.roles.contains_key("server"))
        };
        field
            .all()
            .filter(|(_, arm)| field.valid_of(arm).any(is_unmeasured))
            .map(|(side, arm)| name(side, arm))
            .collect()
    };
    let (one, other) = (names(first), names(second));
    let text = |name: &String| {
        let place = match (one.contains(name), other.contains(name)) {
            (true, true) => "both runs",
            (true, false) => "the first run",
            _ => "the second run",
        };
        format!("{name}: the server was not measured in {place}, so CPU of both sides is left out")
    };
    one.union(&other).map(text).collect()
}

/// Physical or virtual, as the fourth and fifth tables of the sensor-operations study have it.
fn kind(field: &Field) -> String {
    let is = ["hypervisor", "container"].iter().any(|key| !field.run.environment[key].is_null());
    if is { "virtual" } else { "physical" }.to_owned()
}

/// What was found in memory by what only reads.
fn cache(field: &Field) -> String {
    field.contestants().iter().map(|arm| arm.implementation.cache.text()).sorted().dedup().join(" and ")
}

/// A parameter as people type it. Runs of before keep a list as it was typed ("1,16"), later ones as a list.
fn as_typed(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(as_typed).join(","),
        other => other.to_string(),
    }
}

/// A table for programs: what each pair is, and these cells of it.
fn table(id: &str, title: &str, headings: &str, pairs: &[Pair], cells: fn(&Pair) -> Vec<Cell>) -> Table {
    let rows = pairs.iter().map(|pair| {
        let figure = &pair.figure;
        [row![&figure.implementation, &figure.name], cells(pair)].concat()
    });
    Table::detail(id, title, &format!("implementation; figure | {headings}")).with(rows)
}

/// What each verdict rests on. Programs read it.
fn tests(pairs: &[Pair]) -> Table {
    table(
        "tests",
        "What the verdicts rest on",
        "second / first; p; corrected p; detectable [%]; verdict",
        pairs,
        |pair| {
            let tested = pair.compared.and_then(|compared| compared.tested);
            row![
                forest::ratio(pair),
                Cell::maybe(tested.map(|tested| tested.p_value), NOT_TESTED),
                Cell::maybe(pair.corrected_p, NOT_TESTED),
                Cell::maybe(pair.detectable.map(|detectable| detectable * 100.0), NOT_TESTED),
                pair.change.text(),
            ]
        },
    )
}

fn cell(values: &[f64]) -> Cell {
    geometric_mean(&values.iter().copied().map(Some).collect_vec(), NOT_MEASURED)
}
