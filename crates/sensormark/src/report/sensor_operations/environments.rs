//! Two runs side by side as the study has them: on a physical machine and in a virtual one.
//!
//! For `compare`: which of two runs was where is told by the environment that each recorded. What the study says of the two is judged here, for it takes both; the
//! runs were not measured in turns, so that their repetitions are not paired.

use super::rates::{Rates, Test, ratios};
use crate::report::claims::{Claim, Values, doubt, doubted, inside, mean};
use crate::report::field::{Arm, Field};
use crate::report::number::significant;
use crate::report::sections::cells::geometric_mean;
use crate::report::sections::surroundings::inventory;
use crate::report::tables::{Cell, Table};
use crate::statistics::compare_unpaired;
use crate::workload::sensor_operations::{NAME, Operation};

/// A factor of the study's holds from so much of it on, for machines and versions differ.
const ENOUGH: f64 = 0.5;

/// The run on a physical machine and the one in a virtual one; none for other workloads, and where the runs were not one of each.
fn one_of_each<'a>(runs: [&'a Field; 2]) -> Option<[Rates<'a>; 2]> {
    let is_virtual = |field: &Field| Some(inventory(field)?.is_virtual());
    if runs.iter().any(|field| field.run.workload != NAME) {
        return None;
    }
    let [physical, guest] = match runs.map(is_virtual) {
        [Some(false), Some(true)] => runs,
        [Some(true), Some(false)] => [runs[1], runs[0]],
        _ => return None,
    };
    Some([Rates::new(physical), Rates::new(guest)])
}

/// Rates of two runs of sensor-operations by environment, as the study's tables IV and V have them, and how many times as fast the physical machine
/// was. None for other workloads, and where the runs were not one on a physical and one on a virtual machine.
pub fn physical_and_virtual(runs: [&Field; 2]) -> Option<Table> {
    let [physical, guest] = one_of_each(runs)?;
    let columns = [
        ("implementation", ""),
        ("operation", ""),
        ("clients", ""),
        ("physical", "1/s"),
        ("virtual", "1/s"),
        ("physical / virtual", ""),
    ];
    let title = "On a physical machine and in a virtual one";
    let mut table = Table::new("physical_virtual", title, &columns);
    table.keys = 3;
    for arm in physical.believed() {
        let Some(same) = guest
            .believed()
            .find(|other| other.implementation == arm.implementation)
        else {
            continue;
        };
        for operation in Operation::ALL {
            let tests = [
                physical.single_client(operation),
                physical.multi_client(operation),
            ];
            for test in tests.into_iter().flatten() {
                let one = physical.rate(arm, operation, test);
                let other = guest.rate(same, operation, test);
                table.row(vec![
                    Cell::text(&arm.label),
                    Cell::text(operation.name()),
                    Cell::Count(test.clients),
                    geometric_mean(&one, "not measured"),
                    geometric_mean(&other, "not measured"),
                    geometric_mean(&ratios(&one, &other), "not measured"),
                ]);
            }
        }
    }
    table.note("The study's cases: Cassandra's single reads by several clients were 16 times as fast on the physical machine, its multi reads 8 times as fast in the virtual one.");
    Some(table)
}

/// What the study says of the two environments, judged by a run in each.
pub fn claims(runs: [&Field; 2]) -> Option<Table> {
    let [physical, guest] = one_of_each(runs)?;
    let mut judged = vec![
        times_as_fast(
            "Cassandra's single reads by several clients are 16 times as fast on the physical machine",
            ("Cassandra", Operation::SingleRead, true),
            [&physical, &guest],
            16.0,
        ),
        times_as_fast(
            "Cassandra's multi reads by several clients are 8 times as fast in the virtual one",
            ("Cassandra", Operation::MultiRead, true),
            [&guest, &physical],
            8.0,
        ),
        times_as_fast(
            "MongoDB's single reads by several clients are 12 times as fast on the physical machine",
            ("MongoDB", Operation::SingleRead, true),
            [&physical, &guest],
            12.0,
        ),
        times_as_fast(
            "PostgreSQL's single writes by one client are 3 times as fast in the virtual one",
            ("PostgreSQL", Operation::SingleWrite, false),
            [&guest, &physical],
            3.0,
        ),
    ];
    judged.extend(["MongoDB", "PostgreSQL"].map(|title| index(title, [&physical, &guest])));
    let (claims, doubts): (Vec<Claim>, Vec<_>) = judged.into_iter().unzip();
    let title = "What the study says of the two";
    Some(doubted("environment_claims", title, &claims, doubts))
}

