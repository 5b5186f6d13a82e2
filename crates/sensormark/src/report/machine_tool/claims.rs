//! The claims of the machine-tool study, judged by what was measured here.

use super::counterparts::Counterparts;
use crate::measurement::names;
use crate::report::claims::{Claim, is_less, shown, table};
use crate::report::criteria::{self, figure, storage_read_rate};
use crate::report::field::Arm;
use crate::report::number::significant;
use crate::report::ranking::Ranked;
use crate::report::tables::Section;
use crate::score::Board;
use sensormark_store::WriteMethod;

/// Bytes of a raw sample: five channels of two bytes, and its time of twelve.
const RAW_BYTES: f64 = 22.0;

/// The section.
pub fn section(counterparts: &Counterparts<'_>) -> Section {
    let mut section = Section::new("claims", "The study's claims");
    if counterparts.writes.is_empty() && counterparts.reads.is_empty() {
        section.paragraph(
            "No database of the study has a valid trial here, so none of its claims can be judged.",
        );
        let aside = others_bulk(counterparts);
        if !aside.is_empty() {
            section.paragraph(format!("Bulk against individual writing: {aside}."));
        }
        return section;
    }
    let claims = [
        bulk_beats_individual(counterparts),
        least_disk(counterparts),
        cannot_keep_up(counterparts),
        reads_from_cache(counterparts),
        no_datagram_lost(counterparts),
        bulk_one_saves_network(counterparts),
        best(
            counterparts,
            "MariaDB bulk is the best overall",
            "MariaDB bulk",
            None,
        ),
        best(
            counterparts,
            "InfluxDB individual is the best at reading",
            "InfluxDB individual",
            Some(1),
        ),
    ];
    section.table(table(counterparts.field, &claims));
    section
}

/// Notes what was not measured: the implementation, or the whole database where nothing of it was.
fn note_missing(claim: &mut Claim, counterparts: &Counterparts<'_>, name: &str) {
    let title = name.split(' ').next().unwrap_or(name);
    let is_of = |(row, _): &(&str, &Arm)| row.split(' ').next() == Some(title);
    let is_there = counterparts.writes.iter().any(is_of) || counterparts.reads.iter().any(is_of);
    claim.missing(if is_there { name } else { title });
}

/// Server and client together: what one saves must not land on the other.
fn cpu(counterparts: &Counterparts<'_>, arm: &Arm) -> Vec<Option<f64>> {
    counterparts.field.figures(arm, |trial| {
        let values = criteria::values(trial, &counterparts.field.run);
        let server = values
            .get("server_cpu")
            .copied()
            .or_else(|| arm.implementation.embedded.then_some(0.0));
        Some(server? + values.get("client_cpu")?)
    })
}

fn bulk_beats_individual(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim = Claim::new("bulk beats individual on CPU, I/O and disk (writing)");
    for title in ["MariaDB", "MongoDB"] {
        let names = ["bulk", "individual"].map(|word| format!("{title} {word}"));
        match (counterparts.write(&names[0]), counterparts.write(&names[1])) {
            (Some(bulk), Some(individual)) => {
                for (held, figures) in bulk_parts(counterparts, bulk, individual) {
                    claim.part(held, format!("{title} {figures}"));
                }
            }
            (bulk, individual) => {
                for (name, _) in names
                    .iter()
                    .zip([bulk, individual])
                    .filter(|(_, arm)| arm.is_none())
                {
                    note_missing(&mut claim, counterparts, name);
                }
            }
        }
    }
    claim.aside(others_bulk(counterparts));
    claim
}

fn bulk_parts(
    counterparts: &Counterparts<'_>,
    bulk: &Arm,
    individual: &Arm,
) -> Vec<(Option<bool>, String)> {
    let sides = |values: &dyn Fn(&Arm) -> Vec<Option<f64>>| (values(bulk), values(individual));
    [
        ("CPU", "%", sides(&|arm| cpu(counterparts, arm))),
        (
            "I/O",
            "kB/s",
            sides(&|arm| counterparts.values(arm, "server_io")),
        ),
        ("disk", "MB", sides(&|arm| counterparts.values(arm, "disk"))),
    ]
    .into_iter()
    .map(|(name, unit, (bulk, individual))| {
        (
            is_less(&bulk, &individual),
            format!(
                "{name} {} against {} {unit}",
                shown(&bulk),
                shown(&individual)
            ),
        )
    })
    .collect()
}

