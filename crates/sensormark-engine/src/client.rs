//! One client at work: takes its operations, issues them one after the other, and takes their instants.
//!
//! Scheduled, sent and finished instants of operations are taken here, those of fed loads in `fed`, and nowhere else. Making an operation, counting it and
//! keeping its answer lie outside the span between sent and finished.

use super::answers::{Checking, Doubtful, KEPT_BYTES, Kept};
use super::connection::Connection;
use super::inquiry::Inquired;
use super::intake::Feed;
use super::operations::{Operations, Request, Slot};
use super::pacing::monotonic_ns;
use super::phase::{Load, Pacing};
use super::release::Release;
use super::tally::{Instants, Tally};
use super::watchdog::Watch;
use super::watermark::Watermark;
use super::work_distribution::{Assignment, Assignments, ClientDone};
use sensormark_store::{Acknowledgement, Answer, EntityReading, ErrorKind, StoreError};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// How many operations that are ready at once a client issues before the others of its thread have their turn.
const AT_ONCE: u32 = 64;
/// How long a closed-loop client waits after a failure to reach the database.
const PAUSE: Duration = Duration::from_millis(20);
/// How long a client waits for the watermark before it looks again.
const WATERMARK_PAUSE: Duration = Duration::from_millis(1);

/// What the clients of one load share.
pub struct LoadState {
    /// What they issue.
    pub operations: Arc<dyn Operations>,
    /// Who issues what.
    pub assignments: Assignments,
    /// When, in open loop.
    pub release: Option<Release>,
    /// Where they publish what was acknowledged.
    pub publishes: Option<Arc<Watermark>>,
    /// What their questions keep below.
    pub below: Option<Arc<Watermark>>,
    /// Which answers are compared.
    pub checking: Checking,
    /// What answers cannot be judged about.
    pub doubtful: Arc<Doubtful>,
    /// Where readings come from, when the load is fed.
    pub feed: Option<Feed>,
    /// Room that kept answers take, in bytes.
    pub kept_bytes: AtomicU64,
    /// Whether clients should stop.
    pub stop: AtomicBool,
}

impl LoadState {
    /// A load of which nothing is done yet.
    pub(super) fn new(load: &Load) -> Self {
        let length = load.operations.len();
        Self {
            operations: Arc::clone(&load.operations),
            assignments: Assignments::new(load.distribution, load.clients, length),
            release: match &load.pacing {
                Pacing::Closed | Pacing::Fed => None,
                Pacing::Open(schedule) => Some(Release::new(schedule.clone(), load.clients.of)),
            },
            publishes: load.publishes.clone(),
            below: load.below.clone(),
            checking: load.checking,
            doubtful: Arc::clone(&load.doubtful),
            feed: load.feed.clone(),
            kept_bytes: AtomicU64::new(0),
            stop: AtomicBool::new(false),
        }
    }

    /// Whether its operations have instants at which they are due.
    pub const fn is_open_loop(&self) -> bool {
        self.release.is_some() || self.feed.is_some()
    }

    /// Has all clients stop after their present operation.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(release) = &self.release {
            release.stop();
        }
    }
}

/// Operations that one thread's clients of a load have done, which observers of the run read. It has a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Counter {
    /// Operations that finished, failed ones included.
    pub done: AtomicU64,
    /// Operations that failed.
    pub failed: AtomicU64,
    /// Seconds in which clients waited until what they wrote shows.
    pub waited: AtomicU64,
}

impl Counter {
    /// One operation more has finished.
    pub(super) fn count_done(&self) {
        Self::count(&self.done);
    }

    /// Counts the seconds of a wait, so that observers hear of it: a load that is applied slowly is not silent.
    async fn while_waiting<T>(&self, waiting: impl Future<Output = T>) -> T {
        let mut waiting = std::pin::pin!(waiting);
        loop {
            match tokio::time::timeout(Duration::from_secs(1), &mut waiting).await {
                Ok(result) => return result,
                Err(_) => Self::count(&self.waited),
            }
        }
    }

    /// One more; only the counter's own thread counts.
    #[inline]
    fn count(counter: &AtomicU64) {
        counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
}

/// What received back of an operation.
enum Received {
    Written(Result<Acknowledgement, StoreError>),
    Answered(Result<Answer, StoreError>),
    Inquired(Result<Inquired, StoreError>),
}

/// One client of a load.
pub struct Client<'a> {
    /// What it shares with the others.
    pub load: &'a LoadState,
    /// Its number in this process.
    pub number: u32,
    /// Whether it has its thread for itself and may sleep on it.
    pub alone: bool,
    /// Where its thread counts.
    pub tally: &'a RefCell<Tally>,
    /// What watches its calls.
    pub watch: &'a Watch,
    /// What observers of the phase read.
    pub counter: &'a Counter,
    /// The operation's memory.
    pub slot: Slot,
    /// When no further operation starts, in ns of CLOCK_MONOTONIC.
    pub deadline_ns: u64,
}

