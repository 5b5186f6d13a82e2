//! How the operations of a load are shared out among its clients, and which of them were issued.
//!
//! Operations come in blocks of equal length (one operation each, unless a workload wants a client to stay with one device). Blocks are shared
//! out by stride (client c of n takes blocks c, c + n, …) or from a common counter (whoever is free takes the next). Inside a block a client
//! goes in order. What an operation does is decided by its number alone.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// How blocks of operations are shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkDistribution {
    /// Client c of n takes blocks c, c + n, c + 2n, …
    Stride {
        /// Operations in a block.
        block: NonZeroU64,
    },
    /// Whoever is free takes the next block.
    Counter {
        /// Operations in a block.
        block: NonZeroU64,
    },
}

impl Default for WorkDistribution {
    fn default() -> Self {
        Self::STRIDE
    }
}

impl WorkDistribution {
    /// Single operations, by stride.
    pub const STRIDE: Self = Self::Stride { block: NonZeroU64::MIN };
    /// Single operations, from a common counter.
    pub const COUNTER: Self = Self::Counter { block: NonZeroU64::MIN };

    const fn block(self) -> u64 {
        match self {
            Self::Stride { block } | Self::Counter { block } => block.get(),
        }
    }
}

/// Which of a load's clients are this process's: `count` of them from number `first`, out of `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientRange {
    /// The first one's number.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// How many there are in all processes.
    pub of: u32,
}

impl ClientRange {
    /// All clients of a load, in one process.
    pub const fn all(count: u32) -> Self {
        Self { first: 0, count, of: count }
    }
}

/// An operation that a client is to issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assignment {
    /// The operation's number.
    pub index: u64,
    /// Its place in an open loop's schedule.
    pub position: u64,
}

/// What the clients of a load share.
#[derive(Debug)]
pub struct Assignments {
    distribution: WorkDistribution,
    clients: ClientRange,
    length: u64,
    next_block: AtomicU64,
    next_position: AtomicU64,
}

impl Assignments {
    /// The assignments of `length` operations.
    pub const fn new(distribution: WorkDistribution, clients: ClientRange, length: u64) -> Self {
        Self {
            distribution,
            clients,
            length,
            next_block: AtomicU64::new(0),
            next_position: AtomicU64::new(0),
        }
    }

    /// How many operations client `client` (of all processes) has in all; with a counter nobody knows.
    fn share_of(distribution: WorkDistribution, of: u32, length: u64, client: u32) -> Option<u64> {
        let WorkDistribution::Stride { block } = distribution else {
            return None;
        };
        let (block, of, client) = (block.get(), u64::from(of), u64::from(client));
        let blocks = length.div_ceil(block);
        let own = blocks.saturating_sub(client).div_ceil(of);
        let has_last = own > 0 && (own - 1) * of + client == blocks - 1;
        let missing = if has_last { blocks * block - length } else { 0 };
        Some(own * block - missing)
    }

    /// How many places an open loop's schedule has to have. More than there are operations where clients' shares are unequal.
    pub fn positions(&self) -> u64 {
        let of = self.clients.of;
        let share = |client| Self::share_of(self.distribution, of, self.length, client);
        match share(0) {
            Some(largest) if self.distribution.block() > 1 => largest * u64::from(of),
            _ => self.length,
        }
    }

    /// Places in the schedule that this client came to, or would have come to, after what it did, ascending.
    pub fn positions_left(&self, done: &ClientDone) -> impl Iterator<Item = u64> {
        let of = self.clients.of;
        let share = Self::share_of(self.distribution, of, self.length, done.client);
        let client = u64::from(done.client);
        let own = (done.executed..share.unwrap_or(0)).map(move |k| client + k * u64::from(of));
        let counted = done.not_executed.filter(|_| share.is_none());
        own.chain(counted)
    }

    /// Places in the schedule that nobody came to, when they come from a counter.
    pub fn positions_untaken(&self) -> std::ops::Range<u64> {
        match self.distribution {
            WorkDistribution::Stride { .. } => 0..0,
            WorkDistribution::Counter { .. } => self.next_position.load(Ordering::SeqCst)..self.length,
        }
    }

    /// A lower bound of every number that will be taken from the counter from now on.
    pub fn least_to_come(&self) -> u64 {
        match self.distribution {
            WorkDistribution::Stride { .. } => 0,
            WorkDistribution::Counter { block } => self.next_block.load(Ordering::SeqCst) * block.get(),
        }
    }