/// The same of databases that the study did not try.
fn others_bulk(counterparts: &Counterparts<'_>) -> String {
    let writes = &counterparts.field.writes;
    let valid = |arm: &&Arm| counterparts.field.valid_of(arm).next().is_some();
    let named = |title: &str, name: &str| {
        writes
            .iter()
            .filter(valid)
            .find(|arm| arm.implementation.title == title && arm.implementation.layout_name == name)
    };
    let mut titles: Vec<&str> = writes
        .iter()
        .map(|arm| arm.implementation.title.as_str())
        .collect();
    titles.dedup();
    titles.retain(|title| {
        !counterparts
            .study
            .write
            .iter()
            .any(|row| row.implementation.starts_with(title))
    });
    let mut texts = Vec::new();
    for title in titles {
        if let (Some(bulk), Some(individual)) = (named(title, "bulk"), named(title, "individual")) {
            let parts = bulk_parts(counterparts, bulk, individual);
            let figures: Vec<&str> = parts.iter().map(|(_, figures)| figures.as_str()).collect();
            let is_all = parts.iter().all(|(held, _)| *held == Some(true));
            let held = if is_all {
                "less in all"
            } else {
                "not less in all"
            };
            texts.push(format!(
                "{title} (not in the study), {held}: {}",
                figures.join(", ")
            ));
        }
    }
    texts.dedup();
    texts.join("; ")
}

fn least_disk(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim = Claim::new("InfluxDB needs the least disk");
    let own = counterparts.write("InfluxDB");
    if own.is_none() {
        note_missing(&mut claim, counterparts, "InfluxDB");
    }
    for row in counterparts
        .study
        .write
        .iter()
        .filter(|row| row.implementation != "InfluxDB")
    {
        match (own, counterparts.write(&row.implementation)) {
            (Some(own), Some(other)) => {
                let (own, other) = (
                    counterparts.values(own, "disk"),
                    counterparts.values(other, "disk"),
                );
                claim.part(
                    is_less(&own, &other),
                    format!(
                        "{} against {} MB of {}",
                        shown(&own),
                        shown(&other),
                        row.implementation
                    ),
                );
            }
            (_, None) => note_missing(&mut claim, counterparts, &row.implementation),
            (None, Some(_)) => {}
        }
    }
    claim
}

fn cannot_keep_up(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim = Claim::new("MongoDB individual cannot keep up with 3 reads a second");
    let Some(arm) = counterparts.read("MongoDB individual") else {
        note_missing(&mut claim, counterparts, "MongoDB individual");
        return claim;
    };
    let kept: Vec<bool> = counterparts
        .field
        .valid_of(arm)
        .filter_map(|trial| Some(figure(trial, names::KEEPS_UP)? > 0.5))
        .collect();
    let held = match (kept.iter().all(|kept| *kept), kept.iter().any(|kept| *kept)) {
        _ if kept.is_empty() => None,
        (true, _) => Some(false),
        (false, false) => Some(true),
        (false, true) => None,
    };
    let reached = counterparts
        .field
        .figures(arm, |trial| figure(trial, names::READS_PER_SECOND));
    claim.part(
        held,
        format!("it reached {} reads a second", shown(&reached)),
    );
    claim
}

fn reads_from_cache(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim = Claim::new(
        "server reads stay under the raw data rate (22 kB/s) for all but MariaDB individual (data in cache)",
    );
    let limit =
        criteria::samples_per_second(&counterparts.field.run).unwrap_or(1_000.0) * RAW_BYTES / 1e3;
    for row in &counterparts.study.read {
        let is_exception = row.implementation == "MariaDB individual";
        let rates = counterparts
            .read(&row.implementation)
            .map(|arm| counterparts.field.figures(arm, storage_read_rate));
        let known: Vec<f64> = rates.iter().flatten().copied().flatten().collect();
        if known.is_empty() {
            if !is_exception {
                note_missing(&mut claim, counterparts, &row.implementation);
            }
            continue;
        }
        let under = known.iter().filter(|rate| **rate < limit).count();
        let held = match under {
            0 => Some(false),
            all if all == known.len() => Some(true),
            _ => None,
        };
        let text = format!(
            "{} {} kB/s",
            row.implementation,
            shown(rates.as_deref().unwrap_or_default())
        );
        if is_exception {
            claim.aside(format!("the exception, not judged: {text}"));
        } else {
            claim.part(held, text);
        }
    }
    claim
}

