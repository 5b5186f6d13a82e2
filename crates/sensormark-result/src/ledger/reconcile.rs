//! Comparing what was written with what is stored.
//!
//! The census comes first. It is exact when everything is as it should be, and needs no memory. Only when counts or checksums differ are readings compared one
//! by one, to say how many were lost, duplicated or altered.

use crate::ledger::journal::Standing;
use crate::measurement::record::LedgerRecord;
use sensormark_store::{Batch, Census, Schema, Session, StoreError, Table};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// Where the readings that were written come from: a generator together with a journal or acknowledged counts.
pub trait Written: Sync {
    /// Every reading that was attempted and not refused, in batches, with its standing. Called more than once.
    fn for_each(&self, sink: &mut dyn FnMut(&Batch, Standing));

    /// The same as it is kept when all of it was acknowledged: without readings that take the place of another.
    fn for_each_kept(&self, sink: &mut dyn FnMut(&Batch, Standing)) {
        self.for_each(sink);
    }

    /// What of a table is gone: readings before the range are, those after it are kept, and those in it may be there or not.
    fn gone(&self, table: usize) -> Range<i64> {
        let _ = table;
        i64::MIN..i64::MIN
    }

    /// Whether the database keeps one of several readings of one series and time.
    fn replaces(&self) -> bool {
        false
    }
}

/// What has to be stored.
pub struct Expected {
    acknowledged: Census,
    everything: Census,
    /// Readings that were acknowledged, and all that were sent.
    sent: (u64, u64),
}

impl Expected {
    /// Makes everything that was written again. It takes about as long as to read it back, and needs no database.
    pub fn of(schema: &Schema, written: &dyn Written) -> Self {
        let (mut acknowledged, mut everything) = (Census::new(schema), Census::new(schema));
        written.for_each_kept(&mut |batch, standing| {
            everything.add(batch);
            if standing == Standing::Acknowledged {
                acknowledged.add(batch);
            }
        });
        let kept = (acknowledged.readings(), everything.readings());
        let sent = if written.replaces() { counts(written) } else { kept };
        Self { acknowledged, everything, sent }
    }
}

/// Counts what is stored and compares it with what was written; fills in the counts from `stored` on, and
/// `acknowledged` and `in_doubt`. What is expected is asked for when everything is read, so that another thread can make it meanwhile.
///
/// # Errors
/// When the database cannot be read.
pub async fn reconcile(
    schema: &Schema,
    written: &dyn Written,
    expected: impl FnOnce() -> Expected,
    session: &mut dyn Session,
    ledger: &mut LedgerRecord,
) -> Result<(), StoreError> {
    let mut stored = Census::new(schema);
    let mut strangers = 0_u64;
    for (table, description) in counted(schema, written) {
        let open = written.gone(table);
        session
            .scan(table, &mut |batch| match batch.check(description, false) {
                Ok(()) => stored.add(&closed(batch, &open)),
                Err(_) => strangers += batch.len() as u64,
            })
            .await?;
    }
    let Expected { acknowledged, everything, sent } = expected();
    ledger.acknowledged = sent.0;
    ledger.in_doubt = sent.1 - sent.0;
    ledger.replaced = sent.1.saturating_sub(everything.readings());
    ledger.stored = stored.readings() + strangers;
    ledger.checksum = format!("{:016x}", stored.checksum());
    ledger.expected_checksum = format!("{:016x}", everything.checksum());
    if strangers == 0 && (stored == everything || stored == acknowledged) {
        ledger.in_doubt_not_stored = everything.readings() - stored.readings();
        return Ok(());
    }
    compare_one_by_one(schema, written, session, ledger).await
}

/// The tables whose readings are counted.
fn counted<'a>(schema: &'a Schema, written: &dyn Written) -> impl Iterator<Item = (usize, &'a Table)> {
    schema.tables.iter().enumerate().filter(|(table, _)| written.gone(*table).end < i64::MAX)
}

/// Without readings that may be there or not.
fn closed<'a>(batch: &'a Batch, open: &Range<i64>) -> Cow<'a, Batch> {
    match batch.times_ns.iter().any(|time_ns| open.contains(time_ns)) {
        true => Cow::Owned(batch.kept(|row| !open.contains(&batch.times_ns[row]))),
        false => Cow::Borrowed(batch),
    }
}

/// Readings that were acknowledged, and all that were sent.
fn counts(written: &dyn Written) -> (u64, u64) {
    let (mut acknowledged, mut all) = (0, 0);
    written.for_each(&mut |batch, standing| {
        let readings = batch.len() as u64;
        all += readings;
        if standing == Standing::Acknowledged {
            acknowledged += readings;
        }
    });
    (acknowledged, all)
}

struct Mark {
    hash: u64,
    /// How often it was sent, and how often of those it was acknowledged.
    sent: u32,
    acknowledged: u32,
    seen: u32,
}

async fn compare_one_by_one(
    schema: &Schema,
    written: &dyn Written,
    session: &mut dyn Session,
    ledger: &mut LedgerRecord,
) -> Result<(), StoreError> {
    let mut marks: HashMap<(usize, u32, i64), Mark> = HashMap::new();
    written.for_each(&mut |batch, standing| {
        for row in 0..batch.len() {
            let key = (batch.table, batch.series[row], batch.times_ns[row]);
            let hash = Census::reading_hash(batch, row);
            let mark = marks.entry(key).or_insert(Mark { hash, sent: 0, acknowledged: 0, seen: 0 });
            // The last one stays.
            mark.hash = hash;
            mark.sent += 1;
            mark.acknowledged += u32::from(standing == Standing::Acknowledged);
        }
    });
    if written.replaces() {
        for mark in marks.values_mut() {
            mark.sent = mark.sent.min(1);
            mark.acknowledged = mark.acknowledged.min(1);
        }
    }
    let (mut altered, mut duplicated, mut overdue) = (0_u64, 0_u64, 0_u64);
    for (table, _) in counted(schema, written) {
        let open = written.gone(table);
        session
            .scan(table, &mut |batch| {
                let batch = closed(batch, &open);
                for row in 0..batch.len() {
                    match marks.get_mut(&(table, batch.series[row], batch.times_ns[row])) {
                        None if batch.times_ns[row] < open.start => overdue += 1,
                        None => altered += 1,
                        Some(mark) => {
                            mark.seen += 1;
                            duplicated += u64::from(mark.seen > mark.sent);
                            altered +=
                                u64::from(mark.seen == 1 && mark.hash != Census::reading_hash(&batch, row));
                        }
                    }
                }
            })
            .await?;
    }
    ledger.altered = altered;
    ledger.overdue = overdue;
    ledger.duplicated = duplicated;
    ledger.lost = marks.values().map(|mark| u64::from(mark.acknowledged.saturating_sub(mark.seen))).sum();
    ledger.in_doubt_not_stored = marks
        .values()
        .map(|mark| u64::from(mark.sent.saturating_sub(mark.acknowledged.max(mark.seen))))
        .sum();
    Ok(())
}