    /// The operations of one client of this process, counted from 0.
    pub fn client(&self, local: u32) -> ClientAssignments<'_> {
        let client = u64::from(self.clients.first + local);
        ClientAssignments {
            assignments: self,
            client,
            base: client.saturating_mul(self.distribution.block()),
            offset: 0,
            block: None,
            position: client,
            executed: 0,
            not_executed: None,
        }
    }
}

/// The operations of one client.
#[derive(Debug)]
pub struct ClientAssignments<'a> {
    assignments: &'a Assignments,
    client: u64,
    /// The first operation of the present block.
    base: u64,
    /// The next operation within it.
    offset: u64,
    /// The present block's number, when blocks come from the counter.
    block: Option<u64>,
    position: u64,
    executed: u64,
    not_executed: Option<u64>,
}

impl ClientAssignments<'_> {
    /// The next operation of this client. It counts as issued unless [`ClientAssignments::give_back`] follows.
    #[inline]
    pub fn take(&mut self) -> Option<Assignment> {
        let assignment = match self.assignments.distribution {
            WorkDistribution::Stride { block } => self.take_stride(block.get())?,
            WorkDistribution::Counter { block } => self.take_counted(block.get())?,
        };
        self.executed += 1;
        Some(assignment)
    }

    #[inline]
    fn take_stride(&mut self, block: u64) -> Option<Assignment> {
        let of = u64::from(self.assignments.clients.of);
        if self.offset == block {
            self.base = self.base.checked_add(of.checked_mul(block)?)?;
            self.offset = 0;
        }
        let index = self.base.checked_add(self.offset)?;
        if index >= self.assignments.length {
            return None;
        }
        let position = self.position;
        self.offset += 1;
        self.position += of;
        Some(Assignment { index, position })
    }

    #[inline]
    fn take_counted(&mut self, block: u64) -> Option<Assignment> {
        if self.block.is_none() || self.offset == block {
            let number = self.assignments.next_block.fetch_add(1, Ordering::SeqCst);
            self.base = number.checked_mul(block)?;
            self.offset = 0;
            self.block = Some(number);
        }
        let index = self.base + self.offset;
        if index >= self.assignments.length {
            self.block = None;
            return None;
        }
        self.offset += 1;
        let position = if block == 1 {
            self.assignments.next_position.fetch_max(index + 1, Ordering::SeqCst);
            index
        } else {
            self.assignments.next_position.fetch_add(1, Ordering::SeqCst)
        };
        Some(Assignment { index, position })
    }

    /// The operation taken last was not executed, and no other will be taken.
    pub const fn give_back(&mut self, assignment: Assignment) {
        self.executed -= 1;
        self.offset -= 1;
        self.position = assignment.position;
        self.not_executed = Some(assignment.position);
    }

    /// A lower bound of the number of this client's next operation, where it is known.
    #[inline]
    pub fn least_to_come(&self) -> u64 {
        match self.assignments.distribution {
            WorkDistribution::Stride { block } if self.offset == block.get() => {
                self.base.saturating_add(block.get() * u64::from(self.assignments.clients.of))
            }
            WorkDistribution::Stride { .. } => self.base.saturating_add(self.offset),
            WorkDistribution::Counter { block } => match self.block {
                Some(_) if self.offset < block.get() => self.base + self.offset,
                _ => self.assignments.least_to_come(),
            },
        }
    }

    /// What this client has done.
    pub fn finish(&self) -> ClientDone {
        let partial = match (self.assignments.distribution, self.block) {
            (WorkDistribution::Counter { block }, Some(number)) if self.offset < block.get() => {
                Some((number, self.offset))
            }
            _ => None,
        };
        ClientDone {
            client: u32::try_from(self.client).unwrap_or(u32::MAX),
            executed: self.executed,
            partial,
            not_executed: self.not_executed,
        }
    }
}

/// What one client has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientDone {
    /// Its number, over all processes.
    pub client: u32,
    /// Operations that it issued.
    pub executed: u64,
    /// A block from the counter that it left unfinished, and how many of its operations were issued.
    pub partial: Option<(u64, u64)>,
    /// The place in the schedule that it came to and did not execute.
    pub not_executed: Option<u64>,
}

/// Which operations of a load were issued: exact, and small however many there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issued {
    distribution: WorkDistribution,
    of: u32,
    length: u64,
    /// By client: operations issued.
    executed: BTreeMap<u32, u64>,
    /// Blocks below this were taken from the counter.
    blocks: u64,
    /// Blocks from the counter that were left unfinished.
    partial: BTreeMap<u64, u64>,
}

