//! Writing: a prepared insert for one row, unlogged batches by partition for many (the encoder `partitions`), several of them on their way at once; an entity with its
//! reading in one logged batch (`logged`), or alone in an unlogged one (`unlogged`); and rows one by one (`each`).
//!
//! A bucket of a series is noted before its first reading is sent, so that readers know where to look. Of readings of the same series and time in one call the last is
//! sent alone: statements of one batch share a timestamp, and the larger value would win.

use super::error::{known, without_doubt};
use super::text::{Buckets, Slot};
use super::value::{Bound, Slots};
use super::{Cql, Link, PIPELINE, Plan};
use crate::{Cell, Fault, Rows, Source};
use futures_util::stream::{StreamExt, TryStreamExt, iter};
use scylla::statement::batch::{Batch, BatchStatement, BatchType};
use sensormark_store::{ErrorKind, FieldType, StoreError, Values};
use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

/// Readings in one batch statement.
const READINGS: usize = 1_000;
/// Estimated bytes in one batch statement: our own servers take 16 MiB, those of others fail at 50 KiB unless they are configured otherwise.
const BYTES: usize = 1 << 20;
const BYTES_ELSEWHERE: usize = 24 << 10;
/// The largest row in bytes: half of a commit log segment of 32 MiB is the largest mutation.
const LARGEST_ROW: usize = 15 << 20;
/// Bytes of a record's name: when, and at random.
const NAME: usize = 16;

/// Microseconds since the Unix epoch.
fn micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// A name for a record that no other has.
fn name() -> [[u8; 8]; 2] {
    [micros().to_be_bytes(), RandomState::new().hash_one(0).to_be_bytes()]
}

/// One row on its way.
struct Line<'a> {
    rows: &'a Rows<'a>,
    row: usize,
    bucket: i64,
    /// A record's name, then the record.
    record: Vec<u8>,
}

impl Slots for Line<'_> {
    #[inline]
    fn cell(&self, slot: Slot) -> Cell<'_> {
        match slot {
            Slot::Given(number, _) => match self.rows.sources[number] {
                Source::Packed | Source::Json => Cell::Bytes(&self.record[NAME..]),
                _ => self.rows.cell(self.row, number),
            },
            Slot::Bucket => Cell::I64(self.bucket),
            Slot::Series => Cell::I64(self.rows.series(self.row).into()),
            Slot::Name => Cell::Bytes(&self.record[..NAME]),
            Slot::Back => Cell::I64(-micros()),
            _ => Cell::Null,
        }
    }
}

/// One statement: its lines, all of one partition, and the batch's readings that are stored with them, those included that a later one replaces.
struct Chunk<'a> {
    lines: Vec<Line<'a>>,
    readings: Vec<usize>,
    bytes: usize,
}

fn too_large(what: &str, bytes: usize) -> Fault {
    let text = format!(
        "{what} takes {bytes} bytes, and Cassandra takes {LARGEST_ROW} at most (half a commit log segment); store less in one"
    );
    known(ErrorKind::TooLarge, text, false)
}

/// A block on its way.
pub(super) struct Writing<'a> {
    pub(super) link: &'a Link,
    pub(super) plan: &'a Plan,
    pub(super) rows: &'a Rows<'a>,
    pub(super) is_managed: bool,
}

impl<'a> Writing<'a> {
    /// Writes it by this encoder; how many statements carried it.
    pub(super) async fn write(&self, encoder: &str) -> Result<u64, Fault> {
        match encoder {
            "each" => self.each().await,
            "logged" => self.together(BatchType::Logged).await,
            "unlogged" => self.together(BatchType::Unlogged).await,
            _ => {
                let chunks = self.chunks()?;
                let first = |chunk: &Chunk<'_>| (self.rows.series(chunk.lines[0].row), chunk.lines[0].bucket);
                let partitions = chunks.chunk_by(|one, other| first(one) == first(other));
                let note = |of_one: &[Chunk<'_>]| {
                    self.note_bucket(of_one[0].lines[0].row, of_one[0].lines[0].bucket)
                };
                iter(partitions).map(note).buffer_unordered(PIPELINE).try_collect::<()>().await?;
                self.send(&chunks).await
            }
        }
    }

