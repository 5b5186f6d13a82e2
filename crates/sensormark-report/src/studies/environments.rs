//! Two runs of sensor-operations side by side as the study has them: on a physical machine and in a virtual one.
//!
//! For `compare`. Each run recorded its environment, which says where it was. What the study says of the two is judged here, because it takes both. The runs
//! were not measured in turns, so their repetitions are not paired.

use super::select::Results;
use super::sensor_operations::operations::Operations;
use super::sensor_operations::{KEYS, key};
use super::table::{NOT_MEASURED, table, two_and_ratio};
use crate::claims::{Claim, Values, claim, doubt, doubted, inside, ratios, shown};
use crate::field::{Arm, Field};
use crate::options::ReportOptions;
use crate::sections::surroundings::inventory;
use crate::tables::{Section, Table};
use sensormark_data::number::significant;
use sensormark_result::statistics::compare_unpaired;
use sensormark_workload::sensor_operations::{NAME, Operation};

/// A factor of the study's holds from so much of it on, because machines and versions differ.
const ENOUGH: f64 = 0.5;

/// Rates of two runs of sensor-operations by environment, as the study's tables IV and V have them, and what the study says of the two. None for other
/// workloads, and where the runs were not one on a physical and one on a virtual machine.
pub fn section(runs: [&Field; 2]) -> Option<Section> {
    let is_virtual = |field: &Field| Some(inventory(field)?.is_virtual());
    if runs.iter().any(|field| field.run.workload != NAME) {
        return None;
    }
    let runs = match runs.map(is_virtual) {
        [Some(false), Some(true)] => runs,
        [Some(true), Some(false)] => [runs[1], runs[0]],
        _ => return None,
    };
    let options = &ReportOptions::default();
    let runs = runs.map(|field| Operations { results: Results { field, options } });
    let mut section = Section::new("environments", "Physical and virtual");
    section.table(rates(runs));
    section.table(claims(runs));
    Some(section)
}

/// How many times as fast the physical machine was.
fn rates([physical, guest]: [Operations<'_>; 2]) -> Table {
    let rows = physical.results.arms().flat_map(|arm| {
        let mut guests = guest.results.arms();
        let same = guests.find(|other| other.implementation == arm.implementation);
        let row = move |(operation, test)| {
            let one = physical.rates(arm, operation, test);
            let other = guest.rates(same?, operation, test);
            let names = ["physical", "virtual", "physical / virtual"];
            let columns = two_and_ratio(names, "1/s", &one, &other, NOT_MEASURED);
            Some((key(arm, operation, test), columns))
        };
        physical.one_and_most().into_iter().filter_map(row)
    });
    let title = "On a physical machine and in a virtual one";
    table("physical_virtual", title, &KEYS, rows).noted("The study's cases: Cassandra's single reads by several clients were 16 times as fast on the physical machine, its multi reads 8 times as fast in the virtual one.")
}

/// What the study says of the two environments.
fn claims([physical, guest]: [Operations<'_>; 2]) -> Table {
    let (to_virtual, to_physical) = ([physical, guest], [guest, physical]);
    let mut judged = vec![
        times_as_fast(
            "Cassandra's single reads by several clients are 16 times as fast on the physical machine",
            ("Cassandra", Operation::SingleRead, true),
            to_virtual,
            16.0,
        ),
        times_as_fast(
            "Cassandra's multi reads by several clients are 8 times as fast in the virtual one",
            ("Cassandra", Operation::MultiRead, true),
            to_physical,
            8.0,
        ),
        times_as_fast(
            "MongoDB's single reads by several clients are 12 times as fast on the physical machine",
            ("MongoDB", Operation::SingleRead, true),
            to_virtual,
            12.0,
        ),
        times_as_fast(
            "PostgreSQL's single writes by one client are 3 times as fast in the virtual one",
            ("PostgreSQL", Operation::SingleWrite, false),
            to_physical,
            3.0,
        ),
    ];
    judged.extend(["MongoDB", "PostgreSQL"].map(|title| index(title, to_virtual)));
    let (claims, doubts): (Vec<Claim>, Vec<_>) = judged.into_iter().unzip();
    let title = "What the study says of the two";
    doubted("environment_claims", title, &claims, doubts)
}

/// A claim, and why its figures may not decide it.
type Judged = (Claim, Option<&'static str>);

/// A claim about a database in both runs: what stands for it in each. Where it is missing in one, that is noted.
fn in_both<'a>(
    text: impl Into<String>,
    holds: impl Into<String>,
    (title, operation): (&str, Operation),
    runs: [Operations<'a>; 2],
    judge: impl FnOnce(&mut Claim, [&'a Arm; 2]) -> Option<()>,
) -> Judged {
    let mut why = None;
    let claim = claim(text, holds, |claim| {
        let [Some(one), Some(other)] = runs.map(|run| run.stands_for(title, operation)) else {
            claim.missing(&format!("{title} in both runs"));
            return None;
        };
        judge(claim, [one, other])?;
        let doubts = runs.into_iter().zip([one, other]);
        why = doubts.into_iter().find_map(|(run, arm)| doubt(run.results.field, arm));
        Some(())
    });
    (claim, why)
}

/// Whether a database's rate in the first run is so many times that in the second, or half of that.
fn times_as_fast(
    text: &str,
    (title, operation, is_several): (&str, Operation, bool),
    runs: [Operations<'_>; 2],
    factor: f64,
) -> Judged {
    let least = factor * ENOUGH;
    let holds = format!("{least} times or more (half of {factor})");
    in_both(text, holds, (title, operation), runs, |claim, arms| {
        let tests = runs.map(|run| match is_several {
            true => run.multi_client(operation),
            false => run.single_client(operation),
        });
        let [Some(one), Some(other)] = tests else {
            claim.missing("several clients");
            return None;
        };
        let one = runs[0].rates(arms[0], operation, one);
        let other = runs[1].rates(arms[1], operation, other);
        over(claim, (arms[0], one), (arms[1], other), least);
        Some(())
    })
}

/// Whether the physical machine gains more over the virtual one with an index than without.
fn index(title: &str, runs: [Operations<'_>; 2]) -> Judged {
    let operation = Operation::SingleRead;
    let text = format!("the machines differ more with an index than without (reads by one client, {title})");
    let holds = "the index's effect is larger on the physical machine";
    in_both(text, holds, (title, operation), runs, |claim, with| {
        let effect = |place: usize| -> Option<Values> {
            let (run, with) = (runs[place], with[place]);
            let test = run.single_client(operation)?;
            let mut pairs = run.pairs().into_iter();
            let [_, without] = pairs.find(|[own, _]| own.label == with.label)?;
            let [one, other] = [with, without].map(|arm| run.rates(arm, operation, test));
            Some(ratios(&one, &other))
        };
        let (Some(physical), Some(guest)) = (effect(0), effect(1)) else {
            claim.missing(&format!("{title} with and without an index in both runs"));
            return None;
        };
        over(claim, (with[0], physical), (with[1], guest), 1.0);
        Some(())
    })
}

/// Adds whether one run's figure is so many times the other's.
fn over(claim: &mut Claim, (arm, one): (&Arm, Values), (other_arm, other): (&Arm, Values), factor: f64) {
    let known = |values: &Values| -> Vec<f64> { values.iter().copied().flatten().collect() };
    let Ok(compared) = compare_unpaired(&known(&other), &known(&one), 0.0) else {
        claim.missing("figures above 0 in both runs");
        return;
    };
    let tested = compared.tested;
    let held = tested.and_then(|tested| inside(tested.interval, factor, f64::INFINITY));
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
