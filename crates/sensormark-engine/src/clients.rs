//! Runs one phase: connects its clients, starts them together, lets them work, and puts together what they counted.
//!
//! Clients of drivers that wait in the background share threads, each with a runtime of its own; clients of drivers that block have a thread
//! each. A phase has three stages: connected ([`Clients::connect`]), at work ([`Clients::run`]), at rest ([`Finished::close`]). The caller starts
//! each, so that it can read resources while all connections are open and nobody works. Instead of a rest, another phase may go on on the same
//! connections ([`Clients::going_on`]).

use super::client::Counter;
use super::client_threads::{ClientThreads, Message, Seat, Shared, Stage, ThreadDone, Work};
use super::finished::Finished;
use super::operations::ENDLESS;
use super::outcome::Cut;
use super::pacing::monotonic_ns;
use super::phase::{Load, Phase, Target};
use super::release::Release;
use super::role::Progress;
use super::thread::Thread;
use sensormark_store::{SessionKind, StoreError};
use std::collections::BTreeSet;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;

/// How often the phase is looked after.
const LOOK: Duration = Duration::from_millis(100);
/// How long threads have to come to the common start, in ns.
const LEAD_NS: u64 = 20_000_000;
/// So many failures end a phase when they are more than half of all operations, or none succeeded in between.
const HOPELESS: u64 = 200;
/// Fewer failures end it, too, when nothing has succeeded for so many times the time limit of an operation: a server that is reached and answers nothing.
const SILENCE: u64 = 4;
/// So many failures are no accident.
const FEWEST_FAILURES: u64 = 2;

/// Why a phase could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ClientsError {
    /// A client could not connect.
    #[error(transparent)]
    Connect(#[from] StoreError),
    /// A thread could not be started, or died.
    #[error("{0}")]
    Thread(String),
}

/// The clients of a phase, connected.
pub struct Clients(ClientThreads);

impl Clients {
    /// Starts the threads and connects all clients.
    ///
    /// # Errors
    /// The first client's that cannot connect; no client stays connected then.
    pub fn connect(target: &Target, phase: Phase) -> Result<Self, ClientsError> {
        let kind = target.kind;
        let threads = seats(&phase, kind);
        let shared = Arc::new(Shared::new(target, &phase, threads.len()));
        let (stage, _) = watch::channel(Stage::Connect);
        let (sender, messages) = channel();
        let count: usize = threads.iter().map(Vec::len).sum();
        let mut handles = Vec::new();
        for (number, seats) in threads.iter().cloned().enumerate() {
            let thread = Thread {
                number,
                seats,
                kind,
                target: target.clone(),
                sender: sender.clone(),
                stage: stage.subscribe(),
            };
            let started =
                std::thread::Builder::new().name(format!("clients-{number}")).spawn(move || thread.run());
            handles.push(started.map_err(|error| thread_error(&error))?);
        }
        let clients = Self(ClientThreads {
            phase,
            round: 1,
            shared,
            stage,
            messages,
            threads: handles,
            seats: threads,
        });
        clients.await_connected(count)?;
        Ok(clients)
    }

    /// The clients of a phase that is over, which go on with another phase. They keep their connections, so that phase has as many clients.
    ///
    /// # Errors
    /// When the other phase has other clients.
    pub fn going_on(finished: Finished, phase: Phase) -> Result<Self, ClientsError> {
        let mut threads = finished.clients;
        let target = threads.shared.target.clone();
        if seats(&phase, target.kind) != threads.seats {
            let text = "a phase on the connections of another has as many clients as that one";
            return Err(ClientsError::Thread(text.to_owned()));
        }
        threads.shared = Arc::new(Shared::new(&target, &phase, threads.seats.len()));
        threads.round += 1;
        threads.phase = phase;
        Ok(Self(threads))
    }

    fn await_connected(&self, count: usize) -> Result<(), ClientsError> {
        for _ in 0..count {
            match self.next_message() {
                Some(Message::Connected(Ok(()))) => {}
                Some(Message::Connected(Err(error))) => {
                    self.0.stage.send_replace(Stage::Close);
                    return Err(error.into());
                }
                _ => return Err(ClientsError::Thread("a client's thread died".to_owned())),
            }
        }
        Ok(())
    }

    /// The next word of a client. A thread that has panicked says none, and the others would be waited for without end.
    fn next_message(&self) -> Option<Message> {
        loop {
            if let Ok(message) = self.0.messages.recv_timeout(LOOK) {
                return Some(message);
            }
            if self.0.threads.iter().any(JoinHandle::is_finished) {
                // What it said before it ended is there by now.
                return self.0.messages.try_recv().ok();
            }
        }
    }

    /// Lets the clients work from a common start on. It tells `progress` now and then how far they are.
    ///
    /// # Errors
    /// When a thread dies.
    pub fn run(self, progress: &mut dyn FnMut(Progress)) -> Result<Finished, ClientsError> {
        let start_ns = monotonic_ns() + LEAD_NS;
        self.run_from(start_ns, progress)
    }