    fn line(&self, row: usize, bucket: i64) -> Result<Line<'a>, StoreError> {
        let document = |source: &&Source| matches!(source, Source::Packed | Source::Json);
        let mut record = Vec::new();
        if self.rows.record(row).is_some()
            && let Some(&source) = self.rows.sources.iter().find(document)
        {
            record.extend_from_slice(name().as_flattened());
            self.rows.document(row, source, &mut record)?;
        }
        Ok(Line { rows: self.rows, row, bucket, record })
    }

    /// Every statement for every row.
    async fn each(&self) -> Result<u64, Fault> {
        for cql in &self.plan.statements {
            let write = async |row: usize| self.link.execute(cql, &self.line(row, 0)?).await;
            iter(0..self.rows.len()).map(write).buffer_unordered(PIPELINE).try_collect::<()>().await?;
        }
        Ok(1)
    }

    /// Sends lines as one batch, each by its statement.
    async fn batch(&self, kind: BatchType, cqls: &[&Cql], lines: &[Line<'_>]) -> Result<(), Fault> {
        let text = || {
            let mut texts: Vec<&str> = cqls.iter().map(|cql| cql.text.as_str()).collect();
            texts.dedup();
            let word = if kind == BatchType::Unlogged { "UNLOGGED " } else { "" };
            format!("BEGIN {word}BATCH {}; APPLY BATCH /* of {} */", texts.join("; "), lines.len())
        };
        if let (Some(cql), Some(first)) = (cqls.first(), lines.first()) {
            self.link.note(text, &cql.slots, first);
        }
        let statement = |cql: &Cql| BatchStatement::PreparedStatement(cql.prepared.clone());
        let batch = Batch::new_with_statements(kind, cqls.iter().map(|cql| statement(cql)).collect());
        let values: Vec<_> = cqls.iter().zip(lines).map(|(cql, line)| Bound(&cql.slots, line)).collect();
        let sent = self.link.session.batch(&batch, &values).await;
        sent.map(drop).map_err(super::execution)
    }

    /// An entity, and with it what else the text says.
    async fn together(&self, kind: BatchType) -> Result<u64, Fault> {
        let key = self.key(self.key_slot(), 0);
        let bucket = self.plan.clauses.buckets.as_ref().map_or(0, |buckets| buckets.of(key));
        let series = self.rows.series(0);
        self.note_bucket(0, bucket).await?;
        let once = self.plan.once.iter().filter(|once| !once.done.borrow().contains(&(series, 0)));
        let cqls: Vec<&Cql> = once.chain(&self.plan.statements).map(|cql| &**cql).collect();
        let lines: Result<Vec<Line<'_>>, StoreError> = cqls.iter().map(|_| self.line(0, bucket)).collect();
        self.batch(kind, &cqls, &lines?).await?;
        if let Some(once) = &self.plan.once {
            once.done.borrow_mut().insert((series, 0));
        }
        Ok(1)
    }

    /// The slot of the key in a partition: a time or a span.
    fn key_slot(&self) -> Option<usize> {
        let at = |is_key: fn(&Source) -> bool| self.rows.sources.iter().position(is_key);
        at(|source| *source == Source::Span).or_else(|| at(|source| matches!(source, Source::Time(_))))
    }

    /// A row's key.
    fn key(&self, slot: Option<usize>, row: usize) -> i64 {
        match slot.map(|slot| self.rows.cell(row, slot)) {
            Some(Cell::I64(key)) => key,
            _ => 0,
        }
    }

    /// About as many bytes as a reading takes in a statement and in the server's own measure of a batch.
    fn estimate(&self, reading: usize) -> usize {
        let columns = self.rows.batch.columns.iter();
        let values = columns.map(|column| match &column.values {
            Values::Text(values) => 16 + values.get(reading).len(),
            other => match other.kind() {
                FieldType::Bool => 13,
                FieldType::U16 => 16,
                _ => 20,
            },
        });
        values.sum::<usize>() + 40
    }

    /// The statements that the block becomes.
    fn chunks(&self) -> Result<Vec<Chunk<'a>>, Fault> {
        let whole = Buckets { key_ns: 0, ..Buckets::default() };
        let buckets = self.plan.clauses.buckets.as_ref().unwrap_or(&whole);
        let most = if self.is_managed { BYTES } else { BYTES_ELSEWHERE };
        let slot = self.key_slot();
        let place = |row: usize| {
            let key = self.key(slot, row);
            (self.rows.series(row), buckets.of(key), key, row)
        };
        let mut places: Vec<_> = (0..self.rows.len()).map(place).collect();
        if !places.is_sorted() {
            places.sort_unstable();
        }
        let mut chunks: Vec<Chunk<'a>> = Vec::new();
        let (mut partition, mut readings) = (None, Vec::new());
        for (index, &(series, bucket, key, row)) in places.iter().enumerate() {
            let record = self.rows.record(row);
            match &record {
                Some(record) => readings.extend(record.rows()),
                None => readings.push(self.rows.reading(row)),
            }
            let next = places.get(index + 1);
            if record.is_none() && next.is_some_and(|next| (next.0, next.2) == (series, key)) {
                continue; // a later reading of the same series and time takes its place
            }
            let line = self.line(row, bucket)?;
            let (what, bytes) = match record {
                Some(_) => ("a record", line.record.len() - NAME),
                None => ("a reading", self.estimate(self.rows.reading(row))),
            };
            if bytes > LARGEST_ROW {
                return Err(too_large(what, bytes));
            }
            let same = partition.replace((series, bucket)) == Some((series, bucket)) && record.is_none();
            match chunks.last_mut() {
                Some(chunk) if same && chunk.lines.len() < READINGS && chunk.bytes + bytes <= most => {
                    chunk.lines.push(line);
                    chunk.readings.append(&mut readings);
                    chunk.bytes += bytes;
                }
                _ => chunks.push(Chunk { lines: vec![line], readings: std::mem::take(&mut readings), bytes }),
            }
        }
        Ok(chunks)
    }

    /// Notes the bucket of a row, unless this session has noted it.
    async fn note_bucket(&self, row: usize, bucket: i64) -> Result<(), Fault> {
        let place = (self.rows.series(row), bucket);
        let new = self.plan.look.as_ref().filter(|look| !look.done.borrow().contains(&place));
        let Some(look) = new else { return Ok(()) };
        let line = Line { rows: self.rows, row, bucket, record: Vec::new() };
        // no reading was sent yet, so none may be stored
        self.link.execute(look, &line).await.map_err(without_doubt)?;
        look.done.borrow_mut().insert(place);
        Ok(())
    }

    /// Sends statements, several at once; after a failure those on their way are waited for and no more are sent.
    async fn send(&self, chunks: &[Chunk<'_>]) -> Result<u64, Fault> {
        let has_failed = std::cell::Cell::new(false);
        let one = async |chunk: usize| {
            let sent = if has_failed.get() { None } else { Some(self.send_one(&chunks[chunk]).await) };
            has_failed.set(has_failed.get() || matches!(sent, Some(Err(_))));
            (chunk, sent)
        };
        let mut sent = iter(0..chunks.len()).map(one).buffer_unordered(PIPELINE);
        let (mut done, mut failures) = (vec![false; chunks.len()], Vec::new());
        while let Some((chunk, sent)) = sent.next().await {
            done[chunk] = matches!(sent, Some(Ok(())));
            failures.extend(sent.and_then(Result::err));
        }
        let several = failures.len() > 1;
        match failures.into_iter().next() {
            None => Ok(chunks.len() as u64),
            Some(fault) => Err(account(fault, several, chunks, &done)),
        }
    }

    async fn send_one(&self, chunk: &Chunk<'_>) -> Result<(), Fault> {
        let cql = &self.plan.statements[0];
        match &chunk.lines[..] {
            [line] => self.link.execute(cql, line).await,
            lines => self.batch(BatchType::Unlogged, &vec![&**cql; lines.len()], lines).await,
        }
    }
}

