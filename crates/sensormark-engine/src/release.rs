//! Open loop: hands out operations as they become due.
//!
//! Every place in the schedule has its instant. Clients come to places in order; one that comes early waits, one that comes late goes on
//! at once and its operation is late. Where many clients share a thread, a thread of its own paces them and wakes who waits ([`Release::run`]);
//! a client that has its thread for itself sleeps on it. No place is skipped.

use super::pacing::{Pacer, Schedule, monotonic_ns, sleep_until_ns};
use super::scheduling::SchedulingRequest;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Poll, Waker};

/// How long a sleeping thread goes without looking whether it should stop, in ns.
const LOOK_NS: u64 = 100_000_000;
/// Even schedules of a phase begin within this time, in ns.
const MOST_APART_NS: u64 = 100_000_000;

/// The schedule of one load, and who waits for it.
#[derive(Debug)]
pub struct Release {
    schedule: Schedule,
    start_ns: AtomicU64,
    /// Places below this are due.
    due: AtomicU64,
    /// Who waits for a place, by place modulo clients: one client a seat, as a rule.
    seats: Vec<Mutex<Vec<Waker>>>,
    stop: AtomicBool,
}

impl Release {
    /// A release for this many clients; nothing is due yet.
    pub fn new(schedule: Schedule, clients: u32) -> Self {
        Self {
            schedule,
            start_ns: AtomicU64::new(u64::MAX),
            due: AtomicU64::new(0),
            seats: (0..clients.max(1)).map(|_| Mutex::default()).collect(),
            stop: AtomicBool::new(false),
        }
    }

    /// Sets when places are due: of an even schedule place 0 at `start_ns` or a little later, in ns of CLOCK_MONOTONIC. Once, before anybody waits.
    ///
    /// Sensors and people do not act at the same instant, so even schedules of a phase lie between each other. Of n, each is an n-th of the shortest gap after
    /// the one before.
    /// Schedules with instants of their own count from `start_ns`.
    pub fn start_together(releases: &[&Self], start_ns: u64) {
        let gap = |release: &&Self| match release.schedule {
            Schedule::Rate { .. } => Some(release.schedule.longest_gap_ns()),
            Schedule::Given(_) => None,
        };
        let gap_ns = releases.iter().filter_map(gap).min().unwrap_or(0).min(MOST_APART_NS);
        for (release, turn) in releases.iter().zip(0..) {
            let after_ns = gap(release).map_or(0, |_| gap_ns * turn / releases.len() as u64);
            release.start_ns.store(start_ns.saturating_add(after_ns), Ordering::SeqCst);
        }
    }

    /// When place 0 of an even schedule is due, in ns of CLOCK_MONOTONIC, and from when on the offsets of another one count.
    pub fn start_ns(&self) -> u64 {
        self.start_ns.load(Ordering::Relaxed)
    }

    /// When a place is due, in ns of CLOCK_MONOTONIC; none past the end of the schedule.
    #[inline]
    pub fn due_ns(&self, position: u64) -> Option<u64> {
        self.start_ns.load(Ordering::Relaxed).checked_add(self.schedule.offset_ns(position)?)
    }

