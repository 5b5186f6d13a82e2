//! The acknowledged watermark: the number of an operation below which everything that a load writes is acknowledged.
//!
//! Writing clients publish what they are at; asking clients read the watermark before they make a question. It never promises too much:
//! an operation that failed holds it for good.

use std::sync::atomic::{AtomicU64, Ordering};

/// How far a load's writing has come.
#[derive(Debug)]
pub struct Watermark {
    length: u64,
    clients: Vec<Floor>,
    failed: AtomicU64,
}

/// The lowest operation that a client has not had acknowledged. It has a cache line of its own, because it is written with each operation.
#[derive(Debug)]
#[repr(align(64))]
struct Floor(AtomicU64);

impl Watermark {
    /// Nothing is acknowledged of `length` operations of this many clients.
    pub fn new(clients: u32, length: u64) -> Self {
        Self {
            length,
            clients: (0..clients).map(|_| Floor(AtomicU64::new(0))).collect(),
            failed: AtomicU64::new(u64::MAX),
        }
    }

    /// All operations below this number are acknowledged, and no others ever will be.
    pub const fn fixed(value: u64) -> Self {
        Self { length: value, clients: Vec::new(), failed: AtomicU64::new(u64::MAX) }
    }

    /// All operations below this number are acknowledged.
    pub fn value(&self) -> u64 {
        let floors = self.clients.iter();
        let lowest = floors.map(|floor| floor.0.load(Ordering::SeqCst)).min().unwrap_or(u64::MAX);
        lowest.min(self.failed.load(Ordering::SeqCst)).min(self.length)
    }

    /// Client number `client` will need acknowledged nothing below `index` from now on.
    #[inline]
    pub(super) fn publish(&self, client: u32, index: u64) {
        self.clients[client as usize].0.store(index, Ordering::SeqCst);
    }

    /// Operation `index` was not acknowledged and never will be.
    pub(super) fn fail(&self, index: u64) {
        self.failed.fetch_min(index, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work_distribution::{Assignments, ClientRange, WorkDistribution};
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_failure_holds_it() {
        let watermark = Watermark::new(2, 100);
        assert_eq!(watermark.value(), 0);
        watermark.publish(0, 40);
        watermark.publish(1, 41);
        assert_eq!(watermark.value(), 40);
        watermark.fail(12);
        assert_eq!(watermark.value(), 12);
        let done = Watermark::new(1, 5);
        done.publish(0, u64::MAX);
        assert_eq!(done.value(), 5);
    }

    #[test]
    fn it_never_passes_an_operation_that_is_not_acknowledged() {
        const LENGTH: u64 = 20_000;
        let assignments = Assignments::new(WorkDistribution::COUNTER, ClientRange::all(4), LENGTH);
        let watermark = Watermark::new(4, LENGTH);
        let acknowledged: Vec<AtomicBool> = (0..LENGTH).map(|_| AtomicBool::new(false)).collect();
        std::thread::scope(|scope| {
            for client in 0..4 {
                let (assignments, watermark, acknowledged) = (&assignments, &watermark, &acknowledged);
                scope.spawn(move || {
                    let mut share = assignments.client(client);
                    loop {
                        watermark.publish(client, share.least_to_come());
                        let Some(assignment) = share.take() else {
                            break;
                        };
                        watermark.publish(client, assignment.index);
                        acknowledged[usize::try_from(assignment.index).expect("small")]
                            .store(true, Ordering::SeqCst);
                    }
                    watermark.publish(client, u64::MAX);
                });
            }
            let mut seen = 0;
            while seen < LENGTH {
                seen = watermark.value();
                let below = &acknowledged[..usize::try_from(seen).expect("small")];
                assert!(below.iter().all(|one| one.load(Ordering::SeqCst)), "{seen}");
            }
        });
    }
}
