//! The writer's operations: samples as they come off the queue, stamped with the wall clock's time.
//!
//! Individual layouts write each sample by itself and wait for its acknowledgement. Layouts of spans collect
//! the samples of one second of the wall clock and write them as one record. Individual layouts that are written in seconds do the same, with a record each.

use super::SPAN_NS;
use super::parameters::Parameters;
use super::queue::{Queue, Received};
use sensormark_data::machine_tool::{CHANNELS, MachineTool};
use sensormark_data::units::{duration_ns, signed};
use sensormark_engine::intake::Intake;
use sensormark_engine::operations::{Extent, Operations, Slot};
use sensormark_store::{Answer, Batch, ErrorKind, Query, StoreError, TimeResolution, Values};
use serde_json::Value;
use std::time::{SystemTime, UNIX_EPOCH};

/// The first time of an example, in ns since the Unix epoch: 2026-01-01.
const EXAMPLE_START_NS: i64 = 1_767_225_600_000_000_000;
/// Seconds of an example in which a cycle is found.
const EXAMPLE_SECONDS: u64 = 4;
/// Times of the first sample of an example and after its last, in ns since the Unix epoch.
pub const EXAMPLE_NS: (i64, i64) = (EXAMPLE_START_NS, EXAMPLE_START_NS + EXAMPLE_SECONDS as i64 * SPAN_NS);

/// What is written, and how.
#[derive(Debug, Clone)]
pub struct Writes {
    tool: MachineTool,
    classes: [String; 1],
    samples: u64,
    samples_per_second: u64,
    period_ns: u64,
    /// Whether a write is a second's samples, or else one.
    by_second: bool,
    resolution: TimeResolution,
}

impl Writes {
    /// The samples of a run.
    pub fn new(parameters: &Parameters, seed: u64, by_second: bool, resolution: TimeResolution) -> Self {
        Self {
            tool: MachineTool::new(seed),
            classes: ["write".to_owned()],
            samples: parameters.samples(),
            samples_per_second: u64::from(parameters.samples_per_second),
            period_ns: parameters.period_ns(),
            by_second,
            resolution,
        }
    }

    /// How many samples a write has.
    pub const fn samples_per_write(&self) -> u64 {
        if self.by_second { self.samples_per_second } else { 1 }
    }
}

impl Operations for Writes {
    fn len(&self) -> u64 {
        self.samples.div_ceil(self.samples_per_write())
    }

    fn extent(&self) -> Extent {
        Extent::of(self.samples_per_write() as f64)
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    /// An example: the signal from 2026 on.
    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        let batch = slot.write(0);
        let first = index * self.samples_per_write();
        for sequence in first..first + self.samples_per_write() {
            let time_ns = EXAMPLE_START_NS + signed(sequence * self.period_ns);
            push(batch, time_ns, self.tool.sample(sequence));
        }
    }

    fn intake(&self, address: &Value, start_ns: u64) -> Result<Box<dyn Intake>, StoreError> {
        let queue = Queue::writer(address.as_str().unwrap_or_default());
        let queue = queue.map_err(|error| broken("open the queue", &error))?;
        Ok(Box::new(Samples {
            queue,
            by_second: self.by_second,
            step_ns: self.resolution.nanoseconds(),
            last_time_ns: i64::MIN,
            over: false,
            carried: None,
            sequences: Vec::new(),
            start_ns,
            period_ns: self.period_ns,
        }))
    }

    fn fewest_shown(&self) -> u64 {
        let samples = EXAMPLE_SECONDS * self.samples_per_second;
        samples.div_ceil(self.samples_per_write())
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}

/// A sample with the time that it was stamped with.
struct Stamped {
    sequence: u64,
    time_ns: i64,
    values: [u16; CHANNELS],
}

/// Samples as they come off the queue.
struct Samples {
    queue: Queue,
    by_second: bool,
    step_ns: i64,
    last_time_ns: i64,
    /// Whether the end marker has come.
    over: bool,
    /// A sample of the second after the one that was written last.
    carried: Option<Stamped>,
    sequences: Vec<u64>,
    start_ns: u64,
    period_ns: u64,
}

impl Samples {
    /// The next sample; none after the end marker.
    fn next(&mut self) -> Result<Option<Stamped>, StoreError> {
        if let Some(carried) = self.carried.take() {
            return Ok(Some(carried));
        }
        if self.over {
            return Ok(None);
        }
        let received = self.queue.receive();
        match received.map_err(|error| broken("receive a sample", &error))? {
            Received::Reading { sequence, values } => {
                Ok(Some(Stamped { sequence, time_ns: self.stamp(), values }))
            }
            Received::End { .. } => {
                self.over = true;
                Ok(None)
            }
        }
    }

    /// The wall clock's time, cut to the layout's resolution, after every earlier stamp.
    fn stamp(&mut self) -> i64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| signed(duration_ns(since)));
        self.last_time_ns =
            (now - now.rem_euclid(self.step_ns)).max(self.last_time_ns.saturating_add(self.step_ns));
        self.last_time_ns
    }
}

impl Intake for Samples {
    fn take(&mut self, slot: &mut Slot) -> Result<bool, StoreError> {
        let batch = slot.write(0);
        self.sequences.clear();
        while let Some(sample) = self.next()? {
            let second = |time_ns: i64| time_ns.div_euclid(SPAN_NS);
            let first = batch.times_ns.first().copied();
            if first.is_some_and(|first| second(first) != second(sample.time_ns)) {
                self.carried = Some(sample);
                break;
            }
            self.sequences.push(sample.sequence);
            push(batch, sample.time_ns, sample.values);
            if !self.by_second {
                break;
            }
        }
        Ok(!batch.is_empty())
    }

    fn sequences(&self) -> &[u64] {
        &self.sequences
    }

    fn due_ns(&self, sequence: u64) -> u64 {
        self.start_ns + sequence * self.period_ns
    }
}

/// Appends a sample.
pub fn push(batch: &mut Batch, time_ns: i64, values: [u16; CHANNELS]) {
    batch.times_ns.push(time_ns);
    batch.series.push(0);
    for (column, value) in batch.columns.iter_mut().zip(values) {
        if let Values::U16(values) = &mut column.values {
            values.push(value);
        }
    }
}

fn broken(operation: &str, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::new(ErrorKind::Configuration, operation.to_owned(), error.to_string())
}