impl Issued {
    /// What these clients have done with these assignments.
    pub fn new(assignments: &Assignments, done: &[ClientDone]) -> Self {
        Self {
            distribution: assignments.distribution,
            of: assignments.clients.of,
            length: assignments.length,
            executed: done.iter().map(|one| (one.client, one.executed)).collect(),
            blocks: assignments.next_block.load(Ordering::SeqCst),
            partial: done.iter().filter_map(|one| one.partial).collect(),
        }
    }

    /// The first `count` of `length` operations, by one client.
    pub fn first(count: u64, length: u64) -> Self {
        Self {
            distribution: WorkDistribution::STRIDE,
            of: 1,
            length,
            executed: BTreeMap::from([(0, count)]),
            blocks: count,
            partial: BTreeMap::new(),
        }
    }

    /// Whether operation `index` was issued.
    pub fn contains(&self, index: u64) -> bool {
        if index >= self.length {
            return false;
        }
        let (number, within) = (index / self.distribution.block(), index % self.distribution.block());
        match self.distribution {
            WorkDistribution::Stride { block } => {
                let of = u64::from(self.of);
                let client = u32::try_from(number % of).unwrap_or(u32::MAX);
                let place = (number / of) * block.get() + within;
                self.executed.get(&client).is_some_and(|executed| place < *executed)
            }
            WorkDistribution::Counter { .. } => {
                number < self.blocks && self.partial.get(&number).is_none_or(|done| within < *done)
            }
        }
    }

    /// How many operations are these clients' to issue; none where a counter decides that.
    pub fn due(&self) -> Option<u64> {
        let share = |client: &u32| Assignments::share_of(self.distribution, self.of, self.length, *client);
        self.executed.keys().map(share).sum()
    }

    /// How many clients these are.
    pub fn clients(&self) -> usize {
        self.executed.len()
    }

    /// How many operations were issued.
    pub fn count(&self) -> u64 {
        self.executed.values().sum()
    }

    /// Whether these clients issued all that is theirs.
    pub fn is_complete(&self, clients: ClientRange) -> bool {
        let share = |client| Assignments::share_of(self.distribution, self.of, self.length, client);
        let range = clients.first..clients.first + clients.count;
        let due: Option<u64> = range.map(share).sum();
        self.count() == due.unwrap_or(self.length)
    }

    /// The lowest operation that was not issued; none when all were.
    pub fn first_missing(&self) -> Option<u64> {
        if self.count() == self.length {
            return None;
        }
        (0..=self.end()).find(|&index| !self.contains(index))
    }

    /// The numbers of all operations that were issued, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.end()).filter(|&index| self.contains(index))
    }

    /// No operation from this number on was issued: a load that its phase's limit ends has more than can be looked through.
    fn end(&self) -> u64 {
        let block = self.distribution.block();
        let blocks = match self.distribution {
            WorkDistribution::Counter { .. } => self.blocks,
            WorkDistribution::Stride { .. } => {
                let last = |(client, executed): (&u32, &u64)| {
                    let own = executed.div_ceil(block);
                    own.checked_sub(1).map_or(0, |before| {
                        u64::from(*client) + before.saturating_mul(u64::from(self.of)) + 1
                    })
                };
                self.executed.iter().map(last).max().unwrap_or(0)
            }
        };
        blocks.saturating_mul(block).min(self.length)
    }

    /// Checks what another program says of a load that is shared out like this, among so many clients of all processes.
    ///
    /// # Errors
    /// What cannot be true, in words.
    pub fn check(&self, distribution: WorkDistribution, clients: u32, length: u64) -> Result<(), String> {
        if self.distribution != distribution {
            return Err("its operations are shared out in another way".to_owned());
        }
        if (self.of, self.length) != (clients, length) {
            return Err(format!(
                "it is of {clients} clients and {length} operations, and {} and {} are reported",
                self.of, self.length
            ));
        }
        let mut all = 0_u64;
        for (&client, &executed) in &self.executed {
            let share = Assignments::share_of(distribution, clients, length, client);
            all = all.saturating_add(executed);
            if client >= clients || executed > share.unwrap_or(length) || all > length {
                return Err(format!(
                    "client {client} of {clients} cannot have issued {executed} of {length} operations"
                ));
            }
        }
        Ok(())
    }

    /// Adds what another process's clients have done.
    ///
    /// # Errors
    /// When operations were not shared out by stride, or differently: processes have no counter in common.
    pub fn merge(&mut self, other: &Self) -> Result<(), String> {
        let same = (self.distribution, self.of, self.length) == (other.distribution, other.of, other.length);
        if !same || !matches!(self.distribution, WorkDistribution::Stride { .. }) {
            return Err("several processes share operations out by stride".to_owned());
        }
        self.executed.extend(&other.executed);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
