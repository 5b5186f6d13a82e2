//! Like with like, and like with slower: two arms measured in turns, compared as a run's arms are (paired by block, on logarithms).
//!
//! The store is the one in memory, so that no disk and no server has a part in it; the slowed arm spins for 5 % of each operation's own
//! duration. Everything else is the product's: client, clock, histogram, test. In a block the arms take several short turns each, in
//! changing order, so that whatever else the machine does falls on both.

use crate::fixture::{Writes, memory, run_load};
use sensormark::engine::phase::Load;
use sensormark::statistics::{PairedComparison, SIGNIFICANCE, compare};

/// Blocks of a comparison.
const BLOCKS: usize = 16;
/// Turns of each arm in a block: an odd number, so that there is a middle one.
const TURNS: usize = 7;
/// Operations of a turn.
const OPERATIONS: u64 = 60;
/// Readings of an operation: enough that the engine's own part of it is small.
const READINGS: u64 = 200;

/// The median and the mean service time of an operation, in ns, of one client that writes into an empty database, with this much more work
/// an operation, in percent.
fn turn(percent: u32) -> [f64; 2] {
    let target = memory(Some(&format!("spin:{percent}")));
    let outcome = run_load(
        &target,
        Load::new("load", Writes::new(OPERATIONS, READINGS) as _, 1),
    );
    assert_eq!((outcome.operations(), outcome.failed()), (OPERATIONS, 0));
    let summary = &outcome.classes["write"].latency.summary;
    let median_ns = summary.p50_ns.expect("enough operations");
    [median_ns as f64, summary.mean_ns]
}

/// A block of two arms: for each figure that of its middle turn, first arm and second.
fn block(number: usize, percents: [u32; 2]) -> [[f64; 2]; 2] {
    let mut turns = [Vec::new(), Vec::new()];
    for round in 0..TURNS {
        let first = (number + round) % 2;
        for arm in [first, 1 - first] {
            turns[arm].push(turn(percents[arm]));
        }
    }
    [0, 1].map(|figure| {
        turns.each_ref().map(|turns| {
            let mut values: Vec<f64> = turns.iter().map(|turn| turn[figure]).collect();
            values.sort_by(f64::total_cmp);
            values[TURNS / 2]
        })
    })
}

/// The second arm against the first: by medians, and by means.
fn against(percent: u32) -> [PairedComparison; 2] {
    let blocks: Vec<[[f64; 2]; 2]> = (0..BLOCKS)
        .map(|number| block(number, [0, percent]))
        .collect();
    [0, 1].map(|figure| {
        let [first, second] = [0, 1].map(|arm| -> Vec<Option<f64>> {
            blocks
                .iter()
                .map(|block| Some(block[figure][arm]))
                .collect()
        });
        compare(&second, &first).expect("times above 0")
    })
}

fn is_different(compared: &PairedComparison) -> bool {
    compared.p_value.is_some_and(|p| p < SIGNIFICANCE)
}

/// How many comparisons call the arms different, by medians and by means.
fn called_different(comparisons: usize, percent: u32) -> [usize; 2] {
    let all: Vec<[PairedComparison; 2]> = (0..comparisons).map(|_| against(percent)).collect();
    [0, 1].map(|figure| all.iter().filter(|one| is_different(&one[figure])).count())
}

#[test]
#[ignore = "a minute or two on a machine that does little else: make verify"]
fn a_store_against_itself_and_against_itself_slowed_by_five_percent() {
    turn(0);
    let [medians, means] = called_different(40, 0);
    println!(
        "A against A, 40 comparisons of {BLOCKS} blocks: called different {medians} by median, {means} by mean (at most 6)"
    );
    let [found, by_means] = called_different(10, 5);
    println!(
        "A against A slowed by 5 %, 10 comparisons of {BLOCKS} blocks: found {found} by median, {by_means} by mean (at least 9 by median)"
    );
    assert!(medians <= 6 && means <= 6, "{medians} and {means} of 40");
    assert!(found >= 9, "{found} of 10");
}