    /// The same, from an instant of CLOCK_MONOTONIC that several processes have in common.
    ///
    /// # Errors
    /// When a thread dies.
    pub fn run_from(
        self,
        start_ns: u64,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Finished, ClientsError> {
        let deadline_ns = self.0.phase.limit.map_or(u64::MAX, |limit| {
            start_ns.saturating_add(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX))
        });
        let pacers = self.start_pacers(start_ns, deadline_ns)?;
        self.0.stage.send_replace(Stage::Work(Work {
            round: self.0.round,
            shared: Arc::clone(&self.0.shared),
            start_ns,
            deadline_ns,
        }));
        let done = self.look_after(deadline_ns, progress);
        for load in &self.0.shared.loads {
            load.stop();
        }
        for pacer in pacers {
            // A pacer that died has left its clients waiting, which the stop has ended; the cut shows it.
            let _ = pacer.join();
        }
        let (done, cut) = done?;
        let last = done.iter().map(|part| part.tally.last_ns).max();
        Ok(Finished {
            clients: self.0,
            start_ns,
            end_ns: last.unwrap_or(start_ns),
            done,
            cut,
            cut_ns: deadline_ns.min(monotonic_ns()),
        })
    }

    fn start_pacers(&self, start_ns: u64, deadline_ns: u64) -> Result<Vec<JoinHandle<()>>, ClientsError> {
        let blocking = self.0.shared.target.kind == SessionKind::Blocking;
        let mut pacers = Vec::new();
        let releases = self.0.shared.loads.iter().filter_map(|load| load.release.as_ref());
        Release::start_together(&releases.collect::<Vec<_>>(), start_ns);
        for (number, load) in self.0.shared.loads.iter().enumerate() {
            if load.release.is_none() {
                continue;
            }
            if blocking {
                continue;
            }
            let (shared, length) = (Arc::clone(&self.0.shared), load.assignments.positions());
            let pacer = move || {
                if let Some(release) = &shared.loads[number].release {
                    release.run(length, deadline_ns);
                }
            };
            let started = std::thread::Builder::new().name(format!("pacer-{number}")).spawn(pacer);
            pacers.push(started.map_err(|error| thread_error(&error))?);
        }
        Ok(pacers)
    }

    /// Waits for all clients; stops them when that is asked for or no stall is left.
    fn look_after(
        &self,
        deadline_ns: u64,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Vec<ThreadDone>, Option<Cut>), ClientsError> {
        let (mut done, mut cut, mut stall) = (Vec::new(), None, Stall::new(self.patience_ns()));
        let parts: usize = self.0.seats.iter().map(|seats| loads_of(seats).len()).sum();
        while done.len() < parts {
            match self.0.messages.recv_timeout(LOOK) {
                Ok(Message::Done(part)) => {
                    done.push(*part);
                    self.end_accompanying(&done);
                }
                Ok(Message::Connected(_)) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(ClientsError::Thread("a client's thread died".to_owned()));
                }
            }
            if self.0.threads.iter().any(JoinHandle::is_finished) {
                return Err(ClientsError::Thread("a client's thread died".to_owned()));
            }
            let now = self.progress();
            progress(now);
            if cut.is_none() {
                cut = self.reason_to_cut(deadline_ns, now, &mut stall);
            }
            if matches!(cut, Some(Cut::Stopped | Cut::Hopeless)) {
                for load in &self.0.shared.loads {
                    load.stop();
                }
            }
        }
        Ok((done, cut))
    }

    fn reason_to_cut(&self, deadline_ns: u64, now: Progress, stall: &mut Stall) -> Option<Cut> {
        if self.0.shared.target.stop.load(Ordering::Relaxed) {
            return Some(Cut::Stopped);
        }
        if stall.is_lost(now, monotonic_ns()) {
            return Some(Cut::Hopeless);
        }
        (monotonic_ns() >= deadline_ns).then_some(Cut::TimeLimit)
    }

    /// Ends the loads that accompany others when those have ended.
    fn end_accompanying(&self, done: &[ThreadDone]) {
        let ended = |load: usize| {
            let parts = done.iter().filter(|part| part.load == load).count();
            parts == self.parts_of(load)
        };
        let loads = || self.0.phase.loads.iter().enumerate();
        if loads().all(|(number, load)| load.accompanies || ended(number)) {
            for (number, _) in loads().filter(|(_, load)| load.accompanies) {
                self.0.shared.loads[number].stop();
            }
        }
    }

    /// How long nothing may succeed, in ns: some operations' time limits, and the longest wait of a schedule.
    fn patience_ns(&self) -> u64 {
        let limit_ns = self.0.shared.target.plan.timeout_ms.saturating_mul(1_000_000);
        let loads = &self.0.phase.loads;
        let gap_ns = |load: &Load| load.pacing.longest_gap_ns();
        let longest = loads.iter().map(gap_ns).max();
        let questions = loads.iter().map(|load| load.operations.most_questions());
        limit_ns
            .saturating_mul(SILENCE)
            .saturating_mul(u64::from(questions.max().unwrap_or(1)))
            .saturating_add(longest.unwrap_or(0))
    }

    /// How many threads have clients of a load.
    fn parts_of(&self, load: usize) -> usize {
        let has = |seats: &&Vec<Seat>| loads_of(seats).contains(&load);
        self.0.seats.iter().filter(has).count()
    }

    fn progress(&self) -> Progress {
        let sum = |field: fn(&Counter) -> &AtomicU64| {
            let counters = self.0.shared.counters.iter().flatten();
            counters.map(|counter| field(counter).load(Ordering::Relaxed)).sum()
        };
        Progress {
            done: sum(|counter| &counter.done),
            of: self
                .0
                .phase
                .loads
                .iter()
                .filter(|load| !load.accompanies && load.operations.len() < ENDLESS)
                .map(|load| {
                    let (count, of) = (load.clients.count, load.clients.of.max(1));
                    load.operations.len() / u64::from(of) * u64::from(count)
                })
                .sum(),
            errors: sum(|counter| &counter.failed),
            waited: sum(|counter| &counter.waited),
        }
    }
}

