//! Writing: which command carries a batch, and how the documents in it are encoded.
//!
//! A command is encoded straight from the batch's columns and sent once; nothing is tried again. The server gives documents their `_id`. What an answer means
//! for the batch is worked out here. The kinds of writes have their own modules:
//!
//! - [`rows`]: documents of single readings and of spans
//! - [`by_series`]: writes to time-series collections
//! - [`bucket`]: documents that hold buckets
//! - [`growing`]: growing documents
//! - [`entity`]: documents of entities

mod bucket;
mod by_series;
pub(crate) mod command;
mod entity;
mod growing;
mod rows;

use self::bucket::Filling;
use self::command::{LARGEST_COMMAND, OPERATION, Prepared, Writer, refusal};
use crate::schema::{Fields, MEASUREMENT, PhysicalTable};
use crate::wire::Writer as Wire;
use mongodb::options::Acknowledgment;
use sensormark_store::{
    Acknowledgement, Batch, Durability, FieldType, Layout, Limits, Shape, StoreError, Table, WriteMethod,
};
use std::ops::Range;

/// The size that a command of readings of the usual size is planned for.
const PLANNED_COMMAND: usize = 8 << 20;
/// The most documents that the server takes in one command.
const MOST_DOCUMENTS: usize = 100_000;
/// Readings in one command where they are appended to documents that are there.
const MOST_UPDATES: usize = 10_000;

/// The largest statements with a layout and a table.
pub(crate) fn limits(layout: &Layout, table: &Table) -> Limits {
    let planned = (PLANNED_COMMAND / reading_bytes(layout, table)).clamp(1, MOST_DOCUMENTS);
    let readings_per_statement = match layout.shape {
        Shape::Bucketed { .. } | Shape::GrowingArray => planned.min(MOST_UPDATES),
        Shape::NativeTimeSeries => by_series::MOST,
        _ => planned,
    };
    Limits { readings_per_statement }
}

/// About how many bytes a reading takes on the wire, rather too many: asked for each write, so no tag is looked at.
fn reading_bytes(layout: &Layout, table: &Table) -> usize {
    let tags: usize = table.tags.iter().map(|tag| tag.name.len() + 40).sum();
    let fields: usize = table
        .fields
        .iter()
        .map(|field| {
            field.name.len()
                + match field.kind {
                    FieldType::Text => 60,
                    _ => 10,
                }
        })
        .sum();
    let shared = match layout.shape {
        Shape::RowPerReading | Shape::NativeTimeSeries => tags,
        _ => 0,
    };
    60 + shared + fields
}

