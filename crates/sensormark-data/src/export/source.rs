//! What can be exported: a schema, and readings in batches, all of them or a shard's.
//!
//! How a batch is written is not known here.

use std::ops::Range;
use std::sync::Arc;

use sensormark_store::{Batch, FieldType, Schema, Values};

use super::shard::Shard;
use crate::machine_tool::{self, CHANNELS, MachineTool, SAMPLE_PERIOD_NS};
use crate::recording::Recording;

/// Readings in a batch that is made for writing.
const BATCH: usize = 4_096;

/// A data set that can be exported.
pub trait DataSet {
    /// What the readings look like, all series included.
    fn schema(&self) -> &Arc<Schema>;

    /// The readings of a shard's series, in the data set's order, from the first on. Opened twice, they are the same.
    fn batches(&self, shard: Shard) -> Box<dyn Batches + '_>;
}

/// Readings, one batch after the other.
pub trait Batches {
    /// The next batch, as long as there is one; its memory is used again for the one after.
    fn next(&mut self) -> Option<&Batch>;
}

/// A stretch of the machine tool's signal, sampled exactly each millisecond, or at another distance. (In a run the writer stamps samples as
/// they come; a file has no such clock.)
#[derive(Debug, Clone)]
pub struct MachineToolSamples {
    schema: Arc<Schema>,
    machine: MachineTool,
    start_ns: i64,
    period_ns: u64,
    samples: u64,
}

impl MachineToolSamples {
    /// Samples 0 to `samples` of a seed's signal, the first at `start_ns` (ns since the Unix epoch), in the workload's table.
    ///
    /// # Panics
    /// When there are more samples than the signal has, the last would be after 2262, or the table is not one of five 16-bit channels.
    pub fn new(schema: Schema, seed: u64, start_ns: i64, samples: u64) -> Self {
        let channels = schema.tables[0].fields.iter().map(|field| field.kind);
        assert!(channels.eq([FieldType::U16; CHANNELS]), "the machine tool has five channels of 16 bits");
        assert!(samples <= machine_tool::INDEX_LIMIT, "the signal has 2^44 samples");
        let samples = Self {
            schema: Arc::new(schema),
            machine: MachineTool::new(seed),
            start_ns,
            period_ns: SAMPLE_PERIOD_NS,
            samples,
        };
        samples.every(SAMPLE_PERIOD_NS)
    }

    /// The same samples at another distance in time.
    ///
    /// # Panics
    /// When the last would be after 2262.
    #[must_use]
    pub fn every(self, period_ns: u64) -> Self {
        let length_ns = self.samples.checked_mul(period_ns);
        let end_ns = length_ns.and_then(|length| self.start_ns.checked_add_unsigned(length));
        assert!(end_ns.is_some(), "times end in 2262");
        Self { period_ns, ..self }
    }
}

impl DataSet for MachineToolSamples {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn batches(&self, shard: Shard) -> Box<dyn Batches + '_> {
        let is_ours = !shard.series(1).is_empty();
        Box::new(SampleBatches {
            samples: self,
            next: if is_ours { 0 } else { self.samples },
            batch: Batch::new(0, &self.schema.tables[0]),
        })
    }
}

struct SampleBatches<'d> {
    samples: &'d MachineToolSamples,
    next: u64,
    batch: Batch,
}

impl Batches for SampleBatches<'_> {
    fn next(&mut self) -> Option<&Batch> {
        let left = self.samples.samples - self.next;
        let length = usize::try_from(left).map_or(BATCH, |left| left.min(BATCH));
        if length == 0 {
            return None;
        }
        let after = self.next + length as u64;
        let time = |index: u64| {
            // Within bounds: checked when the data set was made.
            self.samples.start_ns.wrapping_add_unsigned(index * self.samples.period_ns)
        };
        self.batch.times_ns.clear();
        self.batch.times_ns.extend((self.next..after).map(time));
        self.batch.series.resize(length, 0);
        for (channel, column) in self.batch.columns.iter_mut().enumerate() {
            if let Values::U16(values) = &mut column.values {
                values.resize(length, 0);
                self.samples.machine.fill_channel(self.next, channel, values);
            }
        }
        self.next = after;
        Some(&self.batch)
    }
}

/// A recording, in the file's order.
#[derive(Debug, Clone, Copy)]
pub struct RecordedReadings<'r>(pub &'r Recording);

impl DataSet for RecordedReadings<'_> {
    fn schema(&self) -> &Arc<Schema> {
        self.0.schema()
    }

    fn batches(&self, shard: Shard) -> Box<dyn Batches + '_> {
        Box::new(RecordedBatches {
            recording: self.0,
            series: shard.series(self.schema().tables[0].series.len()),
            next: 0,
            batch: None,
        })
    }
}

struct RecordedBatches<'r> {
    recording: &'r Recording,
    series: Range<u32>,
    next: usize,
    batch: Option<Batch>,
}

impl Batches for RecordedBatches<'_> {
    fn next(&mut self) -> Option<&Batch> {
        let readings = self.recording.readings();
        if self.next == readings.len() {
            return None;
        }
        let after = (self.next + BATCH).min(readings.len());
        let rows = self.next..after;
        self.next = after;
        let batch = if readings.series[rows.clone()].iter().all(|series| self.series.contains(series)) {
            self.recording.slice(rows)
        } else {
            let mut ours = Batch::new(0, &self.schema().tables[0]);
            for row in rows.filter(|&row| self.series.contains(&readings.series[row])) {
                ours.push_row(readings, row);
            }
            ours
        };
        Some(self.batch.insert(batch))
    }
}

impl RecordedBatches<'_> {
    fn schema(&self) -> &Schema {
        self.recording.schema()
    }
}
