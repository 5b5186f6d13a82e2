//! Gives up operations that do not come back, without a timer for each of them.
//!
//! Each client has a [`Watch`]; a call that is ready at once costs a flag, one that waits leaves its waker there. One task a thread, [`walk`],
//! looks at all watches every so often and wakes those whose call has waited too long, which then give it up. It measures nothing: how
//! long an operation took is known to the client alone.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// The longest time between two rounds.
const LONGEST_ROUND: Duration = Duration::from_millis(50);
/// Rounds within the time limit, at least: how exactly it is kept.
const ROUNDS: u32 = 8;

/// What watches the calls of one client, one at a time.
#[derive(Debug, Default)]
pub struct Watch {
    /// Rounds for which the present call has waited; none when there is no call or it has not waited yet.
    rounds: Cell<Option<u32>>,
    over: Cell<bool>,
    /// Whether the last call had to wait.
    waited: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Watch {
    /// The future, watched: its result is none when it was given up.
    #[inline]
    pub fn guard<F: Future + Unpin>(&self, future: F) -> Guarded<'_, F> {
        self.waited.set(false);
        Guarded { watch: self, future }
    }

    /// Whether the last call had to wait; else it was ready at once, and the thread's other tasks have not had their turn.
    pub const fn has_waited(&self) -> bool {
        self.waited.get()
    }

    fn wait(&self, waker: &Waker) {
        self.waited.set(true);
        if self.rounds.get().is_none() {
            self.rounds.set(Some(0));
        }
        let mut kept = self.waker.borrow_mut();
        if kept.as_ref().is_none_or(|kept| !kept.will_wake(waker)) {
            *kept = Some(waker.clone());
        }
    }

    /// One more round; wakes the call when it has waited for `limit` of them.
    fn tick(&self, limit: u32) {
        let Some(rounds) = self.rounds.get() else {
            return;
        };
        self.rounds.set(Some(rounds + 1));
        if rounds >= limit {
            self.over.set(true);
            if let Some(waker) = self.waker.borrow().as_ref() {
                waker.wake_by_ref();
            }
        }
    }
}

/// A watched call. It is polled in place, without a state machine of its own, because each operation of a client is one.
#[derive(Debug)]
pub struct Guarded<'w, F> {
    watch: &'w Watch,
    future: F,
}

impl<F: Future + Unpin> Future for Guarded<'_, F> {
    type Output = Option<F::Output>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { watch, future } = self.get_mut();
        if let Poll::Ready(output) = Pin::new(future).poll(context) {
            watch.rounds.set(None);
            watch.over.set(false);
            return Poll::Ready(Some(output));
        }
        if watch.over.take() {
            watch.rounds.set(None);
            return Poll::Ready(None);
        }
        watch.wait(context.waker());
        Poll::Pending
    }
}

/// Looks after these watches until it is dropped: a call that waits for longer than `limit` (and an eighth of it, or 50 ms) is given up.
pub async fn walk(watches: Vec<Rc<Watch>>, limit: Duration) {
    let round = (limit / ROUNDS).clamp(Duration::from_millis(1), LONGEST_ROUND);
    let rounds = u32::try_from(limit.as_nanos().div_ceil(round.as_nanos())).unwrap_or(u32::MAX);
    let mut interval = tokio::time::interval(round);
    // Rounds that a busy thread missed are no time in which an answer could have been taken.
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        for watch in &watches {
            watch.tick(rounds);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};
    use std::time::Instant;

    fn run<T>(work: impl AsyncFnOnce(Rc<Watch>) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime of one thread");
        let local = tokio::task::LocalSet::new();
        let watch = Rc::new(Watch::default());
        local.spawn_local(walk(vec![Rc::clone(&watch)], Duration::from_millis(80)));
        local.block_on(&runtime, work(watch))
    }

    #[test]
    fn a_call_that_hangs_is_given_up_and_the_next_one_is_not() {
        run(async |watch| {
            let start = Instant::now();
            assert_eq!(watch.guard(pending::<u8>()).await, None);
            assert!(start.elapsed() >= Duration::from_millis(70));
            assert_eq!(watch.guard(ready(7)).await, Some(7));
            assert!(!watch.has_waited());
            let slow = Box::pin(tokio::time::sleep(Duration::from_millis(30)));
            assert_eq!(watch.guard(slow).await, Some(()));
            assert!(watch.has_waited());
            tokio::time::sleep(Duration::from_millis(150)).await;
            assert_eq!(watch.guard(ready(8)).await, Some(8));
        });
    }
}
