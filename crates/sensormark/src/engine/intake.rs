//! Loads that are fed: their readings are not made by the client but come by themselves, from a source, at instants that are the source's.
//!
//! The client waits for them on its own thread, in the kernel, and writes them as they come: no polling, and no hop to another thread between sensor and
//! acknowledgement. Which reading was sent at which time, and what became of it, goes to a journal, because no operation's number tells it. What the source is,
//! and how readings travel, is a workload's ([`Intake`]).

use super::client::Client;
use super::connection::Connection;
use super::operations::Slot;
use super::pacing::monotonic_ns;
use super::sharing::ClientDone;
use super::tally::Instants;
use crate::ledger::journal::{Entry, JournalWriter, Standing};
use crate::units::duration_ns;
use sensormark_store::{Acknowledgement, ErrorKind, StoreError};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// What a fed client is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Feed {
    /// Where readings arrive, in the workload's own form.
    pub address: serde_json::Value,
    /// The journal's file, which is there.
    pub journal: PathBuf,
}

/// A client's end of the line from its source.
pub trait Intake {
    /// Waits on this thread until a write is complete, and puts it into the slot with the times that its readings get. False when nothing will follow.
    ///
    /// # Errors
    /// When the line is broken.
    fn take(&mut self, slot: &mut Slot) -> Result<bool, StoreError>;

    /// The numbers that the source gave the readings of this write.
    fn sequences(&self) -> &[u64];

    /// When the source's reading of this number was due, in ns of CLOCK_MONOTONIC.
    fn due_ns(&self, sequence: u64) -> u64;
}

impl Client<'_> {
    /// Writes what comes, until nothing will follow or the load is stopped. A source that dies is the coordinator's affair, which ends the line.
    pub(super) async fn take_in(
        &mut self,
        connection: &mut Connection<'_>,
        feed: &Feed,
        start_ns: u64,
    ) -> ClientDone {
        let mut executed = 0;
        if let Err(error) = self
            .take_all(connection, feed, start_ns, &mut executed)
            .await
        {
            self.tally.borrow_mut().broken = Some(error.to_string());
        }
        self.catch_up(connection).await;
        ClientDone {
            client: self.number,
            executed,
            partial: None,
            not_executed: None,
        }
    }

    async fn take_all(
        &mut self,
        connection: &mut Connection<'_>,
        feed: &Feed,
        start_ns: u64,
        executed: &mut u64,
    ) -> Result<(), StoreError> {
        let mut intake = self.load.operations.intake(&feed.address, start_ns)?;
        let mut journal = JournalWriter::open(&feed.journal).map_err(|error| broken(&error))?;
        while intake.take(&mut self.slot)? {
            if !self.alone {
                // What reached the driver meanwhile (heartbeats, say) is not part of this write.
                tokio::task::yield_now().await;
            }
            let Some(batch) = self.slot.batch() else {
                break;
            };
            let sent_ns = monotonic_ns();
            let result = connection.write(batch).await;
            let instants = Instants {
                due_ns: sent_ns,
                sent_ns,
                finished_ns: monotonic_ns(),
            };
            self.count_taken(*executed, instants, intake.as_ref(), &result);
            self.note(intake.as_ref(), &mut journal, &result)?;
            if let Err(error) = result {
                self.count_failure(*executed, instants, &error).await;
            }
            *executed += 1;
            if self.load.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        journal.flush().map_err(|error| broken(&error))?;
        self.tally.borrow_mut().journal_ns = duration_ns(journal.spent());
        Ok(())
    }

    fn count_taken(
        &self,
        index: u64,
        instants: Instants,
        intake: &dyn Intake,
        result: &Result<Acknowledgement, StoreError>,
    ) {
        let length = self.slot.batch().map_or(0, |batch| batch.len() as u64);
        let mut tally = self.tally.borrow_mut();
        tally.wrote(index, length, result);
        self.counter.count_done();
        if let Ok(acknowledgement) = result {
            let class = self.load.operations.class(index);
            let due = intake.sequences().iter().map(|one| intake.due_ns(*one));
            tally.took_in(class, instants, acknowledgement.readings, due);
        }
    }

    /// Says in the journal what became of a write.
    fn note(
        &self,
        intake: &dyn Intake,
        journal: &mut JournalWriter,
        result: &Result<Acknowledgement, StoreError>,
    ) -> Result<(), StoreError> {
        let (acknowledged, others) = match result {
            Ok(acknowledgement) => (acknowledgement.readings, Standing::InDoubt),
            Err(error) if error.is_in_doubt() => (error.acknowledged(), Standing::InDoubt),
            Err(error) => (error.acknowledged(), Standing::Refused),
        };
        let Some(batch) = self.slot.batch() else {
            return Ok(());
        };
        for (row, (&time_ns, &sequence)) in
            (0_u64..).zip(batch.times_ns.iter().zip(intake.sequences()))
        {
            let standing = if row < acknowledged {
                Standing::Acknowledged
            } else {
                others
            };
            let entry = Entry {
                sequence,
                time_ns,
                standing,
            };
            journal.push(entry).map_err(|error| broken(&error))?;
        }
        Ok(())
    }
}

fn broken(error: &std::io::Error) -> StoreError {
    StoreError::new(
        ErrorKind::Configuration,
        "write the journal",
        error.to_string(),
    )
}
