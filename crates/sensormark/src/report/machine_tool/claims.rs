//! The claims of the machine-tool study, judged by what was measured here.

use super::counterparts::Counterparts;
use super::standings::{best, bulk_reading};
use crate::measurement::names;
use crate::published::PrintedScore;
use crate::report::claims::{Claim, Sample, is_less, is_within, mean, shown, table};
use crate::report::criteria::{self, figure, storage_read_rate};
use crate::report::field::Arm;
use crate::report::tables::Section;
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
    section.table(table(counterparts.field, &claims(counterparts)));
    section
}

fn claims(counterparts: &Counterparts<'_>) -> Vec<Claim> {
    vec![
        bulk_beats_individual(counterparts),
        least(
            counterparts,
            "InfluxDB needs the least disk",
            "InfluxDB",
            ("disk", "MB"),
        ),
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
            "MariaDB bulk is the best at writing",
            "MariaDB bulk",
            Some(0),
        ),
        best(
            counterparts,
            "InfluxDB individual is the best at reading",
            "InfluxDB individual",
            Some(1),
        ),
        least(
            counterparts,
            "MariaDB bulk needs the least network (writing)",
            "MariaDB bulk",
            ("network", "kbit/s"),
        ),
        least(
            counterparts,
            "InfluxDB's client is the smallest (writing)",
            "InfluxDB",
            ("client_memory", "kB"),
        ),
        more_network(counterparts),
        less_memory(counterparts),
        bulk_reading(counterparts),
    ]
}

/// Notes what was not measured: the implementation, or the whole database where nothing of it was.
pub fn note_missing(claim: &mut Claim, counterparts: &Counterparts<'_>, name: &str) {
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
    let mut claim = Claim::new(
        "bulk beats individual on CPU, I/O and disk (writing)",
        "less in all three, of both databases",
    );
    for title in ["MariaDB", "MongoDB"] {
        let names = ["bulk", "individual"].map(|word| format!("{title} {word}"));
        match (counterparts.write(&names[0]), counterparts.write(&names[1])) {
            (Some(bulk), Some(individual)) => {
                claim.about(bulk);
                claim.about(individual);
                for (held, figures) in bulk_parts(counterparts, bulk, individual) {
                    let (bulk, individual) = (&bulk.label, &individual.label);
                    claim.part(held, format!("{bulk} to {individual}: {figures}"));
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

/// Whether a writer of the study's needs the least of something among its writers.
fn least(
    counterparts: &Counterparts<'_>,
    text: &str,
    name: &str,
    (criterion, unit): (&str, &str),
) -> Claim {
    let mut claim = Claim::new(text, "less than each other writer of the study's");
    let sample = |name: &str| {
        let arm = counterparts.write(name)?;
        Some(Sample::new(arm, counterparts.values(arm, criterion)))
    };
    let own = sample(name);
    if own.is_none() {
        note_missing(&mut claim, counterparts, name);
    }
    let writers = counterparts.study.write.iter();
    for row in writers.filter(|row| row.implementation != name) {
        match (&own, sample(&row.implementation)) {
            (Some(own), Some(other)) => claim.under(own, &other, unit),
            (_, None) => note_missing(&mut claim, counterparts, &row.implementation),
            (None, Some(_)) => {}
        }
    }
    claim
}

/// What a reader of the study's and its writer have of something; nothing where one is missing, which is noted.
fn reader_and_writer<'a>(
    claim: &mut Claim,
    counterparts: &Counterparts<'a>,
    row: &PrintedScore,
    criterion: &str,
) -> Option<[Sample<'a>; 2]> {
    let (read, write) = (
        counterparts.read(&row.implementation),
        counterparts.write(&row.write_implementation),
    );
    if read.is_none() {
        note_missing(claim, counterparts, &row.implementation);
    }
    let sample = |arm: &'a Arm| Sample::new(arm, counterparts.values(arm, criterion));
    Some([sample(read?), sample(write?)])
}

fn more_network(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim = Claim::new(
        "reading needs more network than writing, for all but InfluxDB individual",
        "more in each, InfluxDB individual left out as the study has it",
    );
    let mut aside = String::new();
    for row in &counterparts.study.score {
        let is_exception = row.implementation == "InfluxDB individual";
        let mut own = Claim::new("", "");
        let claim = if is_exception { &mut own } else { &mut claim };
        let Some([read, write]) = reader_and_writer(claim, counterparts, row, "network") else {
            continue;
        };
        if is_exception {
            aside = format!(
                "the exception, not judged: {} {} against {} kbit/s",
                read.arm.label,
                shown(&read.values),
                shown(&write.values)
            );
        } else {
            claim.over(&read, 1.0, &write, "kbit/s (writing)");
        }
    }
    claim.aside(aside);
    claim
}

fn less_memory(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim = Claim::new(
        "InfluxDB's server uses less memory when reading than when writing",
        "less with each way of reading",
    );
    let rows = counterparts.study.score.iter();
    for row in rows.filter(|row| row.implementation.starts_with("InfluxDB")) {
        if let Some([read, write]) =
            reader_and_writer(&mut claim, counterparts, row, "server_memory")
        {
            claim.under(&read, &write, "kB (writing)");
        }
    }
    claim
}

fn cannot_keep_up(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim = Claim::new(
        "MongoDB individual cannot keep up with 3 reads a second",
        "behind in every repetition",
    );
    let Some(arm) = counterparts.read("MongoDB individual") else {
        note_missing(&mut claim, counterparts, "MongoDB individual");
        return claim;
    };
    claim.about(arm);
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
        format!("{} reached {} reads a second", arm.label, shown(&reached)),
    );
    claim
}

fn reads_from_cache(counterparts: &Counterparts<'_>) -> Claim {
    let limit =
        criteria::samples_per_second(&counterparts.field.run).unwrap_or(1_000.0) * RAW_BYTES / 1e3;
    let mut claim = Claim::new(
        "server reads stay under the raw data rate (22 kB/s) for all but MariaDB individual (data in cache)",
        format!("under {limit} kB/s, the raw rate here"),
    );
    for row in &counterparts.study.read {
        let is_exception = row.implementation == "MariaDB individual";
        let Some(arm) = counterparts.read(&row.implementation) else {
            if !is_exception {
                note_missing(&mut claim, counterparts, &row.implementation);
            }
            continue;
        };
        let rates = counterparts.field.figures(arm, storage_read_rate);
        if mean(&rates).is_none() {
            continue;
        }
        let text = format!("{} {} kB/s", arm.label, shown(&rates));
        if is_exception {
            claim.aside(format!("the exception, not judged: {text}"));
        } else {
            claim.about(arm);
            claim.part(is_within(&rates, 0.0, limit), text);
        }
    }
    claim
}

fn no_datagram_lost(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim = Claim::new("no reading is lost on UDP", "0 lost in all repetitions");
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
        claim.about(arm);
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
    let mut claim = Claim::new(
        "bulk-1 saves network over bulk (InfluxDB reading)",
        "less than bulk",
    );
    let names = ["InfluxDB bulk-1", "InfluxDB bulk"];
    if let [Some(one), Some(bulk)] = names.map(|name| counterparts.read(name)) {
        let sample = |arm| Sample::new(arm, counterparts.values(arm, "network"));
        claim.under(&sample(one), &sample(bulk), "kbit/s");
    } else {
        names
            .iter()
            .filter(|name| counterparts.read(name).is_none())
            .for_each(|name| note_missing(&mut claim, counterparts, name));
    }
    claim
}
