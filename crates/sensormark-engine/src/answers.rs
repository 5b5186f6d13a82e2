//! Which answers are compared with the generator's, and keeping them until they are.
//!
//! The choice depends on the question's number alone. Answers are packed, kept in a file, and compared after the phase, outside every timed span. When they
//! take more room than is set aside for them, the client compares further ones between two of its operations.

use super::inquiry::{Compared, Comparison};
use super::operations::{Operations, Request, Slot};
use sensormark_data::random::finalise;
use sensormark_result::measurement::record::AnswersRecord;
use sensormark_result::spool::{Place, Spool};
use sensormark_store::{Answer, Ask, Batch, Query, Selection, Table};
use serde::{Deserialize, Serialize};
use std::io;
use std::num::NonZeroU64;

/// Room for answers that wait to be compared, of all clients of a load together, in bytes.
pub const KEPT_BYTES: u64 = 256 << 20;

/// What share of the answers is compared in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checking {
    /// All of them.
    All,
    /// One of every so many in a row, which one varying without pattern.
    OneIn(NonZeroU64),
}

impl Checking {
    /// One in 20.
    pub const SAMPLED: Self = Self::OneIn(NonZeroU64::new(20).expect("not zero"));

    /// Whether the answer to question `index` is compared.
    #[inline]
    pub const fn includes(self, index: u64) -> bool {
        match self {
            Self::All => true,
            Self::OneIn(every) => {
                let every = every.get();
                index % every == finalise(index / every) % every
            }
        }
    }
}

/// An answer that waits to be compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The question's number.
    pub index: u64,
    /// The watermark that it kept below.
    pub watermark: u64,
    /// The answer.
    pub answer: Answer,
}

/// Answers that wait to be compared, packed end to end: a phase of hours keeps many.
#[derive(Debug, Default)]
pub struct KeptAnswers {
    /// Of each thread.
    parts: Vec<Part>,
}

/// Answers of one thread.
#[derive(Debug)]
struct Part {
    answers: Spool,
    /// Of each answer the question's number and how many bytes it takes.
    lengths: Spool,
}

impl Part {
    /// The number of each question, and where its answer stands.
    fn places(&self) -> io::Result<Vec<(u64, Place)>> {
        let mut begin = 0;
        let lengths = self.lengths.values::<(u64, usize)>()?.into_iter();
        let places = lengths.map(|(index, length)| {
            let place = Place::new(begin, length);
            begin += length as u64;
            (index, place)
        });
        Ok(places.collect())
    }
}

/// When so many bytes of answers are together, they go to a file.
const BLOCK: usize = 128 << 10;

impl KeptAnswers {
    /// Keeps another answer. Gives how many bytes it takes.
    pub fn push(&mut self, kept: &Kept) -> u64 {
        if self.parts.is_empty() {
            self.parts.push(Part { answers: Spool::new(BLOCK), lengths: Spool::new(BLOCK / 16) });
        }
        let part = &mut self.parts[0];
        let answer = part.answers.put(kept);
        let length = part.lengths.put(&(kept.index, answer.bytes()));
        (answer.bytes() + length.bytes()) as u64
    }

    /// Takes over those of another thread.
    pub fn append(&mut self, mut other: Self) {
        self.parts.append(&mut other.parts);
    }

    /// All of them, in the order of their questions.
    ///
    /// # Errors
    /// When the file that they were put into cannot be read.
    pub fn in_order(&self) -> io::Result<impl Iterator<Item = io::Result<Kept>>> {
        let mut all: Vec<(u64, &Spool, Place)> = Vec::new();
        for part in &self.parts {
            let one = |(index, place)| (index, &part.answers, place);
            all.extend(part.places()?.into_iter().map(one));
        }
        all.sort_unstable_by_key(|(index, ..)| *index);
        let all = all.into_iter();
        Ok(all.map(|(_, answers, place)| answers.get(place)))
    }
}

impl Kept {
    /// Compares the answer with the expected one, and counts it. Answers about readings that are in doubt cannot be wrong or right: they
    /// are not counted as compared. Gives the line that the application makes of the answer, right or wrong.
    pub fn check(
        &self,
        operations: &dyn Operations,
        slot: &mut Slot,
        doubtful: &Doubtful,
        record: &mut AnswersRecord,
    ) -> Option<String> {
        operations.fill(self.index, self.watermark, slot);
        let query = slot.query();
        if !doubtful.concerns(query, operations.asked_of(query)) {
            self.compare(operations, query, record);
        }
        operations.line(self.index, query, &self.answer)
    }

    fn compare(&self, operations: &dyn Operations, query: &Query, record: &mut AnswersRecord) {
        let Some(expected) = operations.expected(self.index, query) else {
            return;
        };
        record.checked += 1;
        let Some(difference) = operations.disagreement(&self.answer, &expected, query) else {
            return;
        };
        record.wrong += 1;
        record.first_wrong.get_or_insert_with(|| {
            let class = &operations.classes()[operations.class(self.index)];
            format!("question {} ({class}): {query:?}: {difference}", self.index)
        });
    }
}

