//! Which answers are compared with the generator's, and keeping them until they are.
//!
//! The choice depends on the question's number alone. Answers are kept as they came and compared after the phase, outside every timed span. When they take more
//! memory than is set aside for them, the client compares further ones between two of its operations.

use super::inquiry::{Compared, Comparison};
use super::operations::{Operations, Request, Slot};
use crate::dataset::random::finalise;
use crate::measurement::record::AnswersRecord;
use sensormark_store::{Answer, Ask, Batch, Query, Selection, Table, TextColumn, Values};
use serde::{Deserialize, Serialize};
use std::mem::size_of;
use std::num::NonZeroU64;

/// Memory for answers that wait to be compared, of all clients of a load together, in bytes.
pub const KEPT_BYTES: u64 = 64 << 20;

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
#[derive(Debug)]
pub struct Kept {
    /// The question's number.
    pub index: u64,
    /// The watermark that it kept below.
    pub watermark: u64,
    /// The answer.
    pub answer: Answer,
}

impl Kept {
    /// The memory that it takes, about.
    pub fn bytes(&self) -> u64 {
        let inside = match &self.answer {
            Answer::Readings(batch) => batch_bytes(batch),
            Answer::Moment(_) => 0,
            Answer::Groups(groups) => groups
                .iter()
                .map(|group| size_of_val(group) + size_of_val(group.values.as_slice()))
                .sum(),
            Answer::Series(series) => size_of_val(series.as_slice()),
        };
        (size_of::<Self>() + inside) as u64
    }

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
        if !doubtful.concerns(query) {
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

fn batch_bytes(batch: &Batch) -> usize {
    let columns = batch.columns.iter().map(|column| {
        let values = match &column.values {
            Values::Bool(values) => values.len(),
            Values::U16(values) => values.len() * 2,
            Values::I64(values) => values.len() * 8,
            Values::F64(values) => values.len() * 8,
            Values::Text(values) => text_bytes(values),
        };
        size_of_val(column) + values + column.present.as_ref().map_or(0, Vec::len)
    });
    batch.len() * 12 + columns.sum::<usize>()
}

fn text_bytes(values: &TextColumn) -> usize {
    (0..values.len())
        .map(|row| values.get(row).len() + size_of::<usize>())
        .sum()
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
        Self {
            tables: schema.tables.clone(),
            batches,
        }
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

    /// Whether the question is about any of these readings.
    pub fn concerns(&self, query: &Query) -> bool {
        let rows = |batch: &Batch| {
            (0..batch.len()).any(|row| {
                self.covers(query, batch.times_ns[row]) && self.chooses(query, batch.series[row])
            })
        };
        self.batches
            .iter()
            .any(|batch| batch.table == query.table && rows(batch))
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

    #[test]
    fn one_of_twenty_in_a_row_is_compared_and_no_client_is_left_out() {
        let chosen: Vec<u64> = (0..20_000)
            .filter(|&i| Checking::SAMPLED.includes(i))
            .collect();
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
