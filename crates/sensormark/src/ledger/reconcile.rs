//! Comparing what was written with what is stored.
//!
//! First by census, which is exact when everything is as it should be and needs no memory; only when counts or checksums
//! differ are readings compared one by one, to say how many were lost, duplicated or altered.

use crate::ledger::journal::Standing;
use crate::measurement::record::LedgerRecord;
use sensormark_store::{Batch, Census, Schema, Session, StoreError};
use std::collections::HashMap;

/// Where the readings that were written come from: a generator together with a journal or acknowledged counts.
pub trait Written {
    /// Every reading that was attempted and not refused, in batches, with its standing. Called more than once.
    fn for_each(&self, sink: &mut dyn FnMut(&Batch, Standing));
}

/// Counts what is stored and compares it with what was written; fills in the counts from `stored` on, and
/// `acknowledged` and `in_doubt`.
///
/// # Errors
/// When the database cannot be read.
pub async fn reconcile(
    schema: &Schema,
    written: &dyn Written,
    session: &mut dyn Session,
    ledger: &mut LedgerRecord,
) -> Result<(), StoreError> {
    let (mut acknowledged, mut everything) = (Census::new(schema), Census::new(schema));
    written.for_each(&mut |batch, standing| {
        everything.add(batch);
        if standing == Standing::Acknowledged {
            acknowledged.add(batch);
        }
    });
    let mut stored = Census::new(schema);
    let mut strangers = 0_u64;
    for (table, description) in schema.tables.iter().enumerate() {
        session
            .scan(table, &mut |batch| match batch.check(description, false) {
                Ok(()) => stored.add(batch),
                Err(_) => strangers += batch.len() as u64,
            })
            .await?;
    }
    ledger.acknowledged = acknowledged.readings();
    ledger.in_doubt = everything.readings() - acknowledged.readings();
    ledger.stored = stored.readings() + strangers;
    ledger.checksum = format!("{:016x}", stored.checksum());
    ledger.expected_checksum = format!("{:016x}", everything.checksum());
    if strangers == 0 && (stored == everything || stored == acknowledged) {
        ledger.in_doubt_not_stored = everything.readings() - stored.readings();
        return Ok(());
    }
    compare_one_by_one(schema, written, session, ledger).await
}

struct Mark {
    hash: u64,
    acknowledged: bool,
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
            let mark = Mark {
                hash: Census::reading_hash(batch, row),
                acknowledged: standing == Standing::Acknowledged,
                seen: 0,
            };
            marks.insert((batch.table, batch.series[row], batch.times_ns[row]), mark);
        }
    });
    let (mut altered, mut duplicated) = (0_u64, 0_u64);
    for table in 0..schema.tables.len() {
        session
            .scan(table, &mut |batch| {
                for row in 0..batch.len() {
                    match marks.get_mut(&(table, batch.series[row], batch.times_ns[row])) {
                        None => altered += 1,
                        Some(mark) => {
                            mark.seen += 1;
                            duplicated += u64::from(mark.seen > 1);
                            altered += u64::from(
                                mark.seen == 1 && mark.hash != Census::reading_hash(batch, row),
                            );
                        }
                    }
                }
            })
            .await?;
    }
    ledger.altered = altered;
    ledger.duplicated = duplicated;
    ledger.lost = marks
        .values()
        .filter(|mark| mark.acknowledged && mark.seen == 0)
        .count() as u64;
    ledger.in_doubt_not_stored = marks
        .values()
        .filter(|mark| !mark.acknowledged && mark.seen == 0)
        .count() as u64;
    Ok(())
}
