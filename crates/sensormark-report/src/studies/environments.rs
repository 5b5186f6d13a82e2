//! Two runs of a study's workload side by side: on a physical machine and in a virtual one, with what the study says of the two.
//!
//! For `compare`. Each run recorded its environment, which says where it was. The runs were not measured in turns, so their repetitions are not paired.

use crate::{
    claims::{Claim, doubt, doubted, has, inside, ratios, shown},
    prelude::*,
    sections::surroundings::inventory,
    studies::{
        file::ClaimRow,
        scope::{IMPLEMENTATION, Scope},
        select::Results,
        table::{NOT_MEASURED, column, table},
    },
};
use sensormark_result::statistics::compare_unpaired;

/// What rows of the rates run over, and what says what a row is about.
const ROWS: &str = "implementation, operation, clients in ends";
const KEYS: [&str; 3] = [IMPLEMENTATION, "operation", "clients"];

/// Rates of two runs by environment, and the study's claims. None for studies that say nothing of environments, and where the runs were not one on a physical
/// and one on a virtual machine.
pub fn section(runs: [&Field; 2]) -> Option<Section> {
    let is_virtual = |field: &Field| Some(inventory(field)?.is_virtual());
    let file = super::study(&runs[0].run.workload).filter(|file| !file.environments.is_empty())?;
    let runs = match runs.map(is_virtual) {
        _ if runs[0].run.workload != runs[1].run.workload => return None,
        [Some(false), Some(true)] => runs,
        [Some(true), Some(false)] => [runs[1], runs[0]],
        _ => return None,
    };
    let options = &ReportOptions::default();
    let runs = runs.map(|field| Scope::new(file, Results { field, options }));
    let mut section = Section::new("environments", "Physical and virtual");
    section.table(rates(&runs));
    let judged = file.environments.iter().map(|row| judge(&runs, row));
    let (claims, doubts): (Vec<Claim>, Vec<_>) = judged.unzip();
    section.table(doubted("environment_claims", "What the study says of the two", &claims, doubts));
    Some(section)
}

/// How many times as fast the physical machine was.
fn rates([physical, guest]: &[Scope<'_>; 2]) -> Table {
    let rows = physical.each(ROWS).into_iter().filter_map(|row| {
        let arm = row.subject(IMPLEMENTATION)?;
        let same = guest.arms().find(|other| other.implementation == arm.implementation)?;
        let one = row.values("speed", Some(arm));
        let other = guest.and(&row).values("speed", Some(same));
        let cell =
            |name: &str, unit: &str, values: &[_]| column(name, unit, geometric_mean(values, NOT_MEASURED));
        let keys = KEYS.iter().map(|key| row.key(key)).collect();
        let ratio = cell("physical / virtual", "", &ratios(&one, &other));
        Some((keys, vec![cell("physical", "1/s", &one), cell("virtual", "1/s", &other), ratio]))
    });
    let title = "On a physical machine and in a virtual one";
    table("physical_virtual", title, &KEYS.map(|key| (key, "")), rows.collect()).noted("The study's cases: Cassandra's single reads by several clients were 16 times as fast on the physical machine, its multi reads 8 times as fast in the virtual one.")
}

/// A claim, and why its figures may not decide it.
fn judge([physical, guest]: &[Scope<'_>; 2], row: &ClaimRow) -> (Claim, Option<&'static str>) {
    let mut claim = Claim::new(&row.text, &row.holds);
    let runs = if row.is == "virtual" { [guest, physical] } else { [physical, guest] };
    let name = &row.who;
    let [Some(one), Some(other)] = runs.map(|run| run.subject(name)) else {
        claim.missing(&format!("{name} in both runs"));
        return (claim, None);
    };
    let mut doubts = runs.into_iter().zip([one, other]);
    let why = doubts.find_map(|(run, arm)| doubt(run.results.field, arm));
    let [Some(first), Some(second)] = runs.map(|run| run.each(&row.over).pop()) else {
        claim.missing("several clients");
        return (claim, why);
    };
    let figures = [(one, first.values(&row.left, Some(one))), (other, second.values(&row.left, Some(other)))];
    if !row.missing.is_empty() && figures.iter().any(|(_, values)| !has(values)) {
        claim.missing(&format!("{} in both runs", row.missing));
    } else {
        over(&mut claim, figures, row.factor.unwrap_or(1.0));
    }
    (claim, why)
}

/// Adds whether one run's figure is so many times the other's.
fn over(claim: &mut Claim, [(arm, one), (other_arm, other)]: [(&Arm, Vec<Option<f64>>); 2], factor: f64) {
    let known = |values: &[Option<f64>]| -> Vec<f64> { values.iter().copied().flatten().collect() };
    let Ok(compared) = compare_unpaired(&known(&other), &known(&one), 0.0) else {
        claim.missing("figures above 0 in both runs");
        return;
    };
    let held = compared.tested.and_then(|tested| inside(tested.interval, factor, f64::INFINITY));
    let text = format!(
        "{} {} against {} of {}, ×{}",
        arm.label,
        shown(&one),
        shown(&other),
        other_arm.label,
        significant(compared.ratio, 3)
    );
    claim.part(held, text);
}
