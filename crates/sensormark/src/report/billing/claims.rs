//! The claims of the billing study, judged by what was measured here.

use super::counterparts::{Counterparts, GRIDDB, MARIADB};
use super::figures::{growth_percent, ingest_rate, load_average, memory_mb};
use crate::measurement::record::TrialRecord;
use crate::report::claims::{Claim, Sample, Values, is_within, mean, table};
use crate::report::number::fixed;
use crate::report::tables::Section;
use crate::workload::billing::{EXTRACT, INGEST};

/// How many times as fast GridDB ingests, as the study says.
const TIMES_AS_FAST: f64 = 13.0;
/// By how much MariaDB's bills slow down, as the study says, in percent.
const GROWTH_PERCENT: f64 = 44.0;
/// From how many to how many devices, at least, growth is judged: as many times as the study's.
const TIMES_AS_MANY: f64 = 4.0;
/// A factor of the study's holds from so much of it on, for machines and versions differ.
const ENOUGH: f64 = 0.5;
/// What is called level, in percent.
const LEVEL_PERCENT: f64 = 10.0;

/// The section.
pub fn section(counterparts: &Counterparts<'_>) -> Section {
    let mut section = Section::new("claims", "The study's claims");
    if counterparts.is_empty() {
        section.paragraph("Neither GridDB nor MariaDB has a valid trial here, so none of the study's claims can be judged.");
        return section;
    }
    let claims = [
        ingests_faster(counterparts),
        bills_stay_level(counterparts),
        bills_slow_down(counterparts),
        less_load(counterparts),
        less_memory(counterparts),
    ];
    section.table(table(counterparts.field, &claims));
    section
}

/// Notes the databases that were not measured, and says whether there are any.
fn lacks(claim: &mut Claim, counterparts: &Counterparts<'_>, titles: &[&str]) -> bool {
    let missing = titles
        .iter()
        .filter(|title| counterparts.of(title).is_none());
    let mut lacks = false;
    for title in missing {
        claim.missing(title);
        lacks = true;
    }
    lacks
}

/// A figure of both databases; nothing where one was not measured, which is noted.
fn both<'a>(
    claim: &mut Claim,
    counterparts: &Counterparts<'a>,
    figure: impl Fn(&TrialRecord) -> Option<f64>,
) -> Option<[Sample<'a>; 2]> {
    lacks(claim, counterparts, &[GRIDDB, MARIADB]);
    let of = |title| {
        let values = counterparts.figures(title, &figure);
        Some(Sample::new(counterparts.of(title)?, values))
    };
    Some([of(GRIDDB)?, of(MARIADB)?])
}

fn ingests_faster(counterparts: &Counterparts<'_>) -> Claim {
    let least = TIMES_AS_FAST * ENOUGH;
    let mut claim = Claim::new(
        "GridDB ingests 13 times as fast as MariaDB",
        format!("{least} times or more (half of 13)"),
    );
    if let Some([griddb, mariadb]) = both(&mut claim, counterparts, ingest_rate) {
        claim.over(&griddb, least, &mariadb, "operations a second");
    }
    claim
}

/// How a database's bills slow down from the fewest devices to the most, in percent; nothing where that cannot be said, which is noted.
fn growth(claim: &mut Claim, counterparts: &Counterparts<'_>, title: &str) -> Option<Values> {
    if lacks(claim, counterparts, &[title]) {
        return None;
    }
    if let Some(arm) = counterparts.of(title) {
        claim.about(arm);
    }
    let counts = &counterparts.counts;
    let values = counterparts.figures(title, |trial| {
        growth_percent(trial, (INGEST, EXTRACT), counts)
    });
    let Some(growth) = mean(&values) else {
        claim.missing("several numbers of devices, all loaded");
        return None;
    };
    let is_enough = counts
        .first()
        .zip(counts.last())
        .is_some_and(|(first, last)| *last as f64 >= *first as f64 * TIMES_AS_MANY);
    if !is_enough {
        claim.missing("four times as many devices");
        claim.aside(growth_text(counterparts, title, growth));
        return None;
    }
    Some(values)
}

fn growth_text(counterparts: &Counterparts<'_>, title: &str, growth: f64) -> String {
    let count = |count: Option<&u64>| count.map_or(0.0, |&count| count as f64);
    format!(
        "{} {}{} % from {} to {} devices",
        counterparts
            .of(title)
            .map_or(title, |arm| arm.label.as_str()),
        if growth > 0.0 { "+" } else { "" },
        fixed(growth, 1),
        fixed(count(counterparts.counts.first()), 0),
        fixed(count(counterparts.counts.last()), 0)
    )
}

/// A claim about how bills slow down, which takes growth within these borders.
fn bills(
    counterparts: &Counterparts<'_>,
    (title, text): (&str, &str),
    holds: String,
    (low, high): (f64, f64),
) -> Claim {
    let mut claim = Claim::new(text, holds);
    if let Some(values) = growth(&mut claim, counterparts, title) {
        let text = growth_text(counterparts, title, mean(&values).unwrap_or(0.0));
        claim.part(is_within(&values, low, high), text);
    }
    claim
}

fn bills_stay_level(counterparts: &Counterparts<'_>) -> Claim {
    let text =
        "GridDB's bill takes as long with four times the devices (1,600 to 6,400; within 10 %)";
    let holds = format!("-{LEVEL_PERCENT} to +{LEVEL_PERCENT} %");
    let borders = (-LEVEL_PERCENT, LEVEL_PERCENT);
    bills(counterparts, (GRIDDB, text), holds, borders)
}

fn bills_slow_down(counterparts: &Counterparts<'_>) -> Claim {
    let text = "MariaDB's bill takes 44 % longer with four times the devices (1,600 to 6,400)";
    let least = GROWTH_PERCENT * ENOUGH;
    let holds = format!("+{least} % or more (half of 44 %)");
    bills(counterparts, (MARIADB, text), holds, (least, f64::INFINITY))
}

fn less_load(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim = Claim::new(
        "load average is lower with GridDB, on both sides",
        "lower at ingest and at extract",
    );
    for operation in [INGEST, EXTRACT] {
        let load = |trial: &TrialRecord| load_average(trial, operation);
        if let Some([griddb, mariadb]) = both(&mut claim, counterparts, load) {
            claim.under(&griddb, &mariadb, &format!("at {operation}"));
        }
    }
    claim.aside("one machine here, so one load average for both sides".to_owned());
    claim
}

fn less_memory(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim = Claim::new(
        "GridDB's client uses less memory",
        "less at ingest and at extract",
    );
    for operation in [INGEST, EXTRACT] {
        let memory = |trial: &TrialRecord| memory_mb(trial, operation, "trial");
        if let Some([griddb, mariadb]) = both(&mut claim, counterparts, memory) {
            claim.under(&griddb, &mariadb, &format!("MB at {operation}"));
        }
    }
    claim
}