/// Compares what an operation of several questions found, and counts it. Gives what is worth reporting though it is right.
pub fn compare_found(
    operations: &dyn Operations,
    (index, found): (u64, Comparison),
    record: &mut AnswersRecord,
) -> Option<String> {
    record.checked += 1;
    let Compared { difference, note } = found.compare();
    if let Some(difference) = difference {
        record.wrong += 1;
        record.first_wrong.get_or_insert_with(|| {
            let class = &operations.classes()[operations.class(index)];
            format!("question {index} ({class}): {difference}")
        });
    }
    note
}

/// Readings that were sent and not acknowledged: what an answer that concerns them should be cannot be said.
#[derive(Debug, Default)]
pub struct Doubtful {
    tables: Vec<Table>,
    batches: Vec<Batch>,
}

impl Doubtful {
    /// What these operations of a writing load would have written.
    pub fn of(
        operations: &dyn Operations,
        schema: &sensormark_store::Schema,
        indices: impl IntoIterator<Item = u64>,
    ) -> Self {
        let mut slot = Slot::new(schema);
        let mut batches = Vec::new();
        for index in indices {
            operations.fill(index, u64::MAX, &mut slot);
            if slot.request() != Request::Query
                && let Some(batch) = slot.batch()
            {
                batches.push(batch.clone());
            }
        }
        Self { tables: schema.tables.clone(), batches }
    }

    /// Adds what is in doubt from another load.
    pub fn append(&mut self, mut other: Self) {
        if self.tables.is_empty() {
            self.tables = other.tables;
        }
        self.batches.append(&mut other.batches);
    }

    /// Whether nothing is in doubt.
    pub const fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Whether the question, which is about readings of this table, is about any of these.
    pub fn concerns(&self, query: &Query, table: usize) -> bool {
        let rows = |batch: &Batch| {
            (0..batch.len())
                .any(|row| self.covers(query, batch.times_ns[row]) && self.chooses(query, batch.series[row]))
        };
        self.batches.iter().any(|batch| batch.table == table && rows(batch))
    }

    fn covers(&self, query: &Query, time_ns: i64) -> bool {
        match query.ask {
            Ask::Point { .. } => time_ns == query.range.start_ns,
            _ => query.range.contains(time_ns),
        }
    }

    fn chooses(&self, query: &Query, series: u32) -> bool {
        match &query.series {
            Selection::All => true,
            Selection::One(one) => *one == series,
            Selection::Set(set) => set.binary_search(&series).is_ok(),
            Selection::Tagged { tag, value } => self
                .tables
                .get(query.table)
                .is_some_and(|table| table.series.columns()[*tag].text(series) == *value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sensormark_store::Value;

    #[test]
    fn kept_answers_come_back_as_they_were_in_the_order_of_their_questions() {
        let text = |texts: &[&str]| {
            let mut column = sensormark_store::TextColumn::default();
            texts.iter().for_each(|text| column.push(text));
            sensormark_store::Values::Text(column)
        };
        let column = |values| sensormark_store::Column { values, present: Some(vec![true, false]) };
        let readings = Answer::Readings(Batch {
            table: 3,
            times_ns: vec![i64::MIN, 7],
            series: vec![u32::MAX, 0],
            columns: vec![
                column(sensormark_store::Values::F64(vec![-0.1, f64::INFINITY])),
                column(sensormark_store::Values::I64(vec![i64::MAX, -1])),
                column(text(&["", "ß\0"])),
            ],
        });
        let group = sensormark_store::Group {
            series: None,
            window_start_ns: Some(-5),
            day: Some(true),
            values: vec![Value::Null, Value::F64(0.1 + 0.2)],
        };
        let answers =
            [Answer::Series(vec![1, 70_000]), readings, Answer::Groups(vec![group]), Answer::Moment(None)];
        let kept =
            |index: usize| Kept { index: index as u64, watermark: u64::MAX, answer: answers[index].clone() };
        let (mut one, mut other) = (KeptAnswers::default(), KeptAnswers::default());
        one.push(&kept(3));
        one.push(&kept(0));
        other.push(&kept(2));
        let bytes = other.push(&kept(1));
        assert!((40..160).contains(&bytes), "{bytes}");
        one.append(other);
        let all: io::Result<Vec<Kept>> = one.in_order().expect("readable").collect();
        assert_eq!(all.expect("readable"), [kept(0), kept(1), kept(2), kept(3)]);
    }

    #[test]
    fn one_of_twenty_in_a_row_is_compared_and_no_client_is_left_out() {
        let chosen: Vec<u64> = (0..20_000).filter(|&i| Checking::SAMPLED.includes(i)).collect();
        assert_eq!(chosen.len(), 1_000);
        for (place, index) in chosen.iter().enumerate() {
            assert_eq!(index / 20, place as u64);
        }
        for client in 0..16 {
            let of_client = chosen.iter().filter(|&&index| index % 16 == client).count();
            assert!((40..90).contains(&of_client), "{client}: {of_client}");
        }
        assert!((0..100).all(|index| Checking::All.includes(index)));
    }
}