impl Client<'_> {
    /// Issues all of this client's operations, or as many as it can before the deadline or a stop. A write that was due before the deadline, and waited for
    /// this client alone, is issued after it. Else one slow write at the end would leave what comes after without a whole load.
    pub async fn run(&mut self, connection: &mut Connection<'_>, start_ns: u64) -> ClientDone {
        let mut assignments = self.load.assignments.client(self.number);
        let (mut finished_ns, mut at_once) = (start_ns, 0);
        let mut is_over = finished_ns >= self.deadline_ns;
        while !self.load.stop.load(Ordering::Relaxed) && (!is_over || self.load.release.is_some()) {
            self.publish(assignments.least_to_come());
            let Some(assignment) = assignments.take() else {
                break;
            };
            self.publish(assignment.index);
            let watermark = self.watermark().await;
            self.load.operations.fill(assignment.index, watermark, &mut self.slot);
            let reads = self.slot.batch().is_none();
            let Some(due_ns) = self.due(assignment).await.filter(|_| !is_over || !reads) else {
                assignments.give_back(assignment);
                break;
            };
            finished_ns = self.issue(connection, assignment, watermark, due_ns).await;
            if is_over {
                break;
            }
            is_over = finished_ns >= self.deadline_ns;
            if self.load.publishes.is_some() && self.is_silent() {
                // Others ask about what is written: it must be there before it is published.
                self.catch_up(connection).await;
            }
            if !self.alone && !self.watch.has_waited() {
                at_once += 1;
                if at_once == AT_ONCE {
                    at_once = 0;
                    tokio::task::yield_now().await;
                }
            }
        }
        if self.is_silent() || (connection.shows_later() && self.wrote()) {
            self.catch_up(connection).await;
        }
        // What a client that stopped early left out is not acknowledged.
        let stopped = self.is_stopped(finished_ns);
        self.publish(if stopped { assignments.least_to_come() } else { u64::MAX });
        assignments.finish()
    }

    /// Where nothing is acknowledged, or before it shows, the client is done when the server is: that counts in the load's time, and in no
    /// operation's.
    async fn catch_up(&self, connection: &mut Connection<'_>) {
        let result = self.counter.while_waiting(connection.catch_up()).await;
        self.tally.borrow_mut().caught_up(monotonic_ns(), &result);
    }

    fn wrote(&self) -> bool {
        self.tally.borrow().writes.attempted > 0
    }

    /// Whether it wrote, and nothing of it is acknowledged.
    fn is_silent(&self) -> bool {
        self.wrote() && !self.tally.borrow().acknowledges()
    }

    fn is_stopped(&self, now_ns: u64) -> bool {
        now_ns >= self.deadline_ns || self.load.stop.load(Ordering::Relaxed)
    }

    #[inline]
    fn publish(&self, index: u64) {
        if let Some(watermark) = &self.load.publishes {
            watermark.publish(self.number, index);
        }
    }

    #[inline]
    async fn watermark(&self) -> u64 {
        let Some(watermark) = &self.load.below else {
            return u64::MAX;
        };
        let least = self.load.operations.least_watermark();
        loop {
            let value = watermark.value();
            if value >= least || self.is_stopped(monotonic_ns()) {
                return value;
            }
            self.pause(WATERMARK_PAUSE).await;
        }
    }

    async fn pause(&self, duration: Duration) {
        if self.alone {
            std::thread::sleep(duration);
        } else {
            tokio::time::sleep(duration).await;
        }
    }

    /// Waits until the operation is due, and says when that was; 0 in closed loop. None when the load is stopped before.
    #[inline]
    async fn due(&self, assignment: Assignment) -> Option<u64> {
        let Some(release) = &self.load.release else {
            return Some(0);
        };
        let due_ns = release.due_ns(assignment.position)?;
        if due_ns >= self.deadline_ns {
            return None;
        }
        if monotonic_ns() >= due_ns {
            return Some(due_ns);
        }
        let received = if self.alone {
            let stopped = || self.load.stop.load(Ordering::Relaxed);
            release.sleep(assignment.position, stopped)
        } else {
            release.wait(assignment.position).await
        };
        if !received {
            return None;
        }
        let mut tally = self.tally.borrow_mut();
        tally.was_free(due_ns, monotonic_ns());
        Some(due_ns)
    }

    /// Issues the operation in the slot, and says when it finished.
    #[inline]
    async fn issue(
        &mut self,
        connection: &mut Connection<'_>,
        assignment: Assignment,
        watermark: u64,
        due_ns: u64,
    ) -> u64 {
        let request = self.slot.request();
        let sent_ns = monotonic_ns();
        let received = match (request, self.slot.batch()) {
            (Request::Write(_), Some(batch)) => Received::Written(connection.write(batch).await),
            (Request::Upsert(_, atomicity), Some(reading)) => {
                let entity = self.slot.entity();
                let write = EntityReading { reading, entity, atomicity };
                Received::Written(connection.upsert(write).await)
            }
            (Request::Inquiry(..), _) => {
                Received::Inquired(self.load.operations.inquire(assignment.index, connection).await)
            }
            _ => Received::Answered(connection.query(self.slot.query()).await),
        };
        let finished_ns = monotonic_ns();
        let instants = Instants {
            due_ns: if self.load.release.is_some() { due_ns } else { sent_ns },
            sent_ns,
            finished_ns,
        };
        let failure = match received {
            Received::Written(result) => self.count_write(assignment.index, instants, result),
            Received::Answered(result) => self.count_answer(assignment.index, watermark, instants, result),
            Received::Inquired(result) => self.count_inquiry(assignment.index, instants, result),
        };
        self.counter.count_done();
        if let Some(error) = failure {
            self.count_failure(assignment.index, instants, &error).await;
        }
        finished_ns
    }

    #[inline]
    fn count_write(
        &self,
        index: u64,
        instants: Instants,
        result: Result<Acknowledgement, StoreError>,
    ) -> Option<StoreError> {
        let length = self.slot.batch().map_or(0, |batch| batch.len() as u64);
        let mut tally = self.tally.borrow_mut();
        tally.wrote(index, length, &result);
        match result {
            Ok(acknowledgement) => {
                let readings =
                    if tally.acknowledges() { acknowledgement.readings } else { acknowledgement.sent };
                if readings < length
                    && let Some(watermark) = &self.load.publishes
                {
                    watermark.fail(index);
                }
                let class = self.load.operations.class(index);
                tally.succeeded(class, instants, readings);
                None
            }
            Err(error) => {
                if let Some(watermark) = &self.load.publishes {
                    watermark.fail(index);
                }
                Some(error)
            }
        }
    }

    #[inline]
    fn count_answer(
        &mut self,
        index: u64,
        watermark: u64,
        instants: Instants,
        result: Result<Answer, StoreError>,
    ) -> Option<StoreError> {
        let answer = match result {
            Ok(answer) => answer,
            Err(error) => return Some(error),
        };
        let operations = &self.load.operations;
        let class = operations.class(index);
        let length = answer.len();
        let suspicious =
            operations.answer_len(index, self.slot.query()).is_some_and(|expected| expected != length);
        {
            let mut tally = self.tally.borrow_mut();
            tally.succeeded(class, instants, length as u64);
            tally.answers.answered += 1;
        }
        if suspicious || self.load.checking.includes(index) {
            self.keep(&Kept { index, watermark, answer });
        }
        None
    }

    fn count_inquiry(
        &self,
        index: u64,
        instants: Instants,
        result: Result<Inquired, StoreError>,
    ) -> Option<StoreError> {
        let inquired = match result {
            Ok(inquired) => inquired,
            Err(error) => return Some(error),
        };
        let class = self.load.operations.class(index);
        let mut tally = self.tally.borrow_mut();
        tally.succeeded(class, instants, inquired.readings);
        tally.writes.statements += inquired.questions;
        tally.answers.answered += 1;
        let comparison = (inquired.sum_up)();
        if self.load.checking.includes(index) {
            tally.found.push((index, comparison));
        }
        None
    }

    /// Keeps an answer until the phase is over, or compares it now when there is no room.
    fn keep(&mut self, kept: &Kept) {
        let mut tally = self.tally.borrow_mut();
        if self.load.kept_bytes.load(Ordering::Relaxed) < KEPT_BYTES {
            let bytes = tally.kept.push(kept);
            self.load.kept_bytes.fetch_add(bytes, Ordering::Relaxed);
            return;
        }
        let operations = self.load.operations.as_ref();
        let line = kept.check(operations, &mut self.slot, &self.load.doubtful, &mut tally.answers);
        tally.lines.extend(line.map(|line| (kept.index, line)));
    }

    #[cold]
    pub(super) async fn count_failure(&self, index: u64, instants: Instants, error: &StoreError) {
        Counter::count(&self.counter.failed);
        let class = self.load.operations.class(index);
        self.tally.borrow_mut().failed(class, instants, index, error);
        if error.kind() == ErrorKind::Unavailable && !self.load.is_open_loop() {
            self.pause(PAUSE).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The coordinator gave a load up after 41 s in which QuestDB applied a million series.
    #[tokio::test]
    async fn a_wait_until_writes_show_is_heard_of() {
        let counter = Counter::default();
        counter.while_waiting(tokio::time::sleep(Duration::from_millis(2_500))).await;
        assert_eq!(counter.waited.into_inner(), 2);
    }
}
