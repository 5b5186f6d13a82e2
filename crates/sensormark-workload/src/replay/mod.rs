//! The replay workload: a user's own recording is loaded, counted, and asked about; every answer is checked against one
//! computed from the file.
//!
//! The readings are written in the file's order, by one client, in batches. Then come six kinds of questions, by one client in closed loop; question i depends
//! on the recording, the seed and i alone:
//!
//! | class | question | span |
//! | --- | --- | --- |
//! | point | all fields of one reading | |
//! | range | all fields of all readings of a series | a hundredth of the recording |
//! | window mean | mean of a numeric field by window | a quarter of it, in windows of a round length, about fifty |
//! | minimum | smallest value of a numeric field, and when | a tenth of it |
//! | maximum | largest value of a numeric field | a tenth of it |
//! | last value | the latest value of a field before a time | from the recording's start |
//!
//! Every question is about a series and a time that have a reading. A recording may hold a time twice. Which of the two readings comes first is up to the
//! database. So points, ranges and last values keep away from such times ([`Replay::notes`] says when there is no such question). Other questions do not.
//!
//! A recording is short, as a rule. So it grows from size to size by copies as further series ([`copies`]), which are asked about in the same way.
//!
//! It is not where the file is read (`dataset::recording`), nor where operations are issued (`engine`).

use std::collections::HashSet;
use std::sync::Arc;

use sensormark_conformance::reference::Reference;
use sensormark_store::{
    Answer, AnswerSource, Batch, Query, RepeatedWrite, Schema, Selection, Table, TimeResolution,
};

use sensormark_data::recording::Recording;

mod copies;

mod questions;
mod spans;

mod operations;

mod factory;

#[cfg(test)]
mod tests;

pub use factory::{Numbers, Parameters, ReplayWorkload};
pub use operations::Loading;
pub use questions::{Class, Questions};
pub use spans::Spans;
pub(crate) use spans::round_span;

/// The workload's name.
pub const NAME: &str = "replay";

/// A recording as one layout of one store has it: readings to write, and the answers that are due.
#[derive(Debug)]
pub struct Replay {
    schema: Arc<Schema>,
    /// How many series the recording has. Copies have as many each.
    own_series: u32,
    readings: Batch,
    reference: Reference,
    spans: Spans,
    notes: Vec<String>,
}

impl Replay {
    /// Prepares a recording and up to so many copies of it for a store that keeps times this finely and treats repeated times so.
    ///
    /// Where the recording's times are finer, they are cut off (towards the past) here. Writing and asking use the same times, and the notes say so.
    pub fn new(
        recording: &Recording,
        resolution: TimeResolution,
        repeated: RepeatedWrite,
        copies: u32,
    ) -> Self {
        let mut schema = Schema::clone(&recording.schema);
        let mut readings = recording.readings.clone();
        let mut notes = Vec::new();
        if resolution > schema.tables[0].time_resolution {
            schema.tables[0].time_resolution = resolution;
            for time in &mut readings.times_ns {
                *time -= time.rem_euclid(resolution.nanoseconds());
            }
            notes
                .push(format!("times are cut to {} ns, all that the layout keeps", resolution.nanoseconds()));
        }
        if repeated == RepeatedWrite::Refused {
            let all = readings.len();
            readings = without_repeats(&readings, &schema.tables[0]);
            if readings.len() < all {
                notes.push(format!(
                    "{} readings that repeat a time are not written, for the layout refuses them",
                    all - readings.len()
                ));
            }
        }
        let own = schema.tables[0].clone();
        let mut reference = Reference::new(Arc::new(schema.clone())).with_repeated_write(repeated);
        reference.add(&readings);
        reference.prepare();
        let written = readings.len() as u64;
        let stored = reference.census().readings();
        if stored < written {
            notes.push(format!("{} readings repeat a time, of which the layout keeps one", written - stored));
        }
        if copies > 1 {
            let tables = vec![copies::copied(&own, copies)];
            let tag = tables[0].tags.last().map_or("", |tag| &tag.name);
            notes.push(format!(
                "the recording is repeated as further series, told apart by the tag {tag}: sizes over {stored} readings hold copies"
            ));
            schema = Schema { tables };
        }
        let spans = Spans::of(&readings);
        Self { schema: Arc::new(schema), own_series: own.series.len(), readings, reference, spans, notes }
    }

    /// What the readings look like.
    pub const fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// What is written of each copy, in this order.
    pub const fn readings(&self) -> &Batch {
        &self.readings
    }

    /// What is stored of each copy then.
    pub const fn reference(&self) -> &Reference {
        &self.reference
    }

    /// How many readings are stored of each copy.
    pub fn stored(&self) -> u64 {
        self.reference.census().readings()
    }

    /// The answer that is due to a question about one series: that about the recording's own, of which it is a copy.
    pub fn answer(&self, query: &Query) -> Answer {
        let Selection::One(series) = query.series else { return self.reference.answer(query) };
        let own = series % self.own_series;
        let mut answer = self.reference.answer(&Query { series: Selection::One(own), ..query.clone() });
        if let Answer::Readings(found) = &mut answer {
            found.series.fill(series);
        }
        answer
    }

    /// How long the stretches are that questions are about.
    pub const fn spans(&self) -> Spans {
        self.spans
    }

    /// What a reader of the result should know.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// The readings without those whose series has an earlier one of the same time.
fn without_repeats(readings: &Batch, table: &Table) -> Batch {
    let mut seen = HashSet::with_capacity(readings.len());
    let key = |row: usize| (readings.series[row], readings.times_ns[row]);
    let mut kept = Batch::new(readings.table, table);
    for row in (0..readings.len()).filter(|&row| seen.insert(key(row))) {
        kept.push_row(readings, row);
    }
    kept
}
