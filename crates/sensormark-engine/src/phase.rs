//! What a phase is: loads of operations, who issues them, when, and where.
//!
//! Plain descriptions; [`super::clients`] runs them.

use super::answers::{Checking, Doubtful};
use super::intake::Feed;
use super::operations::Operations;
use super::pacing::Schedule;
use super::watermark::Watermark;
use super::work_distribution::{ClientRange, WorkDistribution};
use sensormark_store::{Durability, Plan, SessionKind, Store, WriteMethod};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// When operations of a load are issued.
#[derive(Debug, Clone)]
pub enum Pacing {
    /// Each client issues its next operation when the last has finished.
    Closed,
    /// Operations are due at given instants, whether or not earlier ones have finished.
    Open(Schedule),
    /// Readings come from a source, and are written as they come. By one client, which has its thread for itself.
    Fed,
}

impl Pacing {
    /// The longest time in which nothing is due, in ns.
    pub fn longest_gap_ns(&self) -> u64 {
        match self {
            Self::Closed | Self::Fed => 0,
            Self::Open(schedule) => schedule.longest_gap_ns(),
        }
    }
}

/// Operations and who issues them.
#[derive(Clone)]
pub struct Load {
    /// Its name, in results.
    pub name: String,
    /// What is issued.
    pub operations: Arc<dyn Operations>,
    /// By whom.
    pub clients: ClientRange,
    /// When.
    pub pacing: Pacing,
    /// How operations are shared out.
    pub distribution: WorkDistribution,
    /// Where a writing load publishes what is acknowledged. Loads that ask meanwhile read it. It is made for [`ClientRange::count`] clients.
    pub publishes: Option<Arc<Watermark>>,
    /// What an asking load keeps below.
    pub below: Option<Arc<Watermark>>,
    /// Whether it ends when all loads that do not accompany others have ended.
    pub accompanies: bool,
    /// Which answers are compared in full.
    pub checking: Checking,
    /// Readings of earlier phases that are in doubt.
    pub doubtful: Arc<Doubtful>,
    /// Where readings come from, of a load that is fed.
    pub feed: Option<Feed>,
}

impl Load {
    /// A load in closed loop, its operations shared out by stride, all answers compared.
    pub fn new(name: impl Into<String>, operations: Arc<dyn Operations>, clients: u32) -> Self {
        Self {
            name: name.into(),
            operations,
            clients: ClientRange::all(clients),
            pacing: Pacing::Closed,
            distribution: WorkDistribution::STRIDE,
            publishes: None,
            below: None,
            accompanies: false,
            checking: Checking::All,
            doubtful: Arc::default(),
            feed: None,
        }
    }
}

/// One phase: loads that run at the same time.
#[derive(Clone, Default)]
pub struct Phase {
    /// The loads.
    pub loads: Vec<Load>,
    /// When it is cut.
    pub limit: Option<Duration>,
    /// How long after its start figures begin to count.
    pub lead_in: Duration,
    /// Threads that clients share; as many as there are cores, but no more than clients, where it is not said. Clients of drivers that block have a
    /// thread each, whatever is said.
    pub workers: Option<usize>,
    /// Whether nobody writes in it, in other processes neither.
    pub only_reads: bool,
}

/// Where clients connect to.
#[derive(Clone)]
pub struct Target {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The database.
    pub plan: Arc<Plan>,
    /// How its sessions wait: the store's own way, as a rule.
    pub kind: SessionKind,
    /// Set to have all clients stop.
    pub stop: Arc<AtomicBool>,
}

impl Target {
    /// This database of this store.
    pub fn new(store: Arc<dyn Store>, plan: Arc<Plan>) -> Self {
        Self { kind: store.description().session, store, plan, stop: Arc::new(AtomicBool::new(false)) }
    }
}

/// Whether the database acknowledges writes as this plan has them.
pub fn acknowledges(plan: &Plan) -> bool {
    plan.durability != Durability::Unacknowledged && plan.layout.write != WriteMethod::Datagram
}