    /// Waits until a place is due, leaving the thread to others; false when the load was stopped before that.
    pub async fn wait(&self, position: u64) -> bool {
        let seats = self.seats.len() as u64;
        let seat = &self.seats[usize::try_from(position % seats).unwrap_or(0)];
        poll_fn(|context| {
            if let Some(answer) = self.settled(position) {
                return Poll::Ready(answer);
            }
            seat.lock().unwrap_or_else(PoisonError::into_inner).push(context.waker().clone());
            // The pacer may have passed between the two looks.
            self.settled(position).map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    fn settled(&self, position: u64) -> Option<bool> {
        if self.due.load(Ordering::SeqCst) > position {
            return Some(true);
        }
        self.stop.load(Ordering::SeqCst).then_some(false)
    }

    /// Sleeps on this thread until a place is due; false when `stopped` says so before that.
    pub fn sleep(&self, position: u64, stopped: impl Fn() -> bool) -> bool {
        let Some(due_ns) = self.due_ns(position) else {
            return false;
        };
        sleep_looking(due_ns, || self.stop.load(Ordering::Relaxed) || stopped())
    }

    /// Wakes everybody for good: nothing more will be due.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        for seat in &self.seats {
            wake(seat);
        }
    }

    /// Paces `length` places on this thread, until the last one, `until_ns`, or a stop.
    pub fn run(&self, length: u64, until_ns: u64) {
        // Refusal costs at most 50 µs of punctuality, which the pacing error shows.
        let _ = SchedulingRequest::default().apply();
        let start_ns = self.start_ns.load(Ordering::SeqCst);
        let mut pacer = Pacer::new(self.schedule.clone(), start_ns);
        let seats = self.seats.len() as u64;
        for _ in 0..length {
            let Some(due_ns) = pacer.next_due_ns() else {
                break;
            };
            let stopped = || self.stop.load(Ordering::Relaxed) || monotonic_ns() >= until_ns;
            if !sleep_looking(due_ns, stopped) {
                break;
            }
            let Some(tick) = pacer.wait() else { break };
            self.due.store(tick.index + 1, Ordering::SeqCst);
            let seat = &self.seats[usize::try_from(tick.index % seats).unwrap_or(0)];
            wake(seat);
        }
        if monotonic_ns() >= until_ns {
            self.stop();
        }
    }
}

/// Wakes who waits at this seat; whoever came too early takes it again.
fn wake(seat: &Mutex<Vec<Waker>>) {
    let mut waiting = seat.lock().unwrap_or_else(PoisonError::into_inner);
    for waker in waiting.drain(..) {
        waker.wake();
    }
}

/// Sleeps until an instant, looking now and then whether to stop; false when it did.
fn sleep_looking(until_ns: u64, stopped: impl Fn() -> bool) -> bool {
    loop {
        let now_ns = monotonic_ns();
        if now_ns >= until_ns {
            return true;
        }
        if stopped() {
            return false;
        }
        sleep_until_ns(until_ns.min(now_ns + LOOK_NS));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU64;
    use std::sync::Arc;

    /// Two groups of clients with 50 questions a second each were due at the same instants, and a quiet machine of two processors was "source late".
    #[test]
    fn even_schedules_lie_between_each_other() {
        let rate = |ticks| Schedule::per_second(NonZeroU64::new(ticks).expect("not zero"));
        let schedules = [rate(1), Schedule::Given(Arc::from([7])), rate(50), rate(50)];
        let releases = schedules.map(|schedule| Release::new(schedule, 1));
        Release::start_together(&releases.each_ref(), 1_000);
        let due = releases.map(|release| release.due_ns(0).expect("a first"));
        assert_eq!(due, [1_000, 1_007, 10_001_000, 15_001_000]);
    }

    #[test]
    fn nobody_who_waits_is_forgotten() {
        const PLACES: u64 = 3_000;
        let schedule = Schedule::every(NonZeroU64::new(20_000).expect("not zero"));
        let release = Arc::new(Release::new(schedule, 3));
        Release::start_together(&[&release], monotonic_ns());
        let waiting: Vec<_> = (0..3)
            .map(|client| {
                let release = Arc::clone(&release);
                std::thread::spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread()
                        .build()
                        .expect("a runtime of one thread");
                    runtime.block_on(async {
                        for position in (client..PLACES).step_by(3) {
                            assert!(release.wait(position).await);
                            let due_ns = release.due_ns(position).expect("no end");
                            assert!(monotonic_ns() >= due_ns);
                        }
                        release.wait(PLACES).await
                    })
                })
            })
            .collect();
        release.run(PLACES, u64::MAX);
        release.stop();
        for thread in waiting {
            assert!(!thread.join().expect("the thread ends well"));
        }
    }
}
