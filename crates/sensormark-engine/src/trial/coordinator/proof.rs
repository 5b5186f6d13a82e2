//! The proof of what is stored. It is read back and compared with what was written: at every size, before a database is emptied, and at the end.

use super::{Coordinator, Written};
use crate::deployment::block_on;
use crate::failure::TrialFailure;
use crate::lifecycle::Changed;
use crate::phase::acknowledges;
use crate::trial::account;
use crate::trial::feed::Journal;
use crate::trial::script::{Step, phases};
use crate::written::WrittenLoads;
use sensormark_result::ledger::reconcile::{Expected, reconcile};
use sensormark_result::measurement::names;
use sensormark_result::measurement::record::{LedgerRecord, TrialRecord};
use sensormark_result::measurement::verdict::{Reason, ReasonKind};
use sensormark_store::{Batch, Plan, RepeatedWrite, Session, StoreError};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

/// What was read back: counts, what differs of entities, and the times that were found of a fed load.
pub(super) struct ReadBack {
    pub(super) ledger: LedgerRecord,
    pub(super) entities: Option<String>,
    found_ns: Option<Vec<i64>>,
}

impl Coordinator<'_> {
    /// Whether the layout keeps one of several readings of one series and time, in every table.
    fn replaces(&self) -> bool {
        let (store, layout) = (self.deployment.store(), &self.plan.layout);
        let tables = &self.plan.schema.tables;
        let replaces = |table| store.repeated_write(layout, table) == RepeatedWrite::Replaces;
        tables.iter().all(replaces)
    }

    /// Counts what is stored and compares it with everything that was written since the database was made.
    pub(super) fn count(&mut self, record: &mut TrialRecord) -> Result<(), TrialFailure> {
        self.prove(record)?;
        self.written.clear();
        self.counted = 0;
        self.reasons.append(&mut self.miscounted);
        Ok(())
    }

    /// The same, and goes on: what is written later is counted with it.
    pub(super) fn prove(&mut self, record: &mut TrialRecord) -> Result<(), TrialFailure> {
        if self.written.len() == self.counted {
            return Ok(());
        }
        let ReadBack { mut ledger, entities, found_ns } = self.read_back(self.plan, None)?;
        self.keep_journal(&ledger, found_ns, record)?;
        self.kill.forget_unsent(&mut ledger);
        let crashed = self.crash.is_some();
        let judged = self.kill.account(crashed, &ledger, record);
        self.miscounted = judged.into_iter().collect();
        self.miscounted.extend(entities.map(|text| Reason::new(ReasonKind::AlteredData, text)));
        self.counted = self.written.len();
        record.ledger.clone_from(&self.counted_before);
        account::add_ledger(record, &ledger);
        if !self.tasks.changes.is_empty() {
            let at_rest =
                record.figures.iter_mut().filter(|(name, _)| name.starts_with(names::READINGS_AT_REST));
            at_rest.for_each(|(_, figure)| figure.value = Some(ledger.stored as f64));
        }
        Ok(())
    }

    /// Reads everything back from the plan's database and compares it with what was written. What was written since the step `copied`, if that is given, may be there or not.
    pub(super) fn read_back(&self, plan: &Plan, copied: Option<usize>) -> Result<ReadBack, TrialFailure> {
        self.announce("count");
        let mut ledger = LedgerRecord::default();
        let written = self.loads(&self.written, copied, &mut ledger)?;
        let entities = written.entities();
        let changes =
            self.tasks.changes.iter().filter(|(step, _)| copied.is_none_or(|copied| *step < copied));
        let mut tasks = phases(self.steps).filter_map(|phase| phase.task.as_ref());
        let filled = if tasks.any(|task| task.is_round) { 1..self.plan.schema.tables.len() } else { 0..0 };
        let loads = Changed {
            written,
            changes: changes.map(|(_, change)| change).collect(),
            slack_ns: self.tasks.slack_ns,
            filled,
        };
        let (mut found_ns, began) = (None, Instant::now());
        let schema = &self.plan.schema;
        let read = async |expected: &mut dyn FnMut() -> Expected| {
            let mut session = self.reader(plan, &ledger).await?;
            reconcile(schema, &loads, expected, session.as_mut(), &mut ledger).await?;
            let entities = entities.compare(session.as_mut()).await?;
            if self.journal.is_some() && missing_of(&ledger) > 0 {
                found_ns = Some(times(session.as_mut()).await?);
            }
            session.close().await?;
            Ok::<_, StoreError>(entities)
        };
        // What has to be there is made again while it is read.
        let entities = thread::scope(|scope| {
            let mut made = Some(scope.spawn(|| Expected::of(schema, &loads)));
            let mut expected = || {
                let made = made.take().and_then(|made| made.join().ok());
                made.unwrap_or_else(|| Expected::of(schema, &loads))
            };
            block_on(read(&mut expected))
        })?;
        tracing::debug!(readings = ledger.stored, took = ?began.elapsed(), "what is stored is proved");
        Ok(ReadBack { ledger, entities, found_ns })
    }

    /// A session that reads back everything that the ledger counts.
    async fn reader(&self, plan: &Plan, ledger: &LedgerRecord) -> Result<Box<dyn Session>, StoreError> {
        let timeout_ms = time_to_read_ms(plan.timeout_ms, ledger.attempted);
        self.deployment.store().connect(&Plan { timeout_ms, ..plan.clone() }).await
    }

    /// What was written, with its counts by the clients.
    fn loads(
        &self,
        written: &[Written],
        copied: Option<usize>,
        ledger: &mut LedgerRecord,
    ) -> Result<WrittenLoads, TrialFailure> {
        let mut loads = WrittenLoads::default().replacing(self.replaces());
        for one in written {
            let Some(Step::Run(phase)) = self.steps.get(one.step) else {
                continue;
            };
            let load = &phase.loads[one.load];
            let writes = &one.outcome.writes;
            let produced = one.produced.unwrap_or(writes.attempted);
            ledger.produced += produced;
            ledger.lost_at_queue += produced.saturating_sub(writes.attempted);
            ledger.attempted += writes.attempted;
            ledger.refused += writes.refused;
            match (&load.source, &self.journal) {
                (Some(source), Some(journal)) => {
                    loads.add_fed(source.written(journal.entries()?));
                }
                _ => loads.add(
                    Arc::clone(&load.operations),
                    Arc::clone(&self.plan.schema),
                    &one.outcome,
                    acknowledges(self.plan) && copied.is_none_or(|copied| one.step < copied),
                ),
            }
        }
        Ok(loads)
    }

    /// Keeps the journal with the results, and what is stored of it for later trials, which are checked against that, whatever was lost on the way.
    fn keep_journal(
        &self,
        ledger: &LedgerRecord,
        found_ns: Option<Vec<i64>>,
        record: &mut TrialRecord,
    ) -> Result<(), TrialFailure> {
        let Some(journal) = &self.journal else {
            return Ok(());
        };
        let name = format!("samples/{}.journal", record.name);
        let kept = self.context.folder.write_bytes(&name, &journal.bytes()?);
        kept.map_err(|error| TrialFailure::System(error.to_string()))?;
        let missing = missing_of(ledger);
        if missing > 0 {
            record.warnings.push(format!(
                "{missing} samples that were written are not stored: reads are checked against what is stored"
            ));
        }
        journal.keep_stored(found_ns)
    }

    /// After a failure: starts a server that stopped again, and counts what is left of what a fed load had acknowledged. What cannot be counted is forgotten.
    pub(super) fn count_survivors(&mut self, record: &mut TrialRecord) {
        let Some(journal) = self.journal.take() else {
            return;
        };
        if self.context.is_interrupted() || record.ledger.is_some() {
            return;
        }
        match self.survivors(&journal) {
            Ok(ledger) => {
                let (lost, all) = (ledger.lost, ledger.acknowledged);
                let kept = all.saturating_sub(lost);
                record.warnings.push(format!(
                    "counted after the failure: {kept} of {all} acknowledged readings are stored"
                ));
                record.ledger = Some(ledger);
                self.journal = Some(journal);
            }
            Err(error) => record
                .warnings
                .push(format!("what is stored could not be counted after the failure: {error}")),
        }
    }

    fn survivors(&self, journal: &Journal) -> Result<LedgerRecord, TrialFailure> {
        if self.deployment.check().is_err() {
            self.deployment.restart()?;
        }
        let loads = self.steps.iter().filter_map(|step| match step {
            Step::Run(phase) => Some(&phase.loads),
            _ => None,
        });
        let mut sources = loads.flatten().filter_map(|load| load.source.as_ref());
        let Some(source) = sources.next() else {
            return Err(TrialFailure::System("nothing was fed".to_owned()));
        };
        let entries = journal.entries()?;
        let mut ledger = LedgerRecord { attempted: entries.len() as u64, ..LedgerRecord::default() };
        let written = source.written(entries);
        let found_ns = block_on(async {
            let mut session = self.reader(self.plan, &ledger).await?;
            let schema = &self.plan.schema;
            let expected = || Expected::of(schema, written.as_ref());
            reconcile(schema, written.as_ref(), expected, session.as_mut(), &mut ledger).await?;
            let found = times(session.as_mut()).await?;
            session.close().await?;
            Ok::<_, StoreError>(found)
        })?;
        journal.keep_stored(Some(found_ns))?;
        Ok(ledger)
    }
}

/// How long reading everything back may take: an operation's time for each 100,000 readings. With the time of one operation, InfluxDB with 7.2 million readings
/// was "unreachable".
const fn time_to_read_ms(operation_ms: u64, readings: u64) -> u64 {
    operation_ms.saturating_mul(1 + readings / 100_000)
}

const fn missing_of(ledger: &LedgerRecord) -> u64 {
    ledger.lost + ledger.in_doubt_not_stored
}

/// The times of everything that is stored in the first table.
async fn times(session: &mut dyn Session) -> Result<Vec<i64>, StoreError> {
    let mut times_ns = Vec::new();
    let mut keep = |batch: &Batch| times_ns.extend_from_slice(&batch.times_ns);
    session.scan(0, &mut keep).await?;
    Ok(times_ns)
}

#[cfg(test)]
mod tests {
    use super::time_to_read_ms;

    #[test]
    fn millions_of_readings_have_more_time_to_be_read_back_than_a_question() {
        assert_eq!(time_to_read_ms(10_000, 99_999), 10_000);
        assert_eq!(time_to_read_ms(10_000, 7_200_000), 730_000);
        assert_eq!(time_to_read_ms(u64::MAX, 7_200_000), u64::MAX);
    }
}
