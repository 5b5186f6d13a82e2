//! Like with like, and like with slower: two arms measured in turns, compared as a run's arms are (paired by block, on logarithms).
//!
//! The store is the one in memory, so that no disk and no server has a part in it; the slowed arm spins for 5 % of each operation's own
//! duration. Everything else is the product's: client, clock, histogram, test. Blocks are short and the two turns of a block follow each
//! other at once, in changing order, so that whatever else the machine does falls on both.

use crate::fixture::{Writes, memory, run_load};
use sensormark::engine::phase::Load;
use sensormark::statistics::{PairedComparison, SIGNIFICANCE, compare};

/// Blocks of a comparison.
const BLOCKS: usize = 16;
/// Operations of a turn.
const OPERATIONS: u64 = 150;
/// Readings of an operation: enough that the engine's own part of it is small.
const READINGS: u64 = 200;

/// What a turn is judged by.
#[derive(Debug, Clone, Copy)]
struct Turn {
    /// Median service time of an operation, in ns.
    median: f64,
    /// Mean service time of an operation, in ns.
    mean: f64,
}

/// One client writes into an empty database, with this much more work an operation, in percent.
fn turn(percent: u32) -> Turn {
    let target = memory(Some(&format!("spin:{percent}")));
    let outcome = run_load(
        &target,
        Load::new("load", Writes::new(OPERATIONS, READINGS) as _, 1),
    );
    assert_eq!((outcome.operations(), outcome.failed()), (OPERATIONS, 0));
    let summary = &outcome.classes["write"].latency.summary;
    Turn {
        median: summary.p50_ns.expect("enough operations") as f64,
        mean: summary.mean_ns,
    }
}

/// The second arm against the first: by medians, and by means.
fn against(percent: u32) -> [PairedComparison; 2] {
    let blocks: Vec<[Turn; 2]> = (0..BLOCKS)
        .map(|block| {
            if block % 2 == 0 {
                [turn(0), turn(percent)]
            } else {
                let second = turn(percent);
                [turn(0), second]
            }
        })
        .collect();
    let arm = |arm: usize, of: fn(&Turn) -> f64| -> Vec<Option<f64>> {
        blocks.iter().map(|block| Some(of(&block[arm]))).collect()
    };
    [|turn: &Turn| turn.median, |turn: &Turn| turn.mean]
        .map(|of| compare(&arm(1, of), &arm(0, of)).expect("times above 0"))
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
#[ignore = "half a minute on a machine that does little else: make verify"]
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