fn no_datagram_lost(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim = Claim::new("no reading is lost on UDP");
    let field = counterparts.field;
    for arm in field
        .writes
        .iter()
        .filter(|arm| arm.implementation.layout.write == WriteMethod::Datagram)
    {
        let ledgers = || {
            field
                .valid_of(arm)
                .filter_map(|trial| trial.ledger.as_ref())
        };
        if ledgers().next().is_none() {
            continue;
        }
        let lost: u64 = ledgers().map(|ledger| ledger.in_doubt_not_stored).sum();
        let sent: u64 = ledgers().map(|ledger| ledger.attempted).sum();
        claim.part(
            Some(lost == 0),
            format!("{}: {lost} of {sent} readings", arm.label),
        );
    }
    if claim.is_open() {
        note_missing(&mut claim, counterparts, "InfluxDB over UDP");
    }
    claim
}

fn bulk_one_saves_network(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim = Claim::new("bulk-1 saves network over bulk (InfluxDB reading)");
    let names = ["InfluxDB bulk-1", "InfluxDB bulk"];
    if let [Some(one), Some(bulk)] = names.map(|name| counterparts.read(name)) {
        let (one, bulk) = (
            counterparts.values(one, "network"),
            counterparts.values(bulk, "network"),
        );
        claim.part(
            is_less(&one, &bulk),
            format!("{} against {} kbit/s", shown(&one), shown(&bulk)),
        );
    } else {
        names
            .iter()
            .filter(|name| counterparts.read(name).is_none())
            .for_each(|name| note_missing(&mut claim, counterparts, name));
    }
    claim
}

/// Whether this implementation has the best score of the study's, in one phase or (`None`) in total.
fn best(
    counterparts: &Counterparts<'_>,
    text: &'static str,
    name: &str,
    phase: Option<usize>,
) -> Claim {
    let mut claim = Claim::new(text);
    let ranking = counterparts.ranking.as_ref();
    let ranked = |name: &str| {
        let label = &counterparts.read(name)?.label;
        ranking?.ranked.iter().find(|one| one.label() == label)
    };
    let own = ranked(name);
    if own.is_none() {
        note_missing(&mut claim, counterparts, name);
    }
    for row in counterparts
        .study
        .score
        .iter()
        .filter(|row| row.implementation != name)
    {
        match (
            own,
            ranked(&row.implementation),
            ranking.and_then(|ranking| ranking.board.as_ref()),
        ) {
            (Some(own), Some(other), Some(board)) => {
                let (mine, theirs) = (
                    shortfalls(own, board, phase),
                    shortfalls(other, board, phase),
                );
                let score = |one: &Ranked| {
                    significant(
                        phase.map_or(one.standing.total, |phase| one.standing.phases[phase]),
                        3,
                    )
                };
                claim.part(
                    is_less(&mine, &theirs),
                    format!(
                        "score {} against {} of {}",
                        score(own),
                        score(other),
                        row.implementation
                    ),
                );
            }
            (_, None, _) => note_missing(&mut claim, counterparts, &row.implementation),
            _ => {}
        }
    }
    claim
}

/// What a score falls short of 100, in each repetition.
fn shortfalls(one: &Ranked, board: &Board, phase: Option<usize>) -> Vec<Option<f64>> {
    let shortfall = |costs: &Vec<Vec<f64>>| {
        let costs: Vec<&[f64]> = costs.iter().map(Vec::as_slice).collect();
        let scores = board.scores_of(&costs);
        100.0
            - phase.map_or_else(
                || scores.iter().sum::<f64>() / scores.len() as f64,
                |phase| scores[phase],
            )
    };
    one.costs
        .iter()
        .map(|costs| costs.as_ref().map(shortfall))
        .collect()
}
