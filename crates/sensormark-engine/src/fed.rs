//! A client of a load that is fed.
//!
//! It waits for readings on its own thread, in the kernel, and writes them as they come: no polling, and no hop to another thread between sensor and
//! acknowledgement. Which reading was sent at which time, and what became of it, goes to a journal, because no operation's number tells it.

use super::client::Client;
use super::connection::Connection;
use super::intake::{Feed, Intake};
use super::pacing::monotonic_ns;
use super::tally::Instants;
use super::work_distribution::ClientDone;
use sensormark_data::units::duration_ns;
use sensormark_result::ledger::journal::{Entry, JournalWriter, Standing};
use sensormark_store::{Acknowledgement, ErrorKind, StoreError};
use std::sync::atomic::Ordering;

/// Has a client write what comes, until nothing will follow or the load is stopped. When a source dies, the coordinator ends the line.
pub(super) async fn take_in(
    client: &mut Client<'_>,
    connection: &mut Connection<'_>,
    feed: &Feed,
    start_ns: u64,
) -> ClientDone {
    let mut fed = Fed { client, executed: 0 };
    if let Err(error) = fed.take_all(connection, feed, start_ns).await {
        fed.client.tally.borrow_mut().broken = Some(error.to_string());
    }
    ClientDone { client: fed.client.number, executed: fed.executed, partial: None, not_executed: None }
}

/// A client at work, and how much it has written.
struct Fed<'a, 'c> {
    client: &'a mut Client<'c>,
    executed: u64,
}

impl Fed<'_, '_> {
    async fn take_all(
        &mut self,
        connection: &mut Connection<'_>,
        feed: &Feed,
        start_ns: u64,
    ) -> Result<(), StoreError> {
        let mut intake = self.client.load.operations.intake(&feed.address, start_ns)?;
        let mut journal = JournalWriter::open(&feed.journal).map_err(|error| broken(&error))?;
        while intake.take(&mut self.client.slot)? {
            if !self.client.alone {
                // What reached the driver meanwhile (heartbeats, say) is not part of this write.
                tokio::task::yield_now().await;
            }
            let Some(batch) = self.client.slot.batch() else {
                break;
            };
            let sent_ns = monotonic_ns();
            let result = connection.write(batch).await;
            let instants = Instants { due_ns: sent_ns, sent_ns, finished_ns: monotonic_ns() };
            self.count_taken(self.executed, instants, intake.as_ref(), &result);
            self.note(intake.as_ref(), &mut journal, &result)?;
            if let Err(error) = result {
                self.client.count_failure(self.executed, instants, &error).await;
            }
            self.executed += 1;
            if self.client.load.stop.load(Ordering::Relaxed) {
                break;
            }
        }
        journal.flush().map_err(|error| broken(&error))?;
        self.client.tally.borrow_mut().journal_ns = duration_ns(journal.spent());
        Ok(())
    }

    fn count_taken(
        &self,
        index: u64,
        instants: Instants,
        intake: &dyn Intake,
        result: &Result<Acknowledgement, StoreError>,
    ) {
        let length = self.client.slot.batch().map_or(0, |batch| batch.len() as u64);
        let mut tally = self.client.tally.borrow_mut();
        tally.wrote(index, length, result);
        self.client.counter.count_done();
        if let Ok(acknowledgement) = result {
            let class = self.client.load.operations.class(index);
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
        let Some(batch) = self.client.slot.batch() else {
            return Ok(());
        };
        for (row, (&time_ns, &sequence)) in (0_u64..).zip(batch.times_ns.iter().zip(intake.sequences())) {
            let standing = if row < acknowledged { Standing::Acknowledged } else { others };
            let entry = Entry { sequence, time_ns, standing };
            journal.push(entry).map_err(|error| broken(&error))?;
        }
        Ok(())
    }
}

fn broken(error: &std::io::Error) -> StoreError {
    StoreError::new(ErrorKind::Configuration, "write the journal", error.to_string())
}
