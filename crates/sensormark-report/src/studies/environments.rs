//! Two runs of a study's workload side by side: on a physical machine and in a virtual one, with what the study says of the two.
//!
//! For `compare`. Each run recorded its environment, which says where it was. The runs were not measured in turns, so their repetitions are not paired.

use super::*;
use sensormark_result::statistics::compare_unpaired;

/// What rows of the rates run over, and what says what a row is about.
const ROWS: &str = "implementation, operation, clients in ends";
const KEYS: [&str; 3] = [IMPLEMENTATION, "operation", "clients"];

/// Rates of two runs by environment, and the study's claims. None for studies that say nothing of environments, and where the runs were not one on a physical
/// and one on a virtual machine.
pub fn section(runs: [&Field; 2]) -> Option<Section> {
    let [workload, other] = runs.map(|field| &field.run.workload);
    let file = study(workload).filter(|file| workload == other && !file.environments.is_empty())?;
    let [first, second] = runs;
    let runs = match runs.map(|field| Some(inventory(field)?.is_virtual())) {
        [Some(false), Some(true)] => [first, second],
        [Some(true), Some(false)] => [second, first],
        _ => return None,
    };
    let runs = runs.map(|field| Scope::new(file, field));
    let mut section = Section::new("environments", "Physical and virtual");
    section.table(rates(&runs));
    let (claims, doubts): (Vec<Claim>, Vec<_>) =
        file.environments.iter().map(|row| judge(&runs, row)).unzip();
    section.table(doubted("environment_claims", "What the study says of the two", &claims, doubts));
    Some(section)
}

/// How many times as fast the physical machine was.
fn rates([physical, guest]: &[Scope<'_>; 2]) -> Table {
    let rows = physical.each(ROWS).into_iter().filter_map(|row| {
        let arm = row.subject(IMPLEMENTATION)?;
        let same = guest.arms().find(|other| other.implementation == arm.implementation)?;
        let mut there = row.clone();
        there.field = guest.field;
        let (one, other) = (row.values("speed", Some(arm)), there.values("speed", Some(same)));
        let ratio = ratios(&one, &other);
        let rates = [("physical", "1/s", one), ("virtual", "1/s", other), ("physical / virtual", "", ratio)];
        let cell = |(name, unit, values): (&str, &str, Values)| {
            column(name, unit, geometric_mean(&values, NOT_MEASURED))
        };
        Some((KEYS.map(|key| row.key(key)).into(), rates.map(cell).into()))
    });
    let title = "On a physical machine and in a virtual one";
    table("physical_virtual", title, &KEYS.map(|key| (key, "")), rows.collect())
}

/// A claim, and why its figures may not decide it.
fn judge([physical, guest]: &[Scope<'_>; 2], row: &ClaimRow) -> (Claim, Option<&'static str>) {
    let runs = if row.is == "virtual" { [guest, physical] } else { [physical, guest] };
    let mut claim = Claim { text: row.text.clone(), holds: row.holds.clone(), ..Claim::default() };
    match compared(runs, row) {
        Ok(part) => claim.parts.push(part),
        Err(missing) => claim.missing.push(missing),
    }
    let why = runs.into_iter().find_map(|run| doubt(run.field, run.subject(&row.who)?));
    (claim, why)
}

/// Whether the first run's figure is so many times the other's, and both in words; what is missing where there are none.
fn compared([first, second]: [&Scope<'_>; 2], row: &ClaimRow) -> Result<(Option<bool>, String), String> {
    let in_both = |name: &str| format!("{name} in both runs");
    let figure = |run: &Scope<'_>| -> Result<(String, Values), String> {
        let arm = run.subject(&row.who).ok_or_else(|| in_both(&row.who))?;
        let values = run.each(&row.over).pop().ok_or("several clients")?.values(&row.left, Some(arm));
        let is_there = row.missing.is_empty() || has(&values);
        is_there.then(|| (arm.label.clone(), values)).ok_or_else(|| in_both(&row.missing))
    };
    let ((one, left), (other, right)) = (figure(first)?, figure(second)?);
    let known = |values: &Values| values.iter().copied().flatten().collect_vec();
    let compared =
        compare_unpaired(&known(&right), &known(&left), 0.0).map_err(|_| "figures above 0 in both runs")?;
    let factor = row.factor.unwrap_or(1.0);
    let held = compared.tested.and_then(|tested| inside(tested.interval, factor, f64::INFINITY));
    let (left, right, ratio) = (shown(&left), shown(&right), significant(compared.ratio, 3));
    Ok((held, format!("{one} {left} against {right} of {other}, ×{ratio}")))
}