impl Writer<'_> {
    /// Writes a batch, split where the limits say and where a command gets too large.
    pub(crate) async fn write(&self, batch: &Batch) -> Result<Acknowledgement, StoreError> {
        let (table, kept) = self.physical.table(batch.table)?;
        if kept.shape == Shape::NativeTimeSeries {
            return self.write_by_series(kept, batch).await;
        }
        let most = limits(&self.physical.layout, table).readings_per_statement;
        let mut done = Acknowledgement::default();
        let mut start = 0;
        while start < batch.len() {
            let rows = start..batch.len().min(start.saturating_add(most));
            let prepared = self
                .prepare(table, kept, batch, rows, true)
                .map_err(|error| error.after_acknowledging(done.readings))?;
            let sent = prepared.readings;
            self.send(prepared).await.map_err(|error| later(error, done.readings))?;
            start += sent;
            done.sent += sent as u64;
            done.statements += 1;
            if self.durability != Durability::Unacknowledged {
                done.readings += sent as u64;
            }
        }
        Ok(done)
    }

    /// The command for as many of these rows as fit into one; `concern` where it stands outside a transaction.
    fn prepare(
        &self,
        table: &Table,
        kept: &PhysicalTable,
        batch: &Batch,
        rows: Range<usize>,
        concern: bool,
    ) -> Result<Prepared, StoreError> {
        let prepared = match kept.shape {
            Shape::RecordPerSpan { span_ns, .. } => self.spans(kept, batch, rows, span_ns, concern)?,
            Shape::Bucketed { limit, .. } => {
                let filling = match self.physical.layout.write {
                    WriteMethod::FastPath => Filling::Ready,
                    _ => Filling::Upsert,
                };
                self.buckets(kept, batch, rows, (limit, filling), concern)?
            }
            Shape::GrowingArray => self.growth(table, kept, batch, rows, concern)?,
            _ => self.rows(kept, batch, rows, LARGEST_COMMAND, concern)?,
        };
        prepared.map_err(StoreError::from)
    }

    async fn send(&self, prepared: Prepared) -> Result<(), StoreError> {
        let answer = match self.silent {
            Some(silent) => {
                self.link.kept.note(&prepared.command);
                return silent.lock().await.send(&prepared.command).await;
            }
            None => self.link.run(OPERATION, prepared.command).await?,
        };
        let Some((failed, error)) = refusal(OPERATION, &answer) else {
            return Ok(());
        };
        // documents before the one that failed are stored
        let readings = match (failed, prepared.covered.as_slice()) {
            (Some(failed), []) => failed,
            (Some(0), _) => 0,
            (Some(failed), covered) => covered.get(failed - 1).copied().unwrap_or(0),
            (None, _) => 0,
        };
        // an unordered insert goes on behind it: those documents are stored too, and are not counted
        let stored = usize::try_from(answer.get_i32("n").unwrap_or(0)).unwrap_or(0);
        let error = if failed.is_some_and(|failed| stored > failed) { error.with_doubt(true) } else { error };
        Err(error.after_acknowledging(readings as u64))
    }

    /// Begins a command; its documents are to be the array that follows. In a transaction it states no concern of its own.
    fn head(&self, command: &str, collection: &str, concern: bool, capacity: usize) -> Wire {
        let mut wire = Wire::document(capacity);
        wire.string(command, collection);
        let Layout { write, shape, .. } = self.physical.layout;
        let ordered = write != WriteMethod::FastPath && shape != Shape::NativeTimeSeries;
        wire.boolean("ordered", ordered);
        if concern {
            wire.int64("maxTimeMS", self.link.max_time_ms());
            wire.open("writeConcern");
            match (self.durability, &self.link.consistency.acknowledgment) {
                (Durability::Unacknowledged, _) => wire.int32("w", 0),
                (_, Acknowledgment::Majority) => wire.string("w", "majority"),
                (_, Acknowledgment::Custom(name)) => wire.string("w", name),
                (_, Acknowledgment::Nodes(members)) => {
                    wire.int32("w", i32::try_from(*members).unwrap_or(i32::MAX));
                }
                _ => wire.int32("w", 1),
            }
            match self.durability {
                Durability::Durable => wire.boolean("j", true),
                Durability::Relaxed => wire.boolean("j", false),
                Durability::Default | Durability::Unacknowledged => {}
            }
            wire.close();
        }
        wire
    }
}

/// An error after this many readings were acknowledged by earlier commands.
fn later(error: StoreError, before: u64) -> StoreError {
    let acknowledged = error.acknowledged() + before;
    error.after_acknowledging(acknowledged)
}

impl PhysicalTable {
    /// A reading's values.
    fn values(&self, wire: &mut Wire, batch: &Batch, row: usize) {
        let named = |wire: &mut Wire, names: &[String]| {
            for (name, column) in names.iter().zip(&batch.columns) {
                if column.has(row) {
                    wire.cell(name, &column.values, row);
                }
            }
        };
        match &self.fields {
            Fields::Beside(names) => named(wire, names),
            Fields::Under(under, names) => {
                wire.open(under);
                named(wire, names);
                wire.close();
            }
            Fields::Array(name) => {
                wire.open_array(name);
                for (place, column) in batch.columns.iter().enumerate() {
                    wire.cell(place, &column.values, row);
                }
                wire.close();
            }
        }
    }

    /// A reading inside a document that holds several.
    fn inner_reading(&self, wire: &mut Wire, place: usize, batch: &Batch, row: usize) {
        wire.open(place);
        wire.time(&self.inner_time, batch.times_ns[row], self.date);
        self.values(wire, batch, row);
        wire.close();
    }

    /// A document of one reading.
    fn document(&self, wire: &mut Wire, place: usize, batch: &Batch, row: usize) {
        wire.open(place);
        if let Some(measurement) = &self.measurement {
            wire.string(MEASUREMENT, measurement);
            wire.elements(self.roster.elements(batch.series[row]));
            self.values(wire, batch, row);
            wire.time(&self.time, batch.times_ns[row], self.date);
        } else {
            wire.time(&self.time, batch.times_ns[row], self.date);
            wire.elements(self.roster.elements(batch.series[row]));
            self.values(wire, batch, row);
        }
        wire.close();
    }
}
