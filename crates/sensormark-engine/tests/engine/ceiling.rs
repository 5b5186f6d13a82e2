//! How fast clients are over the null store: a figure of theirs, whatever else runs on the machine.

use crate::fixture::{Writes, null};
use sensormark_engine::operations::{Operations, Slot};
use sensormark_engine::pacing::thread_cpu_ns;
use sensormark_engine::trial::ceiling::Ceiling;
use sensormark_engine::trial::script::{LoadSpec, PhaseSpec};
use sensormark_engine::work_distribution::ClientRange;
use sensormark_store::{Answer, Query, SessionKind};
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// How long a slow client takes to make an operation.
const MAKING: Duration = Duration::from_micros(200);

/// Operations that take their client some time: of its processor, or asleep.
struct Slow {
    operations: Arc<Writes>,
    sleeps: bool,
}

impl Operations for Slow {
    fn len(&self) -> u64 {
        self.operations.len()
    }

    fn classes(&self) -> &[String] {
        self.operations.classes()
    }

    fn fill(&self, index: u64, watermark: u64, slot: &mut Slot) {
        if self.sleeps {
            thread::sleep(MAKING);
        } else {
            let until = thread_cpu_ns() + u64::try_from(MAKING.as_nanos()).expect("short");
            while thread_cpu_ns() < until {
                spin_loop();
            }
        }
        self.operations.fill(index, watermark, slot);
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}

fn slow(operations: u64, sleeps: bool) -> Arc<Slow> {
    let operations = Writes::new(operations, 1);
    Arc::new(Slow { operations, sleeps })
}

/// The ceiling of so many clients on one processor, after two turns, against so many operations a second.
fn ceiling(operations: Arc<dyn Operations>, clients: u32, per_second: f64) -> Option<f64> {
    let phase = PhaseSpec::new("p", vec![LoadSpec::writing("p", operations, clients)]);
    let range = ClientRange::all(clients);
    let plan = null().plan;
    let mut ceiling = Ceiling::new(&plan, &phase, range, SessionKind::Async, 1.0).expect("of one load");
    for _ in 0..2 {
        ceiling.take_turn().expect("a thread");
    }
    ceiling.against(per_second).expect("a thread")
}

/// Three loops on every processor while something is done.
fn beside_others<T>(work: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    let processors = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..3 * processors {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    spin_loop();
                }
            });
        }
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        done
    })
}

/// By the clock on the wall it was a fifth of 16,886 operations that the same client had done a second, and the trial was thrown away.
#[test]
fn other_programs_do_not_lower_it() {
    // Above what is reached here: no turn but the first two is taken.
    let of_writes = || ceiling(Writes::new(20, 50), 1, 1.0).expect("enough operations");
    let alone = of_writes();
    let beside = beside_others(of_writes);
    // Two processors may be one core.
    assert!(beside > 0.5 * alone, "{beside:.0} beside others, {alone:.0}");
}

#[test]
fn a_client_that_is_slow_by_itself_is_slow_beside_others_too() {
    let most = 1e9 / MAKING.as_nanos() as f64;
    // Clients share the one processor that they can have; asleep they need none.
    for (sleeps, clients) in [(false, 1), (false, 4), (true, 1)] {
        let of_slow = || ceiling(slow(1_000, sleeps), clients, 100.0).expect("enough");
        for found in [of_slow(), beside_others(of_slow)] {
            assert!((500.0..=most).contains(&found), "{sleeps} {clients}: {found}");
        }
    }
}

/// Twenty questions took a fraction of a millisecond, most of it to begin.
#[test]
fn a_few_operations_are_done_over_and_over() {
    assert!(ceiling(slow(3, false), 1, 100.0).is_some_and(|found| found > 2_000.0));
}

#[test]
fn a_ceiling_below_what_was_reached_says_nothing() {
    assert_eq!(ceiling(slow(1_000, false), 1, 6_000.0), None);
    assert!(ceiling(slow(1_000, false), 1, 3_000.0).is_some_and(|found| found < 6_000.0));
}
