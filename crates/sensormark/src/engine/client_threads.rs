//! What the threads of a phase's clients share: the stages that they go through together, and what they hand over.
//!
//! [`super::clients`] starts them and runs the phase, [`super::thread`] is what each does, [`super::finished`] puts together what they counted.

use super::client::{Counter, LoadState};
use super::phase::{Phase, Target, acknowledges};
use super::sharing::ClientDone;
use super::tally::{Tally, TallyOptions};
use sensormark_store::StoreError;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;
use tokio::sync::watch;

/// What tells clients how far the phase is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Connect,
    Work { start_ns: u64, deadline_ns: u64 },
    Close,
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
}

/// What all threads of a phase share.
pub(super) struct Shared {
    pub target: Target,
    pub loads: Vec<LoadState>,
    /// By load and thread.
    pub counters: Vec<Vec<Counter>>,
}

/// A client's place: its load, and its number there.
pub(super) type Seat = (usize, u32);

/// The threads of a phase's clients, and what they share with who runs the phase.
pub(super) struct ClientThreads {
    pub phase: Phase,
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
        open_loop: load.release.is_some(),
        start_ns,
        timeout_ns: plan.timeout_ms.saturating_mul(1_000_000),
        acknowledges: acknowledges(plan),
    }
}
