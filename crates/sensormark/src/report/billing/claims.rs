//! The claims of the billing study, judged by what was measured here.

use super::counterparts::{Counterparts, GRIDDB, MARIADB};
use super::figures::{growth_percent, load_average, memory_mb, rate};
use crate::report::claims::{Claim, is_less, mean, shown, table};
use crate::report::number::{fixed, significant};
use crate::report::tables::Section;
use crate::workload::billing::{EXTRACT, INGEST};

/// How many times as fast GridDB ingests, as the study says.
const TIMES_AS_FAST: f64 = 13.0;
/// By how much MariaDB's bills slow down, as the study says, in percent.
const GROWTH_PERCENT: f64 = 44.0;
/// From how many to how many devices, at least, growth is judged: as many times as the study's.
const TIMES_AS_MANY: f64 = 4.0;
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
    let mut table = table(counterparts.field, &claims);
    table.note(
        "A factor of the study's holds here from half of it on: machines and versions differ.",
    );
    section.table(table);
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

fn ingests_faster(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim = Claim::new("GridDB ingests 13 times as fast as MariaDB");
    let [griddb, mariadb] = [GRIDDB, MARIADB]
        .map(|title| counterparts.figures(title, |trial| rate(trial, INGEST, None)));
    if lacks(&mut claim, counterparts, &[GRIDDB, MARIADB]) {
        return claim;
    }
    let times = mean(&griddb)
        .zip(mean(&mariadb))
        .map(|(one, other)| one / other);
    let held = match is_less(&mariadb, &griddb) {
        Some(true) => times.map(|times| times >= TIMES_AS_FAST / 2.0),
        other => other,
    };
    claim.part(
        held,
        format!(
            "{} against {} operations a second, {} times",
            shown(&griddb),
            shown(&mariadb),
            times.map_or_else(|| "–".to_owned(), |times| significant(times, 3))
        ),
    );
    claim
}

/// How a database's bills slow down from the fewest devices to the most, in percent; nothing where that cannot be said, which is noted.
fn growth(claim: &mut Claim, counterparts: &Counterparts<'_>, title: &str) -> Option<f64> {
    if lacks(claim, counterparts, &[title]) {
        return None;
    }
    let counts = &counterparts.counts;
    let values = counterparts.figures(title, |trial| {
        growth_percent(trial, (INGEST, EXTRACT), counts)
    });
    let growth = mean(&values);
    let Some(growth) = growth else {
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
    Some(growth)
}

fn growth_text(counterparts: &Counterparts<'_>, title: &str, growth: f64) -> String {
    let count = |count: Option<&u64>| count.map_or(0.0, |&count| count as f64);
    format!(
        "{title} {}{} % from {} to {} devices",
        if growth > 0.0 { "+" } else { "" },
        fixed(growth, 1),
        fixed(count(counterparts.counts.first()), 0),
        fixed(count(counterparts.counts.last()), 0)
    )
}

fn bills_stay_level(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim = Claim::new(
        "GridDB's bill takes as long with four times the devices (1,600 to 6,400; within 10 %)",
    );
    if let Some(growth) = growth(&mut claim, counterparts, GRIDDB) {
        let text = growth_text(counterparts, GRIDDB, growth);
        claim.part(Some(growth.abs() <= LEVEL_PERCENT), text);
    }
    claim
}

fn bills_slow_down(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim =
        Claim::new("MariaDB's bill takes 44 % longer with four times the devices (1,600 to 6,400)");
    if let Some(growth) = growth(&mut claim, counterparts, MARIADB) {
        let text = growth_text(counterparts, MARIADB, growth);
        claim.part(Some(growth >= GROWTH_PERCENT / 2.0), text);
    }
    claim
}

fn less_load(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim = Claim::new("load average is lower with GridDB, on both sides");
    if lacks(&mut claim, counterparts, &[GRIDDB, MARIADB]) {
        return claim;
    }
    for operation in [INGEST, EXTRACT] {
        let [griddb, mariadb] = [GRIDDB, MARIADB]
            .map(|title| counterparts.figures(title, |trial| load_average(trial, operation)));
        claim.part(
            is_less(&griddb, &mariadb),
            format!("{operation} {} against {}", shown(&griddb), shown(&mariadb)),
        );
    }
    claim.aside("one machine here, so one load average for both sides".to_owned());
    claim
}

fn less_memory(counterparts: &Counterparts<'_>) -> Claim {
    let mut claim = Claim::new("GridDB's client uses less memory");
    if lacks(&mut claim, counterparts, &[GRIDDB, MARIADB]) {
        return claim;
    }
    for operation in [INGEST, EXTRACT] {
        let [griddb, mariadb] = [GRIDDB, MARIADB]
            .map(|title| counterparts.figures(title, |trial| memory_mb(trial, operation, "trial")));
        claim.part(
            is_less(&griddb, &mariadb),
            format!(
                "{operation} {} against {} MB",
                shown(&griddb),
                shown(&mariadb)
            ),
        );
    }
    claim
}
