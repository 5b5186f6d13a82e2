//! Like with like, and like with slower: two arms measured in turns, compared as a run's arms are (paired by block, on logarithms).
//!
//! The store is the one in memory, so that no disk and no server has a part in it. The slowed arm spins for 5 % of each operation's own duration. Everything
//! else is the product's: client, clock, histogram, test. The arms take turns with every operation of one client. The reason is that on a shared machine the
//! speed of a processor changes by half within tens of milliseconds, without a sign that could be seen in it.

use crate::fixture::{Questions, Writes, memory, run_load};
use sensormark_engine::phase::{Load, Target};
use sensormark_result::statistics::{PairedComparison, SIGNIFICANCE, compare};
use std::sync::Arc;

/// Blocks of a comparison.
const BLOCKS: usize = 16;
/// Operations of a block, half of them of each arm.
const OPERATIONS: u64 = 800;
/// Readings of an operation: enough that the engine's own part of it is small.
const READINGS: i64 = 1_000;
/// Readings of each sensor.
const STORED: u64 = 4_000;

/// Both arms on one database. Each operation of the second is slowed by a share of itself, in percent.
struct Arms {
    target: Target,
    questions: Arc<Questions>,
}

impl Arms {
    fn new(percent: u32) -> Self {
        let writes = Writes::new(10, STORED);
        // None slowed, or the second of every two operations.
        let fault = match percent {
            0 => "spin:0".to_owned(),
            _ => format!("spin:{percent}:2"),
        };
        let target = memory(Some(&fault));
        run_load(&target, Load::new("load", writes.clone() as _, 1));
        let questions = Questions::sums(OPERATIONS, &writes, READINGS);
        Self { target, questions }
    }

    /// The median and the mean service time of an operation, in ns, by arm.
    fn block(&self) -> [[f64; 2]; 2] {
        let outcome = run_load(&self.target, Load::new("ask", self.questions.clone() as _, 1));
        assert_eq!((outcome.operations(), outcome.failed()), (OPERATIONS, 0));
        ["first", "second"].map(|class| {
            let summary = &outcome.classes[class].latency.summary;
            let median_ns = summary.p50_ns.expect("enough operations");
            [median_ns as f64, summary.mean_ns]
        })
    }

    /// The second arm against the first: by medians, and by means.
    fn compare(&self) -> [PairedComparison; 2] {
        let blocks: Vec<[[f64; 2]; 2]> = (0..BLOCKS).map(|_| self.block()).collect();
        [0, 1].map(|figure| {
            let [first, second] = [0, 1].map(|arm| -> Vec<Option<f64>> {
                blocks.iter().map(|block| Some(block[arm][figure])).collect()
            });
            compare(&second, &first).expect("times above 0")
        })
    }
}

fn is_different(compared: &PairedComparison) -> bool {
    compared.p_value.is_some_and(|p| p < SIGNIFICANCE)
}

/// How many comparisons call the arms different, by medians and by means.
fn called_different(comparisons: usize, percent: u32) -> [usize; 2] {
    let arms = Arms::new(percent);
    arms.block();
    let all: Vec<[PairedComparison; 2]> = (0..comparisons).map(|_| arms.compare()).collect();
    [0, 1].map(|figure| all.iter().filter(|one| is_different(&one[figure])).count())
}

#[test]
#[ignore = "some minutes: make verify"]
fn a_store_against_itself_and_against_itself_slowed_by_five_percent() {
    let [medians, means] = called_different(40, 0);
    println!(
        "A against A, 40 comparisons of {BLOCKS} blocks: called different {medians} by median, {means} by mean (at most 6)"
    );
    let [found, by_means] = called_different(10, 5);
    println!(
        "A against A slowed by 5 %, 10 comparisons of {BLOCKS} blocks: found {found} by median, {by_means} by mean (at least 9 by either)"
    );
    assert!(medians <= 6 && means <= 6, "{medians} and {means} of 40");
    assert!(found >= 9 && by_means >= 9, "{found} and {by_means} of 10");
}
