//! What the threads of a phase's clients share: the stages that they go through together, and what they hand over. The same threads may do several phases,
//! one after the other, on the connections that they have.
//!
//! [`super::clients`] starts them and runs the phase, [`super::thread`] is what each does, [`super::finished`] puts together what they counted.

use super::client::{Counter, LoadState};
use super::phase::{Phase, Target, acknowledges};
use super::tally::{Tally, TallyOptions};
use super::work_distribution::ClientDone;
use sensormark_data::units::duration_ns;
use sensormark_store::StoreError;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;
use tokio::sync::watch;

/// What tells clients what to do.
#[derive(Clone)]
pub(super) enum Stage {
    Connect,
    Work(Work),
    Close,
}

impl Stage {
    /// Whether there is something else to do than the work of this round, or to wait for the first.
    pub(super) const fn is_after(&self, round: u32) -> bool {
        match self {
            Self::Connect => false,
            Self::Work(work) => work.round > round,
            Self::Close => true,
        }
    }
}

/// A phase that clients work on.
#[derive(Clone)]
pub(super) struct Work {
    /// Its number among the phases on these connections, from 1.
    pub round: u32,
    /// What all threads share in it.
    pub shared: Arc<Shared>,
    pub start_ns: u64,
    pub deadline_ns: u64,
}

pub(super) enum Message {
    Connected(Result<(), StoreError>),
    Done(Box<ThreadDone>),
}

/// What one thread's clients of one load have done.
pub(super) struct ThreadDone {
    pub load: usize,
    pub tally: Tally,
    pub clients: Vec<ClientDone>,
    pub reconnects: u64,
    pub datagram_bytes: u64,
    pub cpu_ns: u64,
    /// How long the thread was ready to run and had no processor, where the kernel says it.
    pub waited_ns: Option<u64>,
}

/// What all threads of a phase share.
pub(super) struct Shared {
    pub target: Target,
    pub loads: Vec<LoadState>,
    /// How long after the start figures begin to count, in ns.
    pub lead_in_ns: u64,
    /// Whether nobody writes in the phase.
    pub only_reads: bool,
    /// By load and thread.
    pub counters: Vec<Vec<Counter>>,
}

impl Shared {
    /// For a phase on so many threads.
    pub(super) fn new(target: &Target, phase: &Phase, threads: usize) -> Self {
        let counters = || (0..threads).map(|_| Counter::default()).collect();
        Self {
            target: target.clone(),
            loads: phase.loads.iter().map(LoadState::new).collect(),
            lead_in_ns: duration_ns(phase.lead_in),
            only_reads: phase.only_reads,
            counters: phase.loads.iter().map(|_| counters()).collect(),
        }
    }
}

/// A client's place: its load, and its number there.
pub(super) type Seat = (usize, u32);

/// The threads of a phase's clients, and what they share with who runs the phase.
pub(super) struct ClientThreads {
    pub phase: Phase,
    /// The phase's number among those on these connections, from 1.
    pub round: u32,
    pub shared: Arc<Shared>,
    pub stage: watch::Sender<Stage>,
    pub messages: Receiver<Message>,
    pub threads: Vec<JoinHandle<()>>,
    /// By thread: its clients.
    pub seats: Vec<Vec<Seat>>,
}

impl Drop for ClientThreads {
    /// Stops the clients, so that their threads end.
    fn drop(&mut self) {
        self.stage.send_replace(Stage::Close);
        for load in &self.shared.loads {
            load.stop();
        }
    }
}

/// What a tally of a load has to know.
pub(super) fn tally_options(shared: &Shared, load: usize, start_ns: u64) -> TallyOptions {
    let (load, plan) = (&shared.loads[load], &shared.target.plan);
    TallyOptions {
        classes: load.operations.classes().len(),
        open_loop: load.is_open_loop(),
        start_ns,
        counts_from_ns: start_ns.saturating_add(shared.lead_in_ns),
        timeout_ns: plan.timeout_ms.saturating_mul(1_000_000),
        acknowledges: acknowledges(plan),
    }
}