/// A claim, and why its figures may not decide it.
type Judged = (Claim, Option<&'static str>);

/// The counterpart of a database in each run, or a note that it is missing in one.
fn in_both<'a>(
    claim: &mut Claim,
    runs: [&Rates<'a>; 2],
    (title, operation): (&str, Operation),
) -> Option<[&'a Arm; 2]> {
    match runs.map(|rates| rates.counterpart(title, operation)) {
        [Some(one), Some(other)] => Some([one, other]),
        _ => {
            claim.missing(&format!("{title} in both runs"));
            None
        }
    }
}

/// Whether a database's rate in the first run is so many times that in the second, or half of that.
fn times_as_fast(
    text: &str,
    (title, operation, is_several): (&str, Operation, bool),
    runs: [&Rates<'_>; 2],
    factor: f64,
) -> Judged {
    let least = factor * ENOUGH;
    let mut claim = Claim::new(text, format!("{least} times or more (half of {factor})"));
    let Some(arms) = in_both(&mut claim, runs, (title, operation)) else {
        return (claim, None);
    };
    let test = |rates: &Rates<'_>| -> Option<Test> {
        if is_several {
            rates.multi_client(operation)
        } else {
            rates.single_client(operation)
        }
    };
    let [Some(one), Some(other)] = runs.map(test) else {
        claim.missing("several clients");
        return (claim, None);
    };
    let one = runs[0].rate(arms[0], operation, one);
    let other = runs[1].rate(arms[1], operation, other);
    over(&mut claim, (arms[0], &one), (arms[1], &other), least);
    (claim, doubt_of(runs, arms))
}

/// Whether the physical machine gains more over the virtual one with an index than without.
fn index(title: &str, runs: [&Rates<'_>; 2]) -> Judged {
    let mut claim = Claim::new(
        format!(
            "the machines differ more with an index than without (reads by one client, {title})"
        ),
        "the index's effect is larger on the physical machine",
    );
    let operation = Operation::SingleRead;
    let Some(with) = in_both(&mut claim, runs, (title, operation)) else {
        return (claim, None);
    };
    let effect = |place: usize| -> Option<Values> {
        let test = runs[place].single_client(operation)?;
        let without = runs[place].without_index(with[place])?;
        let of = |arm| runs[place].rate(arm, operation, test);
        Some(ratios(&of(with[place]), &of(without)))
    };
    let (Some(physical), Some(guest)) = (effect(0), effect(1)) else {
        claim.missing(&format!("{title} with and without an index in both runs"));
        return (claim, None);
    };
    over(&mut claim, (with[0], &physical), (with[1], &guest), 1.0);
    (claim, doubt_of(runs, with))
}

fn doubt_of(runs: [&Rates<'_>; 2], arms: [&Arm; 2]) -> Option<&'static str> {
    doubt(runs[0].field, arms[0]).or_else(|| doubt(runs[1].field, arms[1]))
}

/// Adds whether one run's figure is so many times the other's.
fn over(
    claim: &mut Claim,
    (arm, one): (&Arm, &Values),
    (other_arm, other): (&Arm, &Values),
    factor: f64,
) {
    let known = |values: &Values| -> Vec<f64> { values.iter().copied().flatten().collect() };
    let (one, other) = (known(one), known(other));
    let Ok(compared) = compare_unpaired(&other, &one, 0.0) else {
        claim.missing("figures above 0 in both runs");
        return;
    };
    let tested = compared.tested;
    let held = tested.and_then(|tested| inside(tested.interval, factor, f64::INFINITY));
    let mean = |values: &[f64]| {
        let values: Values = values.iter().copied().map(Some).collect();
        mean(&values).map_or_else(|| "–".to_owned(), |mean| significant(mean, 3))
    };
    claim.part(
        held,
        format!(
            "{} {} against {} of {}, ×{}",
            arm.label,
            mean(&one),
            mean(&other),
            other_arm.label,
            significant(compared.ratio, 3)
        ),
    );
}
