//! What clients issue: statements that write, and questions about what they wrote.

use super::Operation;
use sensormark_data::random::Stream;
use sensormark_data::sensor_operations::SensorReadings;
use sensormark_engine::operations::{Extent, Operations, Slot};
use sensormark_store::{Answer, Ask, Batch, FieldSet, Query, Selection, Table, TimeRange};
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

/// The series number of the questions' streams; data sets use small ones.
const STREAM: u64 = u64::MAX;
/// Random words that a question may use.
const WORDS: u64 = 2;

/// Statements of so many readings each: number i is of sensor i mod S, and follows what its statements before it hold.
#[derive(Debug, Clone)]
pub struct Writes {
    readings: Arc<SensorReadings>,
    statements: Range<u64>,
    per_statement: u64,
    classes: [String; 1],
}

impl Writes {
    /// These statements of `per_statement` readings.
    pub fn new(
        operation: Operation,
        readings: Arc<SensorReadings>,
        statements: Range<u64>,
        per_statement: u64,
    ) -> Self {
        Self { readings, statements, per_statement, classes: [operation.name().to_owned()] }
    }
}

/// The sensor of a statement, and how many statements it had before.
fn place(statement: u64, sensors: u32) -> (u32, u64) {
    let of = u64::from(sensors);
    let sensor = u32::try_from(statement % of).expect("less than the number of sensors");
    (sensor, statement / of)
}

impl Operations for Writes {
    fn len(&self) -> u64 {
        self.statements.end - self.statements.start
    }

    fn extent(&self) -> Extent {
        Extent::of(self.per_statement as f64)
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    #[inline]
    fn fill(&self, index: u64, _watermark: u64, slot: &mut Slot) {
        let (sensor, before) = place(self.statements.start + index, self.readings.sensors());
        let first = before * self.per_statement;
        self.readings.push(sensor, first..first + self.per_statement, slot.write(0));
    }

    fn expected(&self, _index: u64, _query: &Query) -> Option<Answer> {
        None
    }
}

/// Questions about what [`Writes`] wrote: for one reading, or for as many successive ones of a sensor as a statement has.
#[derive(Debug, Clone)]
pub struct Reads {
    readings: Arc<SensorReadings>,
    table: Table,
    /// The statements that were written last. There are as many questions as were written in all.
    statements: Range<u64>,
    per_statement: u64,
    /// Whether questions are for a point.
    single: bool,
    stream: Stream,
    classes: [String; 1],
}

impl Reads {
    /// As many questions as there are statements of `per_statement` readings in a table like this, of which these were written last.
    pub fn new(
        operation: Operation,
        readings: Arc<SensorReadings>,
        table: Table,
        seed: u64,
        (statements, per_statement): (Range<u64>, u64),
    ) -> Self {
        Self {
            readings,
            table,
            statements,
            per_statement,
            single: operation == Operation::SingleRead,
            stream: Stream::new(seed, STREAM, operation as u64),
            classes: [operation.name().to_owned()],
        }
    }

    /// The sensor of question `index`, and the first tick that it is about, when so many statements were written.
    #[inline]
    fn target(&self, index: u64, written: NonZeroU64) -> (u32, u64) {
        let sensors = self.readings.sensors();
        let statement = self.stream.below(index * WORDS, written);
        let (sensor, before) = place(statement, sensors);
        if self.single {
            return (sensor, before);
        }
        // Statements of this sensor among those that were written.
        let own = (written.get() - u64::from(sensor)).div_ceil(u64::from(sensors));
        let starts = (own - 1) * self.per_statement + 1;
        let starts = NonZeroU64::new(starts).unwrap_or(NonZeroU64::MIN);
        (sensor, self.stream.below(index * WORDS + 1, starts))
    }
}

impl Operations for Reads {
    fn len(&self) -> u64 {
        self.statements.end
    }

    fn extent(&self) -> Extent {
        Extent::of(self.per_statement as f64)
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    #[inline]
    fn fill(&self, index: u64, watermark: u64, slot: &mut Slot) {
        let written = self.statements.start.saturating_add(watermark).min(self.statements.end);
        let written = NonZeroU64::new(written).unwrap_or(NonZeroU64::MIN);
        let (sensor, tick) = self.target(index, written);
        let start_ns = self.readings.time_ns(sensor, tick);
        let fields = FieldSet::first(1);
        let query = slot.ask();
        query.table = 0;
        query.series = Selection::One(sensor);
        if self.single {
            query.range = TimeRange::new(start_ns, start_ns + 1);
            query.ask = Ask::Point { fields };
        } else {
            let end_ns = self.readings.time_ns(sensor, tick + self.per_statement);
            query.range = TimeRange::new(start_ns, end_ns);
            query.ask = Ask::Range { fields, coarse_filter: false };
        }
    }

    fn least_watermark(&self) -> u64 {
        1
    }

    fn answer_len(&self, _index: u64, _query: &Query) -> Option<usize> {
        usize::try_from(self.per_statement).ok()
    }

    fn expected(&self, _index: u64, query: &Query) -> Option<Answer> {
        let Selection::One(sensor) = query.series else {
            return None;
        };
        let ticks = self.readings.ticks_within(sensor, query.range);
        let mut batch = Batch::new(0, &self.table);
        self.readings.push(sensor, ticks, &mut batch);
        Some(Answer::Readings(batch))
    }
}