/// What a failure leaves of a block: what is stored from its start is acknowledged, and anything stored behind that is in doubt.
fn account(fault: Fault, several: bool, chunks: &[Chunk<'_>], done: &[bool]) -> Fault {
    let first = chunks.iter().flat_map(|chunk| &chunk.readings).min().copied().unwrap_or_default();
    let mut stored = vec![false; chunks.iter().map(|chunk| chunk.readings.len()).sum()];
    let sent = chunks.iter().zip(done).filter(|(_, done)| **done);
    sent.flat_map(|(chunk, _)| &chunk.readings).for_each(|&reading| stored[reading - first] = true);
    let prefix = stored.iter().take_while(|stored| **stored).count();
    let goes_on = several || stored[prefix..].contains(&true);
    Fault::Partly { fault: Box::new(fault), acknowledged: prefix as u64, goes_on }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is acknowledged and in doubt, where statements of these readings are done or not.
    fn after(readings: &[&[usize]], done: &[bool]) -> (u64, bool) {
        let chunk = |readings: &&[usize]| Chunk { lines: Vec::new(), readings: readings.to_vec(), bytes: 0 };
        let chunks: Vec<Chunk<'_>> = readings.iter().map(chunk).collect();
        let refused = known(ErrorKind::Rejected, "the server does not want it", false);
        match account(refused, false, &chunks, done) {
            Fault::Partly { acknowledged, goes_on, .. } => (acknowledged, goes_on),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_stored_behind_a_refusal_is_in_doubt() {
        assert_eq!(after(&[&[0], &[1], &[2]], &[true, false, false]), (1, false));
        assert_eq!(after(&[&[0], &[1], &[2]], &[true, false, true]), (1, true));
    }

    #[test]
    fn a_reading_that_a_later_one_replaces_is_acknowledged_with_it() {
        assert_eq!(after(&[&[0, 1], &[2]], &[true, false]), (2, false));
    }

    #[test]
    fn readings_are_counted_from_the_first_of_a_part() {
        assert_eq!(after(&[&[7, 8], &[9]], &[true, false]), (2, false));
    }

    #[test]
    fn no_two_records_have_one_name() {
        assert_ne!(name(), name());
    }
}
