//! What a load wrote, which the ledger compares with the database. It is derived from the operations and from what became of them, never from a database.

use super::entities::Entities;
use super::operations::{Operations, Request, Slot};
use super::outcome::LoadOutcome;
use super::tally::Exception;
use super::work_distribution::Issued;
use sensormark_result::ledger::journal::Standing;
use sensormark_result::ledger::reconcile::Written;
use sensormark_store::{Batch, Schema};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many readings are handed over at a time, at least, where operations write few.
const CHUNK: usize = 10_000;

/// Everything that some loads have written.
#[derive(Default)]
pub struct WrittenLoads {
    loads: Vec<WrittenLoad>,
    /// What loads have written that were fed.
    fed: Vec<Box<dyn Written>>,
    replaces: bool,
}

struct WrittenLoad {
    operations: Arc<dyn Operations>,
    schema: Arc<Schema>,
    issued: Issued,
    exceptions: BTreeMap<u64, Exception>,
    /// What an operation without exception is.
    usual: Standing,
}

impl WrittenLoads {
    /// Adds what a load has written. Where the database acknowledges nothing (`acknowledges` is false), all of it is in doubt.
    pub fn add(
        &mut self,
        operations: Arc<dyn Operations>,
        schema: Arc<Schema>,
        outcome: &LoadOutcome,
        acknowledges: bool,
    ) {
        let exceptions = outcome.exceptions.iter();
        self.loads.push(WrittenLoad {
            operations,
            schema,
            issued: outcome.issued.clone(),
            exceptions: exceptions.map(|one| (one.index, *one)).collect(),
            usual: if acknowledges { Standing::Acknowledged } else { Standing::InDoubt },
        });
    }

    /// Adds what a load has written that was fed.
    pub fn add_fed(&mut self, written: Box<dyn Written>) {
        self.fed.push(written);
    }

    /// Says that the database keeps one of several readings of one series and time.
    #[must_use]
    pub const fn replacing(mut self, replaces: bool) -> Self {
        self.replaces = replaces;
        self
    }

    /// The entities as upserts have left them.
    pub fn entities(&self) -> Entities {
        let mut entities = Entities::default();
        for load in &self.loads {
            load.add_entities(&mut entities);
        }
        entities
    }

    /// Whether nothing was written.
    pub const fn is_empty(&self) -> bool {
        self.loads.is_empty()
    }
}

impl Written for WrittenLoads {
    fn for_each(&self, sink: &mut dyn FnMut(&Batch, Standing)) {
        for load in &self.loads {
            load.for_each(false, sink);
        }
        for fed in &self.fed {
            fed.for_each(sink);
        }
    }

    fn for_each_kept(&self, sink: &mut dyn FnMut(&Batch, Standing)) {
        for load in &self.loads {
            load.for_each(self.replaces, sink);
        }
        for fed in &self.fed {
            fed.for_each_kept(sink);
        }
    }

    fn replaces(&self) -> bool {
        self.replaces
    }
}

impl WrittenLoad {
    fn add_entities(&self, entities: &mut Entities) {
        let mut slot = Slot::new(&self.schema);
        if self.schema.tables.iter().all(|table| table.entity.is_none()) {
            return;
        }
        for index in self.issued.iter() {
            self.operations.fill(index, u64::MAX, &mut slot);
            let Request::Upsert(table, _) = slot.request() else {
                continue;
            };
            let acknowledged = self.usual == Standing::Acknowledged && !self.exceptions.contains_key(&index);
            if let Some(batch) = slot.batch() {
                for (&series, &time_ns) in batch.series.iter().zip(&batch.times_ns) {
                    entities.add((table, series), time_ns, slot.entity(), acknowledged);
                }
            }
        }
    }

    /// Hands over what was sent or, of operations that were acknowledged as a whole, what is kept of it.
    fn for_each(&self, kept: bool, sink: &mut dyn FnMut(&Batch, Standing)) {
        let mut slot = Slot::new(&self.schema);
        let tables = self.schema.tables.iter().enumerate();
        let mut chunks: Vec<Batch> = tables.map(|(number, table)| Batch::new(number, table)).collect();
        for index in self.issued.iter() {
            if kept && !self.exceptions.contains_key(&index) {
                self.operations.fill_kept(index, &mut slot);
            } else {
                self.operations.fill(index, u64::MAX, &mut slot);
            }
            let Some(batch) = slot.batch() else { continue };
            if let Some(exception) = self.exceptions.get(&index) {
                split(batch, exception, sink);
            } else if batch.len() >= CHUNK / 10 {
                sink(batch, self.usual);
            } else {
                let chunk = &mut chunks[batch.table];
                for row in 0..batch.len() {
                    chunk.push_row(batch, row);
                }
                if chunk.len() >= CHUNK {
                    sink(chunk, self.usual);
                    chunk.clear();
                }
            }
        }
        for chunk in chunks.iter().filter(|chunk| !chunk.is_empty()) {
            sink(chunk, self.usual);
        }
    }
}

/// Hands over the acknowledged beginning of a batch, and the rest where it may be stored.
fn split(batch: &Batch, exception: &Exception, sink: &mut dyn FnMut(&Batch, Standing)) {
    let acknowledged =
        usize::try_from(exception.acknowledged).map_or(batch.len(), |count| count.min(batch.len()));
    let part = |rows: std::ops::Range<usize>| {
        let mut part = batch.clone();
        part.clear();
        for row in rows {
            part.push_row(batch, row);
        }
        part
    };
    if acknowledged > 0 {
        sink(&part(0..acknowledged), Standing::Acknowledged);
    }
    let others = Standing::from(exception.others);
    if acknowledged < batch.len() && others != Standing::Refused {
        sink(&part(acknowledged..batch.len()), others);
    }
}