/// Whether it is worth while to go on: a server that is gone, or answers nothing, ends a phase soon, however much was done before.
#[derive(Debug, Default)]
struct Stall {
    successes: u64,
    errors_then: u64,
    /// When the last success was seen, or the first look taken.
    since_ns: Option<u64>,
    patience_ns: u64,
}

impl Stall {
    /// Nothing may succeed for `patience_ns` before it is lost.
    fn new(patience_ns: u64) -> Self {
        Self { patience_ns, ..Self::default() }
    }

    fn is_lost(&mut self, now: Progress, now_ns: u64) -> bool {
        let successes = now.done - now.errors.min(now.done);
        let since_ns = *self.since_ns.get_or_insert(now_ns);
        if successes > self.successes {
            (self.successes, self.errors_then) = (successes, now.errors);
            self.since_ns = Some(now_ns);
        }
        let in_a_row = now.errors - self.errors_then;
        let silent = in_a_row >= FEWEST_FAILURES && now_ns > since_ns.saturating_add(self.patience_ns);
        silent || in_a_row >= HOPELESS || (now.errors >= HOPELESS && now.errors * 2 > now.done)
    }
}

fn thread_error(error: &std::io::Error) -> ClientsError {
    ClientsError::Thread(format!(
        "cannot start a thread: {error}; use fewer clients or raise the limit of processes"
    ))
}

/// The loads that have clients among these.
fn loads_of(seats: &[Seat]) -> BTreeSet<usize> {
    seats.iter().map(|(load, _)| *load).collect()
}

/// Deals the clients out to threads: one each where the driver blocks, else evenly, every load's clients over all threads.
fn seats(phase: &Phase, kind: SessionKind) -> Vec<Vec<Seat>> {
    let loads = phase.loads.iter().enumerate();
    let all: Vec<Seat> =
        loads.flat_map(|(load, one)| (0..one.clients.count).map(move |client| (load, client))).collect();
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = match kind {
        SessionKind::Blocking => all.len(),
        SessionKind::Async => phase.workers.unwrap_or(cores).clamp(1, all.len().max(1)),
    };
    let mut seats = vec![Vec::new(); threads];
    for (place, seat) in all.into_iter().enumerate() {
        seats[place % threads.max(1)].push(seat);
    }
    seats
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn progress(done: u64, errors: u64) -> Progress {
        Progress { done, errors, ..Progress::default() }
    }

    #[test]
    fn a_server_that_answers_nothing_ends_a_phase_in_bounded_time() {
        let mut stall = Stall::new(4 * SECOND_NS);
        assert!(!stall.is_lost(progress(0, 0), SECOND_NS));
        assert!(!stall.is_lost(progress(1_000, 0), 10 * SECOND_NS));
        // Two clients, whose operations time out.
        assert!(!stall.is_lost(progress(1_002, 2), 11 * SECOND_NS));
        assert!(!stall.is_lost(progress(1_004, 4), 14 * SECOND_NS));
        assert!(stall.is_lost(progress(1_006, 6), 14 * SECOND_NS + 1));
        // Something succeeds again: it goes on.
        assert!(!stall.is_lost(progress(1_008, 7), 16 * SECOND_NS));
        assert!(!stall.is_lost(progress(1_010, 9), 20 * SECOND_NS));
        // Waiting for an answer without a failure is no reason.
        let mut slow = Stall::new(4 * SECOND_NS);
        assert!(!slow.is_lost(progress(1, 0), 0));
        assert!(!slow.is_lost(progress(2, 1), 100 * SECOND_NS));
        assert!(!slow.is_lost(progress(3, 1), 101 * SECOND_NS));
    }

    #[test]
    fn many_failures_in_a_row_end_a_phase_at_once() {
        let mut stall = Stall::new(u64::MAX);
        assert!(!stall.is_lost(progress(100_000, 0), 0));
        assert!(!stall.is_lost(progress(100_199, 199), 1));
        assert!(stall.is_lost(progress(100_200, 200), 2));
    }
}
